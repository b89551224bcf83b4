//! State of a virtual CPU in memory that kernel and VM monitor share, and the reasons for which
//! [`crate::call::Call::VcpuRun`] returns.
//!
//! The layout is the same for all vendors. The kernel keeps the general registers here while the
//! guest does not run, and writes the rest at each exit that it does not handle itself; the monitor
//! says in [`State::dirty`] what it changed.

use core::cell::Cell;
use core::sync::atomic::AtomicU64;

/// Why the guest exited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Exit {
    /// The notification bound to the thread has bits; they are in the second result.
    Notified = 0,
    /// I/O port: see [`State::io`].
    Port = 1,
    /// Guest-physical address with no mapping: see [`State::fault`].
    Memory = 2,
    /// RDMSR of a register that is not the guest's to read.
    ReadMsr = 3,
    /// WRMSR of a register that is not the guest's to write.
    WriteMsr = 4,
    /// CPUID.
    Cpuid = 5,
    /// HLT with interrupts masked: nothing but an NMI or a reset can wake the guest, which is still
    /// at it.
    Halted = 6,
    /// Triple fault.
    Shutdown = 7,
    /// The processor refused the guest's state; `fault.info` has the processor's exit code.
    Invalid = 8,
    /// Hypercall (VMMCALL or VMCALL).
    Hypercall = 9,
    /// An intercepted instruction that the guest is not offered (SVM, MONITOR, ...): it gets an
    /// invalid-opcode fault.
    Refused = 10,
    /// An exit that no guest should cause; `fault.info` has the processor's exit code.
    Unexpected = 11,
    /// Exception in a user vCPU: see [`State::fault`].
    Exception = 12,
}

impl Exit {
    /// All reasons, in order of their numbers.
    pub const ALL: [Exit; 13] = [
        Exit::Notified,
        Exit::Port,
        Exit::Memory,
        Exit::ReadMsr,
        Exit::WriteMsr,
        Exit::Cpuid,
        Exit::Halted,
        Exit::Shutdown,
        Exit::Invalid,
        Exit::Hypercall,
        Exit::Refused,
        Exit::Unexpected,
        Exit::Exception,
    ];

    /// The reason with that number.
    #[must_use]
    pub fn from_raw(raw: u64) -> Option<Exit> {
        usize::try_from(raw).ok().and_then(|i| Self::ALL.get(i)).copied()
    }

    /// Name for reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Exit::Notified => "notified",
            Exit::Port => "port",
            Exit::Memory => "memory",
            Exit::ReadMsr => "rdmsr",
            Exit::WriteMsr => "wrmsr",
            Exit::Cpuid => "cpuid",
            Exit::Halted => "halted",
            Exit::Shutdown => "shutdown",
            Exit::Invalid => "invalid",
            Exit::Hypercall => "hypercall",
            Exit::Refused => "refused",
            Exit::Unexpected => "unexpected",
            Exit::Exception => "exception",
        }
    }
}

/// Number of counters in [`State::counters`].
pub const COUNTERS: usize = 24;

/// Counters of what the kernel handled itself, by index into [`State::counters`].
pub mod counter {
    /// Exits of all kinds, and [`MOMENTS`].
    pub const EXITS: usize = 0;
    /// Physical interrupts while the guest ran.
    pub const INTERRUPTS: usize = 1;
    /// EOIs.
    pub const END_OF_INTERRUPT: usize = 2;
    /// Deadlines programmed.
    pub const DEADLINES: usize = 3;
    /// HLT.
    pub const HALTS: usize = 4;
    /// Interrupts injected.
    pub const INJECTED: usize = 5;
    /// Returns to the VM monitor.
    pub const RETURNS: usize = 6;
    /// Messages to other processors of the guest's.
    pub const MESSAGES: usize = 7;
    /// How many of [`EXITS`] were none, but other processors may have taken something from a
    /// process meanwhile ([`TAKEN`](crate::dual::TAKEN)).
    pub const MOMENTS: usize = 8;
}

/// A segment register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Segment {
    /// Selector.
    pub selector: u16,
    /// Attributes: bits 0..=7 are bits 40..=47 of the descriptor, bits 8..=11 its bits 52..=55 (AMD
    /// APM vol. 2, 15.5.1).
    pub attributes: u16,
    /// Limit in bytes.
    pub limit: u32,
    /// Base.
    pub base: u64,
}

