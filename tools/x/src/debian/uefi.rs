//! A UEFI for the emulated machine: OVMF.

use super::Archive;
use crate::problem::problem;
use anyhow::Result;
use std::fs;
use std::path::{Path, PathBuf};

const PACKAGE: &str = "ovmf";

/// Where the package has the firmware, and an empty store of variables for it.
const CODE: &str = "usr/share/OVMF/OVMF_CODE_4M.fd";
const VARIABLES: &str = "usr/share/OVMF/OVMF_VARS_4M.fd";

/// The firmware's two parts.
pub struct Uefi {
    /// Its code, which is only read.
    code: PathBuf,
    /// Its variables, which it writes.
    variables: PathBuf,
}

impl Uefi {
    /// The emulator's drives with both, as flash memory.
    pub fn drives(&self) -> [String; 2] {
        [
            format!("if=pflash,format=raw,unit=0,readonly=on,file={}", self.code.display()),
            format!("if=pflash,format=raw,unit=1,file={}", self.variables.display()),
        ]
    }
}

/// The firmware of Debian's package, which is kept in `cache` and not installed, with variables of
/// its own in a folder: each run begins with none.
pub fn with_variables_in(folder: &Path, cache: PathBuf) -> Result<Uefi> {
    let package = Archive::new(cache)?.package(PACKAGE)?;
    let [code, empty] = [CODE, VARIABLES].map(|name| package.root.join(name));
    let variables = folder.join("variables");
    fs::copy(&empty, &variables).map_err(|error| {
        problem(
            format!("the package {PACKAGE} has no firmware that is known"),
            format!("{}: {error}", empty.display()),
            "do this on Debian 12 or 13",
        )
    })?;
    Ok(Uefi { code, variables })
}
