//! Links the guest at the address that its boot header prefers.

fn main() {
    println!("cargo:rerun-if-changed=guest.ld");
    println!("cargo:rustc-link-arg-bins=-T{}/guest.ld", env!("CARGO_MANIFEST_DIR"));
}