/// General registers, by their numbers in instructions: those that are named somewhere.
pub mod gpr {
    #![allow(missing_docs, reason = "the names of the registers")]
    pub const RAX: usize = 0;
    pub const RCX: usize = 1;
    pub const RDX: usize = 2;
    pub const RBX: usize = 3;
    pub const RSP: usize = 4;
    pub const RSI: usize = 6;
    pub const RDI: usize = 7;
    pub const R8: usize = 8;
}

/// Details of an exit for a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Io {
    /// Port.
    pub port: u16,
    /// Bytes: 1, 2 or 4.
    pub width: u8,
    /// 1 for IN.
    pub is_in: u8,
    /// 1 for INS and OUTS.
    pub is_string: u8,
    /// 1 with a REP prefix.
    pub is_repeated: u8,
    /// Zero.
    pub reserved: [u8; 2],
    /// Address of the next instruction.
    pub next_rip: u64,
}

/// Details of an exit for a memory access or an exception, and of exits that have a number to
/// report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Fault {
    /// Guest-physical address; of a page fault, the address that was accessed; of a machine check,
    /// the status of the bank.
    pub address: u64,
    /// Error code as of a page fault (bit 1: write, bit 4: instruction fetch), or the number that
    /// [`Exit`] names. Of an exception: the vector in bits 0..=7, the error code in bits 32..=63.
    pub info: u64,
}

/// The parts of [`State`] that the monitor changed, as bits of [`State::dirty`]. The general
/// registers other than `rax` and `rsp` are always taken.
pub mod dirty {
    /// `rax`, `rsp`, `rip` and `rflags`.
    pub const CORE: u64 = 1;
    /// Everything else: control registers, segments, tables, `efer`, `pat`.
    pub const SYSTEM: u64 = 2;
    /// [`super::State::event`] holds an exception to deliver.
    pub const EVENT: u64 = 4;
    /// The guest gets an NMI as soon as it takes one: not before the handler of the last one
    /// executed IRET, in an interrupt shadow, or before an exception that is to be delivered. Until
    /// then the kernel keeps the bit set. With [`SYSTEM`] the last one is forgotten.
    pub const NMI: u64 = 8;
}

/// Exceptions to deliver: bits 0..=7 vector, bit 11 with error code, bits 32..=63 error code.
pub const EVENT_HAS_CODE: u64 = 1 << 11;

