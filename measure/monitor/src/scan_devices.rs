//! Interrupts and ports.

use crate::{Case, name::Name, scan::Trial};
use pillion_abi::{
    boot::slot,
    call::{Call, IRQ_MSI},
    object::Kind,
};
use pillion_runtime::{cap_delete, interrupt_ack, interrupt_bind, interrupt_create, port_in, port_out, ports_part};
use pillion_test_kit::{Checked, Kit, done};

pub const CASES: &[Case] = &[create, bind, acknowledge, reads, writes, part];

/// A port that can be read without side effects, and one that can be written without.
const QUIET_IN: u16 = 0x61;
const QUIET_OUT: u16 = 0x80;

fn create(kit: &mut Kit) -> Checked {
    let (region, at) = (kit.region(), kit.slot());
    let trial = Trial::new(
        || Ok(()),
        |()| interrupt_create(slot::IRQ_CONTROL, IRQ_MSI, 0, at, region),
        |()| cap_delete(0, at).map(drop),
    );
    trial.scan(kit, Name::of(Call::InterruptCreate))
}

fn bind(kit: &mut Kit) -> Checked {
    let (region, at, n) = (kit.region(), kit.slot(), done!(kit.make(Kind::Notification, 0)));
    let trial = Trial::new(
        || interrupt_create(slot::IRQ_CONTROL, IRQ_MSI, 0, at, region),
        |_| interrupt_bind(at, n, 1),
        |_| cap_delete(0, at).map(drop),
    );
    trial.scan(kit, Name::of(Call::InterruptBind))
}

fn acknowledge(kit: &mut Kit) -> Checked {
    let (at, n) = (kit.slot(), done!(kit.make(Kind::Notification, 0)));
    done!(interrupt_create(slot::IRQ_CONTROL, IRQ_MSI, 0, at, kit.region()));
    done!(interrupt_bind(at, n, 1));
    let trial = Trial::new(|| Ok(()), |()| interrupt_ack(at), |()| Ok(()));
    trial.scan(kit, Name::of(Call::InterruptAck))
}

fn reads(kit: &mut Kit) -> Checked {
    let trial = Trial::new(|| Ok(()), |()| port_in(slot::PORTS, QUIET_IN, 1), |()| Ok(()));
    trial.scan(kit, Name::of(Call::PortIn))
}

fn writes(kit: &mut Kit) -> Checked {
    let trial = Trial::new(|| Ok(()), |()| port_out(slot::PORTS, QUIET_OUT, 1, 0), |()| Ok(()));
    trial.scan(kit, Name::of(Call::PortOut))
}

fn part(kit: &mut Kit) -> Checked {
    let at = kit.slot();
    let trial = Trial::new(|| Ok(()), |()| ports_part(slot::PORTS, QUIET_IN, 1, at), |()| cap_delete(0, at).map(drop));
    trial.scan(kit, Name::of(Call::PortsPart))
}
