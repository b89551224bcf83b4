//! Calls that start, stop, delete, revoke and reset objects of another processor, interrupted at
//! each step by something more urgent, and faults there. A loop here has PAUSE: see `several.rs`.

use crate::{
    Test, cells,
    deletion::region,
    guest_signal::{TWICE, ask, signalling},
    preemption::watched_on,
};
use core::arch::naked_asm;
use pillion_abi::{
    NEVER,
    boot::slot,
    call::IRQ_MSI,
    dual::URGENCY,
    object::{Kind, right},
    status::{Error, Result},
};
use pillion_runtime::{
    Cap, cap_delete, cap_derive, cap_identify, cap_move, cap_revoke, context_allow_boost, context_configure,
    context_set_priority, endpoint_bind, interrupt_bind, interrupt_create, now, println, receive, region_create,
    region_reset, reply_receive, signal, thread_bind_context, thread_bind_notification, thread_configure,
    thread_register, thread_resume, thread_set_registers, thread_suspend, timer_bind, timer_set, vcpu_run, wait,
};
use pillion_test_kit::{Checked, Kit, Setup, check, done, failure, same, stop};

/// For four processors.
pub const TESTS: &[Test] = &[
    ("elsewhere/starts", |kit| every_step(kit, START)),
    ("elsewhere/stops", |kit| every_step(kit, STOP)),
    ("elsewhere/deletes", |kit| every_step(kit, DELETE)),
    ("elsewhere/revokes", |kit| every_step(kit, REVOKE)),
    ("elsewhere/resets", |kit| every_step(kit, RESET)),
    ("elsewhere/faults", faults),
    ("elsewhere/long-call", long_call),
    ("elsewhere/boosted-caller", boosted_caller),
    ("elsewhere/urgent-call", urgent_call),
];

/// The processor of the objects.
const OTHER: u64 = 1;

/// Instructions between two places at which a call is interrupted. The kernel lets in what is more
/// urgent at some places only, so that a smaller number finds no further ones.
const STRIDE: usize = 23;
/// Bytes of a region.
const SIZE: u64 = 128 << 10;
/// No call takes as long.
const LONGEST: u64 = 100_000;
/// Fewer places mean that nothing was interrupted.
const FEWEST: u64 = 30;

/// Cells.
const COUNT: usize = 0;
const FIRST: usize = 1;
const NOTE: usize = 6;
/// Whether the call is over, and then its error, and the same of one that comes in between.
const OVER: usize = 2;
const OVER_AGAIN: usize = 4;

/// What a worker does, by its number.
const ACTS: [fn(Things) -> Result<()>; 5] = [
    |these| thread_resume(these.thread).map(drop),
    |these| thread_suspend(these.thread).map(drop),
    |these| these.deleted().into_iter().try_for_each(|cap| cap_delete(0, cap).map(drop)),
    |these| these.deleted().into_iter().try_for_each(|cap| cap_revoke(0, cap).map(drop)),
    |these| region_reset(these.region).map(drop),
];
const START: usize = 0;
const STOP: usize = 1;
const DELETE: usize = 2;
const REVOKE: usize = 3;
const RESET: usize = 4;

/// What comes in between.
#[derive(Clone, Copy, Debug)]
enum Between {
    /// A more urgent thread, which does nothing.
    Nothing,
    /// The call is taken back, and made again.
    Stop,
    /// Its thread ends, and another one makes the call.
    End,
    /// Another thread makes the same call.
    Same,
}

const BETWEEN: [Between; 4] = [Between::Nothing, Between::Stop, Between::End, Between::Same];

/// Objects of another processor, in slots of the workers' space that follow each other, with the
/// region that they are made from. In the same slots of this task's space are capabilities derived
/// from the objects.
#[derive(Clone, Copy)]
struct Things {
    region: Cap,
    thread: Cap,
    context: Cap,
    note: Cap,
    timer: Cap,
    endpoint: Cap,
    vcpu: Cap,
    interrupt: Cap,
}

