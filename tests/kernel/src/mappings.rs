//! Mapping: what can be accessed, what no longer can, and what other spaces see.

use crate::{Test, cells};
use core::arch::naked_asm;
use pillion_abi::{
    LARGE_PAGE, PAGE,
    boot::slot,
    call::LABEL_FAULT,
    object::{Kind, map, right},
};
use pillion_runtime::{
    Cap, cap_delete, cap_revoke, endpoint_bind, memory_map, memory_part, memory_unmap, now, receive, reply, sleep,
};
use pillion_test_kit::{Checked, FIRST_ADDRESS, Kit, Setup, check, done, same};

pub const TESTS: &[Test] = &[
    ("memory/small-and-large-pages", pages),
    ("memory/parts", parts),
    ("memory/shared-between-spaces", shared),
    ("memory/invisible-elsewhere", invisible),
    ("memory/gone-after-unmap", unmapped),
    ("memory/gone-after-revoke", revoked),
    ("memory/gone-after-delete", deleted),
    ("memory/read-only-and-no-execute", protection),
    ("memory/kernel-half-unreachable", kernel_half),
    ("memory/space-ends-while-used", space_ends),
];

/// Reads a word of memory that tests map.
pub fn peek(address: u64) -> u64 {
    assert!(address >= FIRST_ADDRESS && address.is_multiple_of(8));
    // SAFETY: aligned; nothing of the image is there, and what the kit maps holds words and bytes;
    // a fault goes to the handler that the test has set.
    unsafe { (address as *const u64).read_volatile() }
}

/// Writes a word of memory that tests map.
pub fn poke(address: u64, value: u64) {
    assert!(address >= FIRST_ADDRESS && address.is_multiple_of(8));
    // SAFETY: as in `peek`.
    unsafe { (address as *mut u64).write_volatile(value) }
}

fn pages(kit: &mut Kit) -> Checked {
    // Once at an address suitable for large pages, once at one that is not.
    for offset in [0, 5 * PAGE] {
        let memory = done!(kit.make(Kind::Memory, 3 * LARGE_PAGE));
        let address = kit.address() + offset;
        for _ in 0..2 {
            done!(memory_map(memory, slot::ADDRESS_SPACE, address, map::WRITE));
            done!(memory_map(memory, slot::ADDRESS_SPACE, address, map::WRITE));
            for at in (address..address + 3 * LARGE_PAGE).step_by(PAGE as usize) {
                poke(at, at ^ 0x55);
            }
            for at in (address..address + 3 * LARGE_PAGE).step_by(PAGE as usize) {
                same!(peek(at), at ^ 0x55);
            }
            done!(memory_unmap(memory));
        }
    }
    Ok(())
}

fn parts(kit: &mut Kit) -> Checked {
    let (memory, address) = done!(kit.memory(4 * PAGE, map::WRITE));
    poke(address + 2 * PAGE, 77);
    let (part, inner) = (kit.slot(), kit.slot());
    done!(memory_part(memory, PAGE, 3 * PAGE, part, right::READ));
    done!(memory_part(part, PAGE, PAGE, inner, right::ALL));
    let there = kit.address();
    done!(memory_map(inner, slot::ADDRESS_SPACE, there, 0));
    same!(peek(there), 77);
    let again = done!(kit.limited(inner, right::ALL));
    pillion_test_kit::refused!(
        memory_map(again, slot::ADDRESS_SPACE, there + PAGE, map::WRITE),
        pillion_abi::status::Error::NoRight
    );
    Ok(())
}

extern "C" fn reader(address: u64) -> ! {
    loop {
        cells::set(0, peek(address));
        cells::add(1, 1);
        let _ = sleep(now() + 1_000);
    }
}

extern "C" fn writer(address: u64) -> ! {
    loop {
        poke(address, 1);
        cells::add(1, 1);
        let _ = sleep(now() + 1_000);
    }
}

/// Writes to the image.
#[unsafe(naked)]
extern "C" fn spoiler(_: u64) -> ! {
    naked_asm!("mov [rdi], rdi", "ud2")
}

/// # Safety
/// Code that does not return is at the address, or none that can be run.
unsafe extern "C" fn jumper(address: u64) -> ! {
    // SAFETY: by the contract of this function: it faults, or runs what the test has put there.
    let code: extern "C" fn() -> ! = unsafe { core::mem::transmute(address) };
    code()
}

/// Receives a fault: vector, code, address.
fn next_fault() -> Checked<[u64; 3]> {
    let message = done!(receive(now() + 1_000_000));
    same!(message.label, LABEL_FAULT);
    Ok([message.words[0], message.words[1], message.words[2]])
}

/// Makes a space, and a handler endpoint whose receiver is this thread.
fn watched(kit: &mut Kit) -> Checked<(Cap, Cap)> {
    let (space, endpoint) = (done!(kit.space()), done!(kit.make(Kind::Endpoint, 0)));
    done!(endpoint_bind(endpoint, slot::THREAD));
    Ok((space, endpoint))
}

