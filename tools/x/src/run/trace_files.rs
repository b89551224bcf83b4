//! The kernel's trace, in formats that other tools read.

mod ctf;
mod entries;
mod perfetto;

use crate::file::write_whole;
use crate::problem::problem;
use anyhow::{Context as _, Result};
use std::fs;
use std::path::Path;

/// Writes the entries of these lines into a folder.
pub fn write(folder: &Path, lines: &str) -> Result<()> {
    let entries = entries::read(lines);
    if entries.is_empty() {
        let remedy =
            "let the run end by itself, or by one Ctrl-]: a second one and --timeout leave no time to print it";
        return Err(problem("there is no trace", "the kernel printed none before the run was over", remedy));
    }
    let ctf = folder.join("ctf");
    fs::create_dir_all(&ctf).with_context(|| format!("cannot make {}", ctf.display()))?;
    write_whole(&ctf.join(ctf::METADATA), ctf::metadata().as_bytes())?;
    write_whole(&ctf.join(ctf::STREAM), &ctf::stream(&entries))?;
    write_whole(&folder.join("trace.pftrace"), &perfetto::trace(&entries))?;
    println!("The last {} entries of the trace: {}", entries.len(), folder.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_becomes_files() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "trace 0 100 2 0xec 0x0\ntrace 1 300 4 0x5 0x0\n").unwrap();
        assert!(folder.path().join("trace.pftrace").exists());
        assert!(fs::read_to_string(folder.path().join("ctf/metadata")).unwrap().starts_with("/* CTF 1.8 */"));
        let error = write(folder.path(), "nothing").unwrap_err();
        assert!(error.to_string().contains("no trace"), "{error}");
    }
}
