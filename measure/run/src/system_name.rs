//! Names of systems: NAME, as the plan has it, or with a model NAME@MACHINE.

/// That of a system on a machine of the model.
pub fn on(system: &str, machine: &str) -> String {
    format!("{system}@{machine}")
}

/// The plan's name.
pub fn planned(name: &str) -> &str {
    name.split_once('@').map_or(name, |(system, _)| system)
}

/// The machine of the model.
pub fn machine(name: &str) -> Option<&str> {
    name.split_once('@').map(|(_, machine)| machine)
}
