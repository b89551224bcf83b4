//! What is known of a machine, as files: in memory, and in a folder.

use anyhow::{Context as _, Result, ensure};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Names of the files. Each has a line in [`README`].
pub mod name {
    #![allow(missing_docs, reason = "`README` says what is in them")]
    pub const CPUID: &str = "cpuid";
    pub const REGISTERS: &str = "msr";
    pub const TABLES: &str = "acpi";
    pub const TABLE_NAMES: &str = "acpi-names";
    pub const MEMORY: &str = "memmap";
    pub const ADDRESSES: &str = "iomem";
    pub const UARTS: &str = "uarts";
    pub const FUNCTIONS: &str = "pci";
    pub const FIRMWARE: &str = "firmware";
    pub const STOLEN: &str = "smi";
    pub const NOT_READ: &str = "not-read";
    pub const README: &str = "README";
    pub const ALL: [&str; 12] = [
        CPUID,
        REGISTERS,
        TABLES,
        TABLE_NAMES,
        MEMORY,
        ADDRESSES,
        UARTS,
        FUNCTIONS,
        FIRMWARE,
        STOLEN,
        NOT_READ,
        README,
    ];
}

/// What a dumped folder says of itself.
pub const README: &str = "\
What pillion-hw found on a machine, to be attached to a report. It has no
serial number, host name, user name, or address of a network card.

cpuid       the CPUID leaves of one processor, but the one with a serial number
msr         some model-specific registers: what virtualisation is offered
acpi/       ACPI tables that Pillion looks at; no DSDT or SSDT, and none that
            can contain a key of a licence (MSDM, SLIC)
acpi-names  the names of all ACPI tables
memmap      the firmware's map of memory
iomem       which addresses Linux found in use, without where its kernel is
uarts       serial ports: first port, and Linux's number for the kind
pci         PCI functions: address, vendor and device, class, header
firmware    how Linux was booted; whether KVM is in use
smi         time that was stolen from a processor in a second
not-read    what could not be read, and why
";

/// Longest file that is read.
const LONGEST: u64 = 4 << 20;
/// Most files that are read, and most bytes of them together.
const MOST: usize = 1024;
const MOST_BYTES: usize = 64 << 20;

/// Files by their names; tables of ACPI have `acpi/` before theirs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files(BTreeMap<String, Vec<u8>>);

impl Files {
    /// Adds a file, or replaces it.
    pub fn put(&mut self, name: impl Into<String>, contents: impl Into<Vec<u8>>) {
        self.0.insert(name.into(), contents.into());
    }

    /// Adds a line to a file.
    pub fn say(&mut self, name: &str, line: &str) {
        let text = self.0.entry(name.into()).or_default();
        text.extend(line.bytes().chain([b'\n']));
    }

    /// The files' names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// A file.
    #[must_use]
    pub fn bytes(&self, name: &str) -> Option<&[u8]> {
        self.0.get(name).map(Vec::as_slice)
    }

    /// A file as text.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<Cow<'_, str>> {
        self.bytes(name).map(String::from_utf8_lossy)
    }

    /// A file, or why it is not there.
    pub fn need(&self, name: &str) -> Result<Cow<'_, str>, String> {
        self.text(name).ok_or_else(|| self.why_not(name))
    }

    /// Why something could not be read.
    #[must_use]
    pub fn why_not(&self, name: &str) -> String {
        let said = self.text(name::NOT_READ).unwrap_or_default();
        let reason = |line: &str| Some(line.strip_prefix(name)?.strip_prefix(": ")?.to_owned());
        said.lines().find_map(reason).unwrap_or_else(|| format!("there is no file {name}"))
    }

    /// The files with ACPI tables: those in their folder, and any with a name that is not one of
    /// [`name::ALL`], as other programs that dump tables leave them.
    pub fn tables(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let table = |name: &'_ str| name.strip_prefix("acpi/").is_some() || !name::ALL.contains(&name);
        self.0.iter().filter(move |(name, _)| table(name)).map(|(name, bytes)| (name.as_str(), bytes.as_slice()))
    }

    fn size(&self) -> usize {
        self.0.values().map(Vec::len).sum()
    }

    /// Reads a folder, and the folder `acpi` in it. Fails if it cannot be read.
    pub fn read(folder: &Path) -> Result<Files> {
        let mut files = Files::default();
        files.add_folder(folder, "")?;
        let tables = folder.join(name::TABLES);
        if tables.is_dir() {
            files.add_folder(&tables, "acpi/")?;
        }
        ensure!(!files.0.is_empty(), "{} has no files", folder.display());
        Ok(files)
    }

    fn add_folder(&mut self, folder: &Path, before: &str) -> Result<()> {
        let entries = fs::read_dir(folder).with_context(|| format!("{} cannot be read", folder.display()))?;
        for entry in entries.take(MOST) {
            let path = entry?.path();
            // A pipe would hold the program, and a device might never end.
            let is_short = fs::metadata(&path).is_ok_and(|data| data.is_file() && data.len() <= LONGEST);
            if let Some(name) = path.file_name().filter(|_| is_short) {
                ensure!(self.size() < MOST_BYTES, "{} has too much in it", folder.display());
                let contents = fs::read(&path).with_context(|| format!("{} cannot be read", path.display()))?;
                self.put(format!("{before}{}", name.to_string_lossy()), contents);
            }
        }
        Ok(())
    }

    /// Writes a folder, which must be new or empty. Fails if it cannot be written.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let is_new = fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none());
        ensure!(is_new, "{} is not empty: name a new folder", folder.display());
        let mut files = self.clone();
        files.put(name::README, README);
        fs::create_dir_all(folder.join(name::TABLES))
            .with_context(|| format!("{} cannot be made", folder.display()))?;
        for (name, contents) in &files.0 {
            let path = folder.join(name);
            fs::write(&path, contents).with_context(|| format!("{} cannot be written", path.display()))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("new");
        let mut files = Files::default();
        files.say(name::FIRMWARE, "boot bios");
        files.put("acpi/APIC", [1, 2, 3]);
        files.write(&to).unwrap();
        let mut read = Files::read(&to).unwrap();
        assert!(read.text(name::README).unwrap().contains("no\nserial number"));
        assert!(files.write(&to).is_err(), "it is not empty");
        read.0.remove(name::README);
        assert_eq!(read, files);
        assert!(Files::read(folder.path()).is_err(), "nothing in it but a folder");
    }

    #[test]
    fn tables_of_other_programs_are_found() {
        let mut files = Files::default();
        for file in ["acpi/APIC", "apic.dat", "pci", "cpuid"] {
            files.put(file, []);
        }
        assert!(files.tables().map(|(name, _)| name).eq(["acpi/APIC", "apic.dat"]));
        assert_eq!(files.why_not("msr"), "there is no file msr");
        files.say(name::NOT_READ, "msr: only root may");
        assert_eq!(files.why_not("msr"), "only root may");
    }

    #[test]
    fn every_file_is_explained() {
        let told = |name: &&str| README.lines().any(|line| line.split([' ', '/']).next() == Some(name));
        assert!(name::ALL.iter().filter(|name| **name != name::README).all(told));
    }
}
