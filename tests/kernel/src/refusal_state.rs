//! Calls that are refused because of their arguments or an object's state.

use crate::{Test, refusal::expect};
use pillion_abi::{
    NEVER, USER_END,
    boot::slot,
    call::{Call, IRQ_MSI},
    object::{Kind, right},
    status::Error::{BadArgument, BadCap, BadState, Busy, NoMemory, NoRight, Timeout, WrongKind},
};
use pillion_runtime::{
    Cap, Message, call, context_configure, context_set_priority, endpoint_bind, endpoint_bind_with, interrupt_bind,
    interrupt_create, now, receive, reply, reply_receive, thread_bind_context, thread_bind_notification, thread_resume,
    thread_suspend, timer_bind, wait,
};
use pillion_test_kit::{Checked, Kit, Setup, check, done, refused, stop};

pub const TESTS: &[Test] = &[
    ("refusal/messages", messages),
    ("refusal/thread-configure", configure),
    ("refusal/thread-states", states),
    ("refusal/thread-bind", bind),
    ("refusal/context-configure", contexts),
    ("refusal/endpoint-and-timer-bind", bindings),
    ("refusal/interrupts", interrupts),
    ("refusal/interrupt-vectors-run-out", vectors),
    ("refusal/ports", ports),
    ("refusal/vcpu", vcpu),
];

const FAR: u64 = slot::COUNT as u64;

fn messages(kit: &mut Kit) -> Checked {
    let (endpoint, n) = (done!(kit.make(Kind::Endpoint, 0)), done!(kit.make(Kind::Notification, 0)));
    let refuse = |outcome: pillion_abi::status::Result<Message>| outcome.map(|_| ());
    refused!(refuse(call(endpoint, 0, [0; 8])), BadState);
    refused!(refuse(reply_receive(0, [0; 8])), BadState);
    refused!(refuse(receive(NEVER)), BadState);
    refused!(reply(0, [0; 8]), BadState);
    done!(endpoint_bind(endpoint, slot::THREAD));
    refused!(refuse(call(endpoint, 0, [0; 8])), BadState);
    refused!(refuse(receive(now())), Timeout);
    refused!(reply(0, [0; 8]), BadState);
    refused!(wait(n, 0), Timeout);
    refused!(wait(n, now()), Timeout);
    let mute = done!(kit.limited(n, right::READ));
    refused!(pillion_runtime::signal(mute), NoRight);
    let deaf = done!(kit.limited(n, right::WRITE));
    refused!(wait(deaf, 0), NoRight);
    Ok(())
}

extern "C" fn idle(_: u64) -> ! {
    stop()
}

fn configure(kit: &mut Kit) -> Checked {
    let thread = u64::from(done!(kit.make(Kind::Thread, 0)));
    let (space, caps) = (u64::from(slot::ADDRESS_SPACE), u64::from(kit.workers()));
    let (n, bare) = (u64::from(done!(kit.make(Kind::Notification, 0))), done!(kit.limited(slot::ADDRESS_SPACE, 0)));
    let rows = [
        ([thread, caps, caps, 0, 0, 0], WrongKind),
        ([thread, space, space, 0, 0, 0], WrongKind),
        ([thread, space, caps, n, 0, 0], WrongKind),
        ([thread, space, caps, 0, 2, 0], BadArgument),
        ([thread, space, caps, FAR, 0, 0], BadCap),
        ([thread, FAR, caps, 0, 0, 0], BadCap),
        ([thread, space, FAR, 0, 0, 0], BadCap),
        ([thread, bare.into(), caps, 0, 0, 0], NoRight),
        ([slot::THREAD.into(), space, caps, 0, 0, 0], BadState),
    ];
    for (a, error) in rows {
        expect(Call::ThreadConfigure, a, error, "arguments")?;
    }
    for [first, end] in [[2, 1], [0, USER_END + 1], [u64::MAX, u64::MAX]] {
        expect(Call::ThreadSetSequence, [thread, first, end, 0, 0, 0], BadArgument, "sequence")?;
    }
    expect(Call::ThreadRegister, [thread, 9, 0, 0, 0, 0], BadArgument, "index")
}

