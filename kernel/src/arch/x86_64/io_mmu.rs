//! IOMMUs, which the kernel does not drive. One that the firmware left on stands between devices
//! and memory, and remaps interrupts of lines and devices.

use super::{layout::ALWAYS_MAPPED, layout::direct, log};
use pillion_abi::PAGE;
use pillion_firmware::acpi::{IoMmu, Tables};

/// Of AMD's control register (48882, MMIO offset 18h): on.
const AMD_CONTROL: u64 = 0x18;
const AMD_ON: u32 = 1;
/// Of Intel's status register (VT-d 4.0, 11.4.4): translation and interrupt remapping.
const INTEL_STATUS: u64 = 0x1c;
const INTEL_ON: u32 = 1 << 31 | 1 << 25;

/// Logs which IOMMUs are there, and which are on or may be.
///
/// # Safety
/// The registers of IOMMUs are where the tables say.
pub unsafe fn look(tables: &Tables) {
    for found in tables.io_mmus.as_slice() {
        let state = state(*found);
        log!("[boot] an IOMMU at {:#x}, {state}: nobody uses it", found.address);
        if state != OFF {
            log!(
                "[boot] that IOMMU can stop devices and interrupts: switch the IOMMU (DMA protection) off in the firmware's set-up"
            );
        }
    }
}

const OFF: &str = "off";

fn state(found: IoMmu) -> &'static str {
    if !found.address.is_multiple_of(PAGE) || found.address > ALWAYS_MAPPED - PAGE {
        return "perhaps on, with its registers out of the kernel's sight";
    }
    let (offset, bits) = if found.intel { (INTEL_STATUS, INTEL_ON) } else { (AMD_CONTROL, AMD_ON) };
    // SAFETY: the registers of an IOMMU, as the firmware's tables say, in a page of the direct map;
    // reading them changes nothing.
    let value = unsafe { direct::<u32>(found.address + offset).read_volatile() };
    if value != u32::MAX && value & bits != 0 { "on" } else { OFF }
}