impl Things {
    /// Slots that they take.
    const SLOTS: Cap = 8;

    fn from(first: Cap) -> Things {
        let [thread, context, note, timer, endpoint, vcpu, interrupt] = [1, 2, 3, 4, 5, 6, 7].map(|nth| first + nth);
        Things { region: first, thread, context, note, timer, endpoint, vcpu, interrupt }
    }

    fn objects(self) -> [Cap; 7] {
        [self.thread, self.context, self.note, self.timer, self.endpoint, self.vcpu, self.interrupt]
    }

    /// Those that are deleted by their capabilities.
    fn deleted(self) -> [Cap; 5] {
        [self.thread, self.note, self.endpoint, self.vcpu, self.interrupt]
    }

    /// Makes them. The thread counts, waits and sets a timer, as soon as it is resumed. `way` is a
    /// slot that is empty before and after, `pool` a region of which nothing else is made.
    fn make(self, kit: &Kit, stack: u64, way: Cap, pool: Cap) -> Result<()> {
        region_create(pool, Kind::Region, SIZE / 2, self.region)?;
        let kinds = [
            Kind::Thread,
            Kind::SchedContext,
            Kind::Notification,
            Kind::Timer,
            Kind::Endpoint,
            Kind::Vcpu,
            Kind::Interrupt,
        ];
        for (at, kind) in self.objects().into_iter().zip(kinds) {
            if kind == Kind::Interrupt {
                interrupt_create(slot::IRQ_CONTROL, IRQ_MSI, kit.interrupts(OTHER), way, self.region)?;
            } else {
                region_create(self.region, kind, kit.number(OTHER), way)?;
            }
            cap_derive(0, at, way, right::ALL, 0)?;
            cap_move(kit.workers(), at, way)?;
        }
        cap_move(kit.workers(), self.region, self.region)?;
        timer_bind(self.timer, self.note, 1)?;
        interrupt_bind(self.interrupt, self.note, 2)?;
        equip(kit, self.thread, self.context, 20)?;
        thread_bind_notification(self.thread, self.note)?;
        endpoint_bind(self.endpoint, self.thread)?;
        thread_set_registers(self.thread, busy as *const () as u64, stack, self.region.into()).map(drop)
    }
}

/// Gives a thread its spaces and its time.
fn equip(kit: &Kit, thread: Cap, context: Cap, priority: u8) -> Result<()> {
    thread_configure(thread, slot::ADDRESS_SPACE, kit.workers(), 0, 0)?;
    context_configure(slot::SCHED_CONTROL, context, priority, NEVER, 0, 0)?;
    thread_bind_context(thread, context).map(drop)
}

/// Is in one queue or another of its kernel most of the time.
extern "C" fn busy(first: u64) -> ! {
    let these = Things::from(first as Cap);
    loop {
        cells::add(COUNT, 1);
        // These may be gone.
        let _ = timer_set(these.timer, now() + 300);
        let _ = wait(these.note, now() + 500);
        core::hint::spin_loop();
    }
}

/// Makes a call. The least urgent worker, whose call is interrupted, notes what came of it.
extern "C" fn worker(act: u64) -> ! {
    let outcome = ACTS[act as usize % ACTS.len()](Things::from(cells::cap(FIRST)));
    let first = if act < ACTS.len() as u64 { OVER } else { OVER_AGAIN };
    cells::set(first + 1, outcome.map_or_else(|error| error as u64, |()| 0));
    cells::set(first, 1u64);
    stop()
}

/// A thread of this processor, and the region that it is made from.
struct Worker {
    region: Cap,
    thread: Cap,
    context: Cap,
    stack: u64,
}

impl Worker {
    fn new(kit: &mut Kit) -> Checked<Worker> {
        let (region, thread, context) = (kit.slot(), kit.slot(), kit.slot());
        done!(region_create(kit.region(), Kind::Region, SIZE, region));
        Ok(Worker { region, thread, context, stack: stack(kit)? })
    }

