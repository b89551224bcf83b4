//! The threads for Linux's processors but the first.

use pillion_abi::status::Result;
use pillion_runtime::info::monitor::{self, stack_top};
use pillion_runtime::{println, thread_resume, thread_set_registers};

use crate::{lock::Lock, processor::Processor, virtual_machine::VirtualMachine};

/// A processor, for the thread that is to run it.
pub struct Seat<'a> {
    pub machine: &'a Lock<VirtualMachine>,
    pub index: usize,
}

impl Seat<'_> {
    /// Starts the thread. If that fails, Linux finds that the processor does not start.
    ///
    /// # Safety
    /// The seat and what it names stay for good, and no other thread has it.
    pub unsafe fn fill(&self) {
        if let Err(error) = self.start() {
            println!("[vmm] the thread for Linux's processor {} does not start: {error:?}", self.index);
        }
    }

    fn start(&self) -> Result<()> {
        let thread = monitor::slot::THREADS + self.index as u32;
        let argument = core::ptr::from_ref(self) as u64;
        // As after a call.
        let stack = stack_top(self.index) - 8;
        thread_set_registers(thread, run as *const () as u64, stack, argument)?;
        thread_resume(thread)?;
        Ok(())
    }
}

/// A thread for one of the processors.
///
/// # Safety
/// [`Seat::fill`] made it the entry point of the seat's thread.
unsafe extern "C" fn run(seat: &Seat<'_>) -> ! {
    // SAFETY: this is the thread for that processor, and this is its begin.
    let mut processor = unsafe { Processor::new(seat.index, &seat.machine.lock()) };
    loop {
        processor.run(seat.machine);
    }
}
