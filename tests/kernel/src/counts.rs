//! What processors count of that which takes their time for others.

use crate::{Test, cells, trace::Buffers};
use pillion_abi::{
    NEVER, PAGE,
    boot::slot,
    call::IRQ_MSI,
    object::{Kind, map},
    trace::{Counts, FIRST_VECTOR, VECTORS},
};
use pillion_runtime::{
    Cap, cap_delete, interrupt_bind, interrupt_create, memory_map, memory_unmap, now, signal, sleep, thread_resume,
    thread_suspend, wait,
};
use pillion_test_kit::{Checked, Kit, Setup, check, done, edu::Edu, same, stop};

/// For four processors.
pub const TESTS: &[Test] = &[("counts/of-each-kind", kinds), ("counts/nobody-asked", zeros)];

/// The processor that counts, and another one that is busy.
const OWN: u64 = 3;
const OTHER: u64 = 1;

/// Counts in a cell.
extern "C" fn counter(cell: u64) -> ! {
    loop {
        cells::add(cell as usize, 1);
        core::hint::spin_loop();
    }
}

/// Waits for a notification.
extern "C" fn waiter(note: u64) -> ! {
    while wait(note as Cap, NEVER).is_ok() {
        cells::add(1, 1);
    }
    stop()
}

extern "C" fn sleeper(_: u64) -> ! {
    let _ = sleep(now() + 5_000);
    stop()
}

/// What a processor counts while something happens, and shortly after it.
fn counted(kit: &mut Kit, buffers: &Buffers, what: impl FnOnce(&mut Kit) -> Checked) -> Checked<Counts> {
    let before = buffers.counts(OWN);
    what(kit)?;
    kit.rest(20_000);
    let after = buffers.counts(OWN);
    Ok(Counts {
        interrupts: core::array::from_fn(|i| after.interrupts[i] - before.interrupts[i]),
        calls: after.calls - before.calls,
        signals: after.signals - before.signals,
        flushes: after.flushes - before.flushes,
    })
}

/// So many interrupts of a vector.
fn of(vector: u8, times: u64) -> [u64; VECTORS] {
    let mut interrupts = [0; VECTORS];
    interrupts[usize::from(vector - FIRST_VECTOR)] = times;
    interrupts
}

/// Vectors of other processors' interrupts, and of the timer.
const PROCESSOR: u8 = 0xfd;
const TIMER: u8 = 0xfe;
const NONE: Counts = Counts { interrupts: [0; VECTORS], calls: 0, signals: 0, flushes: 0 };

fn kinds(kit: &mut Kit) -> Checked {
    let buffers = Buffers::map(kit)?;
    let n = done!(kit.make(Kind::Notification, OWN));
    let badged = done!(kit.badged(n, 1));
    let busy = done!(kit.start(Setup::new(20, counter).on(OWN)));
    done!(kit.start(Setup::new(30, waiter).with(n.into()).on(OWN)));
    kit.rest(20_000);

    let signalled = counted(kit, &buffers, |_| {
        done!(signal(badged));
        Ok(())
    })?;
    same!(signalled, Counts { interrupts: of(PROCESSOR, 1), signals: 1, ..NONE });

    let visited = counted(kit, &buffers, |_| {
        done!(thread_suspend(busy.thread));
        done!(thread_resume(busy.thread));
        Ok(())
    })?;
    same!(visited, Counts { interrupts: of(PROCESSOR, 2), calls: 2, ..NONE });

    let slept = done!(kit.prepare(Setup::new(30, sleeper).on(OWN)));
    let timed = counted(kit, &buffers, |_| {
        done!(thread_resume(slept.thread));
        Ok(())
    })?;
    same!(timed.interrupts[usize::from(TIMER - FIRST_VECTOR)], 1);
    same!([timed.calls, timed.signals, timed.flushes], [1, 0, 0]);

    let (memory, _) = done!(kit.memory(PAGE, map::WRITE));
    let flushed = counted(kit, &buffers, |_| {
        done!(memory_unmap(memory));
        Ok(())
    })?;
    same!(flushed, Counts { interrupts: of(PROCESSOR, 1), flushes: 1, ..NONE });

    let edu = Edu::find(kit, slot::ADDRESS_SPACE)?;
    let interrupt = kit.slot();
    let [address, data] =
        done!(interrupt_create(slot::IRQ_CONTROL, IRQ_MSI, kit.interrupts(OWN), interrupt, kit.region()));
    done!(interrupt_bind(interrupt, n, 2));
    same!(edu.function.set_message(address, data), true);
    let raised = counted(kit, &buffers, |_| {
        edu.raise(1);
        Ok(())
    })?;
    edu.acknowledge(1);
    same!(raised, Counts { interrupts: of(data as u8, 1), ..NONE });
    same!(cells::get(1), 2);
    Ok(())
}

/// A processor whose only thread computes, in a space of its own, is told nothing of what goes on
/// among others, has no tick, and drops no translations.
fn zeros(kit: &mut Kit) -> Checked {
    const ROUNDS: usize = 10;
    let buffers = Buffers::map(kit)?;
    let space = done!(kit.space());
    done!(kit.start(Setup::new(20, counter).within(space).with(0).on(OWN)));
    let n = done!(kit.make(Kind::Notification, OTHER));
    let badged = done!(kit.badged(n, 1));
    done!(kit.start(Setup::new(30, waiter).with(n.into()).on(OTHER)));
    let busy = done!(kit.start(Setup::new(20, counter).with(2).on(OTHER)));
    let (memory, at) = done!(kit.memory(PAGE, map::WRITE));
    kit.rest(20_000);

    let disturbances = counted(kit, &buffers, |kit| {
        for _ in 0..ROUNDS {
            done!(signal(badged));
            done!(thread_suspend(busy.thread));
            done!(thread_resume(busy.thread));
            done!(memory_unmap(memory));
            done!(memory_map(memory, slot::ADDRESS_SPACE, at, map::WRITE));
            let ended = done!(kit.make(Kind::Thread, OTHER));
            done!(cap_delete(0, ended));
            kit.rest(20_000);
        }
        Ok(())
    })?;
    same!(disturbances, NONE);
    check!(
        cells::get(0) > 100 && cells::get(1) >= ROUNDS as u64,
        "{} rounds, {} signals",
        cells::get(0),
        cells::get(1)
    );
    Ok(())
}
