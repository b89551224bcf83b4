//! Tests that need a process of their own: children of a program with a single thread.

use std::process::{Command, Output};

fn measure(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pillion-measure")).args(arguments).output().unwrap()
}

#[test]
fn each_load_counts_what_it_does() {
    for load in ["flood", "coverage", "compile-like"] {
        let output = measure(&["load", load, "--seconds", "0"]);
        assert!(output.status.success(), "{load}: {}", String::from_utf8_lossy(&output.stderr));
        let said = String::from_utf8(output.stdout).unwrap();
        let count: u64 = said.split(' ').next().unwrap().parse().unwrap();
        assert!(count > 0, "{load}: {said}");
    }
}

/// The measured command ends when the load beside it, which writes its process ID, is a zombie: it
/// has failed, and was not waited for yet.
#[test]
fn a_load_that_fails_is_told_and_makes_the_run_invalid() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("load").display().to_string();
    let beside = format!("echo $PPID >{file}; echo reason >&2; exit 3");
    let until = format!(
        "until [ -s {file} ]; do sleep 0.01; done; until grep -q 'State:.Z' /proc/$(cat {file})/status; do sleep 0.01; done"
    );
    let run = ["run", "command", "--instrument", "counted", "--times", "1", "--beside", &beside];
    let output = measure(&[&run[..], &["--", "/bin/sh", "-c", &until]].concat());
    let [said, complained] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    assert!(!output.status.success());
    assert!(said.contains("invalid the load beside ended: echo"), "{said}{complained}");
    assert!(complained.contains("in a child: ") && complained.contains("reason"), "{complained}");
}
