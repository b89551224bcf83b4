//! The Linux kernel to ride.

use super::modules::Modules;
use super::{Archive, Package};
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
        match Debian::named(choice) {
            Some(wanted) => Kernel::packaged(&archive()?, &wanted),
            None => Kernel::given(Path::new(choice)),
        }
    }

    fn packaged(archive: &Archive, wanted: &Debian<'_>) -> Result<Kernel> {
        let meta = wanted.package();
        let name = match archive.package(&meta) {
            Ok(package) => image_of(&package)?,
            // The version that a release of Debian has anyway is in no package of its own.
            Err(why) => usual(archive, wanted).ok_or(why)?,
        };
        let package = archive.package(&name)?;
        let release = release_of(&name).to_owned();
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

/// A kernel that Debian's packages have.
#[derive(Debug, PartialEq, Eq)]
struct Debian<'a> {
    /// Its first two numbers; `None`: those of the release of Debian.
    version: Option<&'a str>,
    /// With PREEMPT_RT.
    is_rt: bool,
}

impl Debian<'_> {
    /// The kernel that is called so; `None` if the text is a path.
    fn named(choice: &str) -> Option<Debian<'_>> {
        let (version, is_rt) = match choice {
            "stock" => return Some(Debian { version: None, is_rt: false }),
            "rt" => return Some(Debian { version: None, is_rt: true }),
            _ => choice.strip_suffix("-rt").map_or((choice, false), |version| (version, true)),
        };
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let (major, minor) = version.split_once('.')?;
        (is_number(major) && is_number(minor)).then_some(Debian { version: Some(version), is_rt })
    }

    /// The package that depends on the newest such kernel.
    fn package(&self) -> String {
        let version = self.version.map(|version| format!("{version}-")).unwrap_or_default();
        format!("linux-image-{version}{}amd64", if self.is_rt { "rt-" } else { "" })
    }

    /// Whether a release is of the version that is asked for.
    fn has(&self, release: &str) -> bool {
        let rest = self.version.and_then(|version| release.strip_prefix(version));
        rest.is_some_and(|rest| !rest.starts_with(|next: char| next.is_ascii_digit()))
    }
}

/// The package of the kernel that the release of Debian has, if it is the wanted one.
fn usual(archive: &Archive, wanted: &Debian<'_>) -> Option<String> {
    let usual = Debian { version: None, ..*wanted };
    let name = image_of(&archive.package(&usual.package()).ok()?).ok()?;
    wanted.has(release_of(&name)).then_some(name)
}

fn image_of(meta: &Package) -> Result<String> {
    meta.depends.iter().find(|name| name.starts_with("linux-image-")).cloned().ok_or_else(|| {
        let why = "it depends on no linux-image package";
        problem(format!("{} names no kernel", meta.name), why, "name a kernel image with --linux PATH")
    })
}

fn release_of(image: &str) -> &str {
    image.trim_start_matches("linux-image-").trim_end_matches("-unsigned")
}

/// A name of a kernel, as an argument.
pub fn name(choice: &str) -> Result<String, String> {
    let wrong = || "name `stock`, `rt`, or a version such as 6.12 or 6.12-rt".to_owned();
    Debian::named(choice).map(|_| choice.to_owned()).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_packages_and_everything_else_is_a_path() {
        let package = |name| Debian::named(name).map(|wanted| wanted.package());
        for (name, expected) in [
            ("stock", "linux-image-amd64"),
            ("rt", "linux-image-rt-amd64"),
            ("6.12", "linux-image-6.12-amd64"),
            ("6.12-rt", "linux-image-6.12-rt-amd64"),
        ] {
            assert_eq!(package(name).as_deref(), Some(expected));
        }
        for path in ["/boot/vmlinuz-6.12", "vmlinuz", "6", "6.", ".12", "6.12.3", "6.12-", "6.12-rt-rt", "", "rt-"] {
            assert_eq!(package(path), None, "{path}");
        }
        assert!(name("6.12-rt").is_ok() && name("bzImage").is_err());
    }

    #[test]
    fn a_release_has_a_version() {
        let has = |version, release| Debian { version: Some(version), is_rt: false }.has(release);
        assert!(has("6.12", "6.12.107+deb12-amd64") && has("6.12", "6.12-amd64"));
        assert!(!has("6.1", "6.12.107+deb12-amd64") && !has("6.12", "6.1.0-50-amd64"));
    }
}
