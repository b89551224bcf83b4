//! One package: what Debian is told of it, and its archive.

use crate::file;
use crate::repository::Repository;
use crate::tool;
use anyhow::{Context as _, Result};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What a package is filled with.
#[derive(Clone, Copy)]
pub enum Contents {
    System,
    Module,
    Library,
    Documents,
}

/// A package.
pub struct Package {
    pub name: &'static str,
    pub contents: Contents,
    architecture: &'static str,
    section: &'static str,
    /// Other fields of the control file; `@LIBC@` is the C library that it was built with.
    fields: &'static str,
    summary: &'static str,
    description: &'static str,
}

/// All packages.
pub const ALL: [&Package; 4] = [
    &Package {
        name: "pillion",
        contents: Contents::System,
        architecture: "amd64",
        section: "kernel",
        fields: "Depends: libc6 (>= @LIBC@), grub-pc | grub-efi-amd64 | grub-common\n\
            Recommends: pillion-dkms (= @VERSION@)\nSuggests: pillion-doc\n",
        summary: "real-time microhypervisor with Debian as its passenger",
        description: "Hard real-time tasks run in address spaces of their own and never wait for\n\
            Linux, which rides beside them, unchanged, as the lowest-priority guest.\n\
            Threads of ordinary processes can become real-time threads. GRUB gets an\n\
            entry for each kernel of Debian; the entries without Pillion stay.",
    },
    &Package {
        name: "pillion-dkms",
        contents: Contents::Module,
        architecture: "all",
        section: "kernel",
        fields: "Depends: dkms\nRecommends: linux-headers-amd64\n",
        summary: "Linux's side of the channels to Pillion's tasks (DKMS)",
        description: "The kernel module pillion, built for each installed kernel: FIFOs, shared\n\
            memory, the command pillion, and threads in primary mode.",
    },
    &Package {
        name: "libpillion-dev",
        contents: Contents::Library,
        architecture: "amd64",
        section: "libdevel",
        fields: "Depends: libc6-dev\nSuggests: pillion-doc\n",
        summary: "library and headers for Linux programs beside Pillion's tasks",
        description: "RTLinux's interface for processes (FIFOs, shared memory, real-time signals)\n\
            and Pillion's own.",
    },
    &Package {
        name: "pillion-doc",
        contents: Contents::Documents,
        architecture: "all",
        section: "doc",
        fields: "",
        summary: "documentation of Pillion, a real-time microhypervisor",
        description: "Interfaces, guarantees, measurements, decisions.",
    },
];

impl Package {
    /// Packs a tree into a file in a folder, and returns its path. The bytes depend on the contents
    /// only, and on when the last change was committed.
    pub fn pack(&self, repository: &Repository, tree: &Path, folder: &Path) -> Result<PathBuf> {
        let epoch = last_change(repository);
        self.add_papers(repository, tree, &epoch)?;
        shrink(tree)?;
        let folders = modes(tree)?;
        let control = tree.join("DEBIAN");
        fs::create_dir_all(&control)?;
        self.add_scripts(repository, &control)?;
        let settings: String =
            file::below(&tree.join("etc")).unwrap_or_default().iter().fold(String::new(), |mut all, path| {
                let _ = writeln!(all, "/etc/{}", path.display());
                all
            });
        if !settings.is_empty() {
            fs::write(control.join("conffiles"), settings)?;
        }
        fs::write(control.join("md5sums"), sums(tree)?)?;
        fs::write(control.join("control"), self.control(folders)?)?;
        modes(&control)?;
        let made = folder.join(format!("{}_{VERSION}_{}.deb", self.name, self.architecture));
        let mut deb = Command::new("dpkg-deb");
        deb.env("SOURCE_DATE_EPOCH", &epoch).args(["--root-owner-group", "--build", "-Zxz"]);
        tool::quietly(deb.arg(tree).arg(&made))?;
        Ok(made)
    }

    /// Copyright and changes.
    fn add_papers(&self, repository: &Repository, tree: &Path, epoch: &str) -> Result<()> {
        let papers = tree.join("usr/share/doc").join(self.name);
        fs::create_dir_all(&papers)?;
        let mit = file::read_text(&repository.path("LICENSE-MIT"))?;
        let mit = mit.lines().map(|line| if line.is_empty() { " .".into() } else { format!(" {line}") });
        let copyright = file::read_text(&repository.path("packages/copyright"))?;
        fs::write(papers.join("copyright"), copyright.replace("@MIT@", &mit.collect::<Vec<_>>().join("\n")))?;
        let date = tool::capture(Command::new("date").args(["-u", "-R", "-d"]).arg(format!("@{epoch}")))?;
        let changes = format!(
            "pillion ({VERSION}) unstable; urgency=medium\n\n  * See CHANGES.md in the package pillion-doc.\n\n \
             -- {MAINTAINER}  {}\n",
            date.trim()
        );
        let path = papers.join("changelog");
        fs::write(&path, changes)?;
        tool::quietly(Command::new("gzip").arg("-9n").arg(&path))?;
        Ok(())
    }

