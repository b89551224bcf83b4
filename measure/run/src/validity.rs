//! Checks whether readings are complete and undisturbed.

use super::plan::{Form, Plan, Valid, concerns};
use super::readings::SystemReadings;
use super::system_name;
use pillion_measure_data::Measurement;
use pillion_measure_data::lines::Readings;

/// Why the readings of a system are rejected.
pub fn complaints(plan: &Plan, form: Form, readings: &SystemReadings) -> Vec<String> {
    let SystemReadings { system, readings, .. } = readings;
    let name = &system.name;
    let planned_name = system_name::planned(name);
    let mut complaints = readings.disturbed.clone();
    if readings.figures.is_empty() && readings.series.is_empty() {
        complaints.push("it reported nothing".into());
    }
    let asked = |valid: &&Valid| valid.instruments.contains(&form.instrument) && concerns(&valid.systems, planned_name);
    complaints.extend(plan.valid.iter().filter(asked).filter_map(|valid| violated(valid, form.quick, readings)));
    complaints.extend(readings.figures.iter().filter_map(|(figure, (_, unit))| {
        let planned = plan.figure(planned_name, form.instrument, figure)?;
        (planned.unit != *unit).then(|| format!("{figure} was reported in {unit}, not in {}", planned.unit))
    }));
    complaints.into_iter().map(|why| format!("{name}: {why}")).collect()
}

fn violated(valid: &Valid, quick: bool, readings: &Readings) -> Option<String> {
    let name = &valid.figure;
    let Some((value, _)) = readings.figures.get(name) else { return Some(format!("{name} was not reported")) };
    let limit = |short: Option<f64>, long: Option<f64>| short.filter(|_| quick).or(long);
    let (least, most) = (limit(valid.quick_least, valid.least), limit(valid.quick_most, valid.most));
    if let Some(least) = least.filter(|least| value < least) {
        return Some(format!("{name} is {value}, and must be {least} or more"));
    }
    most.filter(|most| value > most).map(|most| format!("{name} is {value}, and must be {most} or less"))
}

/// Figures of the plan that were not reported: SYSTEM and NAME. Each named system must report a
/// figure; if none is named, at least one system must.
pub fn missing(plan: &Plan, measurement: &Measurement) -> Vec<(String, String)> {
    let mut missing = Vec::new();
    for planned in plan.figure.iter().filter(|planned| planned.instruments.contains(&measurement.instrument)) {
        let name = &planned.name;
        if planned.systems.is_empty() && measurement.figures.iter().all(|figure| figure.name != *name) {
            missing.push(("any".to_owned(), name.clone()));
        }
        let named = measurement
            .systems
            .iter()
            .filter(|system| planned.systems.iter().any(|name| name == system_name::planned(&system.name)));
        for system in named {
            if measurement.figure(&system.name, name).is_none() {
                missing.push((system.name.clone(), name.clone()));
            }
        }
    }
    missing
}
