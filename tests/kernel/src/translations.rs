//! What other processors know of page tables that change.

use crate::{
    Test, cells,
    guest_interrupt::runner,
    mappings::{peek, poke},
    trace::Buffers,
};
use pillion_abi::{
    PAGE,
    boot::slot,
    object::{map, right},
    vcpu::{Exit, Segment, gpr},
};
use pillion_runtime::{
    memory_map, memory_unmap, thread_register, thread_resume, thread_set_registers, thread_suspend, trace_control,
};
use pillion_test_kit::{
    Checked, Kit, Setup, check, done,
    guest::{Guest, MEMORY},
    same,
    user_guest::PART,
};

pub const TESTS: &[Test] = &[
    ("translations/unmapped-while-it-reads", unmapped),
    ("translations/unmapped-while-a-guest-reads", passenger),
    ("translations/unmapped-while-a-process-of-a-guest-reads", process),
    ("translations/others-are-not-interrupted", undisturbed),
];

/// The processor of these tests' threads.
const OTHER: u64 = 1;

/// What the reader may see, and what it may not.
const KEPT: u64 = 1;
const OTHERS: u64 = 2;

/// Reads a word for as long as it can, and notes whatever else it finds there.
extern "C" fn reader(address: u64) -> ! {
    loop {
        let word = peek(address);
        if word != KEPT {
            cells::set(1, word);
        }
        cells::add(0, 1);
        core::hint::spin_loop();
    }
}

fn unmapped(kit: &mut Kit) -> Checked {
    let (memory, at) = done!(kit.memory(PAGE, map::WRITE));
    let elsewhere = kit.address();
    poke(at, KEPT);
    let t = done!(kit.start(Setup::new(20, reader).with(at).on(OTHER)));
    let [_, stack] = done!(thread_register(t.thread, 0));
    for _ in 0..5 {
        let before = cells::get(0);
        cells::spin(3_000);
        check!(cells::get(0) > before, "it does not read");
        done!(memory_unmap(memory));
        done!(memory_map(memory, slot::ADDRESS_SPACE, elsewhere, map::WRITE));
        poke(elsewhere, OTHERS);
        cells::spin(3_000);
        same!(cells::get(1), 0);
        // Its fault, which nobody handles, has stopped it.
        poke(elsewhere, KEPT);
        done!(memory_unmap(memory));
        done!(memory_map(memory, slot::ADDRESS_SPACE, at, map::WRITE));
        done!(thread_set_registers(t.thread, reader as *const () as u64, stack, at));
        done!(thread_resume(t.thread));
    }
    Ok(())
}

/// Where a guest counts what it reads, and where it notes whatever it may not see.
const COUNT: u64 = 0x2000;
const SEEN: u64 = 0x3000;

fn passenger(kit: &mut Kit) -> Checked {
    let mut guest = Guest::on(kit, OTHER)?;
    #[rustfmt::skip]
    guest.put(0, &[
        0xa0, 0x00, 0x00,             // mov al, [0]
        0x3c, KEPT as u8,             // cmp al, KEPT
        0x74, 0x04,                   // je over the next
        0x2e, 0xa2, 0x00, 0x30,       // mov cs:[SEEN], al
        0x2e, 0xff, 0x06, 0x00, 0x20, // inc word ptr cs:[COUNT]
        0xf3, 0x90,                   // pause
        0xeb, 0xec,                   // jmp to the start
    ]);
    guest.state().ds.update(|data| Segment { base: MEMORY, ..data });
    unmapped_from(kit, &guest, MEMORY)
}

fn process(kit: &mut Kit) -> Checked {
    let mut guest = Guest::user_on(kit, OTHER)?;
    #[rustfmt::skip]
    guest.execute(&[
        0x8a, 0x07,       // mov al, [rdi]
        0x3c, KEPT as u8, // cmp al, KEPT
        0x74, 0x02,       // je over the next
        0x88, 0x06,       // mov [rsi], al
        0x48, 0xff, 0x03, // inc qword ptr [rbx]
        0xf3, 0x90,       // pause
        0xeb, 0xf1,       // jmp to the start
    ]);
    for (register, address) in [(gpr::RDI, PART), (gpr::RSI, SEEN), (gpr::RBX, COUNT)] {
        guest.state().gpr[register].set(address);
    }
    unmapped_from(kit, &guest, PART)
}

/// A guest on the other processor reads what is at an address of its own, for as long as it can.
fn unmapped_from(kit: &mut Kit, guest: &Guest, address: u64) -> Checked {
    let (own, at) = done!(kit.memory(PAGE, map::WRITE));
    let memory = done!(kit.limited(own, right::ALL));
    poke(at, KEPT);
    done!(memory_map(memory, guest.space, address, map::WRITE));
    // It goes on after each exit.
    cells::set(2, 1u64);
    let t = done!(kit.start(Setup::new(20, runner).with(guest.vcpu.into()).on(OTHER)));
    for _ in 0..5 {
        let before = guest.word(COUNT);
        cells::spin(10_000);
        check!(guest.word(COUNT) != before, "it does not read");
        cells::set(0, 0u64);
        done!(memory_unmap(memory));
        poke(at, OTHERS);
        cells::spin(10_000);
        same!([guest.word(SEEN), cells::get(0)], [0, 1_000 + Exit::Memory as u64]);
        poke(at, KEPT);
        done!(memory_map(memory, guest.space, address, map::WRITE));
    }
    done!(thread_suspend(t.thread));
    Ok(())
}

/// Counts.
extern "C" fn counter(_: u64) -> ! {
    loop {
        cells::add(0, 1);
        core::hint::spin_loop();
    }
}

fn undisturbed(kit: &mut Kit) -> Checked {
    const ROUNDS: usize = 8;
    let buffers = Buffers::map(kit)?;
    let (memory, at) = done!(kit.memory(PAGE, map::WRITE));
    done!(kit.start(Setup::new(20, counter).on(OTHER)));
    // Those that sleep may have this space loaded still, and leave it.
    done!(memory_unmap(memory));
    kit.rest(20_000);
    // Switching the trace interrupts all, too.
    let interrupts = |rounds| -> Checked<[usize; 2]> {
        let before = [1, 2].map(|processor| buffers.written(processor));
        done!(trace_control(slot::TRACE, true));
        for _ in 0..rounds {
            done!(memory_map(memory, slot::ADDRESS_SPACE, at, map::WRITE));
            poke(at, KEPT);
            cells::spin(3_000);
            done!(memory_unmap(memory));
        }
        done!(trace_control(slot::TRACE, false));
        kit.rest(20_000);
        Ok([0, 1].map(|i| buffers.interrupts(1 + i as u64, before[i])))
    };
    let (without, with) = (interrupts(0)?, interrupts(ROUNDS)?);
    check!(with[0] >= without[0] + ROUNDS, "{} interrupts, {} without", with[0], without[0]);
    same!(with[1], without[1]);
    Ok(())
}
