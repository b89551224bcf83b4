//! Children: processes that run beside an experiment, or are measured.

use crate::realtime::last_errno;
use anyhow::{Context, Result, ensure};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use std::time::{Duration, Instant};

/// A child process; it is killed and waited for when it is dropped.
#[derive(Debug)]
pub struct Child(Option<Pid>);

/// How long a thread that was waited for may still be among the process's threads.
const LEAVING: Duration = Duration::from_secs(1);

/// Forks a process that runs `body` and ends with its status. Fails if Linux has no room for it.
///
/// # Safety
/// This process has one thread, or `body` does only what a signal handler may do: a lock that
/// another thread holds now stays locked in the new process.
pub unsafe fn fork(body: impl FnOnce() -> i32) -> Result<Pid> {
    // SAFETY: the caller's promise.
    let pid = match unsafe { libc::fork() } {
        -1 => return Err(last_errno()).context("there is no room for another process"),
        // SAFETY: ends this process. Nothing of the parent's is flushed or torn down a second time.
        0 => unsafe { libc::_exit(body()) },
        pid => pid,
    };
    Pid::from_raw(pid).context("the new process has no number")
}

/// Starts a child that does `work` and ends. It dies with its parent. Fails if this process has
/// other threads, or Linux has no room for the child.
pub fn child(work: impl FnOnce() -> Result<()>) -> Result<Child> {
    be_alone()?;
    let parent = rustix::process::getpid();
    // SAFETY: this process has one thread, which is here.
    Ok(Child(Some(unsafe { fork(|| alone(parent, work)) }?)))
}

/// Starts a child that ends at once: what a process costs, without the question for threads. Fails
/// if Linux has no room for it.
pub fn idle_child() -> Result<Child> {
    let parent = rustix::process::getpid();
    // SAFETY: the child makes system calls, and nothing else.
    Ok(Child(Some(unsafe { fork(|| alone(parent, || Ok(()))) }?)))
}

/// Checks that this process has one thread.
fn be_alone() -> Result<()> {
    // The threads of a test harness stay. What the tests' children do takes no lock but the
    // allocator's, which the C library keeps in order when it forks.
    if cfg!(test) {
        return Ok(());
    }
    let end = Instant::now() + LEAVING;
    loop {
        let threads = std::fs::read_dir("/proc/self/task").context("cannot count the threads of this process")?.count();
        if threads == 1 {
            return Ok(());
        }
        ensure!(Instant::now() < end, "a process with {threads} threads cannot fork: start children before threads");
        // The thread that leaves may be less urgent than this one.
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The body of a child; returns its exit status.
fn alone(parent: Pid, work: impl FnOnce() -> Result<()>) -> i32 {
    let dies_too = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
    if dies_too.is_err() || rustix::process::getppid() != Some(parent) {
        return 1;
    }
    match work() {
        Ok(()) => 0,
        Err(problem) => {
            let text = format!("pillion-measure: in a child: {problem:#}\n");
            let _ = rustix::io::write(rustix::stdio::stderr(), text.as_bytes());
            1
        }
    }
}

impl Child {
    /// Waits until it ends. Fails if it failed.
    pub fn wait(mut self) -> Result<()> {
        let pid = self.0.take().context("the child was waited for already")?;
        let (_, status) = waitpid(Some(pid), WaitOptions::empty())?.context("the child has no status")?;
        ensure!(status.exit_status() == Some(0), "a child failed: {status:?}");
        Ok(())
    }

    /// Its process ID.
    pub fn pid(&self) -> Option<Pid> {
        self.0
    }

    /// Whether it has ended by itself, which a load must not.
    pub fn has_ended(&mut self) -> bool {
        let ended = self.0.is_some_and(|pid| matches!(waitpid(Some(pid), WaitOptions::NOHANG), Ok(Some(_)) | Err(_)));
        if ended {
            self.0 = None;
        }
        ended
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if let Some(pid) = self.0.take() {
            let _ = kill_process(pid, Signal::KILL);
            let _ = waitpid(Some(pid), WaitOptions::empty());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // A child that fails may wait for a lock that another test's thread held during the fork (a
    // backtrace takes one): tests/load.rs covers that case with the program itself.
    #[test]
    fn a_child_that_does_its_work_ends_well() {
        child(|| Ok(())).unwrap().wait().unwrap();
    }

    #[test]
    fn a_child_that_is_dropped_is_gone() {
        let mut forever = child(|| {
            loop {
                std::thread::sleep(std::time::Duration::from_secs(1))
            }
        })
        .unwrap();
        assert!(!forever.has_ended());
        let pid = forever.pid().unwrap();
        drop(forever);
        assert!(rustix::process::test_kill_process(pid).is_err());
    }
}
