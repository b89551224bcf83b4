//! Places without a base address: where VGA and IDE controllers answer because PCs always had them
//! there, and what bridges forward for them (PCI-to-PCI Bridge Architecture Specification 1.2,
//! 3.2.5.18; PCI IDE Controller Specification 1.0).

use super::{IO_SPACE, Kept, MEMORY_SPACE};

/// VGA's ports, as first and count.
const VGA_PORTS: [(u32, u32); 2] = [(0x3b0, 12), (0x3c0, 32)];
/// VGA's memory, as first byte and size.
const VGA_MEMORY: (u64, u64) = (0xa_0000, 0x2_0000);
/// The ports of VGA's palette, for which a bridge has a bit of its own.
const PALETTE: [(u32, u32); 1] = [(0x3c6, 4)];

/// In a command register: a bridge forwards writes to the palette.
const SNOOP: u32 = 1 << 5;
/// In the doubleword with a bridge's control register: it forwards VGA's ports and memory.
const FORWARD: u32 = 1 << 19;
/// There, too: it compares all bits of those ports.
const ALL_BITS: u32 = 1 << 20;

/// Class and subclass in the upper half of their doubleword.
const VGA: [u32; 2] = [0x0300, 0x0001];
const IDE: u32 = 0x0101;

/// A channel of an IDE controller.
struct Channel {
    /// In the doubleword with the class: the channel has base addresses (native mode). Otherwise it
    /// answers at the ports below.
    native: u32,
    ports: [(u32, u32); 2],
}

const CHANNELS: [Channel; 2] = [
    Channel { native: 1 << 8, ports: [(0x1f0, 8), (0x3f6, 1)] },
    Channel { native: 4 << 8, ports: [(0x170, 8), (0x376, 1)] },
];
const NATIVE: u32 = CHANNELS[0].native | CHANNELS[1].native;

/// Whether a function with that class may answer, as those bits of its command register let it,
/// where PCs always had it.
pub fn is_free(kept: &impl Kept, class: u32, decodes: u32) -> bool {
    let ports = decodes & IO_SPACE != 0;
    match class >> 16 {
        IDE if ports => {
            let answering = CHANNELS.iter().filter(|channel| class & channel.native == 0);
            !answering.flat_map(|channel| channel.ports).any(|(first, count)| kept.ports(first, count))
        }
        class if VGA.contains(&class) => {
            let memory = decodes & MEMORY_SPACE != 0;
            !(memory && kept.memory(VGA_MEMORY.0, VGA_MEMORY.1) || ports && is_kept(kept, &VGA_PORTS, true))
        }
        _ => true,
    }
}

/// Whether Linux may write `new` to the doubleword with the class, which holds `old` and takes a
/// write, or some of it, or nothing. A channel gets native mode only while the controller answers
/// at no ports: until then its base addresses may read as zeros whatever they hold.
pub fn may_become(kept: &impl Kept, old: u32, new: u32, command: u32) -> bool {
    let mode = new & (old | !NATIVE) & 0xffff;
    let appears = command & IO_SPACE != 0 && new & !old & NATIVE != 0;
    [(old, old), (old, new), (new, old), (new, new)].into_iter().all(|(class, subclass)| {
        let taken = class & 0xff00_0000 | subclass & 0x00ff_0000 | mode;
        is_free(kept, taken, command) && !(appears && taken >> 16 == IDE)
    })
}

/// Whether the doubleword with a bridge's control register may change from `old` to `new`.
pub fn may_forward(kept: &impl Kept, old: u32, new: u32) -> bool {
    if new & FORWARD == 0 || (old ^ new) & (FORWARD | ALL_BITS) == 0 {
        return true;
    }
    // Not every bridge can compare all bits, so this counts only once the register has it.
    let aliases = old & new & ALL_BITS == 0;
    !kept.memory(VGA_MEMORY.0, VGA_MEMORY.1) && !is_kept(kept, &VGA_PORTS, aliases)
}

/// Whether those bits of a bridge's command register may be set, as far as the palette goes.
pub fn may_forward_palette(kept: &impl Kept, rising: u32) -> bool {
    rising & SNOOP == 0 || !is_kept(kept, &PALETTE, true)
}

/// Whether any of these ports is kept, or, with `aliases`, any port that differs from them only in
/// its upper six bits.
fn is_kept(kept: &impl Kept, ports: &[(u32, u32)], aliases: bool) -> bool {
    let uppers = if aliases { 64 } else { 1 };
    let meets = |upper: u32| ports.iter().any(|(first, count)| kept.ports(upper << 10 | first, *count));
    (0..uppers).any(meets)
}
