//! Compiles a text with the headers that programs get; produces no object.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::LazyLock,
};

/// Headers of the C library.
pub const LIBC_HEADERS: &str = "/usr/include/x86_64-linux-musl";
/// A compiler, its language, and the standard.
pub type Language = (&'static str, &'static str, &'static str);
/// The C that RTLinux's programs were written in.
pub const OLD_C: Language = ("gcc", "c", "gnu89");

/// The folders of the headers for tasks, and of those for programs in Linux as well, each with the
/// headers made from its table.
pub fn headers() -> &'static [PathBuf] {
    static HEADERS: LazyLock<Vec<PathBuf>> =
        LazyLock::new(|| ["include", "shared"].into_iter().flat_map(with_made).collect());
    &HEADERS
}

fn with_made(folder: &str) -> [PathBuf; 2] {
    let made = Path::new(env!("CARGO_TARGET_TMPDIR")).join(env!("CARGO_CRATE_NAME")).join(folder);
    drop(fs::remove_dir_all(&made));
    let mut maker = Command::new("sh");
    maker.arg(rt("shared/forward.sh")).arg(rt(folder).join("forwards.txt")).arg(&made);
    assert!(maker.status().unwrap().success());
    [rt(folder), made]
}

/// A path in `rt/`.
pub fn rt(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name)
}

/// Result of compiling a text; no object is produced.
pub fn run(text: &str, language: Language, arguments: &[&str]) -> Output {
    let own = Command::new("gcc").arg("-print-file-name=include").output().expect("gcc is there");
    let own = String::from_utf8(own.stdout).unwrap();
    let module =
        ["-nostdinc", "-D__KERNEL__", "-DMODULE", "-D__RTL__", "-isystem", LIBC_HEADERS, "-isystem", own.trim()];
    let ours: Vec<&str> = headers().iter().flat_map(|folder| ["-I", folder.to_str().unwrap()]).collect();
    run_as_is(text, language, &[&ours, &module[..], arguments].concat())
}

/// As [`run`], with these arguments only.
pub fn run_as_is(text: &str, (compiler, language, standard): Language, arguments: &[&str]) -> Output {
    let mut command = Command::new(compiler);
    command.env("LC_ALL", "C").args(arguments).arg(format!("-std={standard}")).args(["-x", language, "-"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it is there");
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}
