//! Device models: accesses in any order, and effects that no access may have.

use super::firmware;
use super::ram::Ram;
use crate::input::Input;
use core::cell::Cell;
use pillion_abi::vcpu::route;
use pillion_vmm_devices::acpi::Tables;
use pillion_vmm_devices::answer::{Access, Answer, Effect, Route};
use pillion_vmm_devices::apic::{Kind, LocalApic, Shared};
use pillion_vmm_devices::bus::Bus;
use pillion_vmm_devices::cpuid::{Context, Topology, cpuid};
use pillion_vmm_devices::hypercall;
use pillion_vmm_devices::ioapic::{IoApic, IoApics};
use pillion_vmm_devices::msr::Msrs;
use pillion_vmm_devices::notes::{LONGEST, Notes};
use pillion_vmm_devices::pci::{Filter, Function};
use pillion_vmm_devices::power::{Fadt, Power};

/// Hidden lines are never routed, and an unmasked route has one of the guest's vectors.
pub fn ioapic(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let hidden = input.u64();
    let mut apic = IoApic::new(input.u8(), hidden);
    if input.u8() & 1 != 0 {
        apic = apic.with_doorbell();
    }
    let check = |route: Route| {
        assert!(hidden >> route.line & 1 == 0, "a hidden line was routed: {route:?}");
        assert!(route.masked || route.vector >= 16, "{route:?}");
        assert_eq!(route.word() & route::MASKED != 0, route.masked);
    };
    while !input.is_empty() {
        match input.u8() & 7 {
            0 => {
                assert!(
                    apic.ring().is_none_or(|message| matches!(message.kind, Kind::Fixed(16..) | Kind::Lowest(16..)))
                );
            }
            1 => drop(apic.take_pended()),
            2 => drop(apic.read(u64::from(input.u8()), input.width(8))),
            3 => apic.reset(),
            // The index, then the data, as a driver does.
            4 | 5 => {
                apic.write(0, 4, input.u8().into());
                apic.write(0x10, 4, input.u32().into()).into_iter().for_each(check);
            }
            _ => apic.write(input.u16().into(), input.width(8), input.u64()).into_iter().for_each(check),
        }
        let _ = apic.level_vectors();
    }
}

/// No exception vector reaches the guest.
pub fn apic(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let mut apic = LocalApic::new(0);
    let mut shared = Shared::default();
    let mut now = 0u64;
    while !input.is_empty() {
        now = now.wrapping_add(input.u16().into());
        let effect = match input.u8() & 7 {
            0 => {
                let _ = apic.read_msr(0x800 + u32::from(input.u8()), now, &shared);
                Effect::None
            }
            1 => {
                let _ = apic.read_memory(u64::from(input.u16()) & 0xfff, input.width(8), now, &shared);
                Effect::None
            }
            2 => {
                apic.rearm(now, &mut shared);
                Effect::None
            }
            3 => apic.write_msr(0x1b, input.u64(), now, &mut shared).unwrap_or(Effect::None),
            4 => apic.write_msr(0x6e0, input.u64(), now, &mut shared).unwrap_or(Effect::None),
            5 => {
                let offset = u64::from(input.u16()) & 0xfff;
                apic.write_memory(offset, input.width(8), input.u64(), now, &mut shared)
            }
            _ => apic.write_msr(0x800 + u32::from(input.u8()), input.u64(), now, &mut shared).unwrap_or(Effect::None),
        };
        if let Effect::Interrupt(vector) = effect {
            assert!(vector >= 16, "vector {vector}");
        }
        let _ = (apic.next_wake(), apic.mode());
    }
}

/// No access that is passed on names a hidden function or reaches beyond the data port.
pub fn pci(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let mut filter = Filter::new();
    for _ in 0..input.u8() & 3 {
        let [bus, device, function] = input.array();
        let _ = filter.hide(Function { bus, device: device & 31, function: function & 7 });
    }
    while !input.is_empty() {
        let (kind, width) = (input.u8(), input.width(4));
        let port = if kind & 2 == 0 { 0xcf8 + (input.u16() & 7) } else { input.u16() };
        let access = Access { port, width };
        let answer = if kind & 1 == 0 { filter.read(access) } else { filter.write(access, input.u32()) };
        if let Some(Answer::Config { address, port }) = answer {
            let function = Function {
                bus: (address >> 16) as u8,
                device: (address >> 11) as u8 & 31,
                function: (address >> 8) as u8 & 7,
            };
            assert!(!filter.is_hidden(function), "{function:?}");
            assert!((0xcfc..=0xcff).contains(&port) && port + u16::from(width) <= 0xd00, "{port:#x}");
        }
    }
}

/// A read requests nothing, and any FADT is handled.
pub fn power(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let accesses = input.array::<64>();
    let memory = Ram(firmware::tables(&mut input));
    let found = Tables::find(&memory, &firmware::root_pointer(&memory));
    let fadt = found.and_then(|tables| Fadt::find(&memory, &tables)).unwrap_or_default();
    let mut power = Power::new(fadt);
    let _ = power.ports().count();
    let mut input = Input::new(&accesses);
    while !input.is_empty() {
        let (kind, width) = (input.u8(), input.width(4));
        let port = match kind & 6 {
            0 => 0x60 + (input.u16() & 0x3f),
            2 => 0xcf8 + (input.u16() & 7),
            _ => input.u16(),
        };
        let access = Access { port, width };
        if kind & 1 == 0 {
            assert!(!matches!(power.read(access), Some(Answer::Effect(_))), "{port:#x}");
        } else {
            let _ = power.write(access, input.u32());
        }
    }
}

