//! Creation and end of processes.

use super::meter::Meter;
use crate::process::fork;
use anyhow::{Context, Result, ensure};
use rustix::process::{Pid, WaitOptions, waitpid};
use std::ffi::{CStr, CString};
use std::os::unix::ffi::OsStrExt;
use std::ptr::null;

const CALLS: u64 = 200;

/// The shell, if there is one.
const SHELL: &CStr = c"/bin/sh";

/// A process that ends at once.
pub fn fork_exit(meter: &Meter) -> Result<f64> {
    meter.each(CALLS, || spawn(&[]))
}

/// A process that becomes another program (this one again), which ends at once.
pub fn fork_exec(meter: &Meter) -> Result<f64> {
    let program = this_program()?;
    meter.each(CALLS, || spawn(&[&program, c"nothing"]))
}

/// The same, started by a shell.
pub fn fork_shell(meter: &Meter) -> Result<f64> {
    let program = this_program()?;
    // The colon keeps the shell from replacing itself with the program.
    let command = CString::new([program.as_bytes(), b" nothing; :"].concat())?;
    meter.each(CALLS / 4, || spawn(&[SHELL, c"-c", &command]))
}

fn this_program() -> Result<CString> {
    let path = std::env::current_exe().context("the path of this program")?;
    Ok(CString::new(path.as_os_str().as_bytes())?)
}

/// Starts a process that becomes the program that the words name, and waits for its end.
fn spawn(words: &[&CStr]) -> Result<()> {
    let mut pointers: Vec<*const libc::c_char> = words.iter().map(|word| word.as_ptr()).collect();
    pointers.push(null());
    let become_program = || {
        if pointers.len() == 1 {
            return 0;
        }
        // SAFETY: the words are zero-terminated strings, a null pointer follows them, and all live
        // until the program has changed.
        unsafe { libc::execv(pointers[0], pointers.as_ptr()) };
        127
    };
    // SAFETY: the child makes at most one system call.
    wait(unsafe { fork(become_program) }?)
}

fn wait(pid: Pid) -> Result<()> {
    let (_, status) = waitpid(Some(pid), WaitOptions::empty())?.context("the child has no status")?;
    ensure!(status.exit_status() == Some(0), "a process failed: {status:?}");
    Ok(())
}