    fn start(&self, kit: &Kit, priority: u8, act: usize) -> Result<()> {
        region_create(self.region, Kind::Thread, kit.number(0), self.thread)?;
        region_create(self.region, Kind::SchedContext, kit.number(0), self.context)?;
        equip(kit, self.thread, self.context, priority)?;
        thread_set_registers(self.thread, worker as *const () as u64, self.stack, act as u64)?;
        thread_resume(self.thread).map(drop)
    }
}

/// Lets less urgent threads run until a call is over. Returns its error, or 0.
fn awaited(kit: &Kit, over: usize) -> Checked<u64> {
    for _ in 0..100 {
        if cells::get(over) == 1 {
            return Ok(cells::get(over + 1));
        }
        kit.rest(3_000);
    }
    Err(failure!("the call does not end"))
}

/// The stack of a thread that never runs.
fn stack(kit: &mut Kit) -> Checked<u64> {
    let t = done!(kit.prepare(Setup::new(20, busy)));
    let [_, stack] = done!(thread_register(t.thread, 0));
    Ok(stack)
}

fn every_step(kit: &mut Kit, act: usize) -> Checked {
    let first = kit.slot();
    let last = (1..Things::SLOTS).fold(first, |_, _| kit.slot());
    let these = Things::from(first);
    same!(these.interrupt, last);
    cells::set(FIRST, first);
    let workers = [Worker::new(kit)?, Worker::new(kit)?];
    let (stack, way, pool) = (stack(kit)?, kit.slot(), kit.slot());
    done!(region_create(kit.region(), Kind::Region, SIZE, pool));
    let mut places = 0;
    for after in (0..LONGEST).step_by(STRIDE) {
        let mut all_over = true;
        for between in BETWEEN {
            done!(these.make(kit, stack, way, pool));
            if act != START {
                done!(thread_resume(these.thread));
            }
            let is_over = interrupted(kit, &workers, act, after, between)
                .and_then(|is_over| outcome(these, act).map(|()| is_over))
                .map_err(|why| failure!("{between:?} after {after}: {why}"))?;
            (all_over, places) = (all_over && is_over, places + u64::from(!is_over));
            for worker in &workers {
                done!(region_reset(worker.region));
            }
            done!(cap_delete(kit.workers(), these.region));
            done!(region_reset(pool));
        }
        if all_over {
            println!("elsewhere {act}: interrupted at {places} places");
            check!(places > FEWEST, "interrupted at {places} places only");
            return Ok(());
        }
    }
    check!(false, "the call does not end");
    Ok(())
}

/// Interrupts the call after so many instructions. Returns whether it was over by then.
fn interrupted(kit: &Kit, workers: &[Worker; 2], act: usize, after: u64, between: Between) -> Checked<bool> {
    let [first, second] = workers;
    (OVER..OVER_AGAIN + 2).for_each(|cell| cells::set(cell, 0u64));
    done!(first.start(kit, 50, act));
    kit.rest(after);
    if cells::get(OVER) == 1 {
        same!(cells::get(OVER + 1), 0);
        return Ok(true);
    }
    match between {
        Between::Nothing => {}
        Between::Stop => {
            done!(thread_suspend(first.thread));
            cells::spin(1_000);
            done!(thread_resume(first.thread));
        }
        Between::End | Between::Same => {
            if matches!(between, Between::End) {
                done!(cap_delete(0, first.thread));
            }
            done!(second.start(kit, 60, act + ACTS.len()));
            let error = awaited(kit, OVER_AGAIN)?;
            check!(is_done(error), "the same call: error {error}");
        }
    }
    if !matches!(between, Between::End) {
        let error = awaited(kit, OVER)?;
        check!(error == 0 || matches!(between, Between::Same) && is_done(error), "error {error}");
    }
    Ok(false)
}

/// Whether a call succeeded, or did not as another one had done the same.
fn is_done(error: u64) -> bool {
    [0, Error::BadState as u64, Error::BadCap as u64].contains(&error)
}