fn states(kit: &mut Kit) -> Checked {
    let raw = done!(kit.make(Kind::Thread, 0));
    refused!(thread_resume(raw), BadState);
    let t = done!(kit.start(Setup::new(20, idle)));
    refused!(thread_resume(t.thread), BadState);
    expect(Call::ThreadSetRegisters, [t.thread.into(), 0x1000, 0, 0, 0, 0], BadState, "running")?;
    done!(thread_suspend(t.thread));
    done!(thread_suspend(t.thread));
    done!(thread_resume(t.thread));
    Ok(())
}

fn bind(kit: &mut Kit) -> Checked {
    let (a, b) = (done!(kit.prepare(Setup::new(20, idle))), done!(kit.prepare(Setup::new(20, idle))));
    refused!(thread_bind_context(a.thread, a.context), Busy);
    done!(thread_bind_context(b.thread, 0));
    done!(thread_bind_context(b.thread, 0));
    refused!(thread_bind_context(b.thread, a.context), Busy);
    let fresh = done!(kit.make(Kind::SchedContext, 0));
    refused!(thread_bind_context(b.thread, fresh), BadState);
    refused!(thread_bind_context(b.thread, a.thread), WrongKind);
    let n = done!(kit.make(Kind::Notification, 0));
    done!(thread_bind_notification(a.thread, n));
    refused!(thread_bind_notification(b.thread, n), Busy);
    refused!(thread_bind_notification(b.thread, a.thread), WrongKind);
    done!(thread_bind_notification(a.thread, 0));
    done!(thread_bind_notification(b.thread, n));
    done!(thread_bind_notification(b.thread, n));
    Ok(())
}

fn contexts(kit: &mut Kit) -> Checked {
    let (control, context) = (u64::from(slot::SCHED_CONTROL), u64::from(done!(kit.make(Kind::SchedContext, 0))));
    let rows = [
        (0, NEVER, 0),
        (256, NEVER, 0),
        (u64::MAX, NEVER, 0),
        (1, 0, 100),
        (1, 101, 100),
        (1, 100, NEVER / 4),
        (1, NEVER - 1, NEVER),
    ];
    for (priority, budget, period) in rows {
        let a = [control, context, priority, budget, period, 0];
        expect(Call::ContextConfigure, a, BadArgument, "arguments")?;
    }
    expect(Call::ContextConfigure, [control, FAR, 1, NEVER, 0, 0], BadCap, "context")?;
    expect(Call::ContextConfigure, [control, control, 1, NEVER, 0, 0], WrongKind, "context")?;
    let bare = u64::from(done!(kit.limited(context as Cap, right::READ)));
    expect(Call::ContextConfigure, [control, bare, 1, NEVER, 0, 0], NoRight, "context")?;
    done!(context_configure(slot::SCHED_CONTROL, context as Cap, 255, 100, 100, 0));
    expect(Call::ContextConfigure, [control, context, 1, NEVER, 0, 256], BadArgument, "ceiling")?;
    for (ceiling, budget, period) in [(256, 1, 1), (20, 0, 100), (20, 101, 100), (20, 100, NEVER / 4), (20, NEVER, 0)] {
        expect(Call::ContextAllowBoost, [control, context, ceiling, budget, period, 0], BadArgument, "boost")?;
    }
    expect(Call::ContextAllowBoost, [control, bare, 20, 1, 1, 0], NoRight, "context")?;
    done!(context_configure(slot::SCHED_CONTROL, context as Cap, 20, NEVER, 0, 30));
    expect(Call::ContextSetPriority, [bare, 20, 0, 0, 0, 0], NoRight, "context")?;
    for priority in [0, 31, 256, u64::MAX] {
        expect(Call::ContextSetPriority, [context, priority, 0, 0, 0, 0], BadArgument, "priority")?;
    }
    let [before, _] = done!(context_set_priority(context as Cap, 30));
    let [now, _] = done!(context_set_priority(context as Cap, 1));
    check!(before == 20 && now == 30, "priorities {before} and {now}");
    Ok(())
}

