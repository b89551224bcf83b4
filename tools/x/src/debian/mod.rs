//! Debian's packages, downloaded and unpacked into the build folder without being installed, and a
//! whole Debian on a disk.

pub mod disk;
pub mod emulator;
pub mod kernel;
pub mod libraries;
pub mod modules;
mod sources;
mod stanza;
pub mod uefi;

use crate::problem::problem;
use crate::progress::step;
use crate::tool;
use anyhow::{Context as _, Result};
use sources::Sources;
use stanza::Stanza;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// An unpacked package.
#[derive(Clone)]
pub struct Package {
    /// Name.
    pub name: String,
    /// Names of the packages that it depends on.
    pub depends: Vec<String>,
    /// Folder that holds its files.
    pub root: PathBuf,
}

/// The packages that package sources offer.
pub struct Archive {
    cache: PathBuf,
    sources: Sources,
}

impl Archive {
    /// What this machine's package sources offer; downloads are kept in `cache`.
    pub fn new(cache: PathBuf) -> Result<Archive> {
        Ok(Archive { cache: made(&cache)?, sources: Sources::of_machine() })
    }

    /// What the backports of this machine's release offer; lists and downloads are kept in `cache`.
    pub fn of_backports(cache: PathBuf) -> Result<Archive> {
        let cache = made(&cache)?;
        let sources = Sources::of_backports(&cache.join("apt"))?;
        Ok(Archive { cache, sources })
    }

    /// A text that changes whenever the list of available packages does.
    pub fn state() -> String {
        let changed = fs::metadata("/var/lib/apt/lists").and_then(|lists| lists.modified());
        changed.map_or_else(|_| "none".into(), |time| format!("{time:?}"))
    }

    /// Makes one package available.
    pub fn package(&self, name: &str) -> Result<Package> {
        let mut packages = self.packages(&[name.to_owned()])?;
        packages.pop().ok_or_else(|| unknown(name))
    }

    /// Makes packages available; skips those that no source offers.
    pub fn packages(&self, names: &[String]) -> Result<Vec<Package>> {
        let stanzas = self.describe(names)?;
        let missing: Vec<&Stanza> = stanzas.iter().filter(|stanza| !self.root(stanza).is_dir()).collect();
        if !missing.is_empty() {
            let list: Vec<&str> = missing.iter().map(|stanza| stanza.package.as_str()).collect();
            step(&format!("downloading {}", list.join(", ")), || self.fetch(&missing))?;
        }
        let opened =
            |stanza: Stanza| Package { root: self.root(&stanza), name: stanza.package, depends: stanza.depends };
        Ok(stanzas.into_iter().map(opened).collect())
    }

    /// What the sources say about packages; fetches the lists if there are none.
    fn describe(&self, names: &[String]) -> Result<Vec<Stanza>> {
        let stanzas = self.query(names)?;
        if !stanzas.is_empty() || names.is_empty() {
            return Ok(stanzas);
        }
        self.sources.update()?;
        let stanzas = self.query(names)?;
        if stanzas.is_empty() { Err(unknown(&names.join(", "))) } else { Ok(stanzas) }
    }

    fn query(&self, names: &[String]) -> Result<Vec<Stanza>> {
        let output = tool::output(self.sources.command("apt-cache").args(["show", "--no-all-versions"]).args(names))?;
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(stanza::parse(&text).into_iter().filter(|stanza| names.contains(&stanza.package)).collect())
    }

    fn root(&self, stanza: &Stanza) -> PathBuf {
        self.cache.join(format!("{}_{}", stanza.package, stanza.version.replace(':', "%3a")))
    }

    fn fetch(&self, stanzas: &[&Stanza]) -> Result<()> {
        let folder = tempfile::tempdir_in(&self.cache)?;
        let names = stanzas.iter().map(|stanza| format!("{}={}", stanza.package, stanza.version));
        let mut download = self.sources.command("apt-get");
        download.args(["-q", "download"]).args(names).current_dir(folder.path());
        tool::quietly(&mut download).map_err(|error| {
            let remedy = "check the network, run `apt-get update` as root, then try again";
            problem("packages could not be downloaded", format!("{error:#}"), remedy)
        })?;
        for stanza in stanzas {
            self.unpack(folder.path(), stanza)?;
        }
        Ok(())
    }

    fn unpack(&self, folder: &Path, stanza: &Stanza) -> Result<()> {
        let file = downloaded(folder, &stanza.package)?;
        let staging = tempfile::tempdir_in(&self.cache)?;
        tool::quietly(Command::new("dpkg-deb").arg("-x").arg(&file).arg(staging.path())).map_err(|error| {
            problem(
                format!("{} could not be unpacked", stanza.package),
                format!("{error:#}"),
                "try again: it is downloaded anew",
            )
        })?;
        fs::remove_file(&file)?;
        fs::rename(staging.keep(), self.root(stanza))?;
        Ok(())
    }
}

/// The folder, created if there is none.
fn made(folder: &Path) -> Result<PathBuf> {
    let make = || fs::create_dir_all(folder).and_then(|()| folder.canonicalize());
    make().with_context(|| format!("cannot create {}", folder.display()))
}

fn downloaded(folder: &Path, package: &str) -> Result<PathBuf> {
    let prefix = format!("{package}_");
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            return Ok(entry.path());
        }
    }
    Err(unknown(package))
}

fn unknown(name: &str) -> anyhow::Error {
    problem(
        format!("the package {name} is not available"),
        "this machine's package sources don't list it",
        "run `apt-get update` as root on Debian 12 or 13, then try again",
    )
}

/// The Debian release that this machine runs, such as `bookworm`.
pub fn suite() -> Result<String> {
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    named(&release).map(str::to_owned).ok_or_else(|| {
        let why = "/etc/os-release has no VERSION_CODENAME";
        problem("it is unknown which Debian this is", why, "do this on Debian 12 or 13")
    })
}

fn named(release: &str) -> Option<&str> {
    release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME=")).map(|name| name.trim_matches('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_the_suite() {
        assert_eq!(named("ID=debian\nVERSION_CODENAME=trixie\n"), Some("trixie"));
        assert_eq!(named("ID=debian\nVERSION_CODENAME=\"bookworm\"\n"), Some("bookworm"));
        assert_eq!(named("ID=other\n"), None);
    }
}
