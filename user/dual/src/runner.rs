//! Runners: one thread for each thread of Linux that can be in primary mode at the same time.

use crate::answer::{Answer, Thread};
use crate::commit::{self, Linux};
use crate::kept;
use crate::level;
use crate::place::{self, End, Knows, Offer, Place, Told};
use crate::process::{LinuxRam, Lookups, Process};
use crate::shadow::{self, Shadow};
use crate::watchdog::is_overdue;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use pillion_abi::NEVER;
use pillion_abi::dual::{SLOTS, flag, reason};
use pillion_abi::vcpu::Exit;
use pillion_runtime::info::{self, TaskInfo, skin};
use pillion_runtime::{
    context_consumed, now, signal, sleep, thread_bind_notification, thread_resume, thread_set_registers, thread_suspend,
};

/// Bytes of a runner's stack.
const STACK: usize = 8 << 10;

/// SYSCALL.
const SYSCALL: [u8; 2] = [0x0f, 0x05];
const INVALID_OPCODE: u64 = 6;

/// How often the end of a thread is looked for, a millisecond apart, when the task ends.
const PATIENCE: u32 = 100;

#[repr(C, align(16))]
struct Stack(UnsafeCell<[u8; STACK]>);

// SAFETY: nothing but the runner uses its stack.
unsafe impl Sync for Stack {}

static STACKS: [Stack; SLOTS] = [const { Stack(UnsafeCell::new([0; STACK])) }; SLOTS];

/// Number of runners.
static COUNT: AtomicU32 = AtomicU32::new(0);

/// The task ends: runners take no more threads, and give theirs back.
static ENDS: AtomicBool = AtomicBool::new(false);

pub fn count() -> usize {
    COUNT.load(Relaxed) as usize
}

/// A runner's thread: thread 0 is the main thread.
pub fn thread(number: usize) -> u32 {
    number as u32 + 1
}

/// A runner's notification.
pub fn notification(number: usize) -> u32 {
    skin::slot::NOTIFICATIONS + thread(number)
}

/// Finds out how many runners there are, and what the processor has. Fails with the reason.
pub fn prepare(info: &TaskInfo) -> Result<(), &'static str> {
    let count = (info.skin.threads as usize).saturating_sub(1).min(SLOTS);
    COUNT.store(count as u32, Relaxed);
    // SAFETY: threads of a task with a skin have the flag, and no runner has begun.
    unsafe { shadow::prepare() }
}

/// Starts the runners. Fails with the reason.
pub fn begin_all() -> Result<(), &'static str> {
    (0..count()).try_for_each(start).map_err(|_| "the kernel refuses to start its threads")
}

fn start(number: usize) -> pillion_abi::status::Result<()> {
    let (own, stack) = (skin::slot::THREADS + thread(number), STACKS[number].0.get() as u64 + STACK as u64);
    // Until a thread of Linux is taken, it only has to be more urgent than Linux.
    level::restore(number);
    commit::prepare(thread(number))?;
    thread_bind_notification(own, notification(number))?;
    thread_set_registers(own, begin as *const () as u64, stack - 8, number as u64)?;
    thread_resume(own)?;
    Ok(())
}

/// Ends the runners. Each gives its thread back first, unless it gets no time to do so: then that
/// thread is lost, as if Linux's memory were gone.
pub fn end() {
    ENDS.store(true, Relaxed);
    let count = count();
    let pause = info::task().tsc_hz / 1_000;
    for number in 0..count {
        let _ = signal(notification(number));
    }
    for _ in 0..PATIENCE {
        if !(0..count).any(|number| Place::of(number).is_primary()) {
            break;
        }
        let _ = sleep(now().saturating_add(pause));
    }
    for number in 0..count {
        let _ = thread_suspend(skin::slot::THREADS + thread(number));
    }
}

/// Whether a thread must go back at once.
pub fn is_wanted(place: &Place, offer: &Offer) -> bool {
    place.is_recalled(offer.number) || ENDS.load(Relaxed)
}

/// A runner.
///
/// # Safety
/// [`start`] made it the entry point of the thread of runner `number`.
unsafe extern "C" fn begin(number: u64) -> ! {
    let number = number as usize;
    // SAFETY: this is that runner.
    let mut runner = unsafe { Runner::new(number) };
    let (mut told, mut until) = (Told::Nothing, NEVER);
    loop {
        runner.place.tell_and_wait(told, until);
        if !ENDS.load(Relaxed) && runner.place.take() {
            if kept::owes() {
                kept::leave_to_idle();
            }
            (told, until) = (runner.run(), NEVER);
            if kept::owes() {
                // After Linux was told.
                let _ = signal(notification(number));
            }
        } else {
            // SAFETY: this is that runner.
            (told, until) = (Told::Nothing, unsafe { kept::pay_once(number) });
        }
    }
}

struct Runner {
    thread: u32,
    shadow: Shadow,
    place: Place,
    ram: LinuxRam,
    lookups: Lookups,
    linux: Linux,
    /// Processor time and exhausted budgets when the last thread was given back.
    used: [u64; 2],
}

