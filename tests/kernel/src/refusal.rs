//! How every call refuses a capability that it cannot be made on.

use crate::Test;
use pillion_abi::{
    boot::slot,
    call::Call,
    object::Kind,
    status::Error::{self, BadCall, BadCap, NoRight, WrongKind},
};
use pillion_runtime::{Cap, cap_derive, cap_identify, raw_call};
use pillion_test_kit::{Checked, Kit, check, done, failure, same};

pub const TESTS: &[Test] = &[
    ("refusal/unknown-calls", unknown),
    ("refusal/no-capability", missing),
    ("refusal/wrong-kind", wrong_kind),
    ("refusal/no-right", no_right),
    ("refusal/cap-space-of-the-first-task", own_space),
];

pub fn expect(call: Call, a: [u64; 6], error: Error, why: &str) -> Checked {
    let status = raw_call(call as u64, a);
    check!(
        status == error.to_raw(),
        "{} ({why}): {:?}, not {error:?}",
        call.name(),
        Error::from_raw(status).map_or(0, |e| e as u8)
    );
    Ok(())
}

/// The kind of capability that a call's first argument must be, and whether the call needs a right.
fn made_on(call: Call) -> Option<(Kind, bool)> {
    Some(match call {
        Call::Call => (Kind::Endpoint, true),
        Call::ReplyReceive | Call::Receive | Call::Reply | Call::Sleep | Call::Yield => return None,
        Call::Signal | Call::SignalYield | Call::Wait => (Kind::Notification, true),
        Call::TimerSet | Call::TimerBind => (Kind::Timer, true),
        Call::InterruptAck | Call::InterruptBind => (Kind::Interrupt, true),
        Call::RegionCreate | Call::RegionReset => (Kind::Region, false),
        Call::MemoryPart | Call::MemoryMap | Call::MemoryUnmap => (Kind::Memory, false),
        Call::CapDerive | Call::CapMove | Call::CapDelete | Call::CapRevoke => (Kind::CapSpace, true),
        Call::CapIdentify => return None,
        Call::ThreadConfigure
        | Call::ThreadSetRegisters
        | Call::ThreadResume
        | Call::ThreadSuspend
        | Call::ThreadBindContext
        | Call::ThreadBindNotification
        | Call::ThreadRegister
        | Call::ThreadSetSequence => (Kind::Thread, true),
        Call::ContextConfigure | Call::ContextAllowBoost => (Kind::SchedControl, true),
        Call::ContextConsumed | Call::ContextSetPriority => (Kind::SchedContext, true),
        Call::EndpointBind => (Kind::Endpoint, true),
        Call::InterruptCreate => (Kind::IrqControl, true),
        Call::PortIn | Call::PortOut => (Kind::Ports, true),
        Call::PortsPart => (Kind::Ports, false),
        Call::VcpuRun
        | Call::VcpuConfigure
        | Call::VcpuAllowPorts
        | Call::VcpuInject
        | Call::VcpuNotify
        | Call::VcpuRouteLine
        | Call::VcpuReset
        | Call::VcpuEndOfInterrupt
        | Call::VcpuBindSignals => (Kind::Vcpu, true),
        Call::TraceControl | Call::LogPut => (Kind::Trace, true),
    })
}

/// Arguments of a call that get as far as its capability check.
fn arguments(cap: Cap, call: Call) -> [u64; 6] {
    match call {
        Call::PortIn | Call::PortOut => [cap.into(), 0x80, 1, 0, 0, 0],
        Call::MemoryMap => [cap.into(), slot::ADDRESS_SPACE.into(), 0x70_0000_0000, 0, 0, 0],
        // The kind is checked first, so one that objects can be made of.
        Call::RegionCreate => [cap.into(), Kind::Notification as u64, 0, 127, 0, 0],
        _ => [cap.into(), 0, 0, 0, 0, 0],
    }
}

fn unknown(_: &mut Kit) -> Checked {
    for number in (0..300).chain([u64::MAX, 1 << 32, 1 << 63]) {
        if Call::from_raw(number).is_none() {
            same!(raw_call(number, [0; 6]), BadCall.to_raw());
        }
    }
    Ok(())
}

fn missing(kit: &mut Kit) -> Checked {
    let empty = kit.slot();
    for call in Call::ALL {
        if made_on(*call).is_none() {
            continue;
        }
        expect(*call, arguments(empty, *call), BadCap, "empty slot")?;
        for index in [slot::COUNT, u32::MAX] {
            expect(*call, arguments(index, *call), BadCap, "beyond the end")?;
        }
    }
    expect(Call::CapIdentify, [slot::COUNT.into(), 0, 0, 0, 0, 0], BadCap, "beyond the end")
}

fn wrong_kind(kit: &mut Kit) -> Checked {
    let objects = [done!(kit.make(Kind::Notification, 0)), done!(kit.make(Kind::SchedContext, 0))];
    for call in Call::ALL {
        let Some((kind, _)) = made_on(*call) else { continue };
        for object in objects {
            if done!(cap_identify(object))[0] != kind as u64 {
                expect(*call, arguments(object, *call), WrongKind, "another kind")?;
            }
        }
    }
    Ok(())
}

/// A capability of a kind that calls are made on.
fn any(kit: &mut Kit, kind: Kind) -> Checked<Cap> {
    Ok(match kind {
        Kind::SchedControl => slot::SCHED_CONTROL,
        Kind::IrqControl => slot::IRQ_CONTROL,
        Kind::Ports => slot::PORTS,
        Kind::Trace => slot::TRACE,
        Kind::CapSpace => done!(kit.make(kind, 4)),
        Kind::Interrupt => {
            let at = kit.slot();
            done!(pillion_runtime::interrupt_create(slot::IRQ_CONTROL, u64::MAX, 0, at, kit.region()));
            at
        }
        _ => done!(kit.make(kind, 0)),
    })
}

fn no_right(kit: &mut Kit) -> Checked {
    for call in Call::ALL {
        let Some((kind, true)) = made_on(*call) else { continue };
        let (cap, bare) = (any(kit, kind)?, kit.slot());
        done!(cap_derive(0, bare, cap, 0, 0));
        expect(*call, arguments(bare, *call), NoRight, "no rights")?;
        if kind == Kind::Interrupt {
            done!(pillion_runtime::cap_delete(0, cap));
        }
    }
    Ok(())
}

fn own_space(kit: &mut Kit) -> Checked {
    let kinds = [
        (slot::CAP_SPACE, Kind::CapSpace),
        (slot::ADDRESS_SPACE, Kind::AddressSpace),
        (slot::THREAD, Kind::Thread),
        (slot::CONTEXT, Kind::SchedContext),
        (slot::SCHED_CONTROL, Kind::SchedControl),
        (slot::IRQ_CONTROL, Kind::IrqControl),
        (slot::TRACE, Kind::Trace),
    ];
    // Only the kernel puts a space into itself.
    let given = usize::from(kit.number(0) != 0);
    for (at, kind) in kinds.into_iter().skip(given) {
        let found = cap_identify(at).map_err(|e| failure!("slot {at}: {e:?}"))?[0];
        check!(found == kind as u64, "slot {at} holds kind {found}, not {kind:?}");
    }
    let [ports, count] = done!(cap_identify(slot::PORTS));
    same!([ports & 0xff, count], [Kind::Ports as u64, 0x1_0000]);
    Ok(())
}
