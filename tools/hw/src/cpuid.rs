//! What CPUID says, as numbers and as text.

use pillion_core::x86_64::processor::{self, HYPERVISOR, Leaf};
use std::arch::x86_64::__cpuid_count;
use std::collections::BTreeMap;
use std::fmt::{self, Display};

/// Leaf with a processor's serial number.
const SERIAL_NUMBER: u32 = 3;
/// Most leaves of each kind that are read.
const MOST: u32 = 0x40;
/// Leaves with several subleaves, and how many of them may say something.
const WITH_SUBLEAVES: [(u32, u32); 12] = [
    (0x4, 8),
    (0x7, 3),
    (0xb, 4),
    (0xd, 20),
    (0xf, 2),
    (0x10, 4),
    (0x12, 4),
    (0x14, 2),
    (0x17, 4),
    (0x18, 8),
    (0x1f, 6),
    (0x8000_001d, 8),
];

/// The leaves of a processor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cpuid(BTreeMap<(u32, u32), Leaf>);

impl Cpuid {
    /// Asks the processor that runs this.
    #[must_use]
    pub fn of_this_processor() -> Cpuid {
        Cpuid::ask(|leaf, subleaf| {
            let found = __cpuid_count(leaf, subleaf);
            [found.eax, found.ebx, found.ecx, found.edx]
        })
    }

    fn ask(raw: impl Fn(u32, u32) -> Leaf) -> Cpuid {
        let is_virtual = processor::detect(|leaf, subleaf| processor::leaf(&raw, leaf, subleaf)) & HYPERVISOR != 0;
        let firsts = [Some(0), is_virtual.then_some(0x4000_0000), Some(0x8000_0000)];
        let mut found = BTreeMap::new();
        for first in firsts.into_iter().flatten() {
            let last = raw(first, 0)[0].min(first + MOST);
            for leaf in (first..=last.max(first)).filter(|leaf| *leaf != SERIAL_NUMBER) {
                let subleaves = WITH_SUBLEAVES.iter().find(|(with, _)| *with == leaf).map_or(1, |(_, count)| *count);
                let all = (0..subleaves).map(|subleaf| ((leaf, subleaf), raw(leaf, subleaf)));
                found.extend(all.filter(|((_, subleaf), registers)| *subleaf == 0 || *registers != [0; 4]));
            }
        }
        Cpuid(found)
    }

    /// Reads what [`Display`] wrote, or the output of `cpuid -r` for one processor: later ones
    /// count only for leaves that the first lacks. `None` without any leaf.
    #[must_use]
    pub fn parse(text: &str) -> Option<Cpuid> {
        let mut found = BTreeMap::new();
        for line in text.lines() {
            if let Some((place, registers)) = parse_line(line) {
                found.entry(place).or_insert(registers);
            }
        }
        (!found.is_empty()).then_some(Cpuid(found))
    }

    /// A leaf; zeros if it is not there.
    #[must_use]
    pub fn leaf(&self, leaf: u32, subleaf: u32) -> Leaf {
        let raw = |leaf, subleaf| self.0.get(&(leaf, subleaf)).copied().unwrap_or_default();
        processor::leaf(raw, leaf, subleaf)
    }

    /// Whether a bit is set.
    #[must_use]
    pub fn has(&self, leaf: u32, register: usize, bit: u32) -> bool {
        self.leaf(leaf, 0)[register] >> bit & 1 == 1
    }

    /// The manufacturer.
    #[must_use]
    pub fn vendor(&self) -> String {
        let [_, ebx, ecx, edx] = self.leaf(0, 0);
        text([ebx, edx, ecx])
    }

    /// The model's name, or the manufacturer's if it has none.
    #[must_use]
    pub fn model(&self) -> String {
        let name = text((0x8000_0002..=0x8000_0004).flat_map(|leaf| self.leaf(leaf, 0)));
        if name.is_empty() { self.vendor() } else { name }
    }

    /// The hypervisor beneath, if there is one.
    #[must_use]
    pub fn hypervisor(&self) -> Option<String> {
        let is_virtual = processor::detect(|leaf, subleaf| self.leaf(leaf, subleaf)) & HYPERVISOR != 0;
        let [_, ebx, ecx, edx] = self.leaf(0x4000_0000, 0);
        let name = text([ebx, ecx, edx]);
        is_virtual.then(|| if name.is_empty() { "without a name".into() } else { name })
    }
}

/// Registers as text; what cannot be printed is left out, and blanks are not repeated.
fn text(registers: impl IntoIterator<Item = u32>) -> String {
    let bytes = registers.into_iter().flat_map(u32::to_le_bytes);
    let shown: String = bytes.map(char::from).filter(|c| c.is_ascii_graphic() || *c == ' ').collect();
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A line such as `0x00000007 0x00: eax=0x00000000 ebx=0x209c01a9 ecx=0x00000000 edx=0x00000000`.
fn parse_line(line: &str) -> Option<((u32, u32), Leaf)> {
    let number = |text: &str| u32::from_str_radix(text.strip_prefix("0x")?, 16).ok();
    let (place, values) = line.split_once(':')?;
    let (leaf, subleaf) = place.trim().split_once(' ')?;
    let mut registers = values.split_whitespace();
    let mut next = |name: &str| number(registers.next()?.strip_prefix(name)?);
    let values = [next("eax=")?, next("ebx=")?, next("ecx=")?, next("edx=")?];
    Some(((number(leaf)?, number(subleaf.trim())?), values))
}

impl Display for Cpuid {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(to, "CPU 0:")?;
        for ((leaf, subleaf), [eax, ebx, ecx, edx]) in &self.0 {
            writeln!(
                to,
                "   {leaf:#010x} {subleaf:#04x}: eax={eax:#010x} ebx={ebx:#010x} ecx={ecx:#010x} edx={edx:#010x}"
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_processor_is_written_and_read() {
        let here = Cpuid::of_this_processor();
        assert_eq!(Cpuid::parse(&here.to_string()).as_ref(), Some(&here));
        assert!(!here.vendor().is_empty() && !here.model().is_empty());
        assert!(!here.0.contains_key(&(SERIAL_NUMBER, 0)));
    }

    #[test]
    fn the_first_processor_counts() {
        let text = "CPU 0:\n   0x00000000 0x00: eax=0x00000001 ebx=0x0 ecx=0x0 edx=0x0\n\
                    CPU 1:\n   0x00000000 0x00: eax=0x00000002 ebx=0x0 ecx=0x0 edx=0x0\nnonsense\n0x1: eax=0\n";
        assert_eq!(Cpuid::parse(text).unwrap().leaf(0, 0)[0], 1);
        assert_eq!(Cpuid::parse("nothing"), None);
    }

    #[test]
    fn endless_leaves_are_cut_off() {
        let everything = Cpuid::ask(|_, _| [u32::MAX; 4]);
        assert!(everything.0.len() < 4 * MOST as usize);
    }
}
