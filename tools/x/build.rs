//! The code that packs Linux is an input of the result: `PACKING` changes with its sources, and
//! with Rust's compiler.
#![forbid(unsafe_code)]

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// Folders of the sources that pack Linux.
const FOLDERS: [&str; 2] = ["src/build", "src/debian"];

fn main() {
    let mut hash = DefaultHasher::new();
    for folder in FOLDERS {
        println!("cargo:rerun-if-changed={folder}");
        files(Path::new(folder), &mut hash);
    }
    let compiler = env::var_os("RUSTC").expect("cargo names the compiler");
    Command::new(compiler).arg("-vV").output().expect("the compiler runs").stdout.hash(&mut hash);
    println!("cargo:rustc-env=PACKING={:016x}", hash.finish());
}

fn files(folder: &Path, hash: &mut DefaultHasher) {
    let entries = fs::read_dir(folder).expect("a folder of sources");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry of it").path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            files(&path, hash);
        } else {
            path.hash(hash);
            fs::read(&path).expect("a source").hash(hash);
        }
    }
}
