//! Links the task at its fixed address.

fn main() {
    println!("cargo:rerun-if-changed=../task.ld");
    println!("cargo:rustc-link-arg-bins=-T{}/../task.ld", env!("CARGO_MANIFEST_DIR"));
    // Otherwise `.data` and `.bss` become segments that share a page: no task image may do that.
    println!("cargo:rustc-link-arg-bins=-znorelro");
}