impl Runner {
    /// # Safety
    /// The calling thread is that of runner `number`.
    unsafe fn new(number: usize) -> Runner {
        // SAFETY: as the caller says.
        let shadow = unsafe { Shadow::of(number) };
        Runner {
            thread: thread(number),
            shadow,
            place: Place::of(number),
            ram: LinuxRam::new(),
            lookups: Lookups::new(),
            linux: Linux::beside(number),
            used: [0; 2],
        }
    }

    /// Runs the thread that was taken, until it goes back. Returns what Linux has to be told.
    fn run(&mut self) -> Told {
        let offer = self.place.offer();
        level::set(self.number(), offer.priority.min(u8::MAX.into()) as u8);
        let Some(tables) = self.shadow.load(&self.place, &offer) else {
            return self.give_back(&offer, &End { reason: reason::REFUSED, ..End::default() });
        };
        // Where Linux has one processor, it has run if another thread comes: the moment is over.
        if place::has_several() {
            self.lookups.forget();
        }
        let process = Process::new(self.ram, tables, &self.lookups, self.linux);
        let mut thread = Thread::new(&self.place, &offer, process, self.thread);
        let end = go_on(&self.shadow, &mut thread);
        thread.leave();
        self.shadow.store(&self.place, offer.xcr0);
        self.give_back(&offer, &end)
    }

    fn give_back(&mut self, offer: &Offer, end: &End) -> Told {
        let used = context_consumed(skin::slot::CONTEXTS + self.thread).unwrap_or(self.used);
        let since = [0, 1].map(|i: usize| used[i].saturating_sub(self.used[i]));
        self.used = used;
        self.place.set_end(end, since);
        let level = level::in_linux(self.number());
        match (self.place.give_back(offer.number), offer.flags & flag::ONCE != 0) {
            (Knows::Itself, _) | (Knows::Of, true) => Told::Nothing,
            (Knows::Not, true) => Told::Something,
            // One vector more does no harm.
            (Knows::Of, false) if !self.place.is_calmer(level) => Told::Nothing,
            (Knows::Of | Knows::Not, false) => Told::Urgent(level),
        }
    }

    fn number(&self) -> usize {
        self.thread as usize - 1
    }
}

/// Runs a thread until it needs Linux, or Linux wants it.
fn go_on(shadow: &Shadow, thread: &mut Thread<'_>) -> End {
    // The signal for the offer may have been that for its recall as well, or for the task's end.
    if is_wanted(thread.place, thread.offer) {
        return End { reason: reason::RECALL, ..End::default() };
    }
    // It is offered at a system call.
    if let Some(end) = call(shadow, thread, now()) {
        return end;
    }
    loop {
        let exit = shadow.run();
        let time = now();
        let fault = shadow.state.fault.get();
        let vector = fault.info & 0xff;
        match Exit::from_raw(exit) {
            Some(Exit::Exception) if vector == INVALID_OPCODE && at_syscall(shadow, thread) => {
                if let Some(end) = call(shadow, thread, time) {
                    return end;
                }
            }
            Some(Exit::Exception) => {
                let code = fault.info >> 32;
                return End {
                    reason: reason::EXCEPTION,
                    number: vector,
                    address: fault.address,
                    code,
                    ..End::default()
                };
            }
            Some(Exit::Notified) if is_wanted(thread.place, thread.offer) => {
                return End { reason: reason::RECALL, ..End::default() };
            }
            Some(Exit::Notified) if is_overdue(thread.place.number, thread.offer.number) => {
                return End { reason: reason::WATCHDOG, ..End::default() };
            }
            Some(Exit::Notified) => {}
            _ => {
                shadow.forget();
                return End {
                    reason: reason::INSTRUCTION,
                    number: exit,
                    address: fault.address,
                    code: fault.info,
                    ..End::default()
                };
            }
        }
    }
}

fn at_syscall(shadow: &Shadow, thread: &Thread<'_>) -> bool {
    thread.process.has_instruction(shadow.state.rip.get(), SYSCALL)
}

/// Answers a system call made at that time, in ticks, or says why the thread must leave.
fn call(shadow: &Shadow, thread: &mut Thread<'_>, made: u64) -> Option<End> {
    match thread.answer(shadow.state, made) {
        Answer::Value(result) => {
            shadow.return_from_call(result);
            let is_once = thread.offer.flags & flag::ONCE != 0;
            is_once.then(|| End { reason: reason::ANSWERED, ..End::default() })
        }
        Answer::LastValue(result) => {
            shadow.return_from_call(result);
            Some(End { reason: reason::RECALL, ..End::default() })
        }
        Answer::Again => Some(End { reason: reason::RECALL, ..End::default() }),
        Answer::Linux => Some(left_to_linux(shadow, reason::CALL)),
        Answer::Inversion => Some(left_to_linux(shadow, reason::INVERSION)),
        Answer::CutShort { resume, wake_ns } => Some(End { reason: reason::RECALL, resume, wake_ns, ..End::default() }),
    }
}

/// The end with a system call that Linux executes.
fn left_to_linux(shadow: &Shadow, reason: u32) -> End {
    let number = shadow.state.gpr[pillion_abi::vcpu::gpr::RAX].get();
    End { reason, number, ..End::default() }
}
