//! The list of needs.

use super::processors;
use crate::build::{cargo, space};
use crate::debian::emulator::SHARES;
use crate::qemu;
use crate::repository::{BARE_TARGET, Repository};
use crate::tool;
use std::path::Path;
use std::process::Command;

/// The package that contains the emulator.
pub const EMULATOR_PACKAGE: &str = "qemu-system-x86";

/// Something that this machine should have.
pub struct Need {
    /// Its name.
    pub name: &'static str,
    /// What was found.
    pub found: String,
    /// What to do when it is missing.
    pub missing: Option<String>,
    /// The package that provides it, if it is missing and a package does.
    pub package: Option<&'static str>,
}

/// Everything that is needed.
pub fn all(repository: &Repository) -> Vec<Need> {
    let mut needs = packaged();
    needs.splice(1..1, [rust(), target()]);
    needs.push(sources());
    needs.push(found("processors", processors::here()));
    needs.extend(room(repository));
    needs
}

/// What packages provide, the emulator first. This takes no time.
pub fn packaged() -> Vec<Need> {
    let mut needs = vec![emulator_need()];
    needs.extend(PROGRAMS.map(|(name, package)| program(name, package)));
    needs.push(libc());
    needs
}

/// Programs that the tool calls, and the packages that contain them.
const PROGRAMS: [(&str, &str); 10] = [
    ("apt-get", "apt"),
    ("dpkg-deb", "dpkg"),
    ("xz", "xz-utils"),
    ("gzip", "gzip"),
    ("setpriv", "util-linux"),
    ("cc", "gcc"),
    ("g++", "g++"),
    ("objdump", "binutils"),
    ("make", "make"),
    ("patch", "patch"),
];

fn found(name: &'static str, what: impl Into<String>) -> Need {
    Need { name, found: what.into(), missing: None, package: None }
}

fn absent(name: &'static str, why: impl Into<String>, remedy: impl Into<String>) -> Need {
    Need { name, found: why.into(), missing: Some(remedy.into()), package: None }
}

fn program(name: &'static str, package: &'static str) -> Need {
    match tool::find(name) {
        Some(path) => found(name, path.display().to_string()),
        None => Need { package: Some(package), ..absent(name, "not found", format!("apt-get install {package}")) },
    }
}

fn emulator_need() -> Need {
    match qemu::version(Path::new(qemu::DEFAULT)) {
        Ok(version) if version.number < SHARES => {
            let note = format!("{}; --cpus N downloads the one of Debian's backports", version.text);
            found("QEMU", note)
        }
        Ok(version) => found("QEMU", version.text),
        Err(error) => Need {
            package: Some(EMULATOR_PACKAGE),
            ..absent("QEMU", format!("{error}").replace('\n', ";"), format!("apt-get install {EMULATOR_PACKAGE}"))
        },
    }
}

fn rust() -> Need {
    match tool::capture(Command::new("rustc").arg("--version")) {
        Ok(version) => found("Rust", version.trim()),
        Err(_) => absent("Rust", "not found", "install it by rustup: https://rustup.rs"),
    }
}

fn target() -> Need {
    if cargo::has(BARE_TARGET) {
        return found("Rust's bare target", BARE_TARGET);
    }
    absent("Rust's bare target", BARE_TARGET, format!("rustup target add {BARE_TARGET} (`./x run` does)"))
}

/// The C library of real-time programs.
pub const LIBC: &str = "/usr/lib/x86_64-linux-musl/libc.a";

/// See [`LIBC`].
fn libc() -> Need {
    let (name, package) = ("C library for tasks", "musl-dev");
    if Path::new(LIBC).is_file() {
        return found(name, LIBC);
    }
    Need { package: Some(package), ..absent(name, "not found", format!("apt-get install {package}")) }
}

fn sources() -> Need {
    let name = "Debian's packages";
    let output = tool::output(Command::new("apt-cache").args(["show", "--no-all-versions", "linux-image-amd64"]));
    let version = output.ok().and_then(|output| {
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().find_map(|line| line.strip_prefix("Version: ").map(str::to_owned))
    });
    match version {
        Some(version) => found(name, format!("linux-image-amd64 {version}")),
        None => absent(name, "linux-image-amd64 is not available", "apt-get update (on Debian 12 or 13)"),
    }
}

fn room(repository: &Repository) -> impl Iterator<Item = Need> {
    space::places(repository).into_iter().map(|place| match place.fault() {
        None => found(place.name, format!("{} MiB free in {}", place.free_mib(), place.path.display())),
        Some((why, remedy)) => absent(place.name, why, remedy),
    })
}
