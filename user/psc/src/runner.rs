//! Runners: one thread per handler, which waits for the handler's time or interrupt and runs it.

use crate::handler_run::{Fault, Guest, TOO_LONG};
use crate::share::Shown;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU64, Ordering};
use pillion_abi::NEVER;
use pillion_abi::channel::{PscSlot, psc};
use pillion_abi::status::Result;
use pillion_runtime::info::{self, TaskInfo, skin, slot};
use pillion_runtime::{
    context_set_priority, interrupt_ack, now, park, println, signal, thread_bind_notification, thread_resume,
    thread_set_registers, thread_suspend, timer_bind, timer_set, wait,
};

/// Bytes of a runner's stack.
const STACK: usize = 8 << 10;

/// What a runner has to do.
#[derive(Clone, Copy)]
struct Order {
    handler: PscSlot,
    /// The task's interrupt that it waits for, instead of a time.
    interrupt: Option<u32>,
}

/// Memory of a runner.
#[repr(C, align(16))]
struct Runner {
    stack: UnsafeCell<[u8; STACK]>,
    order: UnsafeCell<Option<Order>>,
    /// Why its handler was stopped, to be logged: vector, address, instruction.
    fault: [AtomicU64; 3],
}

// SAFETY: the main thread writes an order only while the runner is suspended, before it sets the
// runner to its entry point; the runner reads the order afterwards. Nothing but the runner uses its
// stack.
unsafe impl Sync for Runner {}

static RUNNERS: [Runner; psc::SLOTS] = [const { Runner::new() }; psc::SLOTS];

/// Handlers stopped since the main thread last checked: bit `n` for runner `n`.
static FAULTS: AtomicU64 = AtomicU64::new(0);

impl Runner {
    const fn new() -> Runner {
        Runner {
            stack: UnsafeCell::new([0; STACK]),
            order: UnsafeCell::new(None),
            fault: [const { AtomicU64::new(0) }; 3],
        }
    }
}

/// Number of a runner's thread: thread 0 is the main thread.
fn thread(number: usize) -> u32 {
    number as u32 + 1
}

pub fn prepare(info: &TaskInfo) -> Result<()> {
    let count = (info.skin.threads as usize).saturating_sub(1).min(psc::SLOTS);
    for number in 0..count {
        let notification = skin::slot::NOTIFICATIONS + thread(number);
        context_set_priority(skin::slot::CONTEXTS + thread(number), info.skin.ceiling as u8)?;
        thread_bind_notification(skin::slot::THREADS + thread(number), notification)?;
        timer_bind(info::psc::slot::TIMERS + number as u32, notification, TOO_LONG)?;
    }
    Ok(())
}

/// Starts a handler, to run when its time comes, in the place of what the runner did.
///
/// # Safety
/// The calling thread is the main thread.
pub unsafe fn start(number: usize, handler: &PscSlot, interrupt: Option<u32>) -> Result<()> {
    let runner = &RUNNERS[number];
    thread_suspend(skin::slot::THREADS + thread(number))?;
    // SAFETY: the runner is suspended and begins anew afterwards, and nobody but the main thread
    // resumes it or writes its order.
    unsafe { *runner.order.get() = Some(Order { handler: *handler, interrupt }) };
    let stack = runner.stack.get() as u64 + STACK as u64;
    if let Some(interrupt) = interrupt {
        // Discard an earlier interrupt, which was meant for no handler.
        let _ = wait(slot::NOTIFICATION, 0);
        interrupt_ack(slot::INTERRUPTS + interrupt)?;
    }
    let shown = Shown::of(number);
    shown.set_counts(0, 0, 0);
    shown.set_fault(0, 0, 0);
    shown.set_state(psc::ACTIVE);
    thread_set_registers(skin::slot::THREADS + thread(number), begin as *const () as u64, stack - 8, number as u64)?;
    thread_resume(skin::slot::THREADS + thread(number))?;
    Ok(())
}

