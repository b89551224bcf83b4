//! A disk image with a Debian that rides: login, compiler, the module by DKMS, the command, the
//! library.

use super::kernel::Kernel;
use super::{Archive, suite};
use crate::build::space;
use crate::cli::DiskArguments;
use crate::doctor::install::{self, is_root};
use crate::file;
use crate::file::hex;
use crate::problem::problem;
use crate::progress::step;
use crate::repository::Repository;
use crate::tool;
use anyhow::{Context as _, Result};
use sha2::{Digest as _, Sha256};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The smallest Debian with these packages, and with the kernel that rides, its modules and its
/// headers.
const PACKAGES: &str = "systemd-sysv,udev,login,iproute2,dkms,gcc,make,libc6-dev,pkgconf,python3";
/// The password of `root`.
const PASSWORD: &str = "pillion";
/// What the last step, `set-up`, needs of the repository.
const SOURCES: [&str; 13] = [
    "abi/c",
    "linux/alchemy",
    "linux/cobalt",
    "linux/disk",
    "linux/dkms",
    "linux/evl",
    "linux/lib",
    "linux/module",
    "linux/primary",
    "linux/skin-tools",
    "linux/tools",
    "linux/uapi",
    "rt/shared",
];
/// Where they are while it runs.
const PLACE: &str = "/usr/local/src/pillion";
/// The disk's kernel rides with an initramfs of this repository. Its own, which nothing boots,
/// would take minutes to pack if it contained all drivers.
const NO_DRIVERS: &str =
    r#"mkdir -p "$1/etc/initramfs-tools/conf.d" && echo MODULES=list >"$1/etc/initramfs-tools/conf.d/pillion""#;
/// Makes the image `$4` of `$5` GiB from the archive `$1`, by way of the folder `$2`: mke2fs, `$3`,
/// reads that, because older versions take no archive.
const CONVERT: &str = r#"tar -xf "$1" -C "$2" --exclude='./dev/*' && rm "$1" && chmod -R u+r "$2" &&
    "$3" -q -t ext4 -d "$2" "$4" "$5G""#;
/// The smallest image that leaves some free space.
const LEAST_GIB: u32 = 2;
/// Space needed to make it: the archive and the tree, then the tree and the image, exist at a time,
/// each with 1,000 to 1,100 MiB.
const NEEDED_MIB: u64 = 2560;

/// Programs that make the image, and the packages that contain them.
const PROGRAMS: [(&str, &str); 2] = [("mmdebstrap", "mmdebstrap"), ("mke2fs", "e2fsprogs")];
/// Programs needed as well unless the user is root.
const UNPRIVILEGED: [(&str, &str); 2] = [("newuidmap", "uidmap"), ("fakeroot", "fakeroot")];

/// `x disk`.
pub fn command(repository: &Repository, arguments: &DiskArguments) -> Result<bool> {
    let DiskArguments { file, linux, size } = arguments;
    let refused = |why: &str, remedy: &str| Err(problem(format!("{} cannot be made", file.display()), why, remedy));
    if file.exists() {
        return refused("it exists already", "name another file, or remove this one first");
    }
    if *size < LEAST_GIB {
        return refused("it would be full at once", "make it larger: --size 4");
    }
    let release = release(repository, linux)?;
    make(repository, &release, &std::path::absolute(file)?, *size)?;
    let option = if linux == "stock" { String::new() } else { format!(" --linux {linux}") };
    println!("{} has a Debian for Linux {release}. Log in as root, the password is {PASSWORD}.", file.display());
    println!(
        "    ./x run{option} --disk {}                  add --task NAME for a real-time program beside it",
        file.display()
    );
    Ok(true)
}

/// The image that tests boot, made once for each state of its inputs.
pub fn image(repository: &Repository) -> Result<PathBuf> {
    let release = release(repository, "stock")?;
    let mut hash = Sha256::new();
    hash.update(format!("{release} {PACKAGES} {PASSWORD} {CONVERT}"));
    for folder in SOURCES {
        for file in file::all(&repository.path(folder))? {
            hash.update(file::read(&file)?);
        }
    }
    let image = repository.build(format!("debian-{}.img", &hex(&hash.finalize())[..8]));
    if !image.is_file() {
        make(repository, &release, &image, LEAST_GIB)?;
    }
    Ok(image)
}

