//! A kernel image and the memory to load it into.

use super::ram::Ram;
use crate::input::Input;
use pillion_abi::boot::Screen;
use pillion_abi::vcpu::State;
use pillion_vmm_devices::boot::{Header, Kind, Linux, Range, load, place};

/// A valid image: boot protocol 2.12, relocatable, 64-bit, preferred at 16 MiB.
fn image() -> Vec<u8> {
    let mut image = vec![0; 1024 + 512];
    let mut put = |at: usize, bytes: &[u8]| image[at..at + bytes.len()].copy_from_slice(bytes);
    put(0x1f1, &[1]);
    put(0x1f4, &32_u32.to_le_bytes());
    put(0x1fe, &[0x55, 0xaa, 0xeb, 0x66]);
    put(0x202, b"HdrS");
    put(0x206, &0x20c_u16.to_le_bytes());
    put(0x211, &[1]);
    put(0x22c, &0x7fff_ffff_u32.to_le_bytes());
    put(0x230, &0x20_0000_u32.to_le_bytes());
    put(0x234, &[1, 21, 1, 0]);
    put(0x238, &2047_u32.to_le_bytes());
    put(0x258, &0x100_0000_u64.to_le_bytes());
    put(0x260, &0x1_0000_u32.to_le_bytes());
    image
}

/// Whatever the header says, everything placed lies in RAM, without overlaps.
pub fn load_any(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let ranges: [Range; 3] = std::array::from_fn(|_| Range {
        base: u64::from(input.u32()) << (input.u8() & 31),
        size: u64::from(input.u32()) << (input.u8() & 31),
        kind: if input.u8() & 3 == 0 { Kind::Reserved } else { Kind::Ram },
    });
    let initrd = u64::from(input.u16());
    let command_line = input.u8();
    let mut image = image();
    while !input.is_empty() {
        let (at, value) = (usize::from(input.u16()) % image.len(), input.array::<4>());
        let end = (at + 1 + usize::from(input.u8() & 3)).min(image.len());
        image[at..end].copy_from_slice(&value[..end - at]);
    }
    if let Ok(header) = Header::parse(&image) {
        assert!(header.protected_mode(&image).len() == header.size);
        if let Ok(plan) = place(&header, &ranges, initrd, command_line.into()) {
            let size = header.init_size.max(header.size as u64);
            let inside = |base: u64, size: u64| {
                let end = base.checked_add(size);
                end.is_some_and(|end| {
                    ranges.iter().any(|r| r.kind == Kind::Ram && base >= r.base && end - r.base <= r.size)
                })
            };
            assert!(inside(plan.kernel, size), "{plan:x?} of {ranges:x?}");
            assert!(initrd == 0 || inside(plan.initrd, initrd), "{plan:x?} of {ranges:x?}");
            assert_eq!(plan.kernel % header.alignment, 0);
        }
    }
    let screen = Screen::default();
    let linux = Linux { image: &image, initrd: &[1; 8], command_line: b"quiet", ranges: &ranges, tables: None, screen };
    let _ = load(&linux, &mut Ram(vec![0; 1 << 16]), &State::default());
}
