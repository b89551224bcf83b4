//! IOMMUs are not driven. One that the firmware left on stands between devices and memory, and turns interrupts of lines and devices into others.

use super::{log, memory::ALWAYS_MAPPED, memory::direct};
use pillion_abi::PAGE;
use pillion_firmware::acpi::{IoMmu, Tables};

/// Of AMD's control register (48882, MMIO offset 18h): on.
const AMD_CONTROL: u64 = 0x18;
const AMD_ON: u32 = 1;
/// Of Intel's status register (VT-d 4.0, 11.4.4): translation and interrupt remapping.
const INTEL_STATUS: u64 = 0x1c;
const INTEL_ON: u32 = 1 << 31 | 1 << 25;

/// Says which are there, and which are on.
pub fn look(tables: &Tables) {
    let reachable = |found: &&IoMmu| found.address < ALWAYS_MAPPED - PAGE && found.address.is_multiple_of(PAGE);
    for found in tables.io_mmus.as_slice().iter().filter(reachable) {
        let state = if is_on(*found) { "on" } else { "off" };
        log!("[boot] an IOMMU at {:#x}, {state}: nobody uses it", found.address);
        if is_on(*found) {
            log!(
                "[boot] that IOMMU can stop devices and interrupts: switch the IOMMU (DMA protection) off in the firmware's set-up"
            );
        }
    }
}

fn is_on(found: IoMmu) -> bool {
    let (offset, bits) = if found.intel { (INTEL_STATUS, INTEL_ON) } else { (AMD_CONTROL, AMD_ON) };
    // SAFETY: the registers of an IOMMU, as the firmware's tables say, in the direct map; reading them changes nothing.
    let value = unsafe { direct::<u32>(found.address + offset).read_volatile() };
    value != u32::MAX && value & bits != 0
}
