//! The package sources that apt is asked about.

use crate::doctor::install;
use crate::problem::problem;
use crate::progress::step;
use crate::tool;
use anyhow::{Context as _, Result};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Debian's keys, where its package of keys puts them.
const KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// Package sources, as options that apt gets for them.
pub struct Sources {
    options: Vec<String>,
    own: bool,
}

impl Sources {
    /// Those of this machine.
    pub fn of_machine() -> Sources {
        Sources { options: Vec::new(), own: false }
    }

    /// The backports of this machine's release, from the mirror that has its packages. Lists are
    /// kept in `folder`, which this user can write to, so that nothing on the machine changes and
    /// nobody must be root.
    pub fn of_backports(folder: &Path) -> Result<Sources> {
        let suite = super::suite()?;
        let mirror = mirror(&suite)?;
        let [list, lists, cache] = ["sources.list", "lists", "cache"].map(|name| folder.join(name));
        fs::create_dir_all(lists.join("partial")).and_then(|()| fs::create_dir_all(cache.join("archives/partial")))?;
        fs::write(&list, format!("deb [signed-by={KEYS}] {mirror} {suite}-backports main\n"))?;
        let options = [
            format!("Dir::Etc::SourceList={}", list.display()),
            "Dir::Etc::SourceParts=/dev/null".into(),
            format!("Dir::State::Lists={}", lists.display()),
            format!("Dir::Cache={}", cache.display()),
            // Root's apt would fetch as a user who may not write to this folder.
            "APT::Sandbox::User=root".into(),
            format!("APT::Default-Release={suite}-backports"),
        ];
        Ok(Sources { options: options.map(|option| format!("-o{option}")).into(), own: true })
    }

    /// A program of apt's that asks these sources.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.args(&self.options);
        command
    }

    /// Fetches the lists of packages.
    pub fn update(&self) -> Result<()> {
        if !self.own {
            return install::update_lists();
        }
        step("fetching the list of Debian's backports", || {
            tool::quietly(self.command("apt-get").args(["update", "-q"])).map_err(|error| {
                problem("the list of backports could not be fetched", format!("{error:#}"), "check the network")
            })
        })?;
        Ok(())
    }
}

/// Where this machine gets the packages of the release `suite` from.
fn mirror(suite: &str) -> Result<String> {
    let output = tool::output(Command::new("apt-get").args([
        "indextargets",
        "--format",
        "$(REPO_URI)",
        "Created-By: Packages",
        "Component: main",
        &format!("Codename: {suite}"),
    ]))?;
    let text = String::from_utf8(output.stdout).context("a package source has an address that is not UTF-8")?;
    text.lines().next().map(str::to_owned).ok_or_else(|| {
        let why = format!("no package source of this machine has {suite}'s main");
        problem("it is unknown where Debian's packages are", why, "add a source of Debian's to /etc/apt")
    })
}