    /// What Debian runs when the package comes and goes.
    fn add_scripts(&self, repository: &Repository, control: &Path) -> Result<()> {
        for script in ["postinst", "prerm", "postrm"] {
            let path = repository.path("packages").join(self.name).join(script);
            if path.is_file() {
                let text = file::read_text(&path)?.replace("@VERSION@", VERSION);
                file::write_program(&control.join(script), text.as_bytes())?;
            }
        }
        Ok(())
    }

    fn control(&self, kib: u64) -> Result<String> {
        let Package { name, architecture, section, summary, .. } = self;
        let libc = match self.fields.contains("@LIBC@") {
            true => tool::capture(Command::new("dpkg-query").args(["-W", "-f=${source:Upstream-Version}", "libc6"]))?,
            false => String::new(),
        };
        let fields = self.fields.replace("@LIBC@", libc.trim()).replace("@VERSION@", VERSION);
        let description: String = self.description.lines().map(|line| format!(" {}\n", line.trim())).collect();
        Ok(format!(
            "Package: {name}\nVersion: {VERSION}\nArchitecture: {architecture}\nMaintainer: {MAINTAINER}\n\
             Installed-Size: {kib}\nSection: {section}\nPriority: optional\n{fields}Description: {summary}\n{description}"
        ))
    }
}

const MAINTAINER: &str = "The Pillion authors <maintainers@pillion.example>";

/// When the last change was committed, in seconds since 1970; without git, the first of them.
fn last_change(repository: &Repository) -> String {
    let mut git = Command::new("git");
    git.arg("-C").arg(repository.root()).args(["log", "-1", "--format=%ct"]);
    tool::capture(&mut git)
        .ok()
        .map(|said| said.trim().to_owned())
        .filter(|said| !said.is_empty())
        .unwrap_or("1".into())
}

/// Leaves out what programs do not need, and packs manual pages.
fn shrink(tree: &Path) -> Result<()> {
    for path in file::all(tree)? {
        if path.parent().is_some_and(|folder| folder.ends_with("usr/bin")) || path.ends_with("boot/pillion/kernel") {
            tool::quietly(Command::new("strip").args(["--strip-all", "-R.comment"]).arg(&path))?;
        } else if path.components().any(|part| part.as_os_str() == "man") {
            tool::quietly(Command::new("gzip").arg("-9n").arg(&path))?;
        } else if path.extension().is_some_and(|ending| ending == "a") {
            tool::quietly(Command::new("strip").args(["--strip-debug", "-D"]).arg(&path))?;
        }
    }
    Ok(())
}

/// Sets a file's mode.
pub fn mode(path: &Path, mode: u32) -> Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
        .with_context(|| format!("{}: its mode cannot be set", path.display()))
}

/// Gives all files and folders the modes that they have in packages, whatever the user's mask.
/// Returns their size in KiB, as Debian counts.
fn modes(tree: &Path) -> Result<u64> {
    let (mut kib, mut folders) = (0, BTreeSet::from([tree.to_owned()]));
    for path in file::all(tree)? {
        folders.extend(path.ancestors().skip(1).take_while(|above| above.starts_with(tree)).map(Path::to_owned));
        let meta = fs::symlink_metadata(&path)?;
        kib += meta.len().div_ceil(1024);
        if !meta.is_symlink() {
            let runs = meta.permissions().mode() & 0o100 != 0;
            mode(&path, if runs { 0o755 } else { 0o644 })?;
        }
    }
    for folder in &folders {
        mode(folder, 0o755)?;
    }
    Ok(kib + folders.len() as u64)
}

/// The sums by which `dpkg --verify` finds what has changed.
fn sums(tree: &Path) -> Result<String> {
    let paths = file::below(tree)?.into_iter().filter(|path| {
        let is_file = fs::symlink_metadata(tree.join(path)).is_ok_and(|meta| meta.is_file());
        is_file && !path.starts_with("DEBIAN") && !path.starts_with("etc")
    });
    tool::capture(Command::new("md5sum").current_dir(tree).args(paths))
}
