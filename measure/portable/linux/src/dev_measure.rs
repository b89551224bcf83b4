//! /dev/measure, the kernel module's file: interrupts on demand. See linux/measure/measure.h.

use crate::realtime::last_errno;
use crate::time_source::tsc;
use anyhow::{Context, Result, ensure};
use rustix::fs::{Mode, OFlags};
use rustix::mm::{MapFlags, ProtFlags, mmap};
use std::os::fd::{AsRawFd, OwnedFd};

const PATH: &str = "/dev/measure";
const PAGE: usize = 4096;

/// The module's commands, `_IO('M', 0)` and so on. All take a number.
#[derive(Clone, Copy)]
enum Command {
    Source = 0x4d00,
    Arm = 0x4d01,
    Hold = 0x4d02,
}

/// The register of edu that raises its interrupt.
const RAISE: usize = 0x60;

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Source {
    /// QEMU's edu device, triggered by a write to its register.
    Edu = 0,
    /// Linux's timer.
    Timer = 1,
}

/// The module's time stamps of an interrupt, in ticks of the time-stamp counter.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Stamps {
    /// When the timer was due.
    pub due: u64,
    /// When its handler began.
    pub handled: u64,
}

/// The module's file.
struct Module(OwnedFd);

/// The side that raises interrupts.
pub struct Device {
    module: Module,
    /// Address of edu's registers.
    registers: Option<usize>,
}

/// The side that waits for interrupts.
pub struct Waiter(Module);

impl Module {
    fn open() -> Result<Module> {
        let file = rustix::fs::open(PATH, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty());
        file.map(Module).with_context(|| {
            format!("{PATH} cannot be opened: load the module of linux/measure (insmod measure.ko), as root")
        })
    }

    /// Maps edu's registers.
    fn registers(&self) -> Result<usize> {
        // SAFETY: a new mapping at an address that Linux chooses.
        let address = unsafe {
            mmap(std::ptr::null_mut(), PAGE, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED, &self.0, 0)
        };
        address.map(|address| address as usize).context("the registers of edu cannot be mapped")
    }

    fn control(&self, command: Command, argument: u64) -> Result<()> {
        // SAFETY: the module's commands take numbers and touch no memory of this process.
        match unsafe { libc::ioctl(self.0.as_raw_fd(), command as libc::Ioctl, argument) } {
            0 => Ok(()),
            _ => Err(last_errno().into()),
        }
    }
}

/// Whether the module is loaded.
pub fn is_there() -> bool {
    std::path::Path::new(PATH).exists()
}

impl Device {
    /// Opens it with that source. Fails if there is no such source, or the module is not loaded.
    pub fn open(source: Source) -> Result<Device> {
        let module = Module::open()?;
        module.control(Command::Source, source as u64).context("there is no such source of interrupts")?;
        let registers = (source == Source::Edu).then(|| module.registers()).transpose()?;
        Ok(Device { module, registers })
    }

    /// Opens it for the thread that waits. Fails if it cannot be opened again.
    pub fn another(&self) -> Result<Waiter> {
        Module::open().map(Waiter)
    }

    /// Raises edu's interrupt and returns the time; or arms the timer. Fails if that is impossible.
    pub fn raise(&self, nanoseconds: u64) -> Result<Option<u64>> {
        let Some(registers) = self.registers else {
            return self.module.control(Command::Arm, nanoseconds).map(|()| None);
        };
        let raised = tsc();
        // SAFETY: the page of registers is mapped for as long as the process lives; writing this
        // one raises the interrupt.
        unsafe { ((registers + RAISE) as *mut u32).write_volatile(1) };
        Ok(Some(raised))
    }
}

impl Waiter {
    /// Spends that long in a critical section of the kernel, once free. Fails if it is too long.
    #[inline]
    pub fn hold(&self, nanoseconds: u64) -> Result<()> {
        self.0.control(Command::Hold, nanoseconds)
    }

    /// Waits for an interrupt. Fails if the module is gone.
    pub fn wait(&self) -> Result<Stamps> {
        let mut words = [0; size_of::<Stamps>()];
        let got = rustix::io::read(&self.0.0, &mut words)?;
        ensure!(got == words.len(), "the module of another version is loaded");
        let word = |at: usize| u64::from_ne_bytes(std::array::from_fn(|byte| words[at * 8 + byte]));
        Ok(Stamps { due: word(0), handled: word(1) })
    }
}
