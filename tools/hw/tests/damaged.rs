//! Whatever is in the files, there is a report, in bounded time and without a panic.

mod shapes;

use pillion_hw::files::Files;
use pillion_hw::judge::judge;
use pillion_hw::machine::Machine;
use pillion_hw::{losses, report, show};
use proptest::prelude::*;

fn report_of(files: &Files) {
    let machine = Machine::read(files);
    let (judgement, losses) = (judge(&machine), losses::of(&machine));
    let text = show::text(&judgement, &losses);
    assert!(text.lines().all(|line| line.chars().count() <= 80 && !line.contains('\u{1b}')), "{text}");
    let _ = report::json(&judgement, &losses).to_string();
}

/// A file of a machine, changed: bytes replaced, cut, or repeated; its checksum right again or not.
fn change(bytes: &mut Vec<u8>, edits: &[(usize, u8)], cut: Option<usize>, repeat: bool, is_sealed: bool) {
    for (at, byte) in edits {
        if !bytes.is_empty() {
            let at = at % bytes.len();
            bytes[at] = *byte;
        }
    }
    if let Some(cut) = cut {
        bytes.truncate(cut % (bytes.len() + 1));
    }
    if repeat {
        bytes.extend_from_within(bytes.len() / 2..);
    }
    if is_sealed && bytes.len() >= 36 {
        let sum = bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
        bytes[9] = bytes[9].wrapping_sub(sum);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn damaged_files_have_a_report(
        shape in 0..12_usize,
        file in any::<prop::sample::Index>(),
        edits in prop::collection::vec((0..4096_usize, any::<u8>()), 0..12),
        cut in prop::option::weighted(0.3, 0..4096_usize),
        (repeat, is_sealed) in (prop::bool::weighted(0.2), prop::bool::weighted(0.7)),
    ) {
        let (_, shape) = shapes::all().swap_remove(shape);
        let mut files = shape.0;
        let names: Vec<String> = files.names().map(str::to_owned).collect();
        let name = file.get(&names);
        let mut bytes = files.bytes(name).unwrap_or_default().to_vec();
        change(&mut bytes, &edits, cut, repeat, is_sealed);
        files.put(name, bytes);
        report_of(&files);
    }

    #[test]
    fn arbitrary_files_have_a_report(
        contents in prop::collection::vec((0..14_usize, prop::collection::vec(any::<u8>(), 0..200)), 0..8),
        numbers in prop::collection::vec((any::<u64>(), any::<u64>()), 0..700),
    ) {
        use pillion_hw::files::name::{ALL, MEMORY, REGISTERS};
        let mut files = Files::default();
        for (which, bytes) in contents {
            files.put(ALL.get(which).map_or("acpi/APIC", |name| *name), bytes);
        }
        for (a, b) in numbers {
            files.say(MEMORY, &format!("{a:#x} {b:#x} System RAM"));
            files.say(REGISTERS, &format!("{:#x} {b:#x}", a as u32 & 0x4ff));
        }
        report_of(&files);
    }
}
