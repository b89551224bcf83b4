//! What a run's log reports about Linux: one JSON object per line, and text for people.

use core::cell::Cell;
use core::fmt::Write as _;
use core::sync::atomic::Ordering::Relaxed;

use pillion_abi::vcpu::{Exit, State, counter};
use pillion_runtime::{info, info::monitor::PROCESSORS, log::Log, now, println};

use crate::{end::End, linux_vcpu::Vcpu};

/// What the kernel counts, and how the log calls it.
const KERNEL: [(usize, &str); 8] = [
    (counter::EXITS, "all"),
    (counter::INTERRUPTS, "interrupt"),
    (counter::END_OF_INTERRUPT, "kernel-end-of-interrupt"),
    (counter::DEADLINES, "kernel-deadline"),
    (counter::HALTS, "kernel-halt"),
    (counter::MESSAGES, "kernel-message"),
    (counter::INJECTED, "injected"),
    (counter::RETURNS, "to-monitor"),
];

/// Counts of exits of all processors.
#[derive(Default)]
pub struct Exits {
    /// To the monitor, by reason.
    reasons: [u64; Exit::ALL.len()],
    /// What the kernel had counted when each processor last stopped.
    kernel: [[u64; KERNEL.len()]; PROCESSORS],
}

impl Exits {
    pub fn count(&mut self, reason: Exit) {
        self.reasons[reason as usize] += 1;
    }

    /// Takes what the kernel has counted for a processor that stops.
    pub fn keep(&mut self, vcpu: &Vcpu) {
        let count = |index: usize| vcpu.state.counters[index].load(Relaxed);
        self.kernel[vcpu.index()] = KERNEL.map(|(index, _)| match index {
            counter::EXITS => count(index).wrapping_sub(count(counter::MOMENTS)),
            _ => count(index),
        });
    }
}

/// Nanoseconds since the time-stamp counter started.
fn t_ns() -> u64 {
    (u128::from(now()) * 1_000_000_000 / u128::from(info::task().tsc_hz.max(1))) as u64
}

/// Reports that Linux reached a point of its life.
pub fn event(name: &str, boot: u64) {
    println!("{{\"pillion\":\"linux\",\"event\":\"{name}\",\"t_ns\":{},\"boot\":{boot}}}", t_ns());
}

/// Reports how Linux ended.
pub fn ended(end: &End, boot: u64) {
    event(end.name(), boot);
    match end {
        End::RanAway(address) => println!("[vmm] Linux executes at {address:#x}, where it has no memory"),
        End::Invalid(code) => println!("[vmm] the processor refused Linux's state (code {code:#x})"),
        End::CannotStart(reason) => println!("[vmm] Linux cannot be started: {reason}"),
        End::Broken(what) => println!("[vmm] {what}"),
        _ => {}
    }
}

/// Reports a line that Linux wrote to the debug port. The line is safe inside quotation marks.
pub fn note(line: &str) {
    println!("{{\"pillion\":\"linux\",\"event\":\"note\",\"t_ns\":{},\"text\":\"{line}\"}}", t_ns());
    if line == "init" {
        println!("{{\"pillion\":\"linux\",\"event\":\"init\",\"t_ns\":{}}}", t_ns());
    }
}

/// Reports counts of exits, those that the kernel handled itself first.
pub fn exits(exits: &Exits) {
    let mut log = Log::new();
    let _ = write!(log, "{{\"pillion\":\"exits\",\"reasons\":{{");
    for (i, (_, name)) in KERNEL.into_iter().enumerate() {
        let all: u64 = exits.kernel.iter().map(|one| one[i]).sum();
        let _ = write!(log, "\"{name}\":{all},");
    }
    for (i, reason) in Exit::ALL.into_iter().enumerate() {
        let comma = if i + 1 == Exit::ALL.len() { "" } else { "," };
        let _ = write!(log, "\"{}\":{}{comma}", reason.name(), exits.reasons[i]);
    }
    let _ = writeln!(log, "}}}}");
}

/// Reports an instruction that touched memory in a way that the monitor cannot emulate.
pub fn unsupported(s: &State, bytes: &[u8]) {
    println!(
        "[vmm] rip {:#x} touches {:#x} with an instruction that is not emulated: {bytes:02x?}",
        s.rip.get(),
        s.fault.get().address
    );
}

/// Reports all of the guest's state when it has ended.
pub fn state(s: &State) {
    println!(
        "[vmm] rip {:#x} rflags {:#x} cr0 {:#x} cr2 {:#x} cr3 {:#x} cr4 {:#x} efer {:#x}",
        s.rip.get(),
        s.rflags.get(),
        s.cr0.get(),
        s.cr2.get(),
        s.cr3.get(),
        s.cr4.get(),
        s.efer.get()
    );
    for (i, four) in s.gpr.each_ref().map(Cell::get).chunks_exact(4).enumerate() {
        println!("[vmm] r{}.. {:x?}", i * 4, four);
    }
    for (name, segment) in
        [("cs", &s.cs), ("ss", &s.ss), ("ds", &s.ds), ("tr", &s.tr), ("gdtr", &s.gdtr), ("idtr", &s.idtr)]
    {
        let segment = segment.get();
        println!(
            "[vmm] {name} {:#x} base {:#x} limit {:#x} attributes {:#x}",
            segment.selector, segment.base, segment.limit, segment.attributes
        );
    }
}
