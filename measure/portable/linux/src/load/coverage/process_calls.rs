//! Processes, signals, timers, scheduling, and what a process may ask about itself.

use super::Place;
use crate::process::child;
use anyhow::{Context, Result};
use rustix::io::Errno;
use rustix::process::{self, Pid, Resource, Signal, WaitOptions};
use rustix::thread::{self, Timespec};
use rustix::time::{self, ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags};
use std::hint::black_box;
use std::time::Duration;

pub fn cover(_place: &Place, round: u64) -> Result<()> {
    itself()?;
    clocks()?;
    scheduling()?;
    child(move || if round.is_multiple_of(3) { session().and_then(|()| itself()) } else { Ok(()) })?.wait()?;
    killed()?;
    if round.is_multiple_of(4) {
        std::thread::spawn(thread::sched_yield).join().ok().context("a thread failed")?;
    }
    Ok(())
}

fn itself() -> Result<()> {
    black_box((process::getppid(), process::getuid(), process::getgid()));
    process::getgroups()?;
    process::umask(process::umask(rustix::fs::Mode::from_raw_mode(0o022)));
    let limit = process::getrlimit(Resource::Nofile);
    process::setrlimit(Resource::Nofile, limit)?;
    process::getpriority_process(None)?;
    thread::name()?;
    rustix::system::uname();
    rustix::system::sysinfo();
    match rustix::rand::getrandom(&mut [0u8; 16], rustix::rand::GetRandomFlags::NONBLOCK) {
        // Soon after power-on, a machine without an entropy source has no random numbers yet.
        Ok(_) | Err(Errno::AGAIN) => Ok(()),
        Err(problem) => Err(problem.into()),
    }
}

/// Queries within a session that it makes itself: the session in which a container's process was
/// born may lie outside of the container, and have no number in it.
fn session() -> Result<()> {
    process::setsid()?;
    black_box((process::getsid(None)?, process::getpgrp()));
    Ok(())
}

fn clocks() -> Result<()> {
    let clocks =
        [ClockId::Realtime, ClockId::Monotonic, ClockId::ProcessCPUTime, ClockId::ThreadCPUTime, ClockId::Boottime];
    for clock in clocks {
        black_box((time::clock_gettime(clock), time::clock_getres(clock)));
    }
    let timer = time::timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC)?;
    let soon = Timespec { tv_sec: 0, tv_nsec: 50_000 };
    time::timerfd_settime(&timer, TimerfdTimerFlags::empty(), &Itimerspec { it_interval: soon, it_value: soon })?;
    time::timerfd_gettime(&timer)?;
    rustix::io::read(&timer, &mut [0; 8])?;
    std::thread::sleep(Duration::from_micros(50));
    Ok(())
}

fn scheduling() -> Result<()> {
    thread::sched_yield();
    let processors = thread::sched_getaffinity(None)?;
    thread::sched_setaffinity(None, &processors)?;
    thread::sched_getcpu();
    Ok(())
}

/// Stops a sleeping child, lets it continue, and kills it by dropping it.
fn killed() -> Result<()> {
    let sleeper = child(|| {
        loop {
            std::thread::sleep(Duration::from_secs(60));
        }
    })?;
    let pid: Pid = sleeper.pid().context("a child without a number")?;
    process::kill_process(pid, Signal::STOP)?;
    process::waitpid(Some(pid), WaitOptions::UNTRACED)?;
    process::kill_process(pid, Signal::CONT)?;
    Ok(())
}