/// Stops a handler, wherever it is.
pub fn stop(number: usize) {
    let _ = thread_suspend(skin::slot::THREADS + thread(number));
    let _ = timer_set(info::psc::slot::TIMERS + number as u32, NEVER);
    // The next handler must not see this one's notifications.
    let _ = wait(skin::slot::NOTIFICATIONS + thread(number), 0);
    Shown::of(number).set_state(psc::IDLE);
}

/// A runner.
///
/// # Safety
/// [`start`] made it the entry point of the thread of runner `number`.
unsafe extern "C" fn begin(number: u64) -> ! {
    let number = number as usize;
    // SAFETY: the order was written before this thread was started, and this is that runner.
    let (order, guest) = unsafe { (*RUNNERS[number].order.get(), Guest::of(number)) };
    if let Some(order) = order {
        match serve(number, &guest, &order) {
            Ok(()) => Shown::of(number).set_state(psc::IDLE),
            Err(fault) => report(number, &fault),
        }
    }
    park()
}

/// Runs the handler repeatedly, or once.
fn serve(number: usize, guest: &Guest, order: &Order) -> core::result::Result<(), Fault> {
    let hz = info::task().tsc_hz;
    let period = ticks(order.handler.period_ns, hz);
    let mut release = now().saturating_add(period);
    let (mut runs, mut overruns, mut latency) = (0, 0, 0);
    loop {
        match order.interrupt {
            Some(interrupt) => release = next_interrupt(interrupt),
            None => wait_until(number, release),
        }
        latency = now().saturating_sub(release).max(latency);
        guest.run(&order.handler, hz)?;
        runs += 1;
        match order.interrupt {
            Some(interrupt) => _ = interrupt_ack(slot::INTERRUPTS + interrupt),
            None => overruns += skip(&mut release, period),
        }
        Shown::of(number).set_counts(runs, overruns, nanoseconds(latency, hz));
        if order.handler.flags & psc::ONESHOT != 0 {
            return Ok(());
        }
    }
}

fn wait_until(number: usize, release: u64) {
    while now() < release {
        let _ = wait(skin::slot::NOTIFICATIONS + thread(number), release);
    }
}

/// Waits for the interrupt. Returns the time when it was noticed.
fn next_interrupt(interrupt: u32) -> u64 {
    while wait(slot::NOTIFICATION, NEVER).map_or(0, |[bits, _]| bits) & 1 << interrupt == 0 {}
    now()
}

/// Advances to the next release. Returns how many releases have passed and are skipped.
fn skip(release: &mut u64, period: u64) -> u64 {
    let missed = now().saturating_sub(*release) / period;
    *release += (missed + 1) * period;
    missed
}

fn report(number: usize, fault: &Fault) {
    let shown = Shown::of(number);
    shown.set_fault(fault.vector, fault.address, fault.rip);
    shown.set_state(psc::FAULTED);
    for (word, value) in RUNNERS[number].fault.iter().zip([fault.vector.into(), fault.address, fault.rip]) {
        word.store(value, Ordering::Relaxed);
    }
    FAULTS.fetch_or(1 << number, Ordering::Release);
    let _ = signal(skin::slot::NOTIFICATIONS);
}

/// Logs which handlers were stopped. The main thread does it, because a call from a runner would
/// wait for the resource manager, which serves at its own, lower priority.
pub fn log_faults() {
    let faults = FAULTS.swap(0, Ordering::Acquire);
    for (number, runner) in RUNNERS.iter().enumerate().filter(|(number, _)| faults >> number & 1 != 0) {
        let [vector, address, rip] = [0, 1, 2].map(|i: usize| runner.fault[i].load(Ordering::Relaxed));
        println!("[psc] handler {number} is stopped: vector {vector}, address {address:#x}, rip {rip:#x}");
    }
}

fn ticks(nanoseconds: u64, hz: u64) -> u64 {
    (u128::from(nanoseconds) * u128::from(hz) / 1_000_000_000) as u64
}

fn nanoseconds(ticks: u64, hz: u64) -> u64 {
    (u128::from(ticks) * 1_000_000_000 / u128::from(hz)) as u64
}