/// `uname -r` of the chosen kernel. The module is built for it.
fn release(repository: &Repository, linux: &str) -> Result<String> {
    Ok(Kernel::choose(linux, || Archive::new(repository.build("cache")))?.release)
}

fn make(repository: &Repository, release: &str, image: &Path, size: u32) -> Result<()> {
    let suite = &suite()?;
    let place = image.parent().context("an image lies in a folder")?;
    space::has(place, NEEDED_MIB)?;
    let unprivileged = if is_root() { &[] } else { &UNPRIVILEGED[..] };
    install::programs(&[&PROGRAMS, unprivileged].concat(), None)?;
    let folder = tempfile::Builder::new().prefix(".disk-").tempdir_in(place).map_err(|error| {
        problem(format!("{} cannot be written to", place.display()), error, "name a file in another folder")
    })?;
    let (archive, whole) = (folder.path().join("debian.tar"), folder.path().join("debian.img"));
    eprintln!("x: making a disk with Debian {suite} (mmdebstrap downloads some 200 MiB; it takes a few minutes)");
    let made = step(&format!("making a disk with Debian {suite}"), || {
        download(repository, suite, release, folder.path(), &archive)?;
        convert(&archive, &folder.path().join("root"), &whole, size)
    });
    made.map_err(|error| {
        let why = format!("{error:#}");
        problem(format!("a disk with Debian {suite} could not be made"), why, "check the network, then try again")
    })?;
    fs::rename(whole, image)?;
    Ok(())
}

/// Downloads the whole Debian as an archive. The sources are passed as an archive as well: without
/// root, mmdebstrap cannot read the user's files.
fn download(repository: &Repository, suite: &str, release: &str, folder: &Path, archive: &Path) -> Result<()> {
    let sources = folder.join("sources.tar");
    let mut pack = Command::new("tar");
    pack.args(["--owner=0", "--group=0", "-cf"]).arg(&sources).arg("-C").arg(repository.root());
    tool::quietly(pack.args(SOURCES))?;
    let mut command = Command::new("mmdebstrap");
    command
        .args(["--quiet", "--variant=minbase", "--include"])
        .arg(format!("{PACKAGES},linux-image-{release},linux-headers-{release}"));
    command.arg(format!("--essential-hook={NO_DRIVERS}"));
    command.arg(format!("--customize-hook=mkdir -p \"$1{PLACE}\""));
    command.arg(format!("--customize-hook=tar-in \"{}\" {PLACE}", sources.display()));
    command.arg(format!("--customize-hook=chroot \"$1\" {PLACE}/linux/disk/set-up {release} {PASSWORD} >&2"));
    command.arg(format!("--customize-hook=rm -r \"$1{PLACE}\""));
    tool::quietly(command.arg(suite).arg(archive))
}

fn convert(archive: &Path, tree: &Path, image: &Path, size: u32) -> Result<()> {
    fs::create_dir(tree)?;
    let mke2fs = tool::find("mke2fs").context("mke2fs is gone")?;
    let mut command = Command::new(if is_root() { "env" } else { "fakeroot" });
    command.args(["sh", "-c", CONVERT, "sh"]).args([archive, tree, &mke2fs, image]).arg(size.to_string());
    tool::quietly(&mut command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_that_is_there_is_not_touched() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("debian.img");
        fs::write(&file, "mine").unwrap();
        let order = |size| DiskArguments { file: file.clone(), linux: "stock".into(), size };
        let refused = |size| command(&Repository::at(folder.path()), &order(size)).unwrap_err().to_string();
        assert!(refused(4).contains("it exists already"));
        assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
        fs::remove_file(&file).unwrap();
        assert!(refused(1).contains("full at once"));
    }
}