/// Whether the objects are as the call leaves them.
fn outcome(these: Things, act: usize) -> Checked {
    let kinds = |caps: &[Cap]| caps.iter().filter(|cap| cap_identify(**cap).is_ok_and(|[kind, _]| kind != 0)).count();
    match act {
        START => return moves(true),
        STOP => same!(kinds(&these.objects()), 7),
        DELETE | REVOKE => {
            same!((kinds(&these.deleted()), kinds(&[these.context, these.timer])), (0, 2));
        }
        _ => same!(kinds(&these.objects()), 0),
    }
    moves(act == REVOKE)
}

/// Whether the thread there counts.
fn moves(wanted: bool) -> Checked {
    let before = cells::get(COUNT);
    for _ in 0..if wanted { 20 } else { 2 } {
        cells::spin(2_000);
        if wanted && cells::get(COUNT) != before {
            break;
        }
    }
    same!(cells::get(COUNT) != before, wanted);
    Ok(())
}

/// A call that is carried out there for many periods of a more urgent thread, and is interrupted
/// in each.
fn long_call(kit: &mut Kit) -> Checked {
    // The thread ends first, at its home, and there goes the rest.
    let (region, thread) = (region(kit)?, kit.slot());
    done!(region_create(region, Kind::Thread, kit.number(OTHER), thread));
    watched_on(OTHER, kit, "elsewhere", |_| {
        let start = now();
        done!(region_reset(region));
        let took = now() - start;
        check!(took > 100_000, "it took {took} ns only");
        Ok(())
    })
}

/// Its guest boosts it. It makes a less urgent thread ready, and a call that is carried out there.
extern "C" fn boosted(vcpu: u64) -> ! {
    let _ = vcpu_run(vcpu as Cap);
    let _ = signal(cells::cap(NOTE));
    let outcome = context_set_priority(cells::cap(FIRST), 20);
    cells::set(OVER + 1, outcome.map_or_else(|error| error as u64, |_| 0));
    cells::set(OVER, 1u64);
    stop()
}

extern "C" fn woken(note: u64) -> ! {
    while wait(note as Cap, NEVER).is_ok() {
        cells::add(COUNT, 1);
    }
    stop()
}

/// The boost of a thread that leaves for another processor ends, and the thread that runs then is
/// another one: it is not the one that leaves.
fn boosted_caller(kit: &mut Kit) -> Checked {
    let (mut guest, ..) = signalling(kit, &TWICE)?;
    ask(&mut guest, URGENCY, 60);
    let (note, there) = (done!(kit.make(Kind::Notification, 0)), done!(kit.prepare(Setup::new(20, woken).on(OTHER))));
    cells::set(NOTE, note);
    cells::set(FIRST, there.context);
    let ready = done!(kit.start(Setup::new(50, woken).with(note.into())));
    let caller = done!(kit.prepare(Setup::new(10, boosted).with(guest.vcpu.into())));
    done!(context_allow_boost(slot::SCHED_CONTROL, caller.context, 60, 500_000, 1_000_000));
    kit.rest(10_000);
    done!(thread_resume(caller.thread));
    same!(awaited(kit, OVER)?, 0);
    same!(cells::get(COUNT), 1);
    done!(signal(note));
    kit.rest(10_000);
    same!(cells::get(COUNT), 2);
    done!(thread_suspend(ready.thread));
    Ok(())
}

/// Keeps its processor from the calls of less urgent threads until it is told to stop.
extern "C" fn in_the_way(_: u64) -> ! {
    while cells::get(NOTE) == 0 {
        core::hint::spin_loop();
    }
    cells::set(OVER, now());
    stop()
}

/// Makes a call that is carried out there, and notes when it is over.
extern "C" fn calls(over: u64) -> ! {
    let _ = context_set_priority(cells::cap(FIRST), 20);
    cells::set(over as usize, now());
    cells::add(COUNT, 1);
    stop()
}

