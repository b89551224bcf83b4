//! Builds everything that boots.

mod addition;
pub mod bundle;
pub mod bzimage;
pub mod cargo;
mod cpio;
pub mod forwards;
mod initramfs;
mod kernel_module;
pub mod lock;
pub mod passenger;
pub mod patched;
mod plan;
mod skins;
pub mod space;
pub mod task_image;
mod unpacked;
mod user_program;

use crate::cli::BuildArguments;
use crate::file::{self, write_whole};
use crate::problem::problem;
use crate::progress::step;
use crate::repository::Repository;
use crate::system_file::{self, Emulated};
use crate::task;
use crate::task::find::Program;
use anyhow::{Context as _, Result};
use bundle::Bundle;
use passenger::{Extras, Passenger};
use pillion_system::System;
use plan::Plan;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub use addition::{is_program, name_of};
pub use initramfs::payload;
pub use plan::DEFAULT_SYSTEM;

/// Everything that a machine boots.
#[derive(Default)]
pub struct Built {
    /// The microhypervisor.
    pub kernel: PathBuf,
    /// The bundle.
    pub bundle: PathBuf,
    /// What the boot loader loads beside it.
    pub modules: Vec<Module>,
    /// Linux, unless it was left out.
    pub passenger: Option<Passenger>,
    /// The tasks' files with symbols, by the tasks' names.
    pub elves: BTreeMap<String, PathBuf>,
    /// The contents of the system file, if there is one.
    pub system: Option<System>,
}

/// A file that a boot loader loads beside the bundle.
pub struct Module {
    /// Its name for the kernel.
    pub name: &'static str,
    /// Where it is.
    pub path: PathBuf,
    /// What follows the name: words for Linux.
    pub words: String,
}

/// Where the system file and Linux go.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    /// Into the bundle.
    Whole,
    /// Into modules beside it, as in an installed system.
    Apart,
}

/// `x build`.
pub fn command(repository: &Repository, arguments: &BuildArguments) -> Result<bool> {
    let append = arguments.append.clone().unwrap_or_default();
    let built = build(repository, arguments, &append, None, (&repository.build(""), Packing::Whole))?;
    println!("kernel  {}\nbundle  {}", built.kernel.display(), built.bundle.display());
    if let Some(passenger) = &built.passenger {
        println!("linux   {} ({})", passenger.image.display(), passenger.release);
    }
    Ok(true)
}

/// Builds the kernel and a bundle with a single program.
fn build_root(repository: &Repository, root: &str, checked: bool, folder: &Path) -> Result<Built> {
    if !plan::is_package(repository, root) {
        let why = format!("this repository has no package pillion-{root} with a program in it");
        let remedy =
            "name a package without its pillion-, such as `demo`; `./x run --task NAME` runs an RTLinux program";
        return Err(problem(format!("{root} cannot be the first task"), why, remedy));
    }
    let build = if checked { cargo::build_checked } else { cargo::build };
    let output = step("building the kernel and the task", || build(repository, &[root.to_owned()]))?;
    let mut bundle = Bundle::default();
    bundle.add(pillion_abi::bundle::ROOT_TASK, image_of(&output.join(format!("pillion-{root}")))?)?;
    let path = folder.join(root).with_extension("bundle");
    write_whole(&path, &bundle.bytes())?;
    let elves = [("root".to_owned(), output.join(format!("pillion-{root}")))].into();
    Ok(Built { kernel: output.join("pillion-kernel"), bundle: path, elves, ..Built::default() })
}

