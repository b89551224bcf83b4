//! The Linux kernel to ride.

use super::Archive;
use super::modules::Modules;
use crate::build::bzimage;
use crate::problem::problem;
use anyhow::Result;
use std::path::{Path, PathBuf};

/// A kernel and its modules.
pub struct Kernel {
    /// The bzImage.
    pub image: PathBuf,
    /// What `uname -r` will report.
    pub release: String,
    /// Its modules, if there are any.
    pub modules: Option<Modules>,
}

impl Kernel {
    /// The kernel that `--linux` names.
    pub fn choose(choice: &str, archive: impl FnOnce() -> Result<Archive>) -> Result<Kernel> {
        match choice {
            "stock" => Kernel::packaged(&archive()?, "linux-image-amd64"),
            "rt" => Kernel::packaged(&archive()?, "linux-image-rt-amd64"),
            path => Kernel::given(Path::new(path)),
        }
    }

    fn packaged(archive: &Archive, meta: &str) -> Result<Kernel> {
        let depends = archive.package(meta)?.depends;
        let name = depends.into_iter().find(|name| name.starts_with("linux-image-")).ok_or_else(|| {
            let why = "it depends on no linux-image package";
            problem(format!("{meta} names no kernel"), why, "name a kernel image with --linux PATH")
        })?;
        let package = archive.package(&name)?;
        let release = name.trim_start_matches("linux-image-").trim_end_matches("-unsigned").to_owned();
        let image = package.root.join("boot").join(format!("vmlinuz-{release}"));
        bzimage::release(&image)?;
        Ok(Kernel { image, modules: Modules::below(&package.root, &release)?, release })
    }

    fn given(image: &Path) -> Result<Kernel> {
        let release = bzimage::release(image)?;
        let beside = image.parent().and_then(Path::parent).unwrap_or(Path::new("/"));
        let modules = match Modules::below(beside, &release)? {
            Some(found) => Some(found),
            None => Modules::below(Path::new("/"), &release)?,
        };
        if modules.is_none() {
            eprintln!("x: no modules for {release} were found; its drivers must be built in");
        }
        Ok(Kernel { image: image.to_owned(), release, modules })
    }
}
