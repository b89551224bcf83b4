//! Compiles the model's C code, without the part that talks to the emulator.

const PARTS: [&str; 9] =
    ["cache", "tlb", "walk", "modelled_machine", "event", "parameter", "histogram", "span", "tell"];

fn main() {
    let mut build = cc::Build::new();
    build.std("gnu11").warnings_into_errors(true).extra_warnings(true).include("../model").file("src/handle.c");
    for part in PARTS {
        build.file(format!("../model/{part}.c"));
    }
    build.compile("model");
    println!("cargo::rustc-link-lib=m");
    println!("cargo::rerun-if-changed=../model");
    println!("cargo::rerun-if-changed=../../include/measure/bucket.h");
    println!("cargo::rerun-if-changed=src/handle.c");
}
