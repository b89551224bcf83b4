//! Checks whether a file is a Linux kernel that can be booted.

use crate::problem::problem;
use anyhow::Result;
use std::path::Path;

const BOOT_FLAG: usize = 0x1fe;
const MAGIC: usize = 0x202;
const VERSION: usize = 0x206;
const RELEASE: usize = 0x20e;
const LOAD_FLAGS: usize = 0x211;
const X_LOAD_FLAGS: usize = 0x236;
/// Boot protocol of Linux 3.8: the first with the 64-bit entry point.
const OLDEST: u16 = 0x20c;

/// What `uname -r` will report of a kernel image; refuses any other file.
pub fn release(path: &Path) -> Result<String> {
    let remedy = "name a bzImage, such as /boot/vmlinuz-* of a Debian system";
    let data =
        std::fs::read(path).map_err(|error| problem(format!("{} cannot be read", path.display()), error, remedy))?;
    parse(&data).map_err(|why| problem(format!("{} is not a bzImage for x86-64", path.display()), why, remedy))
}

fn parse(data: &[u8]) -> Result<String, String> {
    if data.len() < 0x1000 || word(data, BOOT_FLAG) != 0xaa55 || &data[MAGIC..MAGIC + 4] != b"HdrS" {
        return Err("it has no Linux boot header".into());
    }
    let version = word(data, VERSION);
    if version < OLDEST {
        return Err(format!("its boot protocol {}.{} is older than 2.12", version >> 8, version & 0xff));
    }
    if data[LOAD_FLAGS] & 1 == 0 || word(data, X_LOAD_FLAGS) & 1 == 0 {
        return Err("it is not a relocatable 64-bit kernel that loads high".into());
    }
    stated(data).ok_or_else(|| "it does not state its release".into())
}

fn stated(data: &[u8]) -> Option<String> {
    let start = 0x200 + usize::from(word(data, RELEASE));
    let end = start + data.get(start..)?.iter().position(|byte| matches!(byte, 0 | b' '))?;
    let text = std::str::from_utf8(&data[start..end]).ok()?;
    Some(text.to_owned()).filter(|text| !text.is_empty())
}

fn word(data: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([data[at], data[at + 1]])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image() -> Vec<u8> {
        let mut data = vec![0; 0x2000];
        data[BOOT_FLAG..BOOT_FLAG + 2].copy_from_slice(&[0x55, 0xaa]);
        data[MAGIC..MAGIC + 4].copy_from_slice(b"HdrS");
        data[VERSION..VERSION + 2].copy_from_slice(&[0x0f, 2]);
        data[RELEASE..RELEASE + 2].copy_from_slice(&[0, 4]);
        data[LOAD_FLAGS] = 1;
        data[X_LOAD_FLAGS] = 1;
        data[0x600..0x60a].copy_from_slice(b"6.1.0-9 (x");
        data
    }

    #[test]
    fn takes_a_kernel_and_tells_its_release() {
        assert_eq!(parse(&image()), Ok("6.1.0-9".into()));
    }

    #[test]
    fn refuses_what_is_no_kernel() {
        assert!(parse(b"#!/bin/sh").is_err());
        for (at, value) in [(MAGIC, 0), (VERSION, 4), (LOAD_FLAGS, 0), (X_LOAD_FLAGS, 0), (RELEASE + 1, 0xff)] {
            let mut data = image();
            data[at] = value;
            assert!(parse(&data).is_err(), "{at:#x}");
        }
    }
}
