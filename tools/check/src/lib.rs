//! What is said about a system file, here and by the tool that builds systems.
#![forbid(unsafe_code)]

use anyhow::{Error, Result, ensure};
use pillion_abi::bundle::{Entry, Header, MAGIC};
use pillion_host::problem::problems;
use pillion_system::Problem;
use std::path::Path;

/// The error for a file that is refused: each finding with its line and its remedy.
#[must_use]
pub fn refused(path: &Path, found: &[Problem]) -> Error {
    let reasons = found.iter().map(|wrong| (format!("line {}: {}", wrong.line, wrong.message), &wrong.remedy));
    problems(format!("{} is refused", path.display()), reasons)
}

/// Names of the files in a bundle. An error if the bytes are no bundle.
pub fn names(bundle: &[u8]) -> Result<Vec<String>> {
    const NAME: usize = size_of::<Entry>() - 2 * size_of::<u64>();
    let count =
        bundle.get(MAGIC.len()..MAGIC.len() + 4).and_then(|bytes| Some(u32::from_le_bytes(bytes.try_into().ok()?)));
    ensure!(bundle.starts_with(&MAGIC), "it is no bundle");
    let entries = bundle.get(size_of::<Header>()..).unwrap_or(&[]).chunks_exact(size_of::<Entry>());
    let entries = entries.take(count.unwrap_or(0) as usize);
    let name =
        |entry: &[u8]| entry[..NAME].split(|byte| *byte == 0).next().map(String::from_utf8_lossy).map(Into::into);
    Ok(entries.filter_map(name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_finding_has_its_remedy() {
        let text = "[system]\nname='s s'\n[[task]]\nname='a'\npriority=1\n";
        let error = refused(Path::new("s.toml"), &pillion_system::parse(text).unwrap_err()).to_string();
        let lines: Vec<&str> = error.lines().map(str::trim_start).collect();
        assert_eq!(lines.len(), 5, "{error}");
        assert!(lines[0] == "s.toml is refused" && lines[1].starts_with("why: line 2: "), "{error}");
        assert!(lines[2].starts_with("do:  use 1 to 31") && lines[3].starts_with("why: line 5: "), "{error}");
        assert!(lines[4].starts_with("do:  give a number"), "{error}");
    }

    #[test]
    fn a_damaged_bundle_is_survived() {
        let mut bundle = [MAGIC.as_slice(), &[2, 0, 0, 0, 0, 0, 0, 0], &[0; 128]].concat();
        bundle[16..19].copy_from_slice(b"vmm");
        bundle[80..84].copy_from_slice(b"demo");
        assert_eq!(names(&bundle).unwrap(), ["vmm", "demo"]);
        assert_eq!(names(&bundle[..100]).unwrap(), ["vmm"]);
        bundle[8..12].fill(0xff);
        assert_eq!(names(&bundle).unwrap().len(), 2);
        assert!(names(&bundle[..10]).unwrap().is_empty());
        assert!(names(b"PILLION").is_err() && names(&[]).is_err());
    }
}
