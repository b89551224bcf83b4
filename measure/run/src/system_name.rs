//! Names of systems: NAME, as in the plan, or with the model NAME@MACHINE.

/// The name of a system on a machine of the model.
pub fn on(system: &str, machine: &str) -> String {
    format!("{system}@{machine}")
}

/// The name in the plan.
pub fn planned(name: &str) -> &str {
    name.split_once('@').map_or(name, |(system, _)| system)
}

/// The machine of the model.
pub fn machine(name: &str) -> Option<&str> {
    name.split_once('@').map(|(_, machine)| machine)
}
