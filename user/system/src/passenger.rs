//! What Linux must not see, and what its monitor is given. The limits are those of the monitor's
//! page of information.
use crate::{Linux, Problem, System, Target, limit, remedy};
use alloc::{format, vec::Vec};

/// The problems of a system with Linux.
pub(crate) fn check(system: &System, machine: &Target) -> Vec<Problem> {
    let Some(linux) = &system.linux else { return Vec::new() };
    let mut problems: Vec<Problem> = lines(system).collect();
    problems.extend(devices(system));
    problems.extend(command_line(linux, machine));
    problems
}

/// Interrupt lines of tasks that Linux's I/O APICs would show.
fn lines(system: &System) -> impl Iterator<Item = Problem> {
    let all = system.tasks.iter().flat_map(|task| task.interrupts.iter().map(move |interrupt| (task, interrupt)));
    all.filter(|(_, interrupt)| interrupt.line > limit::HIDDEN_LINE).map(|(task, interrupt)| {
        let message = format!("interrupt line {} of task {} cannot be kept from Linux", interrupt.line, task.name);
        Problem::new(interrupt.at, message, remedy::HIDDEN_LINE)
    })
}

fn devices(system: &System) -> Option<Problem> {
    let all: Vec<_> = system.tasks.iter().flat_map(|task| &task.devices).collect();
    let extra = all.get(limit::HIDDEN_DEVICES)?;
    let message = format!("the tasks have {} PCI functions, more than {}", all.len(), limit::HIDDEN_DEVICES);
    Some(Problem::new(extra.at, message, remedy::FEWER))
}

/// The addition has a space before it.
fn command_line(linux: &Linux, machine: &Target) -> Option<Problem> {
    let own = linux.command_line.trim().len();
    let all = own + machine.appended + usize::from(own != 0 && machine.appended != 0);
    (all > limit::COMMAND_LINE).then(|| {
        let message = format!(
            "command_line has {all} bytes with the {} that are added, more than {}",
            machine.appended,
            limit::COMMAND_LINE
        );
        Problem::new(linux.lines.command_line, message, remedy::COMMAND_LINE)
    })
}
