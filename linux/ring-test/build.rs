// SPDX-License-Identifier: GPL-2.0-only
//! Compiles the C side.

use std::path::Path;
use std::process::Command;

fn main() {
    let folder = std::env::var("OUT_DIR").expect("cargo says where");
    let (object, library) = (Path::new(&folder).join("ring.o"), Path::new(&folder).join("libring.a"));
    let mut compile = Command::new("cc");
    compile.args(["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Wno-sign-compare", "-Werror", "-c", "src/ring.c", "-o"]);
    run(compile.arg(&object));
    run(Command::new("ar").arg("crs").arg(&library).arg(&object));
    println!("cargo::rustc-link-search={folder}");
    println!("cargo::rustc-link-lib=static=ring");
    println!("cargo::rerun-if-changed=src/ring.c");
    println!("cargo::rerun-if-changed=../module/ring.h");
}

fn run(command: &mut Command) {
    let status = command.status().expect("a C compiler, which Rust's linking needs as well");
    assert!(status.success(), "{command:?} failed");
}