/// The shared state: one page.
///
/// Kernel and monitor use it in turns, on one processor: the kernel while the monitor's thread is
/// in [`crate::call::Call::VcpuRun`], the monitor otherwise. Each has a reference to it all the
/// time, so nobody has it exclusively, and every field is a cell, but for three that are atomic:
/// while the monitor's thread runs, or was preempted, the guest's timer may fire
/// ([`State::timer_vector`], [`State::deadline`]), and the kernel counts that what dual mode found
/// in Linux's memory may have changed ([`State::counters`]).
#[derive(Debug, Default)]
#[repr(C)]
pub struct State {
    /// General registers; see [`gpr`].
    pub gpr: [Cell<u64>; 16],
    /// Instruction pointer.
    pub rip: Cell<u64>,
    /// Flags.
    pub rflags: Cell<u64>,
    /// CR0. `cr0, cr3, cr4, efer` and `cs` are written at each exit. A user vCPU cannot change
    /// these: they are written when the kernel takes [`dirty::SYSTEM`], and `fs` and `gs` at each
    /// exit. The other fields from `ds` to `dr7` are written only if [`Exit`] says that the guest
    /// ended (shutdown, invalid, unexpected).
    pub cr0: Cell<u64>,
    /// CR3.
    pub cr3: Cell<u64>,
    /// CR4.
    pub cr4: Cell<u64>,
    /// EFER as the guest sees it.
    pub efer: Cell<u64>,
    /// Code segment.
    pub cs: Cell<Segment>,
    /// Data segment.
    pub ds: Cell<Segment>,
    /// Extra segment.
    pub es: Cell<Segment>,
    /// FS.
    pub fs: Cell<Segment>,
    /// GS.
    pub gs: Cell<Segment>,
    /// Stack segment.
    pub ss: Cell<Segment>,
    /// Task register.
    pub tr: Cell<Segment>,
    /// Local descriptor table.
    pub ldtr: Cell<Segment>,
    /// Global descriptor table; base and limit.
    pub gdtr: Cell<Segment>,
    /// Interrupt descriptor table; base and limit.
    pub idtr: Cell<Segment>,
    /// CR2.
    pub cr2: Cell<u64>,
    /// PAT.
    pub pat: Cell<u64>,
    /// DR6.
    pub dr6: Cell<u64>,
    /// DR7.
    pub dr7: Cell<u64>,
    /// XCR0 as the guest set it, written as `cr0` is; as after reset when the monitor changes
    /// [`dirty::SYSTEM`], or for a user vCPU the host's.
    pub xcr0: Cell<u64>,
    /// What the monitor changed; the kernel clears it.
    pub dirty: Cell<u64>,
    /// Exception to deliver at the next entry.
    pub event: Cell<u64>,
    /// See [`Io`].
    pub io: Cell<Io>,
    /// See [`Fault`].
    pub fault: Cell<Fault>,
    /// Vector of the guest's local APIC timer, or 0 while it is masked: the kernel delivers it when
    /// [`State::deadline`] has passed.
    pub timer_vector: AtomicU64,
    /// Deadline of the guest's local APIC timer in ticks; 0 when not armed. The kernel handles
    /// writes to the deadline register itself while [`State::timer_vector`] is set, and exits with
    /// `WriteMsr` otherwise.
    pub deadline: AtomicU64,
    /// Task priority register of the guest's local APIC.
    pub tpr: Cell<u64>,
    /// In-service vectors of the guest's local APIC, for the monitor to read.
    pub isr: Cell<[u64; 4]>,
    /// Pending vectors, likewise.
    pub irr: Cell<[u64; 4]>,
    /// The guest's local APIC is an x2APIC: where several processors run, the kernel sends
    /// interrupts with a fixed vector to processors that have a passenger, if this is not 0.
    pub messages: Cell<u64>,
    /// What the guest wrote to the command register of its local APIC: the last message that was
    /// sent, by the kernel or by the monitor.
    pub command: Cell<u64>,
    /// See [`counter`].
    pub counters: [AtomicU64; COUNTERS],
    /// From which value of [`State::stolen`] on the monitor wants to know it: the next write of the
    /// deadline register exits with [`Exit::WriteMsr`] then. 0: never.
    pub tell_at: Cell<u64>,
    /// At such an exit, which is the only time that it is written, and not with 0: for how many
    /// ticks other threads had the processor although the guest could have run, counted from an
    /// arbitrary time. Time in which the monitor's thread waited counts too.
    pub stolen: Cell<u64>,
}

/// Flags of [`crate::call::Call::VcpuConfigure`].
pub mod configure {
    /// A *user vCPU*: it is not the passenger, and runs a guest's code in user mode only. It gets
    /// no interrupts and has no timer, ports or model-specific registers; every exception and every
    /// instruction that is for the guest's kernel exits. The kernel takes the state as the monitor
    /// sets it, except what would lead out of user mode: privilege level 3 and protected mode are
    /// set, SYSCALL is off, and the descriptor tables are empty. Translations are dropped whenever
    /// something else ran in between. It uses the FPU registers of the thread that runs it, with
    /// all components switched on that the host has. PKRU, which the guest is not offered, is not
    /// switched. CR2 does not change: see [`super::State::fault`] for the address of a page fault.
    /// [`super::dirty::EVENT`] does nothing.
    pub const USER: u64 = 1;
}

/// Word of [`crate::call::Call::VcpuRouteLine`]: the vector in bits 0..=7 and these flags.
pub mod route {
    /// Level-triggered.
    pub const LEVEL: u64 = 1 << 8;
    /// Active low.
    pub const LOW: u64 = 1 << 9;
    /// Masked.
    pub const MASKED: u64 = 1 << 10;
    /// Not held back by the task priority of [`crate::dual::URGENCY`].
    pub const THROUGH: u64 = 1 << 11;
}

const _: () = assert!(size_of::<State>() <= 4096);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_round_trip() {
        for (i, e) in Exit::ALL.into_iter().enumerate() {
            assert_eq!(Exit::from_raw(i as u64), Some(e));
            assert_eq!(e as usize, i);
        }
        assert_eq!(Exit::from_raw(14), None);
    }
}
