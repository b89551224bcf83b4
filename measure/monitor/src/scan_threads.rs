//! Threads, scheduling contexts, endpoints.

use crate::{Case, name::Name, scan::Trial};
use pillion_abi::{boot::slot, call::Call, object::Kind};
use pillion_runtime::{
    cap_delete, context_allow_boost, context_configure, context_consumed, context_set_priority, endpoint_bind,
    region_create, thread_bind_context, thread_bind_notification, thread_configure, thread_register, thread_resume,
    thread_set_registers, thread_set_sequence, thread_suspend,
};
use pillion_test_kit::{Checked, Kit, Setup, done, stop};

pub const CASES: &[Case] = &[
    configure,
    set_registers,
    resume,
    suspend,
    bind_context,
    bind_notification,
    register,
    configure_context,
    consumed,
    set_priority,
    allow_boost,
    set_sequence,
    bind_endpoint,
];

/// A priority below the first task's.
const LOW: u8 = 50;
const BUDGET: u64 = 1_000_000;

extern "C" fn idle(_: u64) -> ! {
    stop()
}

fn low() -> Setup {
    Setup { budget: BUDGET, period: 2 * BUDGET, ..Setup::new(LOW, idle) }
}

fn configure(kit: &mut Kit) -> Checked {
    let (thread, caps) = (done!(kit.make(Kind::Thread, 0)), kit.workers());
    let trial = Trial::new(|| Ok(()), |()| thread_configure(thread, slot::ADDRESS_SPACE, caps, 0, 0), |()| Ok(()));
    trial.scan(kit, Name::of(Call::ThreadConfigure))
}

fn set_registers(kit: &mut Kit) -> Checked {
    let thread = done!(kit.prepare(low())).thread;
    let entry = idle as *const () as u64;
    let trial = Trial::new(|| Ok(()), |()| thread_set_registers(thread, entry, 0x1000, 1), |()| Ok(()));
    trial.scan(kit, Name::of(Call::ThreadSetRegisters))
}

fn resume(kit: &mut Kit) -> Checked {
    let thread = done!(kit.prepare(low())).thread;
    let trial = Trial::new(|| Ok(()), |()| thread_resume(thread), |()| thread_suspend(thread).map(drop));
    trial.scan(kit, Name::of(Call::ThreadResume))
}

fn suspend(kit: &mut Kit) -> Checked {
    let thread = done!(kit.prepare(low())).thread;
    let trial = Trial::new(|| thread_resume(thread), |_| thread_suspend(thread), |_| Ok(()));
    trial.scan(kit, Name::of(Call::ThreadSuspend))
}

fn bind_context(kit: &mut Kit) -> Checked {
    let made = done!(kit.start(low()));
    let trial = Trial::new(
        || thread_bind_context(made.thread, 0),
        |_| thread_bind_context(made.thread, made.context),
        |_| Ok(()),
    );
    trial.scan(kit, Name::of(Call::ThreadBindContext))
}

fn bind_notification(kit: &mut Kit) -> Checked {
    let (thread, n) = (done!(kit.prepare(low())).thread, done!(kit.make(Kind::Notification, 0)));
    let trial = Trial::new(
        || Ok(()),
        |()| thread_bind_notification(thread, n),
        |()| thread_bind_notification(thread, 0).map(drop),
    );
    trial.scan(kit, Name::of(Call::ThreadBindNotification))
}

fn register(kit: &mut Kit) -> Checked {
    let thread = done!(kit.prepare(low())).thread;
    let trial = Trial::new(|| Ok(()), |()| thread_register(thread, 0), |()| Ok(()));
    trial.scan(kit, Name::of(Call::ThreadRegister))
}

fn configure_context(kit: &mut Kit) -> Checked {
    let context = done!(kit.start(low())).context;
    let trial = Trial::new(
        || Ok(()),
        |()| context_configure(slot::SCHED_CONTROL, context, LOW, BUDGET, 2 * BUDGET, LOW),
        |()| Ok(()),
    );
    trial.scan(kit, Name::of(Call::ContextConfigure))
}

fn consumed(kit: &mut Kit) -> Checked {
    let context = done!(kit.start(low())).context;
    let trial = Trial::new(|| Ok(()), |()| context_consumed(context), |()| Ok(()));
    trial.scan(kit, Name::of(Call::ContextConsumed))
}

fn set_priority(kit: &mut Kit) -> Checked {
    let context = done!(kit.start(low())).context;
    let trial = Trial::new(|| Ok(()), |()| context_set_priority(context, LOW), |()| Ok(()));
    trial.scan(kit, Name::of(Call::ContextSetPriority))
}

fn allow_boost(kit: &mut Kit) -> Checked {
    let control = slot::SCHED_CONTROL;
    let context = done!(kit.prepare(low())).context;
    let trial = Trial::new(|| Ok(()), |()| context_allow_boost(control, context, LOW, BUDGET, BUDGET), |()| Ok(()));
    trial.scan(kit, Name::of(Call::ContextAllowBoost))
}

fn set_sequence(kit: &mut Kit) -> Checked {
    let thread = done!(kit.prepare(low())).thread;
    let trial = Trial::new(|| Ok(()), |()| thread_set_sequence(thread, 0x1000, 0x2000), |()| Ok(()));
    trial.scan(kit, Name::of(Call::ThreadSetSequence))
}

fn bind_endpoint(kit: &mut Kit) -> Checked {
    let (thread, region, endpoint) = (done!(kit.prepare(low())).thread, kit.region(), kit.slot());
    let trial = Trial::new(
        || region_create(region, Kind::Endpoint, 0, endpoint),
        |_| endpoint_bind(endpoint, thread),
        |_| cap_delete(0, endpoint).map(drop),
    );
    trial.scan(kit, Name::of(Call::EndpointBind))
}
