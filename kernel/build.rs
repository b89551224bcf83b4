//! Passes the linker script, only if the kernel is built for the bare machine.

fn main() {
    println!("cargo::rerun-if-changed=src/arch/x86_64/kernel.ld");
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("none") {
        return;
    }
    let root = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    println!("cargo::rustc-link-arg-bins=-T{root}/src/arch/x86_64/kernel.ld");
    for argument in ["-static", "-no-pie", "--gc-sections", "-zmax-page-size=4096", "-znognustack", "--build-id=none"] {
        println!("cargo::rustc-link-arg-bins={argument}");
    }
}
