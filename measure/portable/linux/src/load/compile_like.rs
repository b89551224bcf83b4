//! Asks the same of Linux as a compile does: short-lived processes that read, compute and write
//! through pipes and files, then a long one over all of it.

use super::Piece;
use crate::process::{Child, child};
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, PipeReader, PipeWriter, Write, pipe};
use std::path::{Path, PathBuf};

/// Source files of a piece, and functions in each.
const FILES: u32 = 6;
const FUNCTIONS: u32 = 200;

/// Makes a folder; each piece compiles all files and links them.
pub fn prepare() -> Result<Piece> {
    let folder = Folder::new()?;
    Ok(Box::new(move || {
        (0..FILES).try_for_each(|file| compile(&folder.0, file))?;
        child(|| link(&folder.0))?.wait()?;
        Ok(u64::from(FILES))
    }))
}

/// A folder that is removed with its contents when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Folder> {
        let path = std::env::temp_dir().join(format!("pillion-measure-compile-{}", std::process::id()));
        fs::create_dir_all(&path).with_context(|| path.display().to_string())?;
        Ok(Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Compiles a source file: three processes joined by pipes turn it into an object file.
fn compile(folder: &Path, file: u32) -> Result<()> {
    let (source, to_source) = pipe()?;
    let (words, to_words) = pipe()?;
    let object = folder.join(format!("{file}.o"));
    let stages: [Child; 3] = [
        child(|| generate(&to_source, file))?,
        child(|| split(&source, &to_words))?,
        child(|| count(&words, &object))?,
    ];
    drop((source, to_source, words, to_words));
    stages.into_iter().try_for_each(Child::wait)
}

/// Writes the text of a source file, line by line, and an empty line at its end.
fn generate(output: &PipeWriter, file: u32) -> Result<()> {
    let mut output = BufWriter::new(output);
    for number in 0..FUNCTIONS {
        writeln!(output, "int f{number} ( int x ) {{ return x * {} + {number} ; }}", number * (file + 1) % 997)?;
    }
    writeln!(output)?;
    Ok(output.flush()?)
}

/// Splits the text into words, one a line.
fn split(input: &PipeReader, output: &PipeWriter) -> Result<()> {
    let mut output = BufWriter::new(output);
    for line in BufReader::new(input).lines() {
        let line = line?;
        if line.is_empty() {
            break;
        }
        line.split_whitespace().try_for_each(|word| writeln!(output, "{word}"))?;
    }
    writeln!(output)?;
    Ok(output.flush()?)
}

/// Counts how often each word occurs.
fn count(input: &PipeReader, object: &Path) -> Result<()> {
    let mut words: BTreeMap<String, u64> = BTreeMap::new();
    for word in BufReader::new(input).lines() {
        let word = word?;
        if word.is_empty() {
            break;
        }
        *words.entry(word).or_default() += 1;
    }
    let mut output = BufWriter::new(File::create(object)?);
    words.iter().try_for_each(|(word, count)| writeln!(output, "{count} {word}"))?;
    Ok(output.flush()?)
}

/// Reads all object files, and writes them as one with a checksum.
fn link(folder: &Path) -> Result<()> {
    let objects = (0..FILES).map(|file| fs::read(folder.join(format!("{file}.o")))).collect::<Result<Vec<_>, _>>()?;
    let all = objects.concat();
    fs::write(folder.join("all"), &all)?;
    fs::write(folder.join("sum"), format!("{:016x}\n", sum(&all)))?;
    Ok(())
}

/// The FNV-1a hash.
fn sum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_fnv_1a() {
        assert_eq!((sum(b""), sum(b"a")), (0xcbf2_9ce4_8422_2325, 0xaf63_dc4c_8601_ec8c));
    }

    #[test]
    fn sources_become_objects_and_one_whole() {
        let folder = tempfile::tempdir().unwrap();
        (0..FILES).for_each(|file| compile(folder.path(), file).unwrap());
        link(folder.path()).unwrap();
        let object = fs::read_to_string(folder.path().join("0.o")).unwrap();
        assert!(object.lines().any(|line| line == "200 return"), "{object}");
        assert!(fs::metadata(folder.path().join("all")).unwrap().len() > 1000);
    }
}
