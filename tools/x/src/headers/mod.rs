//! The C header of the binary interface, generated from the crate that defines it.

mod constants;
mod layouts;
mod text;

use crate::build::bundle::write_whole;
use crate::cli::HeadersArguments;
use crate::repository::Repository;
use anyhow::Result;

const FILE: &str = "abi/c/pillion.h";

/// `x headers`.
pub fn command(repository: &Repository, arguments: &HeadersArguments) -> Result<bool> {
    if arguments.check {
        return check(repository);
    }
    write_whole(&repository.path(FILE), generate().as_bytes())?;
    println!("{FILE}");
    Ok(true)
}

/// Whether the header is in step; says what to do if not.
pub fn check(repository: &Repository) -> Result<bool> {
    let there = std::fs::read_to_string(repository.path(FILE)).unwrap_or_default();
    let good = there == generate();
    if !good {
        eprintln!("x: {FILE} is not in step with the abi crate; run `./x headers`");
    }
    Ok(good)
}

fn generate() -> String {
    let mut out = text::Header::new();
    constants::write(&mut out);
    layouts::write(&mut out);
    out.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// The compiler evaluates the assertions on sizes and offsets.
    #[test]
    fn a_c_compiler_agrees_with_the_layouts() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pillion.h");
        std::fs::write(&file, generate()).unwrap();
        let output =
            Command::new("cc").args(["-std=c11", "-Wall", "-Werror", "-fsyntax-only", "-x", "c"]).arg(&file).output();
        let output = output.expect("a C compiler, which Rust's linking needs as well");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    #[test]
    fn calls_and_errors_have_their_numbers() {
        let text = generate();
        assert!(text.contains("PILLION_CALL_REPLY_RECEIVE = 1,"), "{text}");
        assert!(text.contains("PILLION_ERROR_BAD_CAP = 2,"));
        assert!(text.contains("#define PILLION_PAGE 0x1000"));
    }

    /// A constant that is added to the interface and forgotten here. The trace buffer is for the host tool only, and
    /// registers have names in C.
    #[test]
    fn no_constant_is_forgotten() {
        let header = generate();
        for file in ["lib", "boot", "bundle", "call", "object"] {
            let path = format!("{}/../../abi/src/{file}.rs", env!("CARGO_MANIFEST_DIR"));
            let source = std::fs::read_to_string(path).unwrap();
            let constants = source.lines().filter_map(|line| line.trim().strip_prefix("pub const "));
            let names = constants.filter_map(|line| Some(line.split_once(':')?.0)).filter(|name| !name.contains(' '));
            for name in names.filter(|name| !["ALL", "MAGIC", "ROOT_TASK", "SYSTEM_FILE", "SEGMENTS"].contains(name)) {
                let there = |line: &str| line.split(' ').nth(1).is_some_and(|defined| defined.ends_with(name));
                assert!(header.lines().any(there), "{name} of {file}.rs is not in the header");
            }
        }
    }
}
