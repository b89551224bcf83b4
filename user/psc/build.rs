//! Links the task at its fixed address.

fn main() {
    println!("cargo:rerun-if-changed=../task.ld");
    println!("cargo:rustc-link-arg-bins=-T{}/../task.ld", env!("CARGO_MANIFEST_DIR"));
    // Without this `.data` and `.bss` become two segments that share a page, and a task image has
    // no such thing.
    println!("cargo:rustc-link-arg-bins=-znorelro");
}
