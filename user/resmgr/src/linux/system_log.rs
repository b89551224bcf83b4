//! The system's log in Linux, where no UART takes it. The channel window shows it as the output of
//! a task called `pillion`, so that Linux's module copies it to the kernel's log and
//! `pillion dmesg` prints it.

use crate::failure::{Result, While};
use crate::skin::Channel;
use crate::task::Maker;
use crate::window::put_text;
use core::sync::atomic::{Ordering::Release, compiler_fence};
use pillion_abi::boot::{LOG_TEXT, LogBuffer, slot};
use pillion_abi::channel::{LOG_SIZE, Status, task_state};
use pillion_abi::object::right;
use pillion_runtime::{Cap, info::monitor_bit, memory_map, signal};

/// Name of that task in the directory.
const NAME: &str = "pillion";

/// Where the manager maps the kernel's log.
const KERNEL: u64 = 0xa8_0000_0000;

pub struct LinuxLog {
    status: *mut Status,
    written: u64,
    doorbell: Cap,
    /// The window, where nothing else owns it.
    channel: Option<Channel>,
}

impl LinuxLog {
    /// Makes the log in entry `index` of the window and fills it with what the kernel printed
    /// during boot. `monitor` is the notification of Linux's monitor.
    pub fn make(maker: &mut Maker<'_>, channel: &mut Channel, index: usize, monitor: Cap) -> Result<LinuxLog> {
        let doorbell = maker.slots.derive(monitor, right::WRITE, monitor_bit::DOORBELL)?;
        channel.change(|directory| {
            let entry = &mut directory.tasks[index];
            put_text(&mut entry.name[..31], NAME);
            entry.state = task_state::RUNNING;
        });
        let mut log = LinuxLog { status: channel.status(index).cast_mut(), written: 0, doorbell, channel: None };
        memory_map(slot::LOG_BUFFER, slot::ADDRESS_SPACE, KERNEL, 0).when("mapping the kernel's log")?;
        // SAFETY: the call above mapped it, for good.
        unsafe { said(KERNEL as *const LogBuffer) }.for_each(|byte| log.put(byte));
        Ok(log)
    }

    /// Appends a byte. It overwrites the oldest one, whether or not Linux has read that.
    pub fn put(&mut self, byte: u8) {
        let at = self.written as usize % LOG_SIZE;
        self.written += 1;
        // SAFETY: `channel` mapped the status writable, for good; nothing else writes it, and the
        // index is within the log. Readers read the count first.
        unsafe {
            (&raw mut (*self.status).log).cast::<u8>().add(at).write_volatile(byte);
            compiler_fence(Release);
            (&raw mut (*self.status).log_written).write_volatile(self.written);
        }
    }

    /// Keeps the window, which exists for the log alone.
    pub fn keep(&mut self, channel: Channel) {
        self.channel = Some(channel);
    }

    /// Lets Linux look: its module checks the logs when the directory has changed.
    pub fn ring(&mut self) {
        self.channel.iter_mut().for_each(|channel| channel.change(|_| ()));
        let _ = signal(self.doorbell);
    }
}

/// What the kernel has printed so far. The kernel may write more during the read, when it dies.
///
/// # Safety
/// `buffer` is readable for as long as the iterator is used.
unsafe fn said(buffer: *const LogBuffer) -> impl Iterator<Item = u8> {
    // SAFETY: the caller's promise, and the index is within the text. The kernel may write the text
    // at any time, so there is no reference to it, each byte is read once, and every value is
    // valid.
    unsafe {
        let written = (&raw const (*buffer).written).read_volatile();
        let text = (&raw const (*buffer).text).cast::<u8>();
        (0..LOG_TEXT.min(written as usize)).map(move |at| text.add(at).read_volatile())
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec::Vec;

    #[test]
    fn what_the_kernel_counts_beyond_its_room_is_not_read() {
        let mut buffer = LogBuffer { written: 3, text: [b'.'; LOG_TEXT] };
        buffer.text[..3].copy_from_slice(b"abc");
        // SAFETY: the buffer lives until the end of the test.
        let said = |buffer: &LogBuffer| unsafe { said(buffer) }.collect::<Vec<u8>>();
        assert_eq!(said(&buffer), b"abc");
        for written in [LOG_TEXT as u64, LOG_TEXT as u64 + 1, u64::MAX] {
            buffer.written = written;
            assert_eq!(said(&buffer).len(), LOG_TEXT);
        }
    }
}
