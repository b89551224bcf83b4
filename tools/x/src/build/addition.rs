//! Files that the user adds to Linux: as they are, or sources that become programs.

use super::cpio::{Node, Tree};
use super::passenger::Passenger;
use super::user_program;
use crate::cli::BuildArguments;
use crate::file::{hex, write_whole};
use crate::problem::problem;
use crate::progress::step;
use crate::repository::Repository;
use crate::task::{begins, is_source, stem};
use anyhow::Result;
use sha2::{Digest as _, Sha256};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where Linux's loads are.
const LOADS: &str = "lib/pillion/load";
/// How long an initramfs with additions is kept after its last use: it has some 55 MB, and a run
/// that started today may still read it.
const KEPT: Duration = Duration::from_hours(24);

/// The user's additions as an archive; `None` if there are none.
pub fn archive(repository: &Repository, arguments: &BuildArguments) -> Result<Option<Vec<u8>>> {
    let folders = arguments.includes.iter().map(|folder| format!("-I{}", folder.display()));
    let flags: Vec<String> = folders.chain(arguments.definitions.iter().map(|macros| format!("-D{macros}"))).collect();
    let tree = tree(repository, &arguments.files, &flags)?;
    Ok((!arguments.files.is_empty()).then(|| tree.archive()))
}

fn tree(repository: &Repository, files: &[PathBuf], flags: &[String]) -> Result<Tree> {
    let mut tree = Tree::default();
    let (helpers, others): (Vec<_>, Vec<_>) = files.iter().cloned().partition(|file| is_helper(file));
    for (i, file) in others.iter().enumerate() {
        if let Some(other) = others[..i].iter().find(|other| goal(other) == goal(file)) {
            let what = format!("{} cannot be given to Linux beside {}", file.display(), other.display());
            return Err(problem(what, format!("both would be /{}", goal(file)), "rename one, or leave one out"));
        }
        place(&mut tree, repository, file, &helpers, flags)?;
    }
    // If no source seems to define `main`, the linker reports for each what it lacks.
    if !others.iter().any(|file| is_source(file)) {
        helpers.iter().try_for_each(|file| place(&mut tree, repository, file, &[], flags))?;
    }
    Ok(tree)
}

/// Gives Linux an initramfs with more files. They follow the existing archive, because Linux
/// unpacks one archive after the other.
pub fn add(passenger: &mut Passenger, more: Vec<u8>) -> Result<()> {
    let mut whole = fs::read(&passenger.initrd)?;
    // Named after the additions: concurrent runs may add other files.
    let added = passenger.initrd.with_extension(format!("{}.cpio", &hex(&Sha256::digest(&more))[..8]));
    whole.extend(more);
    forget(&passenger.initrd, KEPT);
    write_whole(&added, &whole)?;
    passenger.initrd = added;
    Ok(())
}

/// Removes extended copies of that initramfs that have not been used for that long. One that cannot
/// be removed does no harm.
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

/// Whether a file is a source without `main`: it becomes part of each program made from the others.
fn is_helper(file: &Path) -> bool {
    is_source(file) && fs::read(file).is_ok_and(|text| !begins(&String::from_utf8_lossy(&text)))
}

/// Whether a file becomes a program, which is also a load.
pub fn is_program(file: &Path) -> bool {
    is_source(file) || fs::metadata(file).is_ok_and(|data| data.permissions().mode() & 0o100 != 0)
}

/// What a file is called in Linux; `None` if it has no name.
pub fn name_of(file: &Path) -> Option<String> {
    if is_source(file) { Some(stem(file)) } else { Some(file.file_name()?.to_string_lossy().into_owned()) }
}

/// Where a file is in Linux.
fn goal(file: &Path) -> String {
    format!("{}/{}", if is_program(file) { "bin" } else { "root" }, name_of(file).unwrap_or_default())
}

/// Adds a file. A program goes to `/bin` and is also a load; a source in C or C++ is compiled to
/// one, with these helpers and flags; any other file goes to `/root`.
fn place(tree: &mut Tree, repository: &Repository, file: &Path, helpers: &[PathBuf], flags: &[String]) -> Result<()> {
    let what = || format!("{} cannot be given to Linux", file.display());
    let data = fs::read(file).map_err(|error| problem(what(), error, "name an existing file"))?;
    let path = goal(file);
    let data = if is_source(file) {
        let (name, sources) = (stem(file), [&[file.to_owned()], helpers].concat());
        step(&format!("building {name} for Linux"), || user_program::with_library(repository, &sources, flags))?
    } else {
        data
    };
    tree.add(&path, Node::File(data, is_program(file)));
    if let Some(name) = path.strip_prefix("bin/") {
        tree.add(&format!("{LOADS}/{name}"), Node::Link(format!("/{path}")));
    }
    Ok(())
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
        place(&mut tree, &repository, &script, &[], &[]).unwrap();
        place(&mut tree, &repository, &text, &[], &[]).unwrap();
        let archive = String::from_utf8(tree.archive()).unwrap();
        for path in ["bin/work\0", "lib/pillion/load/work\0", "root/notes\0", "remember"] {
            assert!(archive.contains(path), "{path}");
        }
        assert!(place(&mut tree, &repository, &folder.path().join("none"), &[], &[]).is_err());
    }

    #[test]
    fn a_source_without_main_goes_into_the_programs_of_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let [client, helper] = ["client.cc", "helper.c"].map(|name| folder.path().join(name));
        fs::write(&client, "extern \"C\" int helper(void);\nint main(void)\n{\n\treturn helper();\n}\n").unwrap();
        fs::write(&helper, "int helper(void) { return 0; }\n").unwrap();
        let given = |files: &[&PathBuf]| {
            let files: Vec<PathBuf> = files.iter().map(|file| (*file).clone()).collect();
            let tree = tree(&Repository::find().unwrap(), &files, &[]);
            tree.map(|tree| String::from_utf8_lossy(&tree.archive()).into_owned())
        };
        let both = given(&[&helper, &client]).unwrap();
        assert!(both.contains("bin/client\0") && !both.contains("helper\0"));
        assert!(given(&[&helper]).unwrap_err().to_string().contains("main"));
    }

    /// The second one replaced the first one, silently.
    #[test]
    fn two_files_of_one_name_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let files = ["work", "work.c"].map(|name| folder.path().join(name));
        files.iter().for_each(|file| fs::write(file, "int main(void) { return 0; }\n").unwrap());
        fs::set_permissions(&files[0], fs::Permissions::from_mode(0o755)).unwrap();
        let error = tree(&Repository::find().unwrap(), &files, &[]).err().unwrap();
        assert!(format!("{error:#}").contains("both would be /bin/work"), "{error:#}");
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
