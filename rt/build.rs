//! Compiles the parts of the runtime that are in C: formatted output, and replacements for
//! functions of the C library.

use std::process::Command;

/// Headers of programs: those for tasks alone, and those for programs in Linux, too.
const HEADERS: [&str; 2] = ["include", "shared"];
/// Headers of the C library, as `x build-task` finds them.
const LIBC_HEADERS: &str = "/usr/include/x86_64-linux-musl";

const FLAGS: [&str; 10] = [
    "-std=gnu11",
    "-nostdinc",
    "-fno-pic",
    "-fno-pie",
    "-fno-builtin",
    "-fno-stack-protector",
    "-fno-omit-frame-pointer",
    "-fno-asynchronous-unwind-tables",
    "-fcf-protection=none",
    "-fno-strict-aliasing",
];

fn main() {
    println!("cargo::rerun-if-changed=c");
    let made = HEADERS.map(made);
    let own = cc::Build::new()
        .cargo_metadata(false)
        .inherit_rustflags(false)
        .get_compiler()
        .to_command()
        .arg("-print-file-name=include")
        .output();
    let own = own.ok().and_then(|output| String::from_utf8(output.stdout).ok()).unwrap_or_default();
    let mut build = cc::Build::new();
    build
        .inherit_rustflags(false)
        .opt_level(2)
        .warnings(true)
        .extra_warnings(true)
        .no_default_flags(true)
        .define("__RTL__", None);
    for flag in FLAGS.iter().copied().chain(["-ffunction-sections", "-fdata-sections", "-O2", "-g"]) {
        build.flag(flag);
    }
    let made = made.iter().map(String::as_str);
    for folder in HEADERS.into_iter().chain(made).chain([LIBC_HEADERS, own.trim()]) {
        build.flag("-isystem").flag(folder);
    }
    for source in ["print", "format", "stdio", "libc", "compat", "math", "complex", "text"] {
        build.file(format!("c/{source}.c"));
    }
    build.compile("pillion_rt_c");
}

/// The folder of the headers made from a folder's table.
fn made(folder: &str) -> String {
    println!("cargo::rerun-if-changed={folder}");
    let made = format!("{}/{folder}", std::env::var("OUT_DIR").unwrap_or_default());
    drop(std::fs::remove_dir_all(&made));
    let maker = Command::new("sh").args(["shared/forward.sh", &format!("{folder}/forwards.txt"), &made]).status();
    assert!(maker.is_ok_and(|status| status.success()), "the headers of rt/{folder}/forwards.txt are not made");
    made
}
