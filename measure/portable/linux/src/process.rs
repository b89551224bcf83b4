//! Children: processes that run beside an experiment, or are measured.

use crate::realtime::last_errno;
use anyhow::{Context, Result, ensure};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

/// A child process; it is killed and waited for when it is dropped.
#[derive(Debug)]
pub struct Child(Option<Pid>);

/// Starts a child that does `work` and ends. It dies with its parent.
///
/// # Errors
/// Linux has no room for it.
pub fn child(work: impl FnOnce() -> Result<()>) -> Result<Child> {
    let parent = rustix::process::getpid();
    // SAFETY: callers fork before they start threads, so that no lock of another thread is held in
    // the child.
    match unsafe { libc::fork() } {
        -1 => Err(last_errno()).context("there is no room for another process"),
        // SAFETY: ends this process. Nothing of the parent's is flushed or torn down a second time.
        0 => unsafe { libc::_exit(alone(parent, work)) },
        pid => Ok(Child(Pid::from_raw(pid))),
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
    /// Waits until it ends.
    ///
    /// # Errors
    /// It failed.
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
