//! The initramfs of the passenger: Debian's programs, the modules that the machine needs, and a
//! small init.

use super::cargo;
use super::cpio::{Node, Tree};
use crate::debian::kernel::Kernel;
use crate::debian::{Archive, Package, libraries};
use crate::file;
use crate::file::hex;
use crate::repository::{BARE_TARGET, Repository};
use crate::tool;
use anyhow::{Context as _, Result};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Modules of the distribution that are loaded together.
#[derive(Debug)]
pub struct Drivers {
    /// Name of their list in `/lib/modules`.
    pub list: &'static str,
    /// Their names, separated by blanks.
    pub modules: &'static str,
}

/// What the emulated machine needs, and a Debian on its disk: init loads them.
pub const MACHINE: Drivers = Drivers {
    list: "order",
    modules: "virtio_pci virtio_blk virtio_net virtio_rng virtio_console crc32c_intel crc32c_generic ext4",
};
/// For the network cards on one wire: the load that needs these modules loads them.
pub const WIRE: Drivers = Drivers { list: "wire", modules: "e1000e" };
/// For the memory card: likewise.
pub const CARD: Drivers = Drivers { list: "card", modules: "sdhci_pci mmc_block" };

/// A package, and the programs taken from it, with what they load by themselves.
pub type Packaged = (&'static str, &'static [&'static str]);

const PROGRAMS: [Packaged; 2] =
    [("rt-tests", &["usr/bin/cyclictest", "usr/bin/hackbench"]), ("stress-ng", &["usr/bin/stress-ng"])];
/// Programs with threads for primary mode.
pub const DUAL: [Packaged; 2] = [
    (
        "rt-tests",
        &[
            "usr/bin/cyclicdeadline",
            "usr/bin/pi_stress",
            "usr/bin/pmqtest",
            "usr/bin/ptsematest",
            "usr/bin/rt-migrate-test",
            "usr/bin/signaltest",
            "usr/bin/sigwaittest",
            "usr/bin/svsematest",
        ],
    ),
    (
        "jackd2",
        &["usr/bin/jackd", "usr/bin/jack_metro", "usr/bin/jack_wait", "usr/lib/x86_64-linux-gnu/jack/jack_dummy.so"],
    ),
];

/// Where a file of init's folder goes: the first part of its path there, and the folder in the
/// initramfs.
const PLACES: [(&str, &str); 4] = [("lib", "lib/pillion"), ("etc", "etc"), ("sbin", "sbin"), ("init", "init")];

/// What an initramfs contains beyond the common parts: names and contents.
pub struct Contents {
    /// Kernel modules, for `modprobe`.
    pub modules: Vec<(&'static str, Vec<u8>)>,
    /// Programs.
    pub programs: Vec<(&'static str, Vec<u8>)>,
    /// Modules of the distribution.
    pub drivers: Vec<&'static Drivers>,
    /// Programs of the distribution.
    pub packaged: &'static [Packaged],
}

/// The archive for a kernel.
pub fn make(repository: &Repository, archive: &Archive, kernel: &Kernel, contents: Contents) -> Result<Vec<u8>> {
    let mut tree = Tree::default();
    for folder in ["proc", "sys", "dev", "run", "tmp", "root", "mnt"] {
        tree.add(folder, Node::Folder);
    }
    tree.add("dev/console", Node::Device(5, 1));
    tree.add("bin/note", Node::File(note(repository)?, true));
    tree.add("etc/payload.sha256", Node::File(format!("{}  payload\n", hex(&Sha256::digest(payload()))).into(), false));
    add_busybox(&mut tree, archive)?;
    add_programs(&mut tree, archive, contents.packaged)?;
    for drivers in contents.drivers {
        add_modules(&mut tree, kernel, drivers)?;
    }
    add_sources(&mut tree, &repository.path("linux/initramfs"))?;
    add_extra_modules(&mut tree, &kernel.release, contents.modules);
    for (name, program) in contents.programs {
        tree.add(&format!("bin/{name}"), Node::File(program, true));
    }
    Ok(tree.archive())
}

/// Adds modules for `modprobe`, which looks in the folder named after the kernel's release for a
/// list of files and their dependencies; these have none.
fn add_extra_modules(tree: &mut Tree, release: &str, modules: Vec<(&str, Vec<u8>)>) {
    if modules.is_empty() {
        return;
    }
    let folder = format!("lib/modules/{release}");
    let mut needs = String::new();
    for (name, module) in modules {
        needs.push_str(&format!("extra/{name}.ko:\n"));
        tree.add(&format!("{folder}/extra/{name}.ko"), Node::File(module, false));
    }
    tree.add(&format!("{folder}/modules.dep"), Node::File(needs.into(), false));
}

/// The file that the network load fetches: 256 KiB that do not compress.
pub fn payload() -> Vec<u8> {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u8
    };
    (0..256 << 10).map(|_| next()).collect()
}

fn add_sources(tree: &mut Tree, folder: &Path) -> Result<()> {
    for file in file::below(folder)? {
        let text = file.to_string_lossy();
        let place = PLACES.iter().find(|(from, _)| text == *from || text.starts_with(&format!("{from}/")));
        let Some((from, to)) = place else { continue };
        let path = folder.join(&file);
        let program = fs::metadata(&path)?.permissions().mode() & 0o100 != 0;
        tree.add(&text.replacen(from, to, 1), Node::File(fs::read(&path)?, program));
    }
    Ok(())
}

fn add_busybox(tree: &mut Tree, archive: &Archive) -> Result<()> {
    let root = archive.package("busybox-static")?.root;
    let path = ["bin/busybox", "usr/bin/busybox"].map(|path| root.join(path)).into_iter().find(|path| path.is_file());
    let path = path.context("the package busybox-static holds no busybox")?;
    let names = tool::capture(Command::new(&path).arg("--list"))?;
    for name in names.lines().filter(|name| !name.is_empty()) {
        tree.add(&format!("bin/{name}"), Node::Link("busybox".into()));
    }
    tree.add("bin/busybox", Node::File(fs::read(&path)?, true));
    Ok(())
}

fn add_programs(tree: &mut Tree, archive: &Archive, more: &[Packaged]) -> Result<()> {
    let wanted = || PROGRAMS.iter().chain(more);
    let names: BTreeSet<String> = wanted().map(|(package, _)| (*package).to_owned()).collect();
    let packages = archive.packages(&Vec::from_iter(names))?;
    let mut programs = Vec::new();
    for (name, paths) in wanted() {
        let package = packages.iter().find(|package| package.name == *name).context(*name)?;
        for path in *paths {
            let program = package.root.join(path);
            let place = path.strip_prefix("usr/bin/").map_or((*path).to_owned(), |name| format!("bin/{name}"));
            tree.add(&place, Node::File(file::read(&program)?, true));
            programs.push(program);
        }
    }
    add_libraries(tree, archive, &packages, &programs)
}

fn add_libraries(tree: &mut Tree, archive: &Archive, packages: &[Package], programs: &[PathBuf]) -> Result<()> {
    for (name, path) in libraries::gather(archive, packages, programs)? {
        let folder = if name.starts_with("ld-linux") { "lib64" } else { "lib/x86_64-linux-gnu" };
        tree.add(&format!("{folder}/{name}"), Node::File(file::read(&path)?, true));
    }
    Ok(())
}

/// Adds modules, and a file that lists them in an order in which they can be loaded.
fn add_modules(tree: &mut Tree, kernel: &Kernel, drivers: &Drivers) -> Result<()> {
    let mut order = String::new();
    if let Some(modules) = &kernel.modules {
        for module in modules.in_order(drivers.modules.split(' '))? {
            order.push_str(&format!("{}.ko\n", module.name));
            tree.add(&format!("lib/modules/{}.ko", module.name), Node::File(module.data, false));
        }
    }
    tree.add(&format!("lib/modules/{}", drivers.list), Node::File(order.into(), false));
    Ok(())
}

/// The program that writes to the debug console; no package has one.
fn note(repository: &Repository) -> Result<Vec<u8>> {
    cargo::ensure(BARE_TARGET)?;
    let folder = file::temporary()?;
    let output = folder.path().join("note");
    let mut rustc = Command::new("rustc");
    rustc.args(["--edition", "2024", "--target", BARE_TARGET, "-C", "panic=abort", "-C", "opt-level=s"]);
    rustc.args(["-C", "relocation-model=static", "-C", "code-model=small", "-C", "strip=symbols"]);
    rustc.arg(format!("--remap-path-prefix={}=.", repository.root().display())).arg("-o");
    tool::quietly(rustc.arg(&output).arg(repository.path("linux/initramfs/note.rs")))?;
    file::read(&output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn note_has_the_same_bytes_wherever_the_repository_lies() {
        let here = Repository::find().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("linux/initramfs/note.rs");
        fs::create_dir_all(source.parent().unwrap()).unwrap();
        fs::copy(here.path("linux/initramfs/note.rs"), source).unwrap();
        assert!(note(&here).unwrap() == note(&Repository::at(folder.path())).unwrap());
    }
}
