//! Builds everything that boots.

pub mod bundle;
pub mod bzimage;
pub mod cargo;
mod cpio;
mod fault_module;
mod initramfs;
pub mod passenger;
pub mod space;
mod task_image;

use crate::cli::BuildArguments;
use crate::progress::step;
use crate::repository::Repository;
use crate::system_file;
use anyhow::{Context as _, Result};
use bundle::{Bundle, write_whole};
use passenger::Passenger;
use pillion_system::System;
use std::path::PathBuf;

pub use cargo::{BARE_PACKAGES, ensure_target};
pub use initramfs::payload;

/// What a machine boots.
pub struct Built {
    /// The microhypervisor.
    pub kernel: PathBuf,
    /// The bundle.
    pub bundle: PathBuf,
    /// Linux, unless it was left out.
    pub passenger: Option<Passenger>,
}

/// `x build`.
pub fn command(repository: &Repository, arguments: &BuildArguments) -> Result<bool> {
    let append = arguments.append.clone().unwrap_or_default();
    let built = build(repository, arguments, &append, None)?;
    println!("kernel  {}\nbundle  {}", built.kernel.display(), built.bundle.display());
    if let Some(passenger) = &built.passenger {
        println!("linux   {} ({})", passenger.image.display(), passenger.release);
    }
    Ok(true)
}

/// Builds the kernel and a bundle in which one program is all there is.
fn build_root(repository: &Repository, root: &str) -> Result<Built> {
    let output = step("building the kernel and the task", || cargo::build(repository, &[root.to_owned()]))?;
    let mut bundle = Bundle::default();
    bundle.add(pillion_abi::bundle::ROOT_TASK, task_image(&output.join(format!("pillion-{root}")))?)?;
    let path = repository.build(root).with_extension("bundle");
    write_whole(&path, &bundle.bytes())?;
    Ok(Built { kernel: output.join("pillion-kernel"), bundle: path, passenger: None })
}

/// Builds the kernel and a bundle with that command line for Linux, for a machine with so much memory.
pub fn build(
    repository: &Repository,
    arguments: &BuildArguments,
    append: &str,
    memory_mib: Option<u32>,
) -> Result<Built> {
    space::check(repository)?;
    if let Some(root) = &arguments.root {
        return build_root(repository, root);
    }
    let path = repository.named(&arguments.system);
    let file = system_file::read(&path)?;
    let tasks = tasks(&file.system, arguments);
    let mut images: Vec<&str> = tasks.iter().map(String::as_str).collect();
    images.extend(["vmlinuz", "initrd"]);
    system_file::check(&path, &file.system, memory_mib.map(|mib| u64::from(mib) << 20), &images)?;
    let linux = file.system.linux.is_some();
    let passenger =
        linux.then(|| Passenger::prepare(repository, &arguments.linux, arguments.fault_module)).transpose()?;
    let output = step("building the kernel and the tasks", || cargo::build(repository, &tasks))?;
    let mut bundle = Bundle::default();
    for task in &tasks {
        bundle.add(task, task_image(&output.join(format!("pillion-{task}")))?)?;
    }
    bundle.add(pillion_abi::bundle::SYSTEM_FILE, file.text.into_bytes())?;
    if let Some(passenger) = &passenger {
        bundle.add("vmlinuz", std::fs::read(&passenger.image)?)?;
        bundle.add("initrd", std::fs::read(&passenger.initrd)?)?;
        bundle.add("linux.append", append.as_bytes().to_vec())?;
    }
    let name = path.file_stem().context("a system file needs a name")?;
    let path = repository.build(name).with_extension("bundle");
    write_whole(&path, &bundle.bytes())?;
    Ok(Built { kernel: output.join("pillion-kernel"), bundle: path, passenger })
}

/// The tasks that a system needs, each once, the first task first.
fn tasks(system: &System, arguments: &BuildArguments) -> Vec<String> {
    let mut tasks = vec![pillion_abi::bundle::ROOT_TASK.to_owned()];
    let monitor = system.linux.iter().map(|_| "vmm".to_owned());
    let images = system.tasks.iter().map(|task| task.image.clone());
    for task in monitor.chain(images).chain(arguments.tasks.iter().cloned()) {
        if !tasks.contains(&task) {
            tasks.push(task);
        }
    }
    tasks
}

fn task_image(file: &std::path::Path) -> Result<Vec<u8>> {
    let data = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    task_image::convert(&data).with_context(|| format!("{} cannot become a task image", file.display()))
}
