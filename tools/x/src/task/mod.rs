//! RTLinux programs: C and C++ modules that become task images.

mod compile;
pub mod find;
mod foreign;
mod late_parameters;
mod library_names;
mod link;
mod link_map;
mod name;
pub mod new;
pub mod old_gnu;
mod recipe;
mod record;
mod runtime;
pub mod system;
mod system_calls;
mod toolchain;
mod undefined;

use crate::build::{forwards, task_image};
use crate::cli::BuildTaskArguments;
use crate::doctor;
use crate::file::write_whole;
use crate::progress::step;
use crate::repository::Repository;
use crate::tool;
use anyhow::{Context as _, Result};
use record::Record;
use serde_json::json;
use std::fs;
use std::path::PathBuf;

pub use foreign::{begins, missing_header};
pub use recipe::{ENDINGS, Recipe, is_cpp, is_source, stem};

/// A program that was built.
pub struct Task {
    /// The compiler's warnings.
    pub warnings: String,
    /// Whether it was built just now.
    pub fresh: bool,
}

/// `x build-task`.
pub fn command(repository: &Repository, arguments: &BuildTaskArguments) -> Result<bool> {
    let recipe = Recipe::from_arguments(arguments)?;
    doctor::ensure(repository, false)?;
    let task = step(&format!("building {}", recipe.name), || build(repository, &recipe))?;
    eprint!("{}", task.warnings);
    let name = &recipe.name;
    let (image, elf) = (image_path(repository, name), elf(repository, name));
    if arguments.json {
        println!("{}", json!({ "name": name, "image": image, "elf": elf, "sources": recipe.sources }));
    } else {
        println!("task    {}\nsymbols {}\n", image.display(), elf.display());
        println!("Run it beside Linux with `./x run --task {name}`.");
    }
    Ok(true)
}

/// Builds a program unless it is up to date.
pub fn ready(repository: &Repository, recipe: &Recipe) -> Result<Task> {
    let runtime = runtime::build(repository)?;
    let tables = toolchain::HEADERS.map(|folder| repository.path(folder).join(forwards::TABLE));
    let lists = [link::SCRIPT, library_names::LIST, library_names::OFFERED].map(|file| repository.path(file));
    // This tool is an input as well: it determines how programs are compiled.
    match Record::up_to_date(repository, recipe, &[&[runtime, tool::MYSELF.into()][..], &lists, &tables].concat()) {
        Some(record) => Ok(Task { warnings: record.warnings, fresh: false }),
        None => step(&format!("building {}", recipe.name), || build(repository, recipe)),
    }
}

/// Compiles, links and converts a program.
fn build(repository: &Repository, recipe: &Recipe) -> Result<Task> {
    make(repository, recipe).map_err(|error| foreign::for_linux(recipe).unwrap_or(error))
}

fn make(repository: &Repository, recipe: &Recipe) -> Result<Task> {
    let folder = folder(repository);
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let work = tempfile::tempdir_in(&folder)?;
    let compiled = compile::all(repository, recipe, work.path())?;
    let runtime = runtime::build(repository)?;
    let linked = link::link(repository, recipe, &runtime, &compiled.objects, work.path())?;
    let data = fs::read(&linked)?;
    let image = task_image::convert(&data).with_context(|| format!("{} cannot become a task image", recipe.name))?;
    write_whole(&elf(repository, &recipe.name), &data)?;
    write_whole(&image_path(repository, &recipe.name), &image)?;
    let record = Record { recipe: recipe.clone(), inputs: compiled.inputs, warnings: compiled.warnings };
    record.write(repository)?;
    Ok(Task { warnings: record.warnings, fresh: true })
}

/// The folder of all programs that were built.
fn folder(repository: &Repository) -> PathBuf {
    repository.build("tasks")
}

/// Where the image of a program is.
pub fn image_path(repository: &Repository, name: &str) -> PathBuf {
    folder(repository).join(format!("{name}.task"))
}

/// Where its ELF file is.
pub fn elf(repository: &Repository, name: &str) -> PathBuf {
    folder(repository).join(format!("{name}.elf"))
}