fn shared(kit: &mut Kit) -> Checked {
    let (space, _) = watched(kit)?;
    let (memory, address) = done!(kit.memory(PAGE, map::WRITE));
    let (copy, there) = (done!(kit.limited(memory, right::READ)), kit.address());
    done!(memory_map(copy, space, there, 0));
    poke(address, 1234);
    done!(kit.start(Setup::new(20, reader).within(space).with(there)));
    kit.rest(10_000);
    same!(cells::get(0), 1234);
    poke(address, 5678);
    kit.rest(10_000);
    same!(cells::get(0), 5678);
    Ok(())
}

fn invisible(kit: &mut Kit) -> Checked {
    let (space, fault) = watched(kit)?;
    let (_, address) = done!(kit.memory(PAGE, map::WRITE));
    poke(address, 1);
    done!(kit.start(Setup { fault, ..Setup::new(20, reader).within(space).with(address) }));
    same!(next_fault()?, [14, 4, address]);
    same!(cells::get(1), 0);
    Ok(())
}

/// Maps memory in another space, lets a thread read it, takes it away, and expects the fault.
fn taken(kit: &mut Kit, take: impl FnOnce(Cap, Cap) -> Checked) -> Checked {
    let (space, fault) = watched(kit)?;
    let memory = done!(kit.make(Kind::Memory, 8 * PAGE));
    let (copy, there) = (done!(kit.limited(memory, right::ALL)), kit.address());
    done!(memory_map(copy, space, there, map::WRITE));
    done!(kit.start(Setup { fault, ..Setup::new(20, reader).within(space).with(there + 7 * PAGE) }));
    kit.rest(10_000);
    check!(cells::get(1) > 2, "the memory cannot be read");
    take(memory, copy)?;
    let before = cells::get(1);
    same!(next_fault()?, [14, 4, there + 7 * PAGE]);
    same!(cells::get(1), before);
    Ok(())
}

fn unmapped(kit: &mut Kit) -> Checked {
    taken(kit, |_, copy| done_unit(memory_unmap(copy)))
}

fn revoked(kit: &mut Kit) -> Checked {
    taken(kit, |memory, _| done_unit(cap_revoke(0, memory)))
}

fn deleted(kit: &mut Kit) -> Checked {
    taken(kit, |memory, _| done_unit(cap_delete(0, memory)))
}

fn done_unit(result: pillion_abi::status::Result<pillion_runtime::Values>) -> Checked {
    done!(result);
    Ok(())
}

fn protection(kit: &mut Kit) -> Checked {
    let (space, fault) = watched(kit)?;
    let memory = done!(kit.make(Kind::Memory, PAGE));
    let there = kit.address();
    done!(memory_map(memory, space, there, 0));
    let setup = |entry| Setup { fault, ..Setup::new(20, entry).within(space).with(there) };
    done!(kit.start(setup(writer)));
    same!(next_fault()?, [14, 7, there]);
    done!(reply(9, [0; 8]));
    done!(kit.start(setup(jumper)));
    same!(next_fault()?, [14, 0x15, there]);
    done!(reply(9, [0; 8]));
    let code = fault_target as *const () as u64;
    done!(kit.start(setup(spoiler).with(code & !7)));
    same!(next_fault()?, [14, 7, code & !7]);
    Ok(())
}

extern "C" fn fault_target() {}

fn kernel_half(kit: &mut Kit) -> Checked {
    let (space, fault) = watched(kit)?;
    for (address, entry, code) in [
        (0xffff_8000_0020_0000, reader as unsafe extern "C" fn(u64) -> !, 5),
        (0xffff_ffff_8020_0000, reader, 5),
        (0xffff_ffff_8020_0000, writer, 7),
        (0xffff_ffff_8020_0000, jumper, 0x15),
    ] {
        done!(kit.start(Setup { fault, ..Setup::new(20, entry).within(space).with(address) }));
        let [vector, found, at] = next_fault()?;
        // The present bit may be either.
        same!([vector, found | 1, at], [14, code, address]);
        done!(reply(9, [0; 8]));
    }
    Ok(())
}

fn space_ends(kit: &mut Kit) -> Checked {
    let space = done!(kit.space());
    let (memory, address) = done!(kit.memory(PAGE, map::WRITE));
    let (copy, there) = (done!(kit.limited(memory, right::READ)), kit.address());
    done!(memory_map(copy, space, there, 0));
    poke(address, 3);
    done!(kit.start(Setup::new(20, reader).within(space).with(there)));
    kit.rest(10_000);
    same!(cells::get(0), 3);
    done!(cap_delete(0, space));
    let before = cells::get(1);
    kit.rest(20_000);
    same!(cells::get(1), before);
    // The memory is no longer mapped, and can be mapped elsewhere.
    done!(memory_map(copy, slot::ADDRESS_SPACE, there, 0));
    same!(peek(there), 3);
    Ok(())
}
