//! Links the task at its fixed address.

fn main() {
    println!("cargo:rerun-if-changed=../../../user/task.ld");
    println!("cargo:rustc-link-arg-bins=-T{}/../../../user/task.ld", env!("CARGO_MANIFEST_DIR"));
}
