//! The system calls.
//!
//! Made with the `syscall` instruction. On entry `rax` holds the number of the call, `rdi` the index of the
//! capability that it is made on, and `rsi, rdx, r10, r8, r9` the arguments. On return `rax` holds 0 or the
//! negative of an [`crate::status::Error`], `rdx` and `rsi` results; `rcx` and `r11` are lost, all other
//! registers keep their values. Calls that pass a message carry its label in `rsi` and its words in
//! `rdx, r10, r8, r9, r12, r13, r14, r15`, in and out; received with it is the badge, in `rdi`.
//!
//! A call with a lot to do (making, deleting, revoking, mapping) is interrupted when something more urgent is
//! pending and starts again where it left off; user code sees one call.

/// Words that a message carries.
pub const MESSAGE_WORDS: usize = 8;

macro_rules! calls {
    ($($(#[$doc:meta])* $name:ident = $number:literal,)*) => {
        /// Number of a system call.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u64)]
        pub enum Call { $($(#[$doc])* $name = $number,)* }

        impl Call {
            /// All calls, in order of their numbers.
            pub const ALL: &'static [Call] = &[$(Call::$name,)*];

            /// The call with that number.
            #[inline]
            #[must_use]
            pub const fn from_raw(raw: u64) -> Option<Call> {
                match raw { $($number => Some(Call::$name),)* _ => None }
            }

            /// Name as it stands in the documentation.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Call::$name => stringify!($name),)* }
            }
        }
    };
}

calls! {
    /// `(endpoint, label, words..)` Sends a message and waits for the reply.
    Call = 0,
    /// `(-, label, words.., deadline is none)` Replies to the caller being served and waits for the next
    /// message or, with a notification bound to the thread, for its bits (label [`LABEL_NOTIFIED`]).
    ReplyReceive = 1,
    /// `(-, deadline)` Waits for a message as [`Call::ReplyReceive`] does, until the deadline.
    Receive = 2,
    /// `(-, label, words..)` Replies and goes on.
    Reply = 3,
    /// `(notification)` Adds the badge of the capability to the notification's bits.
    Signal = 4,
    /// `(notification, deadline)` Waits until a bit is set; returns and clears the bits.
    Wait = 5,
    /// `(-, deadline)` Sleeps until the deadline, in ticks of the time-stamp counter.
    Sleep = 6,
    /// `()` Goes to the end of the queue of its priority.
    Yield = 7,
    /// `(vcpu)` Runs the guest until there is something for the VM monitor to do; returns the
    /// [`crate::vcpu::Exit`] reason.
    VcpuRun = 8,
    /// `(timer, deadline)` Arms a timer; [`crate::NEVER`] disarms it.
    TimerSet = 9,
    /// `(interrupt)` Lets the interrupt come again after it was handled.
    InterruptAck = 10,

    /// `(region, kind, size, destination slot)` Makes an object out of the region's memory. `size` is in bytes for `Region` and
    /// `Memory`, a count of slots for `CapSpace`, a count of table pages for address spaces, and unused otherwise.
    RegionCreate = 16,
    /// `(region)` Ends everything made of the region and makes its memory available again.
    RegionReset = 17,
    /// `(memory, offset, size, destination slot, rights)` Derives a capability for a part of the memory.
    MemoryPart = 18,
    /// `(memory, address space, address, flags)` Maps all of the memory at the address; a guest space has guest-physical addresses.
    MemoryMap = 19,
    /// `(memory)` Takes the mapping away.
    MemoryUnmap = 20,

    /// `(capability space, destination slot, own source slot, rights, badge)` Derives a capability. A badge can be given once.
    CapDerive = 24,
    /// `(capability space, destination slot, own source slot)` Moves a capability.
    CapMove = 25,
    /// `(capability space, slot)` Deletes a capability and everything derived from it.
    CapDelete = 26,
    /// `(capability space, slot)` Deletes everything derived from a capability.
    CapRevoke = 27,
    /// `(any)` Returns the kind, and for `Region`, `Memory` and `Ports` the base and size.
    CapIdentify = 28,

    /// `(thread, address space, capability space, fault endpoint or 0, flags)` Gives a thread its surroundings.
    ThreadConfigure = 32,
    /// `(thread, entry, stack, argument)` Sets the registers of a stopped thread.
    ThreadSetRegisters = 33,
    /// `(thread)` Lets a stopped thread run.
    ThreadResume = 34,
    /// `(thread)` Stops a thread, wherever it is.
    ThreadSuspend = 35,
    /// `(thread, scheduling context or 0)` Gives a thread the right to time, or takes it.
    ThreadBindContext = 36,
    /// `(thread, notification or 0)` Lets the notification wake the thread out of `Receive` and `VcpuRun`.
    ThreadBindNotification = 37,
    /// `(thread, word 0..=8)` Reads a pair of the stopped or faulting thread's registers.
    ThreadRegister = 38,
    /// `(scheduling control, context, priority, budget, period, ceiling)` Budget and period in ticks. The ceiling is the highest priority that
    /// [`Call::ContextSetPriority`] may set; what is below the priority counts as the priority.
    ContextConfigure = 39,
    /// `(context)` Returns the ticks consumed so far, and how often the budget ran out.
    ContextConsumed = 40,
    /// `(endpoint, thread, flags, need)` Makes the thread the receiver of the endpoint. Need: ticks that a caller with a limited budget must
    /// have left.
    EndpointBind = 41,
    /// `(timer, notification, bits)` Says what the timer signals.
    TimerBind = 42,
    /// `(context, priority)` Sets the priority, up to the context's ceiling; budget and period stay as they are. Returns the old one.
    ContextSetPriority = 43,

    /// `(irq control, line or [`IRQ_MSI`], flags, destination slot)` Makes an interrupt capability. For a message-signalled one
    /// returns the address and data that the device is to write.
    InterruptCreate = 48,
    /// `(interrupt, notification, bits)` Says what the interrupt signals, and enables it.
    InterruptBind = 49,
    /// `(ports, port, width in bytes)` Reads a port.
    PortIn = 50,
    /// `(ports, port, width in bytes, value)` Writes a port.
    PortOut = 51,
    /// `(ports, first, count, destination slot)` Derives a capability for some of the ports.
    PortsPart = 52,

    /// `(vcpu, guest space, memory for the shared state, flags)` Prepares a vCPU and makes it the passenger of the thread's CPU, or a user vCPU: see
    /// [`crate::vcpu::configure`].
    VcpuConfigure = 56,
    /// `(vcpu, ports)` Lets the guest use the ports, at most 1,024, without an exit.
    VcpuAllowPorts = 57,
    /// `(vcpu, vector)` Makes an interrupt pending in the guest's local APIC.
    VcpuInject = 58,
    /// `(vcpu, irq control, line, vector and flags)` Routes an interrupt line to the guest; see [`crate::vcpu::route`].
    VcpuRouteLine = 59,
    /// `(vcpu)` Forgets all interrupt state of the guest, as at reset, and gives every physical end of interrupt that is owed.
    VcpuReset = 60,
    /// `(vcpu)` Ends the guest's most urgent interrupt in service, as its own write to the end-of-interrupt register would.
    VcpuEndOfInterrupt = 61,

    /// `(trace, 1 or 0)` Switches the trace buffer on or off.
    TraceControl = 64,
    /// `(trace, byte)` Gives a byte to the log's UART, if it can take it now; without a UART the byte goes nowhere ([`crate::boot::feature::LOG_DEVICE`]).
    LogPut = 65,
}

/// Label of what [`Call::Receive`] returns when the bound notification has bits; they are in the first word.
pub const LABEL_NOTIFIED: u64 = u64::MAX;

/// Label of the message that the kernel sends for a thread that faulted. Words: vector, error code, address, `rip`,
/// `rsp`, `rflags`. A reply with label 0 resumes the thread where it was, one with label 1 at the `rip` in word 0; any other leaves it stopped.
pub const LABEL_FAULT: u64 = u64::MAX - 1;

/// Line number that asks [`Call::InterruptCreate`] for a message-signalled interrupt.
pub const IRQ_MSI: u64 = u64::MAX;

/// Flags of [`Call::InterruptCreate`].
pub mod irq {
    /// Level-triggered.
    pub const LEVEL: u64 = 1;
    /// Active low.
    pub const LOW: u64 = 2;
}

/// Flags of [`Call::EndpointBind`].
pub mod endpoint {
    /// Callers do not raise the receiver's priority: it serves them at its own, in the order in which they came.
    pub const OWN_PRIORITY: u64 = 1;
}

/// Flags of [`Call::ThreadConfigure`].
pub mod thread {
    /// The thread uses the floating-point and vector registers.
    pub const FPU: u64 = 1;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_unique_and_round_trip() {
        for call in Call::ALL {
            assert_eq!(Call::from_raw(*call as u64), Some(*call), "{}", call.name());
        }
        assert_eq!(Call::from_raw(u64::MAX), None);
    }
}
