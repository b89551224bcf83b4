//! What a run's log reports about tasks.

use crate::task::Task;
use core::fmt::Write as _;
use pillion_abi::{call::MESSAGE_WORDS, status::Result};
use pillion_histogram::Histogram;
use pillion_runtime::{Cap, log::Log, now, println, thread_register};

/// Nanoseconds since boot.
pub fn since_boot(tsc_hz: u64) -> u64 {
    let ns = u128::from(now()) * 1_000_000_000 / u128::from(tsc_hz.max(1));
    u64::try_from(ns).unwrap_or(u64::MAX)
}

/// The figures to report: of a periodic task, or of a task with a skin that had a periodic thread.
fn figures(task: &Task) -> Option<&'static Histogram> {
    task.histogram.filter(|h| task.period_ns != 0 || h.samples() != 0)
}

/// Reports a task's figures so far.
pub fn status(task: &Task) {
    let Some(h) = figures(task) else { return };
    println!(
        "{{\"pillion\":\"status\",\"name\":\"{}\",\"samples\":{},\"min_ns\":{},\"avg_ns\":{},\"max_ns\":{},\"overruns\":{}}}",
        task.name,
        h.samples(),
        h.min_ns().unwrap_or(0),
        h.avg_ns().unwrap_or(0),
        h.max_ns().unwrap_or(0),
        h.overruns()
    );
}

/// Reports a task's figures at its end. `period_ns` is its period in nanoseconds, or 0.
pub fn last(task: &Task, period_ns: u64) {
    let Some(h) = figures(task) else { return };
    let mut log = Log::new();
    let _ = write!(
        log,
        "{{\"pillion\":\"task\",\"name\":\"{}\",\"period_ns\":{},\"samples\":{},\"min_ns\":{},\"avg_ns\":{},\"p99_ns\":{},\
         \"p9999_ns\":{},\"max_ns\":{},\"overruns\":{},\"histogram\":[",
        task.name,
        period_ns,
        h.samples(),
        h.min_ns().unwrap_or(0),
        h.avg_ns().unwrap_or(0),
        h.p99_ns().unwrap_or(0),
        h.p9999_ns().unwrap_or(0),
        h.max_ns().unwrap_or(0),
        h.overruns()
    );
    for (i, (ns, count)) in h.counts().enumerate() {
        let comma = if i == 0 { "" } else { "," };
        let _ = write!(log, "{comma}[{ns},{count}]");
    }
    let _ = writeln!(log, "]}}");
}

/// Names of the registers, in the pairs that the kernel returns.
const REGISTERS: [[&str; 2]; 9] = [
    ["rip", "rsp"],
    ["rflags", "rax"],
    ["rbx", "rcx"],
    ["rdx", "rsi"],
    ["rdi", "rbp"],
    ["r8", "r9"],
    ["r10", "r11"],
    ["r12", "r13"],
    ["r14", "r15"],
];

/// Where a task with several threads faulted.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// Number of the faulting thread.
    pub thread: usize,
    /// Return addresses on its stack, the innermost first.
    pub calls: &'a [u64],
}

/// Reports the fault of a task's thread, for machines and for people.
pub fn fault(name: &str, thread: Cap, words: &[u64; MESSAGE_WORDS], place: Option<Place<'_>>) {
    let [vector, error, address, rip, rsp, ..] = *words;
    let mut log = Log::new();
    let _ = write!(
        log,
        "{{\"pillion\":\"fault\",\"name\":\"{name}\",\"vector\":{vector},\"error\":{error},\"address\":\"{address:#x}\",\
         \"rip\":\"{rip:#x}\",\"rsp\":\"{rsp:#x}\""
    );
    if let Some(Place { thread, calls }) = place {
        let _ = write!(log, ",\"thread\":{thread},\"calls\":[");
        for (i, call) in calls.iter().enumerate() {
            let _ = write!(log, "{}\"{call:#x}\"", if i == 0 { "" } else { "," });
        }
        let _ = write!(log, "]");
    }
    let _ = writeln!(log, "}}");
    drop(log);
    println!("[resmgr] {name} is stopped: exception {vector}, error {error:#x}, address {address:#x}, at {rip:#x}");
    if let Err(error) = registers(name, thread) {
        println!("[resmgr] cannot read its registers: {error:?}");
    }
}

fn registers(name: &str, thread: Cap) -> Result<()> {
    let mut log = Log::new();
    let _ = write!(log, "[resmgr] {name}:");
    for (index, names) in (0..).zip(REGISTERS) {
        let values = thread_register(thread, index)?;
        for (name, value) in names.iter().zip(values) {
            let _ = write!(log, " {name} {value:#x}");
        }
    }
    let _ = writeln!(log);
    Ok(())
}
