//! Files that the user adds to Linux: as they are, or C sources that become programs.

use super::bundle::write_whole;
use super::cpio::{Node, Tree};
use super::passenger::{Passenger, hex};
use super::user_program;
use crate::cli::BuildArguments;
use crate::problem::problem;
use crate::progress::step;
use crate::repository::Repository;
use anyhow::Result;
use sha2::{Digest as _, Sha256};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

/// Where Linux's loads are.
const LOADS: &str = "lib/pillion/load";
/// How long an initramfs with additions is kept after its last use: it has some 55 MB, and a run that started today may still read it.
const KEPT: Duration = Duration::from_hours(24);

/// What the user adds, as an archive; nothing when that is nothing.
pub fn archive(repository: &Repository, arguments: &BuildArguments) -> Result<Option<Vec<u8>>> {
    let folders = arguments.includes.iter().map(|folder| format!("-I{}", folder.display()));
    let flags: Vec<String> = folders.chain(arguments.definitions.iter().map(|macros| format!("-D{macros}"))).collect();
    let mut tree = Tree::default();
    for file in &arguments.files {
        place(&mut tree, repository, file, &flags)?;
    }
    Ok((!arguments.files.is_empty()).then(|| tree.archive()))
}

/// Gives Linux an initramfs with more files: behind the one that it has, as Linux unpacks one archive after the other.
pub fn add(passenger: &mut Passenger, more: Vec<u8>) -> Result<()> {
    let mut whole = fs::read(&passenger.initrd)?;
    // Named after what is added: runs side by side may add other files.
    let added = passenger.initrd.with_extension(format!("{}.cpio", &hex(&Sha256::digest(&more))[..8]));
    whole.extend(more);
    forget(&passenger.initrd, KEPT);
    write_whole(&added, &whole)?;
    passenger.initrd = added;
    Ok(())
}

/// Removes what was added to that initramfs and not used for so long. What cannot be removed is in nobody's way.
fn forget(initrd: &Path, kept: Duration) {
    let (Some(folder), Some(stem)) = (initrd.parent(), initrd.file_stem()) else { return };
    let stem = format!("{}.", stem.to_string_lossy());
    for file in fs::read_dir(folder).into_iter().flatten().flatten() {
        let added = file.path() != initrd && file.file_name().to_string_lossy().starts_with(&stem);
        let age = file.metadata().ok().and_then(|data| data.modified().ok()?.elapsed().ok());
        if added && age.is_some_and(|age| age > kept) {
            fs::remove_file(file.path()).ok();
        }
    }
}

/// A program goes to `/bin` and is a load too, a C source is one when it is compiled, with these flags; any other file goes to `/root`.
fn place(tree: &mut Tree, repository: &Repository, file: &Path, flags: &[String]) -> Result<()> {
    let what = || format!("{} cannot be given to Linux", file.display());
    let data = fs::read(file).map_err(|error| problem(what(), error.to_string(), "name a file that is there"))?;
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if let Some(name) = name.strip_suffix(".c") {
        let built =
            step(&format!("building {name} for Linux"), || user_program::with_library(repository, file, flags))?;
        program(tree, name, built);
    } else if fs::metadata(file)?.permissions().mode() & 0o100 != 0 {
        program(tree, &name, data);
    } else {
        tree.add(&format!("root/{name}"), Node::File(data, false));
    }
    Ok(())
}

fn program(tree: &mut Tree, name: &str, data: Vec<u8>) {
    tree.add(&format!("bin/{name}"), Node::File(data, true));
    tree.add(&format!("{LOADS}/{name}"), Node::Link(format!("/bin/{name}")));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_loads_and_files_are_at_home() {
        let folder = tempfile::tempdir().unwrap();
        let (script, text) = (folder.path().join("work"), folder.path().join("notes"));
        fs::write(&script, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(&text, "remember").unwrap();
        let repository = Repository::find().unwrap();
        let mut tree = Tree::default();
        place(&mut tree, &repository, &script, &[]).unwrap();
        place(&mut tree, &repository, &text, &[]).unwrap();
        let archive = String::from_utf8(tree.archive()).unwrap();
        for path in ["bin/work\0", "lib/pillion/load/work\0", "root/notes\0", "remember"] {
            assert!(archive.contains(path), "{path}");
        }
        assert!(place(&mut tree, &repository, &folder.path().join("none"), &[]).is_err());
    }

    #[test]
    fn only_additions_that_nobody_used_are_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let [initrd, added, other] =
            ["initrd-6.1.cpio", "initrd-6.1.0123abcd.cpio", "initrd-6.1-x.cpio"].map(|name| folder.path().join(name));
        let files = [&initrd, &added, &other];
        files.iter().for_each(|file| fs::write(file, "").unwrap());
        forget(&initrd, KEPT);
        assert!(added.exists());
        let old = std::time::SystemTime::now() - 2 * KEPT;
        for file in files {
            fs::File::options().write(true).open(file).unwrap().set_modified(old).unwrap();
        }
        forget(&initrd, KEPT);
        assert_eq!(files.map(|file| file.exists()), [true, false, true]);
    }
}
