//! Virtualisation: the contract that each vendor's part fulfils.
//!
//! A vendor's module (so far [`svm`] alone) offers
//!
//! | item | what it does |
//! |---|---|
//! | `probe() -> Result<Features, &'static str>` | what the processor offers, or why it cannot and the remedy |
//! | `enable(host_area)` | switches virtualisation on, on this CPU |
//! | `MACHINE_CHECK` | the processor's code for an exit by a machine check |
//! | `VCPU_PAGES` | pages that a [`Vcpu`] needs besides itself |
//! | `Vcpu::prepare(area, step)` | fills the pages, a step at a time, before `init` |
//! | `Vcpu::init(area, nested_root, asid, &Features)` | a vCPU that may do nothing without an exit |
//! | `Vcpu::confine` | makes it a user vCPU |
//! | `Vcpu::load_state`, `store_state` | take over what the VM monitor changed, show it what it may see |
//! | `Vcpu::enter(&State) -> HwExit` | runs the guest up to the next exit |
//! | `Vcpu::load_user_state`, `store_user_state`, `enter_user`, `decode_user` | the same for a user vCPU, which drops all translations at each entry |
//! | `request_interrupt`, `cancel_interrupt`, `interrupt_pending`, `interrupts_enabled` | external interrupts |
//! | `inject_exception`, `advance`, `finish_rdmsr`, `msr_value`, `hypercall`, `finish_hypercall` | answers to an exit |
//! | `task_priority`, `set_task_priority` | the guest's CR8 |
//! | `allow_ports`, `deny_ports`, `flush_translations`, `fpu_area` | set-up |
//!
//! The vendor is chosen here and nowhere else.

pub mod svm;

pub use svm::{MACHINE_CHECK, UserExit, VCPU_PAGES, Vcpu, enable, probe};

use pillion_abi::vcpu::{Fault, Io};

/// What the processor's virtualisation offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    /// Address-space numbers; 0 is the host's.
    pub asids: u32,
    /// An exit reports where the next instruction is.
    pub next_rip: bool,
    /// The translations of one guest can be dropped alone.
    pub flush_by_asid: bool,
}

/// Why the guest exited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HwExit {
    /// A physical interrupt is pending; it is taken when the kernel next opens the window.
    Interrupt,
    /// A physical NMI or a redirected INIT, which was taken on the way out.
    Taken,
    /// A machine check: see [`crate::arch::machine_check`].
    MachineCheck,
    /// Nothing is left to do: enter again, unless something more urgent is pending.
    Handled,
    /// HLT, one byte; the guest is still at it.
    Halt,
    /// CPUID, two bytes.
    Cpuid,
    /// RDMSR or WRMSR, two bytes; see [`Vcpu::msr_value`]. EFER never gets here.
    Msr {
        /// WRMSR.
        write: bool,
        /// Number of the register.
        number: u32,
    },
    /// I/O port; the next instruction is at `next_rip`.
    Port(Io),
    /// Guest-physical address without a mapping that allows the access.
    NestedFault(Fault),
    /// Triple fault.
    Shutdown,
    /// The processor refused the guest's state.
    Invalid {
        /// The processor's exit code.
        code: u64,
    },
    /// VMMCALL, three bytes.
    Hypercall,
    /// An instruction that the guest is not offered; the answer is an invalid-opcode fault.
    Refused,
    /// Exception in a user vCPU.
    Exception(Fault),
    /// Something that no guest should cause.
    Unexpected {
        /// The processor's exit code.
        code: u64,
    },
}
