//! Interrupts and ports that a task is given.

use crate::failure::{Result, While};
use crate::task::{Maker, Task, give};
use pillion_abi::{boot::slot, call::irq, object::right};
use pillion_runtime::{info, interrupt_bind, interrupt_create, ports_part};
use pillion_system as system;

/// Makes a task's interrupts, which signal its notification.
pub fn give_interrupts(maker: &mut Maker<'_>, task: &Task, wanted: &system::Task) -> Result<()> {
    for (i, interrupt) in (0..).zip(&wanted.interrupts) {
        let at = maker.slots.take()?;
        let flags = if interrupt.level { irq::LEVEL } else { 0 } | if interrupt.low { irq::LOW } else { 0 };
        let flags = flags | task.cpu << irq::HOME_SHIFT;
        interrupt_create(slot::IRQ_CONTROL, interrupt.line.into(), flags, at, task.region)
            .when("making an interrupt")?;
        interrupt_bind(at, task.notification, 1 << i).when("binding an interrupt")?;
        give(task, info::slot::INTERRUPTS + i, at, right::ALL, 0)?;
    }
    Ok(())
}

pub fn give_ports(maker: &mut Maker<'_>, task: &Task, wanted: &system::Task) -> Result<()> {
    for (i, ports) in (0..).zip(&wanted.ports) {
        let at = maker.slots.take()?;
        let count = u32::from(ports.last) - u32::from(ports.first) + 1;
        ports_part(slot::PORTS, ports.first, count, at).when("taking ports")?;
        give(task, info::slot::TASK_PORTS + i, at, right::ALL, 0)?;
    }
    Ok(())
}
