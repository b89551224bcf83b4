//! Threads, on stacks that are part of the image.

use crate::Kit;
use core::cell::UnsafeCell;
use pillion_abi::{
    NEVER,
    boot::slot,
    call::thread::FPU,
    object::Kind,
    status::{Error, Result},
};
use pillion_runtime::{
    Cap, context_configure, sleep, thread_bind_context, thread_configure, thread_resume, thread_set_registers,
};

/// Bytes of a stack.
pub const STACK: usize = 16 << 10;

/// Maximum number of threads of a test.
const COUNT: usize = 24;

#[repr(C, align(4096))]
struct Memory(UnsafeCell<[[u8; STACK]; COUNT]>);

// SAFETY: no code touches it as data; each stack belongs to one thread.
unsafe impl Sync for Memory {}

static MEMORY: Memory = Memory(UnsafeCell::new([[0; STACK]; COUNT]));

/// Number of stacks taken.
#[derive(Default)]
pub(crate) struct Stacks(usize);

impl Stacks {
    fn take(&mut self) -> Result<u64> {
        if self.0 == COUNT {
            return Err(Error::NoMemory);
        }
        self.0 += 1;
        Ok(MEMORY.0.get() as u64 + (self.0 * STACK) as u64)
    }
}

/// Properties of a new thread.
#[derive(Clone, Copy)]
pub struct Setup {
    /// The processor that the thread and its scheduling context belong to.
    pub home: u64,
    /// Address space.
    pub space: Cap,
    /// Priority.
    pub priority: u8,
    /// Budget in ticks.
    pub budget: u64,
    /// Period in ticks.
    pub period: u64,
    /// Whether it may use the FPU.
    pub fpu: bool,
    /// Endpoint that receives its faults, or 0.
    pub fault: Cap,
    /// Its code. What it relies on is up to whoever starts the thread: it is a system call.
    pub entry: unsafe extern "C" fn(u64) -> !,
    /// Argument of its code.
    pub argument: u64,
}

impl Setup {
    /// A thread of the first processor, in this task's address space, with unlimited time.
    pub fn new(priority: u8, entry: unsafe extern "C" fn(u64) -> !) -> Setup {
        let space = slot::ADDRESS_SPACE;
        Setup { home: 0, space, priority, budget: NEVER, period: 0, fpu: false, fault: 0, entry, argument: 0 }
    }

    /// Sets the argument.
    #[must_use]
    pub fn with(self, argument: u64) -> Setup {
        Setup { argument, ..self }
    }

    /// Sets the home.
    #[must_use]
    pub fn on(self, home: u64) -> Setup {
        Setup { home, ..self }
    }

    /// Sets the address space.
    #[must_use]
    pub fn within(self, space: Cap) -> Setup {
        Setup { space, ..self }
    }
}

/// A thread and its scheduling context.
#[derive(Clone, Copy, Debug)]
pub struct Thread {
    /// The thread.
    pub thread: Cap,
    /// Its scheduling context.
    pub context: Cap,
}

impl Kit {
    /// Makes a thread that is ready to be resumed.
    pub fn prepare(&mut self, setup: Setup) -> Result<Thread> {
        let thread = self.make(Kind::Thread, setup.home)?;
        let context = self.make(Kind::SchedContext, setup.home)?;
        let flags = if setup.fpu { FPU } else { 0 };
        thread_configure(thread, setup.space, self.workers(), setup.fault, flags)?;
        context_configure(slot::SCHED_CONTROL, context, setup.priority, setup.budget, setup.period, 0)?;
        thread_bind_context(thread, context)?;
        let stack = self.stacks.take()?;
        // As after a call instruction: the stack is misaligned by one word.
        thread_set_registers(thread, setup.entry as *const () as u64, stack - 8, setup.argument)?;
        Ok(Thread { thread, context })
    }

    /// Makes a thread and lets it run.
    pub fn start(&mut self, setup: Setup) -> Result<Thread> {
        let thread = self.prepare(setup)?;
        thread_resume(thread.thread)?;
        Ok(thread)
    }
}

/// Stops the calling thread.
pub fn stop() -> ! {
    loop {
        let _ = sleep(NEVER);
    }
}
