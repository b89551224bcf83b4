//! The C headers of the binary interface, generated from the crate that defines the interface.

mod constants;
mod layouts;
mod signature;
mod text;
mod window;

use crate::file::write_whole;
use crate::repository::Repository;
use anyhow::Result;
use text::Header;

/// Generates a header.
type Generator = fn() -> String;

/// The file of each header, and its generator.
const FILES: [(&str, Generator); 2] = [("abi/c/pillion.h", interface), ("abi/c/pillion_channel.h", channel)];

/// `x headers`.
pub fn generate(repository: &Repository) -> Result<bool> {
    for (file, generate) in FILES {
        write_whole(&repository.path(file), generate().as_bytes())?;
        println!("{file}");
    }
    Ok(true)
}

/// Whether the headers are up to date; reports what to do if not.
pub fn check(repository: &Repository) -> Result<bool> {
    let mut good = true;
    for (file, generate) in FILES {
        let there = std::fs::read_to_string(repository.path(file)).unwrap_or_default();
        if there != generate() {
            eprintln!("x: {file} is not up to date with the abi crate; run `./x headers`");
            good = false;
        }
    }
    Ok(good)
}

/// The interface between the kernel and its tasks.
fn interface() -> String {
    let includes = "#include <stddef.h>\n#include <stdint.h>\n";
    let mut out = Header::new("The binary interface of the Pillion microhypervisor", "PILLION_H", includes);
    constants::write(&mut out);
    layouts::write(&mut out);
    out.finish()
}

/// The interface between real-time tasks and Linux. Linux's kernel has the types in headers of its
/// own.
fn channel() -> String {
    let includes = "#ifdef __KERNEL__\n#include <linux/stddef.h>\n#include <linux/types.h>\n#else\n\
                    #include <stddef.h>\n#include <stdint.h>\n#endif\n";
    let about = "What real-time tasks on the Pillion microhypervisor and Linux share";
    let mut out = Header::new(about, "PILLION_CHANNEL_H", includes);
    window::write(&mut out);
    out.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// The compiler evaluates the assertions on sizes and offsets. A program may include both
    /// headers.
    #[test]
    fn a_c_compiler_agrees_with_the_layouts() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("both.c");
        std::fs::write(&file, FILES.map(|(_, generate)| generate()).concat()).unwrap();
        let output = Command::new("cc").args(["-std=c11", "-Wall", "-Werror", "-fsyntax-only"]).arg(&file).output();
        let output = output.expect("a C compiler, which Rust's linking needs as well");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    #[test]
    fn calls_and_errors_have_their_numbers() {
        let text = interface();
        assert!(text.contains("PILLION_CALL_REPLY_RECEIVE = 1,"), "{text}");
        assert!(text.contains("PILLION_ERROR_BAD_CAP = 2,"));
        assert!(text.contains("#define PILLION_PAGE 0x1000"));
    }

    #[test]
    fn a_window_begins_with_its_name() {
        let number = u64::from_le_bytes(*b"PILLCHAN");
        assert!(channel().contains(&format!("#define PILLION_CHANNEL_MAGIC {number:#x}ULL")));
    }

    /// Names of the constants that a source file of the abi crate defines.
    fn constants(file: &str) -> Vec<String> {
        let path = format!("{}/../../abi/src/{file}.rs", env!("CARGO_MANIFEST_DIR"));
        let source = std::fs::read_to_string(path).unwrap();
        let lines = source.lines().filter_map(|line| line.trim().strip_prefix("pub const "));
        let names = lines.filter_map(|line| Some(line.split_once(':')?.0)).filter(|name| !name.contains(' '));
        names.map(str::to_owned).collect()
    }

    /// No constant may be added to the interface and forgotten here. The trace buffer is for the
    /// host tool only, and registers have names in C.
    #[test]
    fn no_constant_is_forgotten() {
        let unnamed = ["ALL", "MAGIC", "ROOT_TASK", "SYSTEM_FILE", "SEGMENTS"];
        let files = ["lib", "boot", "bundle", "call", "object"].map(|file| (file, interface(), &unnamed[..]));
        let mut forgotten = Vec::new();
        let windows = ["channel", "dual"].map(|file| (file, channel(), &[][..]));
        for (file, header, unnamed) in files.into_iter().chain(windows) {
            for name in constants(file).into_iter().filter(|name| !unnamed.contains(&name.as_str())) {
                let there = |line: &str| line.split(' ').nth(1).is_some_and(|defined| defined.ends_with(&name));
                if !header.lines().any(there) {
                    forgotten.push(format!("{name} of {file}.rs"));
                }
            }
        }
        assert!(forgotten.is_empty(), "not in their headers: {}", forgotten.join(", "));
    }

    /// No field may be added to a shared structure and forgotten here.
    #[test]
    fn no_field_of_a_channel_is_forgotten() {
        let source =
            concat!(include_str!("../../../../abi/src/channel.rs"), include_str!("../../../../abi/src/dual.rs"));
        let header = channel();
        let fields = source.lines().filter_map(|line| line.strip_prefix("    pub ")?.split_once(": "));
        let mut seen = 0;
        for (field, _) in fields.filter(|(field, _)| !field.starts_with("const ")) {
            let there = |line: &str| line.contains(&format!(", {field}) == "));
            assert!(header.lines().any(there), "{field} is not in the header");
            seen += 1;
        }
        assert!(seen > 50, "only {seen} fields were found");
    }
}
