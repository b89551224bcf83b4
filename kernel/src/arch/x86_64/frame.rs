//! The registers of a thread while it is not running.

use pillion_abi::USER_END;

use super::selector;

/// [`Frame::vector`] of a frame that a system call filled. The exit to such a frame is by SYSRET,
/// to all others by IRET.
pub const SYSCALL: u64 = 256;

/// Interrupts on, and the bit that is always set.
const RFLAGS: u64 = 0x202;

/// All registers of a task's thread. The processor pushes the upper part itself: while a thread
/// runs, the stack pointer that the processor loads on an entry is the end of the thread's frame.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
#[allow(missing_docs, reason = "the names of the registers")]
pub struct Frame {
    pub r15: u64,
    pub r14: u64,
    pub r13: u64,
    pub r12: u64,
    pub rbp: u64,
    pub rbx: u64,
    pub(super) r11: u64,
    pub r10: u64,
    pub r9: u64,
    pub r8: u64,
    pub rdi: u64,
    pub rsi: u64,
    pub rdx: u64,
    pub(super) rcx: u64,
    pub rax: u64,
    pub(super) vector: u64,
    pub(super) error: u64,
    pub(super) rip: u64,
    pub(super) cs: u64,
    pub(super) rflags: u64,
    pub(super) rsp: u64,
    pub(super) ss: u64,
}

// The end must be a place where the processor starts to push: it rounds the stack pointer down
// to 16.
const _: () = assert!(size_of::<Frame>() == 22 * 8 && size_of::<Frame>().is_multiple_of(16));

impl Default for Frame {
    fn default() -> Frame {
        Frame::new()
    }
}

impl Frame {
    /// A thread that never ran.
    #[must_use]
    pub const fn new() -> Frame {
        Frame {
            r15: 0,
            r14: 0,
            r13: 0,
            r12: 0,
            rbp: 0,
            rbx: 0,
            r11: 0,
            r10: 0,
            r9: 0,
            r8: 0,
            rdi: 0,
            rsi: 0,
            rdx: 0,
            rcx: 0,
            rax: 0,
            vector: 0,
            error: 0,
            rip: 0,
            cs: selector::USER_CODE as u64,
            rflags: RFLAGS,
            rsp: 0,
            ss: selector::USER_DATA as u64,
        }
    }

    /// Makes the thread start at `entry` with `argument` in `rdi` and all else zero. Returns false
    /// and changes nothing if user code cannot be at `entry`.
    #[must_use]
    pub fn start(&mut self, entry: u64, stack: u64, argument: u64) -> bool {
        if entry < USER_END {
            *self = Frame { rip: entry, rsp: stack, rdi: argument, ..Frame::new() };
        }
        entry < USER_END
    }

    /// Makes the thread continue at `rip`. Returns false and changes nothing if user code cannot be
    /// there.
    #[must_use]
    pub fn jump(&mut self, rip: u64) -> bool {
        if rip < USER_END {
            self.make_complete();
            self.rip = rip;
        }
        rip < USER_END
    }

    /// Makes the frame one for IRET: after a system call, `rcx` and `r11` get what SYSRET leaves in
    /// them.
    fn make_complete(&mut self) {
        if self.vector == SYSCALL {
            self.rcx = self.rip;
            self.r11 = self.rflags;
            self.vector = 0;
        }
    }

    /// Makes the thread repeat the system call that filled this frame. Only for frames that a
    /// system call filled.
    pub fn repeat_call(&mut self) {
        const SYSCALL_LENGTH: u64 = 2;
        if self.vector == SYSCALL {
            self.rip = self.rip.wrapping_sub(SYSCALL_LENGTH);
        }
    }

    /// Instruction pointer.
    #[must_use]
    pub const fn rip(&self) -> u64 {
        self.rip
    }

    /// Stack pointer.
    #[must_use]
    pub const fn rsp(&self) -> u64 {
        self.rsp
    }

    /// Flags.
    #[must_use]
    pub const fn rflags(&self) -> u64 {
        self.rflags
    }

    /// RCX; lost in a system call.
    #[must_use]
    pub const fn rcx(&self) -> u64 {
        self.rcx
    }

    /// R11; lost in a system call.
    #[must_use]
    pub const fn r11(&self) -> u64 {
        self.r11
    }

    /// Why the thread is not running: [`SYSCALL`], or the vector of an exception or interrupt.
    #[must_use]
    pub const fn vector(&self) -> u64 {
        self.vector
    }

    /// Error code of an exception, else 0.
    #[must_use]
    pub const fn error(&self) -> u64 {
        self.error
    }
}
