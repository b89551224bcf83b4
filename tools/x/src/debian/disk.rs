//! A disk image with a full Debian on it, made once.

use crate::doctor::install;
use crate::problem::problem;
use crate::progress::step;
use crate::repository::Repository;
use crate::tool;
use anyhow::{Context as _, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Raised when the image shall be made anew.
const FORMAT: u32 = 1;
/// What is on it beside the smallest Debian.
const PACKAGES: &str = "systemd-sysv,udev,login";
/// Names the machine, which would be called like the one that makes the image.
const NAME: &str = r#"echo debian >"$1/etc/hostname""#;
/// Makes the image `$4` of the archive `$1` by way of the folder `$2`, which mke2fs, `$3`, must be able to read: an older one takes
/// no archive.
const CONVERT: &str =
    r#"tar -xf "$1" -C "$2" --exclude='./dev/*' && chmod -R u+r "$2" && "$3" -q -t ext4 -d "$2" "$4" 1G"#;

/// What makes the image, and the packages that bring it.
const PROGRAMS: [(&str, &str); 2] = [("mmdebstrap", "mmdebstrap"), ("mke2fs", "e2fsprogs")];
/// What it takes too unless the user is root.
const UNPRIVILEGED: [(&str, &str); 2] = [("newuidmap", "uidmap"), ("fakeroot", "fakeroot")];

/// The image with the same Debian as this machine's.
pub fn image(repository: &Repository) -> Result<PathBuf> {
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let suite = suite(&release).ok_or_else(|| {
        let why = "/etc/os-release has no VERSION_CODENAME";
        problem("it is unknown which Debian to put on a disk", why, "do this on Debian 12 or 13")
    })?;
    let image = repository.build(format!("debian-{suite}-{FORMAT}.img"));
    if !image.is_file() {
        install::packages(&missing())?;
        eprintln!("x: making a disk with Debian {suite} (mmdebstrap downloads it)");
        step(&format!("making a disk with Debian {suite}"), || make(repository, suite, &image))?;
    }
    Ok(image)
}

fn suite(release: &str) -> Option<&str> {
    release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME=")).map(|name| name.trim_matches('"'))
}

fn missing() -> Vec<&'static str> {
    let further = if root() { &[] } else { &UNPRIVILEGED[..] };
    let programs = PROGRAMS.iter().chain(further);
    programs.filter(|(program, _)| tool::find(program).is_none()).map(|(_, package)| *package).collect()
}

fn root() -> bool {
    rustix::process::geteuid().is_root()
}

fn make(repository: &Repository, suite: &str, image: &Path) -> Result<()> {
    fs::create_dir_all(repository.build(""))?;
    let folder = tempfile::tempdir_in(repository.build(""))?;
    let (archive, whole) = (folder.path().join("debian.tar"), folder.path().join("debian.img"));
    let made = download(suite, &archive).and_then(|()| convert(&archive, &folder.path().join("root"), &whole));
    made.map_err(|error| {
        let why = format!("{error:#}");
        problem(format!("a disk with Debian {suite} could not be made"), why, "check the network, then try again")
    })?;
    fs::rename(whole, image)?;
    Ok(())
}

fn download(suite: &str, archive: &Path) -> Result<()> {
    let mut command = Command::new("mmdebstrap");
    command.args(["--quiet", "--variant=minbase", "--include", PACKAGES, "--customize-hook", NAME, suite]);
    tool::quietly(command.arg(archive))
}

fn convert(archive: &Path, tree: &Path, image: &Path) -> Result<()> {
    fs::create_dir(tree)?;
    let mke2fs = tool::find("mke2fs").context("mke2fs is gone")?;
    let mut command = Command::new(if root() { "env" } else { "fakeroot" });
    command.args(["sh", "-c", CONVERT, "sh"]).args([archive, tree, &mke2fs, image]);
    tool::quietly(&mut command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_the_suite() {
        assert_eq!(suite("ID=debian\nVERSION_CODENAME=trixie\n"), Some("trixie"));
        assert_eq!(suite("ID=debian\nVERSION_CODENAME=\"bookworm\"\n"), Some("bookworm"));
        assert_eq!(suite("ID=other\n"), None);
    }
}