/// Whatever the FADT names, no request to the machine touches a port of tasks, of configuration
/// space, of the reset, or of the firmware's commands, and a read does not request an end.
pub fn ports(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let hidden: Vec<[u32; 2]> = (0..input.u8() & 3).map(|_| [input.u16().into(), (input.u8() & 15).into()]).collect();
    let mut port = || Some(input.u16()).filter(|port| *port != 0);
    let (pm1a_control, pm1b_control, pm1a_event, command, reset) = (port(), port(), port(), port(), port());
    let fadt = Fadt {
        pm1a_control,
        pm1b_control,
        pm1a_event,
        command,
        reset: reset.map(|reset| (reset, input.u8())),
        blocks: std::array::from_fn(|_| (input.u16(), input.u8().into())),
        ..Fadt::default()
    };
    let kept = hidden
        .iter()
        .map(|[first, count]| (*first, *count))
        .chain([(0x92, 1), (0xb2, 2), (0xcd6, 2), (0xcf8, 8)])
        .chain(command.map(|port| (port.into(), 1)))
        .chain(reset.filter(|reset| ![0x60, 0x64].contains(reset)).map(|port| (port.into(), 1)));
    let kept: Vec<(u32, u32)> = kept.collect();
    let io_apics = IoApics::new(&Default::default(), 0, false);
    let mut bus = Bus::new(&hidden, Filter::new(), Power::new(fadt), io_apics, &[0]);
    while !input.is_empty() {
        let (kind, width) = (input.u8(), input.width(4));
        let port = match kind & 14 {
            0 => 0x60 + (input.u16() & 0x3f),
            2 => 0xcd0 + (input.u16() & 0x3f),
            4 => pm1a_control.unwrap_or(0).wrapping_add(input.u8().into()).wrapping_sub(4),
            6 => hidden.first().map_or(0, |[first, _]| *first as u16).wrapping_add(input.u8().into()).wrapping_sub(4),
            8 => reset.or(command).unwrap_or(0).wrapping_sub(u16::from(input.u8()) & 3),
            _ => input.u16(),
        };
        let access = Access { port, width };
        let answer = if kind & 1 == 0 { bus.read_port(access) } else { bus.write_port(access, input.u32()) };
        let (first, end) = (u32::from(port), u32::from(port) + u32::from(width));
        let touched = || kept.iter().find(|(kept, count)| *kept < end && first < kept + count);
        match answer {
            Answer::Machine(_) => assert_eq!(touched(), None, "{port:#x}, {width} bytes"),
            Answer::Config { port, .. } => assert!((0xcfc..=0xcff).contains(&port), "{port:#x}"),
            Answer::Effect(Effect::Request(_) | Effect::Note(_)) => assert!(kind & 1 != 0, "{port:#x}"),
            Answer::Effect(other) => panic!("{other:?} of a port"),
            Answer::Value(_) => {}
        }
    }
}

/// Each register is answered or refused; CPUID answers every leaf.
pub fn registers(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let host: [u32; 4] = std::array::from_fn(|_| input.u32());
    let mut context =
        Context::from_host(input.u64(), Topology::new(0, &[0]), |leaf, subleaf| host.map(|word| word ^ leaf ^ subleaf));
    let mut msrs = Msrs::default();
    while !input.is_empty() {
        let number = match input.u8() & 3 {
            0 => u32::from(input.u16()),
            1 => 0xc000_0000 | u32::from(input.u16()),
            2 => 0xc001_0000 | u32::from(input.u16()) & 0x1fff,
            _ => input.u32(),
        };
        match input.u8() & 3 {
            0 => drop(msrs.read(number)),
            1 => drop(msrs.write(number, input.u64())),
            _ => {
                (context.cr4, context.xcr0) = (input.u64(), input.u64());
                let _ = cpuid(host, number, input.u32(), &context);
            }
        }
    }
}

/// Only the most privileged mode can call; a task that is woken exists; a note is printable.
pub fn calls(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let tasks = u64::from(input.u8());
    let mut notes = Notes::new();
    while !input.is_empty() {
        let mut general = [0; 16];
        general[0] = if input.u8() & 1 == 0 { 0x5049_0000 + u64::from(input.u8()) } else { input.u64() };
        general[3] = input.u64();
        let selector = input.u16();
        let made = hypercall::decode(&general.map(Cell::new), selector, tasks);
        assert!(made.is_none() || selector & 3 == 0);
        if let Some(hypercall::Hypercall::Kick(task)) = made {
            assert!(u64::from(task) < tasks);
        }
        for byte in input.array::<4>() {
            if let Some(line) = notes.push(byte) {
                assert!(!line.is_empty() && line.len() <= LONGEST);
                assert!(line.bytes().all(|byte| (b' '..=b'~').contains(&byte) && byte != b'"' && byte != b'\\'));
            }
        }
    }
}