/// Builds the kernel and a bundle with that command line for Linux, for an emulated machine if one
/// is given. What is made goes into `folder`.
pub fn build(
    repository: &Repository,
    arguments: &BuildArguments,
    append: &str,
    on: Option<Emulated>,
    (folder, packing): (&Path, Packing),
) -> Result<Built> {
    space::check(repository)?;
    if let Some(root) = &arguments.root {
        return build_root(repository, root, arguments.checked, folder);
    }
    let running = on.map_or(1, Emulated::running);
    let plan = Plan::make(repository, arguments, running)?;
    if let Some(note) = plan.about_processors(running) {
        eprintln!("x: {note}");
    }
    let images: Vec<&str> = plan.images().chain(["vmlinuz", "initrd"]).collect();
    system_file::check(&plan.path, &plan.file.system, on, &images, append)?;
    // First, because the user waits for the compiler's messages about them.
    let programs =
        plan.programs.iter().map(|program| program_image(repository, program)).collect::<Result<Vec<_>>>()?;
    let linux = plan.file.system.linux.is_some();
    let passenger = linux.then(|| passenger(repository, arguments, &plan.file.system)).transpose()?;
    let output = step("building the kernel and the tasks", || match &arguments.patch {
        Some(patch) => cargo::build(&patched::repository(repository, patch)?, &plan.packages),
        None => cargo::build(repository, &plan.packages),
    })?;
    let mut bundle = Bundle::default();
    for package in &plan.packages {
        bundle.add(package, image_of(&output.join(format!("pillion-{package}")))?)?;
    }
    for (program, image) in plan.programs.iter().zip(programs) {
        bundle.add(program.name(), image)?;
    }
    let elves = plan.elves(repository, &output);
    let name = plan.path.file_stem().context("a system file needs a name")?;
    let mut modules = Vec::new();
    if packing == Packing::Apart {
        let path = folder.join(pillion_abi::bundle::SYSTEM_FILE);
        write_whole(&path, plan.file.text.as_bytes())?;
        modules.push(Module { name: pillion_abi::bundle::SYSTEM_FILE, path, words: String::new() });
    } else {
        bundle.add(pillion_abi::bundle::SYSTEM_FILE, plan.file.text.into_bytes())?;
    }
    if let Some(passenger) = &passenger {
        let image = match arguments.unpacked {
            true => unpacked::kernel(repository, &passenger.image, &passenger.vmlinuz_sha256)?,
            false => passenger.image.clone(),
        };
        if packing == Packing::Apart {
            modules.push(Module { name: "vmlinuz", path: image, words: append.to_owned() });
            modules.push(Module { name: "initrd", path: passenger.initrd.clone(), words: String::new() });
        } else {
            bundle.add("vmlinuz", std::fs::read(image)?)?;
            bundle.add("initrd", std::fs::read(&passenger.initrd)?)?;
            bundle.add("linux.append", append.as_bytes().to_vec())?;
        }
    }
    let path = folder.join(name).with_extension("bundle");
    write_whole(&path, &bundle.bytes())?;
    let kernel = output.join("pillion-kernel");
    Ok(Built { kernel, bundle: path, modules, passenger, elves, system: Some(plan.file.system) })
}

/// Linux as a system needs it, with the user's additional files.
pub fn passenger(repository: &Repository, arguments: &BuildArguments, system: &System) -> Result<Passenger> {
    let extras = Extras {
        faults: arguments.fault_module,
        measure: arguments.measure_module,
        wire: arguments.wire,
        card: arguments.card,
        channels: system.skins().next().is_some() || arguments.no_uart,
        dual: system.dual().is_some(),
    };
    // First, because the user waits for the compiler's messages about them.
    let more = addition::archive(repository, arguments)?;
    let mut passenger = Passenger::prepare(repository, &arguments.linux, extras)?;
    let skins = extras.dual.then(|| skins::archive(repository)).transpose()?;
    for more in skins.into_iter().chain(more) {
        addition::add(&mut passenger, more)?;
    }
    Ok(passenger)
}

/// The image of an RTLinux program, rebuilt if its sources exist and something has changed.
fn program_image(repository: &Repository, program: &Program) -> Result<Vec<u8>> {
    if let Program::Sources(recipe) = program {
        let task = task::ready(repository, recipe)?;
        eprint!("{}", if task.fresh { &task.warnings } else { "" });
    }
    file::read(&task::image_path(repository, program.name()))
}

/// The image of a task from cargo's file.
pub fn image_of(path: &Path) -> Result<Vec<u8>> {
    task_image::convert(&file::read(path)?).with_context(|| format!("{} cannot become a task image", path.display()))
}
