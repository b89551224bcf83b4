//! Compiles a text with the headers that programs get, and makes no object.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

/// Headers of the C library.
pub const LIBC_HEADERS: &str = "/usr/include/x86_64-linux-musl";
/// A compiler, its language, and the standard.
pub type Language = (&'static str, &'static str, &'static str);
/// C as RTLinux's programs were written in.
pub const OLD_C: Language = ("gcc", "c", "gnu89");

/// The headers of tasks, and those of programs in Linux, too.
pub fn headers() -> [PathBuf; 2] {
    ["include", "shared"].map(rt)
}

/// Something of `rt/`.
pub fn rt(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name)
}

/// What came of a text: objects are not made.
pub fn run(text: &str, language: Language, arguments: &[&str]) -> Output {
    let own = Command::new("gcc").arg("-print-file-name=include").output().expect("gcc is there");
    let own = String::from_utf8(own.stdout).unwrap();
    let module =
        ["-nostdinc", "-D__KERNEL__", "-DMODULE", "-D__RTL__", "-isystem", LIBC_HEADERS, "-isystem", own.trim()];
    let [tasks, shared] = headers();
    let ours = ["-I", tasks.to_str().unwrap(), "-I", shared.to_str().unwrap()];
    run_as_is(text, language, &[&ours, &module[..], arguments].concat())
}

/// As [`run`], with the arguments alone.
pub fn run_as_is(text: &str, (compiler, language, standard): Language, arguments: &[&str]) -> Output {
    let mut command = Command::new(compiler);
    command.env("LC_ALL", "C").args(arguments).arg(format!("-std={standard}")).args(["-x", language, "-"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it is there");
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}
