//! Makes a thread the most urgent one, and keeps its memory and its processor.

use anyhow::{Context, Result, bail};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::mm::{MlockAllFlags, mlockall, munlockall};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::fs;
use std::os::fd::OwnedFd;

/// Locks all memory of this process, present and future. Fails if this is not permitted.
pub fn lock_memory() -> Result<()> {
    mlockall(MlockAllFlags::CURRENT | MlockAllFlags::FUTURE)
        .context("memory cannot be locked: run as root, or raise the limit `memlock` (ulimit -l unlimited)")
}

/// How this process was scheduled. Dropping it restores that, and unlocks memory.
pub struct Before(Option<CpuSet>);

/// Remembers how this process is scheduled.
pub fn remember() -> Before {
    Before(sched_getaffinity(None).ok())
}

impl Drop for Before {
    fn drop(&mut self) {
        let _ = be_ordinary();
        let _ = unlock_memory();
        if let Some(processors) = &self.0 {
            let _ = sched_setaffinity(None, processors);
        }
    }
}

/// Undoes [`lock_memory`]: memory is allocated page by page again. Fails if Linux refuses.
pub fn unlock_memory() -> Result<()> {
    munlockall().context("memory cannot be unlocked")
}

/// Restricts this thread to one processor. Fails if there is no such processor.
pub fn pin(cpu: usize) -> Result<()> {
    let mut set = CpuSet::new();
    set.set(cpu);
    sched_setaffinity(None, &set).with_context(|| format!("processor {cpu} is not available; --cpu chooses another"))
}

/// The processors on which this process may run. Fails if Linux does not report them.
pub fn processors() -> Result<Vec<usize>> {
    let set = sched_getaffinity(None).context("the processors are not known")?;
    Ok((0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect())
}

/// Puts this thread under `SCHED_FIFO`, with a priority of 1 to 99. Fails if not permitted.
pub fn be_fifo(priority: i32) -> Result<()> {
    be(libc::SCHED_FIFO, priority)
}

/// Puts this thread under the ordinary policy, as loads are. Fails if Linux refuses.
pub fn be_ordinary() -> Result<()> {
    be(libc::SCHED_OTHER, 0)
}

fn be(policy: i32, priority: i32) -> Result<()> {
    // SAFETY: a C structure of integers, for which zeros are values.
    let mut parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    parameters.sched_priority = priority;
    // The raw system call: musl's function of this name always fails.
    // SAFETY: the structure lives during the call.
    match unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &raw const parameters) } {
        0 => Ok(()),
        _ if last_errno() == Errno::PERM => bail!(
            "SCHED_FIFO with priority {priority} is not permitted: run as root, or give the limit `rtprio` in \
             /etc/security/limits.conf (ulimit -r 99)"
        ),
        _ => Err(last_errno()).context("the scheduling policy cannot be set"),
    }
}

/// The error of the C library's last call.
pub fn last_errno() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}

/// Keeps the processors out of deep sleep until the result is dropped; `None` if Linux cannot.
pub fn stay_awake() -> Option<OwnedFd> {
    let file = rustix::fs::open("/dev/cpu_dma_latency", OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    rustix::io::write(&file, &0i32.to_ne_bytes()).ok().map(|_| file)
}

/// Linux's limit on real-time threads: 0.95 s of each second unless it is lifted.
const THROTTLE: &str = "/proc/sys/kernel/sched_rt_runtime_us";

/// Whether Linux stops real-time threads that compute for long.
pub fn is_throttled() -> bool {
    fs::read_to_string(THROTTLE).is_ok_and(|text| text.trim() != "-1")
}

/// Keeps the limit on real-time threads lifted until it is dropped.
pub struct Unthrottled(Option<String>);

/// Lifts the limit on real-time threads, if permitted.
pub fn unthrottle() -> Unthrottled {
    let before = fs::read_to_string(THROTTLE).ok().filter(|text| text.trim() != "-1");
    Unthrottled(before.filter(|_| fs::write(THROTTLE, "-1").is_ok()))
}

impl Drop for Unthrottled {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            let _ = fs::write(THROTTLE, before);
        }
    }
}
