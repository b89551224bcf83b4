//! Tests `./x` itself, before the host tool is built, with a cargo and a df that only report that
//! they were called.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;

fn program(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Between fork and exec, the child of one test holds files open that other tests are writing, and
/// a program that is open for writing cannot be started.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Exit status and messages with that target folder for cargo and `room` as `df`.
fn launch(target: &str, room: &str) -> (Option<i32>, String) {
    let _turn = ONE_AT_A_TIME.lock();
    let folder = tempfile::tempdir().unwrap();
    let clone = folder.path().join("a clone");
    fs::create_dir(&clone).unwrap();
    fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/../../x"), clone.join("x")).unwrap();
    for (name, text) in [("cargo", "echo cargo ran >&2; exit 1"), ("cc", ""), ("df", room)] {
        program(folder.path(), name, text);
    }
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let target = if target.is_empty() { clone.join("target") } else { target.into() };
    let output = Command::new(clone.join("x")).env("PATH", path).env("CARGO_TARGET_DIR", target).output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

const ROOM: &str = "printf 'Avail\\n 9000M\\n'";

#[test]
fn what_cannot_be_written_is_told_before_cargo_runs() {
    let (status, said) = launch("/proc/sys", ROOM);
    assert!(status == Some(2) && said.contains("/proc/sys cannot be written to") && said.contains("chown"), "{said}");
    assert!(!said.contains("cargo ran"), "{said}");
}

#[test]
fn so_is_a_full_disk() {
    let (status, said) = launch("", "printf 'Avail\\n 3M\\n'");
    assert!(status == Some(2) && said.contains("too little room") && said.contains("3 MiB are free"), "{said}");
    assert!(!said.contains("cargo ran"), "{said}");
}

#[test]
fn else_cargo_builds_also_at_a_path_with_a_space() {
    let (status, said) = launch("", ROOM);
    assert!(status == Some(2) && said.contains("cargo ran") && !said.contains("room"), "{said}");
}
