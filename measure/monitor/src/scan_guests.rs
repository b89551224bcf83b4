//! Virtual CPUs.

use crate::{Case, name::Name, scan::Trial};
use pillion_abi::{
    PAGE,
    boot::slot,
    call::Call,
    object::Kind,
    status::Error,
    vcpu::{Exit, route},
};
use pillion_runtime::{
    cap_delete, ports_part, region_create, region_reset, signal, vcpu_allow_ports, vcpu_bind_signals, vcpu_configure,
    vcpu_end_of_interrupt, vcpu_inject, vcpu_notify, vcpu_reset, vcpu_route_line, vcpu_run,
};
use pillion_test_kit::{Checked, Kit, done, guest::Guest};

pub const CASES: &[Case] = &[
    run,
    configure,
    |kit| allow(kit, 0x400, 512, ""),
    |kit| allow(kit, 0, 1_024, "with_kept_ones"),
    inject,
    notify,
    route_line,
    reset,
    end_of_interrupt,
    bind_signals,
];

const VECTOR: u8 = 0x30;

/// A line that no device uses.
const LINE: u64 = 11;

/// vmmcall; jmp back
const HYPERCALLS: [u8; 5] = [0x0f, 0x01, 0xd9, 0xeb, 0xfb];

/// A round trip into the guest, which makes a hypercall.
fn run(kit: &mut Kit) -> Checked {
    let mut guest = Guest::new(kit)?;
    guest.put(0, &HYPERCALLS);
    let vcpu = guest.vcpu;
    let trial = Trial::new(
        || {
            guest.go(0);
            Ok(())
        },
        |()| match vcpu_run(vcpu)?[0] {
            reason if reason == Exit::Hypercall as u64 => Ok(()),
            _ => Err(Error::BadState),
        },
        |()| Ok(()),
    );
    trial.scan(kit, Name::of(Call::VcpuRun))
}

fn configure(kit: &mut Kit) -> Checked {
    let (space, state) = (done!(kit.make(Kind::GuestSpace, 8)), done!(kit.make(Kind::Memory, PAGE)));
    let (region, vcpu) = (done!(kit.make(Kind::Region, 1 << 20)), kit.slot());
    let trial = Trial::new(
        || region_create(region, Kind::Vcpu, 0, vcpu),
        |_| vcpu_configure(vcpu, space, state, 0),
        |_| region_reset(region).map(drop),
    );
    trial.scan(kit, Name::of(Call::VcpuConfigure))
}

fn allow(kit: &mut Kit, first: u16, count: u32, variant: &'static str) -> Checked {
    let (guest, ports) = (Guest::new(kit)?, kit.slot());
    done!(ports_part(slot::PORTS, first, count, ports));
    let trial = Trial::new(|| Ok(()), |()| vcpu_allow_ports(guest.vcpu, ports), |()| Ok(()));
    trial.scan(kit, Name::variant(Call::VcpuAllowPorts, variant))?;
    done!(cap_delete(0, ports));
    Ok(())
}

fn inject(kit: &mut Kit) -> Checked {
    let guest = Guest::new(kit)?;
    let trial = Trial::new(|| Ok(()), |()| vcpu_inject(guest.vcpu, VECTOR), |()| vcpu_reset(guest.vcpu).map(drop));
    trial.scan(kit, Name::of(Call::VcpuInject))
}

/// The notification has bits already.
fn notify(kit: &mut Kit) -> Checked {
    let (guest, note) = (Guest::new(kit)?, done!(kit.make(Kind::Notification, 0)));
    let badged = done!(kit.badged(note, 1));
    let trial = Trial::new(
        || signal(badged),
        |_| vcpu_notify(guest.vcpu, VECTOR, note, 0, 0),
        |_| vcpu_reset(guest.vcpu).map(drop),
    );
    trial.scan(kit, Name::of(Call::VcpuNotify))
}

fn route_line(kit: &mut Kit) -> Checked {
    let guest = Guest::new(kit)?;
    let to = |word| vcpu_route_line(guest.vcpu, slot::IRQ_CONTROL, LINE, word);
    let trial = Trial::new(|| Ok(()), |()| to(VECTOR.into()), |()| to(route::MASKED).map(drop));
    trial.scan(kit, Name::of(Call::VcpuRouteLine))
}

fn reset(kit: &mut Kit) -> Checked {
    let guest = Guest::new(kit)?;
    let trial = Trial::new(|| vcpu_inject(guest.vcpu, VECTOR), |_| vcpu_reset(guest.vcpu), |_| Ok(()));
    trial.scan(kit, Name::of(Call::VcpuReset))
}

fn end_of_interrupt(kit: &mut Kit) -> Checked {
    let guest = Guest::new(kit)?;
    let trial = Trial::new(|| Ok(()), |()| vcpu_end_of_interrupt(guest.vcpu), |()| Ok(()));
    trial.scan(kit, Name::of(Call::VcpuEndOfInterrupt))
}

/// Replaces one space by another.
fn bind_signals(kit: &mut Kit) -> Checked {
    let (guest, space) = (Guest::new(kit)?, done!(kit.make(Kind::CapSpace, 8)));
    done!(vcpu_bind_signals(guest.vcpu, space));
    let trial = Trial::new(|| Ok(()), |()| vcpu_bind_signals(guest.vcpu, space), |()| Ok(()));
    trial.scan(kit, Name::of(Call::VcpuBindSignals))
}