fn bindings(kit: &mut Kit) -> Checked {
    let (first, second) = (done!(kit.make(Kind::Endpoint, 0)), done!(kit.make(Kind::Endpoint, 0)));
    let (a, b) = (done!(kit.prepare(Setup::new(20, idle))), done!(kit.prepare(Setup::new(20, idle))));
    refused!(endpoint_bind(first, second), WrongKind);
    refused!(endpoint_bind(first, FAR as Cap), BadCap);
    refused!(endpoint_bind_with(first, a.thread, 2, 0, 0), BadArgument);
    refused!(endpoint_bind_with(first, a.thread, 0, 0, a.context), Busy);
    refused!(endpoint_bind_with(first, a.thread, 0, 0, second), WrongKind);
    done!(endpoint_bind(first, a.thread));
    refused!(endpoint_bind(first, b.thread), Busy);
    refused!(endpoint_bind(second, a.thread), Busy);
    let (timer, n) = (done!(kit.make(Kind::Timer, 0)), done!(kit.make(Kind::Notification, 0)));
    refused!(timer_bind(timer, first, 1), WrongKind);
    let deaf = done!(kit.limited(n, right::READ));
    refused!(timer_bind(timer, deaf, 1), NoRight);
    done!(timer_bind(timer, n, 1));
    refused!(timer_bind(timer, n, 1), Busy);
    Ok(())
}

fn interrupts(kit: &mut Kit) -> Checked {
    let (control, region) = (slot::IRQ_CONTROL, kit.region());
    let (at, other) = (kit.slot(), kit.slot());
    refused!(interrupt_create(control, IRQ_MSI, 4, at, region), BadArgument);
    refused!(interrupt_create(control, 1000, 0, at, region), BadArgument);
    refused!(interrupt_create(control, 1 << 40, 0, at, region), BadArgument);
    refused!(interrupt_create(control, IRQ_MSI, kit.interrupts(0), at, slot::THREAD), WrongKind);
    refused!(interrupt_create(control, IRQ_MSI, kit.interrupts(0), at, FAR as Cap), BadCap);
    done!(interrupt_create(control, 8, kit.interrupts(0), at, region));
    refused!(interrupt_create(control, 8, kit.interrupts(0), other, region), Busy);
    let n = done!(kit.make(Kind::Notification, 0));
    refused!(interrupt_bind(at, slot::THREAD, 1), WrongKind);
    done!(interrupt_bind(at, n, 1));
    refused!(interrupt_bind(at, n, 1), Busy);
    Ok(())
}

fn vectors(kit: &mut Kit) -> Checked {
    for made in 0..20 {
        let at = kit.slot();
        if let Err(error) = interrupt_create(slot::IRQ_CONTROL, IRQ_MSI, kit.interrupts(0), at, kit.region()) {
            check!(error == NoMemory && made == 12, "{error:?} after {made}");
            return Ok(());
        }
    }
    Err(pillion_test_kit::failure!("vectors without end"))
}

