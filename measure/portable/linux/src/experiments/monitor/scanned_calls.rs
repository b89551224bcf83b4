//! The system calls to scan.

use crate::process;
use anyhow::{Result, ensure};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, Mode, OFlags, SeekFrom, memfd_create, open, seek, stat};
use rustix::io::{read, write};
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use rustix::process::{Signal, WaitOptions, getpid, kill_process, waitpid};
use std::cell::Cell;
use std::ffi::c_void;
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use std::ptr::null_mut;
use std::rc::Rc;

/// How to make a call repeatedly.
pub struct Call {
    pub name: &'static str,
    /// Prepares what all its calls need.
    pub prepare: fn() -> Result<Made>,
}

/// A step of a prepared call; it fails if Linux refuses.
type Step = Box<dyn FnMut() -> Result<()>>;

/// A prepared call.
pub struct Made {
    /// Runs before each call.
    pub before: Step,
    pub call: Step,
    /// Runs after each call.
    pub after: Step,
}

/// All of them; the names are those of their curves.
pub const ALL: &[Call] = &[
    Call { name: "getpid", prepare: || plain(number) },
    Call { name: "stat", prepare: || plain(|| Ok(stat("/proc/self/exe").map(drop)?)) },
    Call { name: "open_close", prepare: || plain(|| Ok(open("/dev/null", OFlags::RDONLY, Mode::empty()).map(drop)?)) },
    Call { name: "read_64k", prepare: read_64k },
    Call { name: "write_64k", prepare: write_64k },
    Call { name: "pipe", prepare: pipe_4k },
    Call { name: "poll_64", prepare: poll_64 },
    Call { name: "nanosleep", prepare: || plain(|| Ok(nanosleep_shortest()?)) },
    Call { name: "kill", prepare: kill_self },
    Call { name: "mmap", prepare: map_1m },
    Call { name: "munmap", prepare: unmap_1m },
    Call { name: "fork", prepare: fork },
    Call { name: "exec", prepare: || plain(exec) },
    Call { name: "pthread_create", prepare: thread },
    Call { name: "sync", prepare: || plain(sync) },
    Call { name: "mount", prepare: || mounts(false) },
    Call { name: "umount", prepare: || mounts(true) },
];

fn number() -> Result<()> {
    let _ = getpid();
    Ok(())
}

fn sync() -> Result<()> {
    rustix::fs::sync();
    Ok(())
}

/// Bytes of a large transfer, as in the paper.
const LARGE: usize = 64 << 10;
const MAPPED: usize = 1 << 20;

fn nothing() -> Step {
    Box::new(|| Ok(()))
}

fn plain(call: impl FnMut() -> Result<()> + 'static) -> Result<Made> {
    undone(call, || Ok(()))
}

fn undone(call: impl FnMut() -> Result<()> + 'static, undo: impl FnMut() -> Result<()> + 'static) -> Result<Made> {
    Ok(Made { before: nothing(), call: Box::new(call), after: Box::new(undo) })
}

/// A file in memory with that many bytes, and a buffer for them.
fn file() -> Result<(Rc<OwnedFd>, Vec<u8>)> {
    let (file, buffer) = (memfd_create("monitor", MemfdFlags::CLOEXEC)?, vec![1; LARGE]);
    ensure!(write(&file, &buffer)? == LARGE, "a file in memory is full");
    seek(&file, SeekFrom::Start(0))?;
    Ok((Rc::new(file), buffer))
}

fn read_64k() -> Result<Made> {
    let (file, mut buffer) = file()?;
    let again = Rc::clone(&file);
    undone(move || Ok(read(&*file, &mut buffer).map(drop)?), move || Ok(seek(&*again, SeekFrom::Start(0)).map(drop)?))
}

fn write_64k() -> Result<Made> {
    let (file, buffer) = file()?;
    let again = Rc::clone(&file);
    undone(move || Ok(write(&*file, &buffer).map(drop)?), move || Ok(seek(&*again, SeekFrom::Start(0)).map(drop)?))
}

/// A page into a pipe and out of it.
fn pipe_4k() -> Result<Made> {
    let ((from, to), mut buffer) = (rustix::pipe::pipe()?, vec![1; 4096]);
    plain(move || {
        write(&to, &buffer)?;
        Ok(read(&from, &mut buffer).map(drop)?)
    })
}

