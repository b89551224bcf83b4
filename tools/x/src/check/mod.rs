//! `x check`: the checks that come before any test.

mod facts;
mod width;

use crate::build::cargo::BARE_PACKAGES;
use crate::build::patched;
use crate::doctor;
use crate::repository::{BARE_TARGET, Repository};
use crate::{headers, tool};
use anyhow::Result;
use std::process::Command;

/// A check of this tool's own.
type Own = fn(&Repository) -> Result<bool>;

/// Runs every check and reports which failed.
pub fn command(repository: &Repository) -> Result<bool> {
    doctor::ensure(repository, false)?;
    let mut failed = Vec::new();
    for (name, mut command) in commands(repository)? {
        eprintln!("x: {name}");
        if !tool::visibly(&mut command)? {
            failed.push(name);
        }
    }
    for (name, holds) in [("generated headers", headers::check as Own), ("claims in documents", facts::check)] {
        eprintln!("x: {name}");
        if !holds(repository)? {
            failed.push(name);
        }
    }
    match failed.as_slice() {
        [] => println!("All checks passed."),
        names => println!("FAILED: {}", names.join(", ")),
    }
    Ok(failed.is_empty())
}

fn commands(repository: &Repository) -> Result<Vec<(&'static str, Command)>> {
    let cargo = |words: &[&str]| {
        let mut command = repository.cargo();
        command.args(words);
        command
    };
    let bare = |words: &[&str]| {
        let mut command = cargo(words);
        command.args(["--target", BARE_TARGET]);
        command.args(BARE_PACKAGES.split(' ').flat_map(|package| ["-p", package]));
        command
    };
    let mut lint_bare = bare(&["clippy", "--quiet"]);
    lint_bare.args(["--", "-D", "warnings"]);
    let mut document_bare = bare(&["doc", "--quiet", "--no-deps"]);
    let mut document_host = cargo(&["doc", "--quiet", "--no-deps", "--document-private-items"]);
    for command in [&mut document_bare, &mut document_host] {
        command.env("RUSTDOCFLAGS", "-D warnings");
    }
    let mut format_alone = Command::new("rustfmt");
    format_alone.args(["--check", "--edition", "2024"]).arg(repository.path("linux/initramfs/note.rs"));
    let mut commands = vec![
        ("format, outside the workspace", format_alone),
        ("format", cargo(&["fmt", "--all", "--check"])),
        ("lints, for the host", cargo(&["clippy", "--quiet", "--all-targets", "--", "-D", "warnings"])),
        ("lints, for the bare machine", lint_bare),
        ("documentation, for the host", document_host),
        ("documentation, for the bare machine", document_bare),
    ];
    for patch in patched::all(repository)? {
        let mut lint = patched::repository(repository, &patch)?.cargo();
        lint.args(["clippy", "--quiet", "--target", BARE_TARGET, "-p", "pillion-kernel", "-p", "pillion-resmgr"]);
        lint.args(["--", "-D", "warnings"]);
        commands.push(("lints, for the kernel of an experiment", lint));
    }
    Ok(commands)
}