fn ports(kit: &mut Kit) -> Checked {
    let part = kit.slot();
    done!(pillion_runtime::ports_part(slot::PORTS, 0x70, 2, part));
    let (p, at) = (u64::from(part), u64::from(kit.slot()));
    let rows = [
        (Call::PortIn, [p, 0x70, 3, 0, 0, 0], BadArgument),
        (Call::PortIn, [p, 0x70, 0, 0, 0, 0], BadArgument),
        (Call::PortIn, [p, 0x6f, 1, 0, 0, 0], BadArgument),
        (Call::PortIn, [p, 0x72, 1, 0, 0, 0], BadArgument),
        (Call::PortIn, [p, 0x71, 2, 0, 0, 0], BadArgument),
        (Call::PortIn, [p, u64::MAX, 1, 0, 0, 0], BadArgument),
        (Call::PortOut, [p, 0x70, 4, 0, 0, 0], BadArgument),
        (Call::PortIn, [slot::PORTS.into(), 0xffff, 2, 0, 0, 0], BadArgument),
        (Call::PortsPart, [p, 0x70, 3, at, 0, 0], BadArgument),
        (Call::PortsPart, [p, 0x70, 0, at, 0, 0], BadArgument),
        (Call::PortsPart, [p, 0x6f, 1, at, 0, 0], BadArgument),
        (Call::PortsPart, [p, u64::MAX, 2, at, 0, 0], BadArgument),
    ];
    for (call, a, error) in rows {
        expect(call, a, error, "arguments")?;
    }
    Ok(())
}

fn vcpu(kit: &mut Kit) -> Checked {
    let (vcpu, memory) = (u64::from(done!(kit.make(Kind::Vcpu, 0))), u64::from(done!(kit.make(Kind::Memory, 4096))));
    let guest = u64::from(done!(kit.make(Kind::GuestSpace, 4)));
    let (control, all) = (u64::from(slot::IRQ_CONTROL), u64::from(slot::PORTS));
    let small = kit.slot();
    done!(pillion_runtime::ports_part(slot::PORTS, 0x80, 1, small));
    let own = u64::from(slot::ADDRESS_SPACE);
    let rows = [
        (Call::VcpuRun, [vcpu, 0, 0, 0, 0, 0], BadState),
        (Call::VcpuAllowPorts, [vcpu, all, 0, 0, 0, 0], BadArgument),
        (Call::VcpuAllowPorts, [vcpu, guest, 0, 0, 0, 0], WrongKind),
        (Call::VcpuAllowPorts, [vcpu, small.into(), 0, 0, 0, 0], BadState),
        (Call::VcpuInject, [vcpu, 15, 0, 0, 0, 0], BadArgument),
        (Call::VcpuInject, [vcpu, 256, 0, 0, 0, 0], BadArgument),
        (Call::VcpuNotify, [vcpu, 15, 0, 0, 0, 0], BadArgument),
        (Call::VcpuNotify, [vcpu, 256, 0, 0, 0, 0], BadArgument),
        (Call::VcpuNotify, [vcpu, 0x30, guest, 0, 0, 0], WrongKind),
        (Call::VcpuRouteLine, [vcpu, control, 1000, 0x30, 0, 0], BadArgument),
        (Call::VcpuRouteLine, [vcpu, control, 8, 0x10, 0, 0], BadArgument),
        (Call::VcpuRouteLine, [vcpu, control, 8, 0xf0, 0, 0], BadArgument),
        (Call::VcpuRouteLine, [vcpu, guest, 8, 0x30, 0, 0], WrongKind),
        (Call::VcpuBindSignals, [vcpu, 0, 0, 0, 0, 0], BadState),
        (Call::VcpuBindSignals, [vcpu, guest, 0, 0, 0, 0], WrongKind),
        (Call::VcpuConfigure, [vcpu, own, memory, 0, 0, 0], WrongKind),
        (Call::VcpuConfigure, [vcpu, guest, guest, 0, 0, 0], WrongKind),
        (Call::VcpuConfigure, [vcpu, guest, FAR, 0, 0, 0], BadCap),
        (Call::VcpuConfigure, [vcpu, guest, memory, 2, 0, 0], BadArgument),
    ];
    for (call, a, error) in rows {
        expect(call, a, error, "arguments")?;
    }
    let bare = done!(kit.limited(memory as Cap, right::READ));
    expect(Call::VcpuConfigure, [vcpu, guest, bare.into(), 0, 0, 0], NoRight, "state")?;
    done!(pillion_runtime::vcpu_configure(vcpu as Cap, guest as Cap, memory as Cap, 0));
    expect(Call::VcpuConfigure, [vcpu, guest, memory, 0, 0, 0], Busy, "twice")
}
