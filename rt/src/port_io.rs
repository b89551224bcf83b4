//! Port I/O. A task has the ports that its system file names; each access is a kernel call.

use crate::log_line;
use core::ffi::c_ulong;
use core::ptr;
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::Relaxed;
use pillion_runtime::info::{self, slot};
use pillion_runtime::{Cap, call};

/// The capability for `count` ports from `first` on, if one range of the task's covers them all.
fn range(first: u64, count: u64) -> Option<Cap> {
    let skin = &info::task().skin;
    let holds = |[start, size]: [u32; 2]| {
        u64::from(start) <= first
            && first.checked_add(count).is_some_and(|end| end <= u64::from(start) + u64::from(size))
    };
    let ranges = skin.ports.iter().take(skin.port_count as usize);
    ranges.zip(slot::TASK_PORTS..).find(|(range, _)| holds(**range)).map(|(_, cap)| cap)
}

/// Returns whether the task has all of these ports.
pub fn owns(first: u64, count: u64) -> bool {
    count != 0 && range(first, count).is_some()
}

/// Ports that were reported as not the task's, each plus one. Once the table is full, no further
/// ports are reported, so that a program that tries all ports does not fill the log.
static SAID: [AtomicU32; 16] = [const { AtomicU32::new(0) }; 16];

/// The capability for an access. If there is none, logs once for each port what is missing.
fn allowed(port: u16, width: u8) -> Option<Cap> {
    let cap = range(port.into(), width.into());
    if cap.is_none() {
        refuse(port, width);
    }
    cap
}

#[cold]
fn refuse(port: u16, width: u8) {
    let mark = u32::from(port) + 1;
    for said in &SAID {
        match said.compare_exchange(0, mark, Relaxed, Relaxed) {
            Ok(_) => {
                return log_line!(
                    "port {port:#x} is not this task's: writes are dropped, and reads return all ones; \
                     add ports = [{{ first = {port:#x}, count = {width} }}] to it in the system file"
                );
            }
            Err(other) if other == mark => return,
            Err(_) => {}
        }
    }
}

fn read(port: u16, width: u8) -> u32 {
    let value = allowed(port, width).and_then(|cap| call::port_in(cap, port, width).ok());
    value.unwrap_or(u32::MAX)
}

fn write(port: u16, width: u8, value: u32) {
    if let Some(cap) = allowed(port, width) {
        let _ = call::port_out(cap, port, width, value);
    }
}

macro_rules! ports {
    ($($type:ty: $read:ident $write:ident $read_slow:ident $write_slow:ident $read_many:ident $write_many:ident;)*) => {$(
        #[unsafe(no_mangle)]
        pub extern "C" fn $read(port: u16) -> $type {
            read(port, size_of::<$type>() as u8) as $type
        }

        #[unsafe(no_mangle)]
        pub extern "C" fn $write(value: $type, port: u16) {
            write(port, size_of::<$type>() as u8, value.into());
        }

        /// Reads a port. The path through the kernel is pause enough.
        #[unsafe(no_mangle)]
        pub extern "C" fn $read_slow(port: u16) -> $type {
            $read(port)
        }

        #[unsafe(no_mangle)]
        pub extern "C" fn $write_slow(value: $type, port: u16) {
            $write(value, port);
        }

        /// Reads a port `count` times.
        ///
        /// # Safety
        /// `to` is writable for `count` values.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $read_many(port: u16, to: *mut $type, count: c_ulong) {
            for i in 0..count as usize {
                // SAFETY: the caller's promise.
                unsafe { ptr::write_unaligned(to.add(i), $read(port)) };
            }
        }

        /// Writes a port `count` times.
        ///
        /// # Safety
        /// `from` is readable for `count` values.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $write_many(port: u16, from: *const $type, count: c_ulong) {
            for i in 0..count as usize {
                // SAFETY: the caller's promise.
                $write(unsafe { ptr::read_unaligned(from.add(i)) }, port);
            }
        }
    )*};
}

ports! {
    u8: inb outb inb_p outb_p insb outsb;
    u16: inw outw inw_p outw_p insw outsw;
    u32: inl outl inl_p outl_p insl outsl;
}
