//! Links a program with the runtime and the C library.

use super::library_names;
use super::link_map::LinkMap;
use super::recipe::Recipe;
use super::{system_calls, toolchain, undefined};
use crate::file::write_whole;
use crate::repository::Repository;
use crate::tool;
use anyhow::{Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The linker script, in the repository.
pub const SCRIPT: &str = "rt/task.ld";

/// Links in the folder and returns the ELF file there; the map stays beside the image.
pub fn link(
    repository: &Repository,
    recipe: &Recipe,
    runtime: &Path,
    objects: &[PathBuf],
    folder: &Path,
) -> Result<PathBuf> {
    let (linked, map) = (folder.join("task.elf"), folder.join("task.map"));
    let archives = toolchain::archives()?;
    let (done, said) = tool::judged(&mut command(repository, [runtime, &linked, &map], objects, &archives))?;
    if !done {
        if let Some(problem) = undefined::explain(&recipe.name, &said) {
            return Err(problem);
        }
        bail!("{} cannot be linked:\n{}", recipe.name, said.trim_end());
    }
    let text = std::fs::read_to_string(&map)?;
    write_whole(&super::folder(repository).join(format!("{}.map", recipe.name)), text.as_bytes())?;
    let map = LinkMap::parse(&text);
    library_names::check(repository, &recipe.name, runtime, &archives, &map)?;
    system_calls::check(repository, &recipe.name, &linked, &map)?;
    Ok(linked)
}

/// The runtime comes first and whole, so that its functions replace the C library's; what nothing
/// uses is left out again.
fn command(repository: &Repository, files: [&Path; 3], objects: &[PathBuf], archives: &[PathBuf]) -> Command {
    let [runtime, linked, map] = files;
    let mut command = Command::new("gcc");
    command.env("LC_ALL", "C");
    command.args(["-nostdlib", "-static", "-no-pie", "-Wl,--gc-sections", "-Wl,--build-id=none", "-Wl,-z,norelro"]);
    command.args(["-Wl,-z,noexecstack", "-Wl,-z,max-page-size=4096", "-Wl,--no-demangle"]);
    // Formatted output passes through rt/c/format.c.
    command.arg("-Wl,--wrap=vfprintf");
    // The map shows which file defines each name (library_names.rs).
    command.arg("-Wl,--cref");
    command.arg("-Wl,-T").arg(repository.path(SCRIPT));
    command.arg("-Xlinker").arg("-Map").arg("-Xlinker").arg(map).arg("-o").arg(linked).args(objects);
    command.arg("-Wl,--whole-archive").arg(runtime).arg("-Wl,--no-whole-archive");
    command.arg("-Wl,--start-group").args(archives).arg("-Wl,--end-group");
    command
}
