//! Writes the archive with everything that boots.

use anyhow::{Result, ensure};
use pillion_abi::PAGE;
use pillion_abi::bundle::{Entry, Header, MAGIC};

/// Files in the order in which they are packed.
#[derive(Default)]
pub struct Bundle {
    files: Vec<(String, Vec<u8>)>,
}

impl Bundle {
    /// Adds a file.
    pub fn add(&mut self, name: &str, data: Vec<u8>) -> Result<()> {
        ensure!(name.len() < 48, "the name {name} is too long for a bundle");
        ensure!(self.files.iter().all(|(other, _)| other != name), "{name} is in the bundle twice");
        self.files.push((name.to_owned(), data));
        Ok(())
    }

    /// The bytes of the archive.
    pub fn bytes(&self) -> Vec<u8> {
        let head = size_of::<Header>() + self.files.len() * size_of::<Entry>();
        let mut out = Vec::with_capacity(head);
        out.extend_from_slice(&MAGIC);
        out.extend_from_slice(&(self.files.len() as u32).to_le_bytes());
        out.extend_from_slice(&[0; 4]);
        let mut offset = head.next_multiple_of(PAGE as usize);
        for (name, data) in &self.files {
            out.extend_from_slice(&padded(name));
            out.extend_from_slice(&(offset as u64).to_le_bytes());
            out.extend_from_slice(&(data.len() as u64).to_le_bytes());
            offset = (offset + data.len()).next_multiple_of(PAGE as usize);
        }
        for (_, data) in &self.files {
            out.resize(out.len().next_multiple_of(PAGE as usize), 0);
            out.extend_from_slice(data);
        }
        out.resize(out.len().next_multiple_of(PAGE as usize), 0);
        out
    }
}

fn padded(name: &str) -> [u8; 48] {
    let mut field = [0; 48];
    field[..name.len()].copy_from_slice(name.as_bytes());
    field
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_lie_on_page_boundaries() {
        let mut bundle = Bundle::default();
        bundle.add("resmgr", vec![1; 5000]).unwrap();
        bundle.add("vmm", vec![2; 10]).unwrap();
        assert!(bundle.add("vmm", vec![]).is_err());
        let bytes = bundle.bytes();
        assert_eq!(&bytes[..12], b"PILLION1\x02\0\0\0");
        assert_eq!(&bytes[16..23], b"resmgr\0");
        let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        assert_eq!((number(64), number(72)), (4096, 5000));
        assert_eq!((number(128), number(136)), (12288, 10));
        assert_eq!((bytes[4096], bytes[12288], bytes.len()), (1, 2, 16384));
    }
}
