//! How calls fail when memory, or depth, runs out.

use crate::Test;
use pillion_abi::{
    PAGE,
    boot::slot,
    call::IRQ_MSI,
    object::{Kind, right},
    status::Error::{NoMemory, TooDeep},
};
use pillion_runtime::{interrupt_create, memory_part, region_create};
use pillion_test_kit::{Checked, Kit, check, done, failure, refused, same};

pub const TESTS: &[Test] =
    &[("refusal/interrupt-without-memory", interrupt_without_memory), ("refusal/memory-part-too-deep", part_too_deep)];

fn interrupt_without_memory(kit: &mut Kit) -> Checked {
    let region = done!(kit.make(Kind::Region, PAGE));
    for made in 0..200 {
        let at = kit.slot();
        match region_create(region, Kind::Notification, 0, at) {
            Ok(_) => {}
            Err(error) => {
                same!(error, NoMemory);
                check!(made > 8, "a page holds only {made} notifications");
                let at = kit.slot();
                refused!(interrupt_create(slot::IRQ_CONTROL, IRQ_MSI, 0, at, region), NoMemory);
                return Ok(());
            }
        }
    }
    Err(failure!("a page holds 200 notifications"))
}

fn part_too_deep(kit: &mut Kit) -> Checked {
    let mut memory = done!(kit.make(Kind::Memory, PAGE));
    for depth in 0..40 {
        let at = kit.slot();
        match memory_part(memory, 0, PAGE, at, right::ALL) {
            Ok(_) => memory = at,
            Err(error) => {
                same!(error, TooDeep);
                check!(depth > 8, "only {depth} derivations were possible");
                return Ok(());
            }
        }
    }
    Err(failure!("40 derivations were possible"))
}
