//! Where things are in the repository.

use crate::problem::problem;
use anyhow::{Context as _, Result};
use std::path::{Path, PathBuf};

/// The target of everything that does not run on the host.
pub const BARE_TARGET: &str = "x86_64-unknown-none";

/// The repository's folder.
pub struct Repository {
    root: PathBuf,
}

impl Repository {
    /// The repository that the launcher names, or the one that this tool was built in.
    pub fn find() -> Result<Repository> {
        let built_in = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let root = std::env::var_os("PILLION_ROOT").map_or(built_in, PathBuf::from);
        let root = root.canonicalize().with_context(|| format!("{} is gone", root.display()))?;
        if !root.join("abi/Cargo.toml").is_file() {
            let why = format!("{} holds no abi/Cargo.toml", root.display());
            return Err(problem("this is not Pillion's repository", why, "run ./x of a clone"));
        }
        Ok(Repository { root })
    }

    /// Another clone, or a folder that stands for one.
    pub fn at(root: &Path) -> Repository {
        Repository { root: root.to_owned() }
    }

    /// Its folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A path inside.
    pub fn path(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.root.join(relative)
    }

    /// What was built, for booting.
    pub fn build(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.root.join("build").join(relative)
    }

    /// Where cargo puts release builds for the bare machine.
    pub fn bare_output(&self) -> PathBuf {
        self.target().join(BARE_TARGET).join("release")
    }

    /// Cargo's folder for everything that it builds.
    pub fn target(&self) -> PathBuf {
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| self.root.join("target"), PathBuf::from);
        self.root.join(target)
    }

    /// A file that the user named, from where the user is; else from the repository.
    pub fn named(&self, file: &Path) -> PathBuf {
        if file.exists() { file.to_owned() } else { self.root.join(file) }
    }

    /// A cargo command in the repository.
    pub fn cargo(&self) -> std::process::Command {
        let mut command = std::process::Command::new("cargo");
        command.current_dir(&self.root);
        command
    }
}
