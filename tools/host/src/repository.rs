//! Paths in the repository.

use crate::file;
use crate::problem::problem;
use crate::tool;
use anyhow::{Context as _, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The target of everything that does not run on the host.
pub const BARE_TARGET: &str = "x86_64-unknown-none";

/// Folders that are generated and not part of the repository.
const BUILT: [&str; 3] = ["target", "build", ".git"];
/// Extensions of the disks that users make: they are large.
const DISKS: [&str; 2] = ["qcow2", "img"];

/// The repository's folder.
pub struct Repository {
    root: PathBuf,
    target: PathBuf,
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
        Ok(Repository::at(&root))
    }

    /// Another clone, or a folder that serves as one.
    pub fn at(root: &Path) -> Repository {
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
        Repository::with_target(root.to_owned(), root.join(target))
    }

    /// A repository with another target folder for cargo.
    pub fn with_target(root: PathBuf, target: PathBuf) -> Repository {
        Repository { root, target }
    }

    /// Copies the sources in their current state into an empty folder, including uncommitted
    /// changes.
    pub fn copy(&self, to: &Path) -> Result<()> {
        let mut command = Command::new("cp");
        command.arg("-a").arg("-t").arg(to);
        let is_disk = |path: &Path| path.extension().is_some_and(|end| DISKS.iter().any(|disk| end == *disk));
        command.args(self.entries()?.into_iter().filter(|path| !is_disk(path)));
        tool::quietly(&mut command)
    }

    /// What is in the root folder, but for what is generated.
    fn entries(&self) -> Result<Vec<PathBuf>> {
        let entries = self.root.read_dir()?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
        let is_built = |path: &PathBuf| BUILT.iter().any(|built| path.ends_with(built));
        Ok(entries.into_iter().filter(|path| !is_built(path)).collect())
    }

    /// All files, relative to the root.
    pub fn files(&self) -> Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for entry in self.entries()? {
            let name = entry.strip_prefix(&self.root)?.to_owned();
            if entry.is_symlink() || !entry.is_dir() {
                files.push(name);
            } else {
                files.extend(file::below(&entry)?.iter().map(|file| name.join(file)));
            }
        }
        Ok(files)
    }

    /// The root folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A path in the repository.
    pub fn path(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.root.join(relative)
    }

    /// A path in the folder of what is built for booting.
    pub fn build(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.root.join("build").join(relative)
    }

    /// Where cargo puts what a profile builds for the bare machine.
    pub fn bare_output(&self, profile: &str) -> PathBuf {
        self.target().join(BARE_TARGET).join(profile)
    }

    /// Cargo's folder for everything that it builds.
    pub fn target(&self) -> PathBuf {
        self.target.clone()
    }

    /// A file that the user named: relative to the current folder if it exists there, otherwise to
    /// the repository.
    pub fn named(&self, file: &Path) -> PathBuf {
        if file.exists() { file.to_owned() } else { self.root.join(file) }
    }

    /// A number derived from the commit, so that what is drawn at random with it can be drawn
    /// again. 0 outside of a git repository.
    pub fn number(&self) -> u64 {
        let mut git = Command::new("git");
        git.arg("-C").arg(&self.root).args(["rev-parse", "HEAD"]);
        let commit = tool::capture(&mut git).unwrap_or_default();
        commit.get(..8).and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or(0)
    }

    /// A cargo command in the repository.
    pub fn cargo(&self) -> Command {
        let mut command = Command::new("cargo");
        command.current_dir(&self.root).env("CARGO_TARGET_DIR", &self.target);
        command
    }
}
