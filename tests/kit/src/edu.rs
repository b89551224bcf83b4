//! QEMU's `edu` device, which raises an interrupt on request.

use crate::{Checked, Failure, Kit, done, failure, kit::OWN, pci::Function};
use pillion_abi::{
    boot::{range_kind, slot},
    object::{Kind, map},
};
use pillion_runtime::{Cap, memory_map, memory_part, region_create};

const IDENTITY: u32 = 0x11e8_1234;
const SIZE: u64 = 1 << 20;

/// Slot kept for all tests.
const WHOLE: Cap = OWN + 2;

/// The device.
#[derive(Clone, Copy)]
pub struct Edu {
    /// Its PCI function.
    pub function: Function,
    base: u64,
    /// Its registers, as memory.
    pub memory: Cap,
}

impl Edu {
    /// Finds the device and maps its registers in a space.
    pub fn find(kit: &mut Kit, space: Cap) -> Checked<Edu> {
        let function =
            Function::find(IDENTITY).ok_or_else(|| failure!("no edu device: start QEMU with -device edu"))?;
        function.enable();
        let bar = u64::from(function.read(0x10) & !0xf);
        let (whole, offset) = device_memory(kit, bar)?;
        let (memory, base) = (kit.slot(), kit.address());
        done!(memory_part(whole, offset, SIZE, memory, 15));
        done!(memory_map(memory, space, base, map::WRITE));
        Ok(Edu { function, base, memory })
    }

    fn register(&self, offset: u64) -> *mut u32 {
        (self.base + offset) as *mut u32
    }

    /// Identification.
    pub fn identity(&self) -> u32 {
        // SAFETY: the registers are mapped here; this one can be read.
        unsafe { self.register(0).read_volatile() }
    }

    /// Address of the register that raises the interrupt.
    #[must_use]
    pub fn raiser(&self) -> u64 {
        self.register(0x60) as u64
    }

    /// Raises the interrupt.
    pub fn raise(&self, value: u32) {
        // SAFETY: the registers are mapped here; writing this one raises the interrupt.
        unsafe { self.register(0x60).write_volatile(value) }
    }

    /// The interrupts that are raised.
    pub fn raised(&self) -> u32 {
        // SAFETY: the registers are mapped here; this one can be read.
        unsafe { self.register(0x24).read_volatile() }
    }

    /// Lowers the interrupt.
    pub fn acknowledge(&self, value: u32) {
        // SAFETY: the registers are mapped here; writing this one lowers the interrupt.
        unsafe { self.register(0x64).write_volatile(value) }
    }
}

/// Memory of the device region around a physical address, and the offset in it.
pub fn device_memory(kit: &Kit, address: u64) -> Result<(Cap, u64), Failure> {
    let regions = &kit.info.regions[..kit.info.region_count as usize];
    let holds = |r: &&_| {
        let r: &pillion_abi::boot::Range = r;
        matches!(r.kind, range_kind::DEVICE | range_kind::HOLE) && (r.base..r.base + r.size).contains(&address)
    };
    let (index, range) = regions
        .iter()
        .enumerate()
        .find(|(_, r)| holds(r))
        .ok_or_else(|| failure!("{address:#x} is in no device region"))?;
    let made = region_create(slot::REGIONS + index as Cap, Kind::Memory, range.size, WHOLE);
    // From the second time on it already exists.
    if let Err(error) = made
        && error != pillion_abi::status::Error::SlotTaken
    {
        return Err(failure!("device memory: {error:?}"));
    }
    Ok((WHOLE, address - range.base))
}