/// Polls empty pipes.
fn poll_64() -> Result<Made> {
    let pipes = (0..64).map(|_| rustix::pipe::pipe()).collect::<Result<Vec<_>, _>>()?;
    plain(move || {
        let mut watched: Vec<PollFd> = pipes.iter().map(|(from, _)| PollFd::new(from, PollFlags::IN)).collect();
        Ok(poll(&mut watched, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).map(drop)?)
    })
}

/// Sleeps for as long as going to sleep and waking up takes.
fn nanosleep_shortest() -> rustix::io::Result<()> {
    crate::sleep::until(crate::time_source::monotonic() + 1_000)
}

/// Sends itself a signal that is ignored by default.
fn kill_self() -> Result<Made> {
    plain(|| Ok(kill_process(getpid(), Signal::URG)?))
}

/// Memory with all pages present, until it is unmapped.
struct Memory(*mut c_void);

impl Memory {
    fn map() -> Result<Memory> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: new memory at an address that Linux chooses.
        let address = unsafe { mmap_anonymous(null_mut(), MAPPED, protection, MapFlags::PRIVATE | MapFlags::POPULATE) };
        Ok(Memory(address?))
    }

    fn unmap(self) -> Result<()> {
        // SAFETY: the memory came from `map`, and nothing refers to it.
        Ok(unsafe { munmap(self.0, MAPPED) }?)
    }
}

/// Maps memory, and unmaps it after the call.
fn map_1m() -> Result<Made> {
    let (map, unmap) = map_and_unmap();
    Ok(Made { before: nothing(), call: map, after: unmap })
}

/// Unmaps memory that is mapped before the call.
fn unmap_1m() -> Result<Made> {
    let (map, unmap) = map_and_unmap();
    Ok(Made { before: map, call: unmap, after: nothing() })
}

fn map_and_unmap() -> (Step, Step) {
    let made = Rc::new(Cell::new(None));
    let mapped = Rc::clone(&made);
    let map = move || Memory::map().map(|memory| made.set(Some(memory)));
    (Box::new(map), Box::new(move || mapped.take().map_or(Ok(()), Memory::unmap)))
}

/// Forks a child that ends at once.
fn fork() -> Result<Made> {
    let child = Rc::new(Cell::new(None));
    let made = Rc::clone(&child);
    let call = move || {
        // SAFETY: the child does nothing but end.
        child.set(Some(unsafe { process::fork(|| 0) }?));
        Ok(())
    };
    undone(call, move || {
        let ended = waitpid(made.get(), WaitOptions::empty())?;
        ensure!(ended.is_some(), "the child was lost");
        Ok(())
    })
}

/// Runs a program from start to end: this one, which prints its version.
fn exec() -> Result<()> {
    let status = Command::new("/proc/self/exe").arg("--version").stdout(Stdio::null()).status()?;
    ensure!(status.success(), "the program failed: {status}");
    Ok(())
}

/// Starts a thread that ends at once.
fn thread() -> Result<Made> {
    let made = Rc::new(Cell::new(None));
    let begun = Rc::clone(&made);
    let call = move || {
        begun.set(Some(std::thread::Builder::new().stack_size(64 << 10).spawn(|| ())?));
        Ok(())
    };
    undone(call, move || {
        let ended = made.take().map(std::thread::JoinHandle::join);
        ensure!(matches!(ended, Some(Ok(()))), "the thread was lost");
        Ok(())
    })
}

/// A folder for a file system in memory.
struct Folder(String);

impl Folder {
    fn mount(&self) -> Result<()> {
        Ok(mount("monitor", self.0.as_str(), "tmpfs", MountFlags::empty(), None)?)
    }

    fn unmount(&self) -> Result<()> {
        Ok(unmount(self.0.as_str(), UnmountFlags::empty())?)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A failure may have left it mounted.
        let _ = self.unmount();
        let _ = std::fs::remove_dir(&self.0);
    }
}

/// Mounts it, and unmounts it after the call; or the other way round.
fn mounts(is_taken_away: bool) -> Result<Made> {
    let path = std::env::temp_dir().join(format!("pillion-measure-{}", std::process::id()));
    std::fs::create_dir_all(&path)?;
    let folder = Rc::new(Folder(path.to_string_lossy().into_owned()));
    let again = Rc::clone(&folder);
    let (mount, unmount) = (Box::new(move || folder.mount()), Box::new(move || again.unmount()));
    Ok(match is_taken_away {
        false => Made { before: nothing(), call: mount, after: unmount },
        true => Made { before: mount, call: unmount, after: nothing() },
    })
}
