//! The page of information for the VM monitor.

use super::ranges::{Piece, told};
use crate::failure::{Failure, Result};
use crate::platform::Platform;
use crate::window::put_text;
use alloc::{format, vec::Vec};
use pillion_abi::boot::Range;
use pillion_runtime::info::monitor::PROCESSORS;
use pillion_runtime::info::{LinuxInfo, RANGES, then};
use pillion_runtime::println;
use pillion_system::{KERNEL_PORTS, Linux, System, Then, limit};

/// The information. It has room for whatever passes the check of the system file.
pub fn facts(machine: &Platform, system: &System, linux: &Linux, pieces: &[Piece]) -> Result<LinuxInfo> {
    let mut info = LinuxInfo {
        root_pointer: machine.boot.root_pointer,
        screen: machine.boot.screen,
        io_apics: machine.boot.io_apics,
        range_count: 0,
        ranges: [Range::default(); RANGES],
        kernel: machine.place(&linux.kernel)?,
        initrd: machine.place(&linux.initrd)?,
        restart_limit: linux.restart_limit.into(),
        restart_backoff: machine.ticks(u64::from(linux.restart_backoff_ms) * 1_000_000),
        after: [linux.after.poweroff, linux.after.crash, linux.after.limit].map(number),
        hidden_lines: 0,
        shield_lines: system.dual().map_or(0, |dual| dual.shield_lines),
        hidden_device_count: 0,
        hidden_devices: [0; limit::HIDDEN_DEVICES],
        hidden_port_count: 0,
        hidden_ports: [[0; 2]; limit::HIDDEN_PORTS + KERNEL_PORTS.len()],
        channel: [0; 2],
        skin_count: 0,
        processor_count: 0,
        processors: [0; PROCESSORS],
        command_line: [0; limit::COMMAND_LINE + 1],
    };
    let processors: Vec<u32> = linux.processors.numbers().map(|n| machine.apic_id(n.into())).collect::<Result<_>>()?;
    info.processor_count = put_all(&mut info.processors, processors.into_iter(), "processors")?;
    let (told, dropped) = told(pieces, RANGES);
    if dropped != 0 {
        println!("[resmgr] Linux's memory is in too many ranges: {} KiB, the smallest, are left out", dropped >> 10);
    }
    info.range_count = put_all(&mut info.ranges, told.into_iter(), "ranges of memory")?;
    hide(&mut info, system)?;
    put_command_line(&mut info, machine, linux)?;
    Ok(info)
}

/// What follows an end of Linux, in the monitor's encoding.
fn number(after: Then) -> u64 {
    match after {
        Then::Restart => then::RESTART,
        Then::Off => then::OFF,
        Then::End => then::END,
    }
}

/// Fills the start of an array and returns the number of entries filled.
fn put_all<T>(to: &mut [T], from: impl Iterator<Item = T>, what: &str) -> Result<u64> {
    let mut count = 0;
    for value in from {
        let Some(free) = to.get_mut(count) else {
            return Err(Failure::new(format!("more than {count} {what}")));
        };
        *free = value;
        count += 1;
    }
    Ok(count as u64)
}

/// Records what belongs to the tasks and the kernel.
fn hide(info: &mut LinuxInfo, system: &System) -> Result<()> {
    for interrupt in system.tasks.iter().flat_map(|t| &t.interrupts) {
        const { assert!(limit::HIDDEN_LINE < u64::BITS) };
        info.hidden_lines |= 1 << interrupt.line;
    }
    let devices = system.tasks.iter().flat_map(|t| &t.devices).map(|d| d.requester_id());
    info.hidden_device_count = put_all(&mut info.hidden_devices, devices, "PCI functions of tasks")?;
    let own = system.tasks.iter().flat_map(|t| &t.ports).map(|p| (p.first, p.last));
    let ports =
        KERNEL_PORTS.into_iter().chain(own).map(|(first, last)| [first.into(), u32::from(last) - u32::from(first) + 1]);
    info.hidden_port_count = put_all(&mut info.hidden_ports, ports, "ranges of ports that tasks and kernel have")?;
    Ok(())
}

fn put_command_line(info: &mut LinuxInfo, machine: &Platform, linux: &Linux) -> Result<()> {
    let line = format!("{} {}", linux.command_line.trim(), machine.words_for_linux());
    let line = line.trim();
    let most = info.command_line.len() - 1;
    if line.len() > most {
        return Err(Failure::new(format!("Linux's command line has {} bytes, more than {most}", line.len())));
    }
    put_text(&mut info.command_line, line);
    Ok(())
}
