//! Registers of threads, in the frames that the entry code fills and loads.

use super::{Hardware, thread_page};
use crate::arch::{Frame, HastyLog, direct, fpu};
use core::fmt::Write as _;
use pillion_core::{
    Id,
    machine::{Message, Threads},
    thread::Thread,
};

impl Hardware {
    /// Registers of a thread.
    #[inline]
    pub fn frame(&mut self, thread: Id<Thread>) -> &mut Frame {
        // SAFETY: a handle of a thread leads to its page, in which `place` made a frame. Only the
        // entry functions and the entry code touch it too, without a reference that outlives a call
        // into the kernel. That of a thread that is away is its holder's: its home does not load it
        // until it is back.
        unsafe { &mut *Self::frame_pointer(thread) }
    }

    #[inline]
    pub(super) fn frame_pointer(thread: Id<Thread>) -> *mut Frame {
        direct(thread.physical() + thread_page::FRAME)
    }

    /// Where a thread's FPU state is kept.
    #[inline]
    pub fn fpu_area(thread: Id<Thread>) -> fpu::Area {
        // SAFETY: a handle of a thread leads to its page, in which `place` filled the area.
        unsafe { fpu::Area::at(thread.physical() + thread_page::FPU) }
    }
}

impl Threads for Hardware {
    #[inline]
    fn set_result(&mut self, thread: Id<Thread>, status: u64, values: [u64; 2]) {
        let frame = self.frame(thread);
        (frame.rax, frame.rdx, frame.rsi) = (status, values[0], values[1]);
    }

    fn repeat_call(&mut self, thread: Id<Thread>) {
        self.frame(thread).repeat_call();
    }

    fn message(&mut self, thread: Id<Thread>) -> Message {
        let f = self.frame(thread);
        Message { label: f.rsi, words: [f.rdx, f.r10, f.r8, f.r9, f.r12, f.r13, f.r14, f.r15] }
    }

    fn set_message(&mut self, thread: Id<Thread>, badge: u64, message: &Message) {
        let f = self.frame(thread);
        (f.rax, f.rdi, f.rsi) = (0, badge, message.label);
        [f.rdx, f.r10, f.r8, f.r9, f.r12, f.r13, f.r14, f.r15] = message.words;
    }

    #[inline(always)]
    fn copy_message(&mut self, from: Id<Thread>, to: Id<Thread>, badge: u64) {
        let (f, t) = (Self::frame_pointer(from), Self::frame_pointer(to));
        // SAFETY: as in `frame`; no reference is made, so that both may be the same thread's.
        unsafe {
            ((*t).rax, (*t).rdi, (*t).rsi) = (0, badge, (*f).rsi);
            ((*t).rdx, (*t).r10, (*t).r8, (*t).r9) = ((*f).rdx, (*f).r10, (*f).r8, (*f).r9);
            ((*t).r12, (*t).r13, (*t).r14, (*t).r15) = ((*f).r12, (*f).r13, (*f).r14, (*f).r15);
        }
    }

    fn set_registers(&mut self, thread: Id<Thread>, entry: u64, stack: u64, argument: u64) {
        if !self.frame(thread).start(entry, stack, argument) {
            // User code cannot be there: the thread starts at 0, faults, and its handler is called.
            let _ = self.frame(thread).start(0, stack, argument);
        }
    }

    fn set_instruction_pointer(&mut self, thread: Id<Thread>, address: u64) {
        let _ = self.frame(thread).jump(address);
    }

    fn register_pair(&mut self, thread: Id<Thread>, index: u64) -> [u64; 2] {
        let f = self.frame(thread);
        match index {
            0 => [f.rip(), f.rsp()],
            1 => [f.rflags(), f.rax],
            2 => [f.rbx, f.rcx()],
            3 => [f.rdx, f.rsi],
            4 => [f.rdi, f.rbp],
            5 => [f.r8, f.r9],
            6 => [f.r10, f.r11()],
            7 => [f.r12, f.r13],
            _ => [f.r14, f.r15],
        }
    }

    fn drop_fpu(&mut self, thread: Id<Thread>) {
        self.fpu_owner = self.fpu_owner.filter(|area| *area != Self::fpu_area(thread));
        if self.running == Some(thread) {
            self.running = None;
        }
    }

    fn report_fault(&mut self, thread: Id<Thread>, fault: &Message) {
        // Nobody else reports a fault of the first task. The other tasks run on and do not wait for
        // the UART: a slow one shows 16 bytes of the line.
        if self.first != Some(thread) {
            return;
        }
        let [vector, code, address, rip, rsp, ..] = fault.words;
        let _ = writeln!(
            HastyLog::default(),
            "[fault] task 1, vector {vector}, code {code:#x}, address {address:#x}, rip {rip:#x}, rsp {rsp:#x}; no handler\r"
        );
    }
}
