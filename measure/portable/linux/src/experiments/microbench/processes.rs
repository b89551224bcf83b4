//! Creation and end of processes.

use super::meter::Meter;
use crate::realtime::last_errno;
use anyhow::{Context, Result, bail, ensure};
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
    // SAFETY: this process has one thread.
    match unsafe { libc::fork() } {
        -1 => bail!("there is no room for another process: {}", last_errno()),
        0 => become_program(&pointers),
        pid => wait(pid),
    }
}

/// The child: it allocates nothing, and runs no exit handler.
fn become_program(words: &[*const libc::c_char]) -> ! {
    if words.len() > 1 {
        // SAFETY: the words are zero-terminated strings, a null pointer follows them, and all live
        // until the program has changed.
        unsafe { libc::execv(words[0], words.as_ptr()) };
    }
    // SAFETY: ends this process.
    unsafe { libc::_exit(if words.len() > 1 { 127 } else { 0 }) }
}

fn wait(pid: i32) -> Result<()> {
    let (_, status) = waitpid(Pid::from_raw(pid), WaitOptions::empty())?.context("the child has no status")?;
    ensure!(status.exit_status() == Some(0), "a process failed: {status:?}");
    Ok(())
}
