//! The architecture: chosen here and nowhere else. The rest of the kernel uses what this file
//! lists.
//!
//! In return, the kernel proper provides `unsafe fn kernel_main(&'static BootParams) -> !` in its
//! root module, `unsafe fn kernel_other() -> !` for each other CPU, and these functions:
//!
//! ```text
//! #[unsafe(no_mangle)] unsafe extern "C" fn kernel_syscall(cpu: Cpu, capability: u64, number: u64) -> !;
//! #[unsafe(no_mangle)] unsafe extern "C" fn kernel_message(cpu: Cpu, capability: u64, number: u64) -> !;
//! #[unsafe(no_mangle)] unsafe extern "C" fn kernel_vcpu_run(cpu: Cpu, capability: u64, number: u64) -> !;
//! #[unsafe(no_mangle)] unsafe extern "C" fn kernel_interrupt(cpu: Cpu, vector: u64) -> !;
//! #[unsafe(no_mangle)] unsafe extern "C" fn kernel_exception(cpu: Cpu, vector: u64, error_code: u64) -> !;
//! ```
//!
//! They are called with interrupts off, on the CPU's stack, with the registers of the thread that
//! ran in the frame that [`Cpu::frame`] names. They end with [`exit_to_user`], which resumes the
//! thread whose frame [`Cpu::frame`] names by then. `kernel_message` gets `Call` and
//! `ReplyReceive`, `kernel_vcpu_run` gets `VcpuRun`, and `kernel_syscall` all other numbers.

#[cfg(target_arch = "x86_64")]
pub mod x86_64;

#[cfg(target_arch = "x86_64")]
use x86_64 as chosen;

/// Local interrupt controller: `eoi`, `in_service`, `hold_passenger`, `id`; the kernel's `vector`s.
pub use chosen::apic;
/// The root of the kernel's half of all address spaces; the processors that run.
pub use chosen::boot::{
    each_other_processor, has_apic, interrupt_passenger, interrupt_processor, kernel_root, memory_of_traces,
    processors, wake_others,
};
/// Time: `now`, `tsc_hz`, `program_deadline`.
pub use chosen::clock;
/// The code itself: `switch_trace_points`, and `several!`.
pub use chosen::code;
/// What the processor offers: `features`.
pub use chosen::cpu;
/// Floating-point registers of threads: `Area`, `AREA_LIMIT`, `set_ts`, `clear_ts`.
pub use chosen::fpu;
/// Registers of a thread.
pub use chosen::frame::Frame;
/// Interrupt lines: `exists`, `program` with a `Route`, `mask`; the controllers: `all`.
pub use chosen::ioapic;
/// Physical memory as the kernel sees it.
pub use chosen::layout::{ALWAYS_MAPPED, direct, physical};
/// Machine checks: `in_progress`, `gravest`, `log_all`, `end`.
pub use chosen::machine_check;
/// Address spaces: `PageTables`, `init_root`, `switch_to`, `invalidate_all`.
pub use chosen::paging;
/// A CPU's own data.
pub use chosen::percpu::{Cpu, MAX_CPUS, shown_by};
/// I/O ports: `read8` to `read32`, `write8` to `write32`.
pub use chosen::port;
/// Stopping.
pub use chosen::power::{fatal, halt, stop_others};
/// Bases of FS and GS of threads: `switch`.
pub use chosen::segment_base::{self, SegmentBases};
/// The log: `log!` writes a line; `try_put`, `ports`, `text`.
pub(crate) use chosen::serial::log;
pub use chosen::serial::{self, HastyLog, Log};
/// Interrupts while the kernel runs, and the way to user mode.
pub use chosen::trap::{exit_to_user, fault_address, idle_wait, take_pending_interrupt};
/// Virtualisation.
pub use chosen::virt;
/// What the boot loader handed over.
pub use pillion_firmware::params::BootParams;