/// A call that waited behind something more urgent goes before those of less urgent threads.
fn urgent_call(kit: &mut Kit) -> Checked {
    const OTHERS: u64 = 18;
    let there = done!(kit.prepare(Setup::new(20, woken).on(OTHER)));
    cells::set(FIRST, there.context);
    done!(kit.start(Setup::new(60, in_the_way).on(OTHER)));
    for _ in 0..OTHERS {
        done!(kit.start(Setup::new(20, calls).with(OVER_AGAIN as u64).on(2)));
    }
    done!(kit.start(Setup::new(45, calls).with(OVER as u64 + 1).on(3)));
    cells::spin(300_000);
    same!(cells::get(COUNT), 0);
    cells::set(NOTE, 1u64);
    kit.rest(600_000);
    same!(cells::get(COUNT), OTHERS + 1);
    let [free, urgent, others] = [OVER, OVER + 1, OVER_AGAIN].map(cells::get);
    let (urgent, others) = (urgent.wrapping_sub(free), others.wrapping_sub(free));
    println!("elsewhere urgent-call: over after {urgent} ns, those of the others after {others}");
    check!(urgent < 5_000 && urgent < others, "over after {urgent} ns, the others' after {others}");
    Ok(())
}

/// Faults again and again, and counts how often it was resumed behind the fault.
#[unsafe(naked)]
extern "C" fn faulter(_: u64) -> ! {
    naked_asm!("2: ud2", "inc qword ptr [rdi]", "pause", "jmp 2b")
}

/// Has whoever faults go on behind the fault. That it was stopped ends its wait.
extern "C" fn handler(_: u64) -> ! {
    let mut next = receive(NEVER);
    loop {
        next = match next {
            Ok(message) => {
                let mut words = [0; 8];
                words[0] = message.words[3] + 2;
                reply_receive(1, words)
            }
            Err(Error::Gone) => receive(NEVER),
            Err(_) => stop(),
        }
    }
}

/// A thread there faults, and a thread here handles that; each of them is stopped after each number
/// of instructions, and at last its handler's endpoint is taken away.
fn faults(kit: &mut Kit) -> Checked {
    let (region, endpoint) = (kit.slot(), kit.slot());
    done!(region_create(kit.region(), Kind::Region, SIZE, region));
    let server = done!(kit.prepare(Setup::new(50, handler)));
    let (faulting, context) = (done!(kit.make(Kind::Thread, OTHER)), done!(kit.make(Kind::SchedContext, OTHER)));
    let [_, server_stack] = done!(thread_register(server.thread, 0));
    let stack = stack(kit)?;
    done!(equip(kit, faulting, context, 20));
    for after in (0..6_000).step_by(STRIDE) {
        for stopped in [server.thread, faulting, endpoint] {
            done!(region_create(region, Kind::Endpoint, kit.number(0), endpoint));
            done!(endpoint_bind(endpoint, server.thread));
            done!(thread_set_registers(server.thread, handler as *const () as u64, server_stack, 0));
            done!(thread_resume(server.thread));
            kit.rest(2_000);
            done!(thread_configure(faulting, slot::ADDRESS_SPACE, kit.workers(), endpoint, 0));
            done!(thread_set_registers(faulting, faulter as *const () as u64, stack, cells::address(COUNT)));
            done!(thread_resume(faulting));
            kit.rest(after);
            if stopped == endpoint {
                done!(cap_delete(0, endpoint));
                // Nobody handles its faults any more.
                kit.rest(2_000);
                moves(false)?;
            } else {
                done!(thread_suspend(stopped));
                cells::spin(1_000);
                done!(thread_resume(stopped));
                let before = cells::get(COUNT);
                kit.rest(20_000);
                check!(
                    cells::get(COUNT) > before + 1,
                    "{stopped} is stopped after {after}, and its faults are not handled"
                );
            }
            done!(thread_suspend(faulting));
            done!(thread_suspend(server.thread));
            done!(region_reset(region));
        }
    }
    Ok(())
}
