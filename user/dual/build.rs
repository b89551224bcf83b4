//! Links the task at its fixed address.

fn main() {
    println!("cargo:rerun-if-changed=../task.ld");
    println!("cargo:rustc-link-arg-bins=-T{}/../task.ld", env!("CARGO_MANIFEST_DIR"));
    // Otherwise `.data` and `.bss` become two segments that share a page, which a task image does
    // not allow.
    println!("cargo:rustc-link-arg-bins=-znorelro");
}
