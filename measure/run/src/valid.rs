//! Whether what was said is enough, and undisturbed.

use super::heard::{Heard, plain};
use super::job::Form;
use super::plan::{Plan, Valid, concerns};
use pillion_measure_data::Measurement;
use pillion_measure_data::lines::Said;

/// Why what a system said is not taken.
pub fn complaints(plan: &Plan, form: Form, heard: &Heard) -> Vec<String> {
    let name = &heard.system.name;
    let mut complaints = heard.said.disturbed.clone();
    if heard.said.figures.is_empty() && heard.said.series.is_empty() {
        complaints.push("it said nothing".into());
    }
    let asked = |valid: &&Valid| valid.instruments.contains(&form.instrument) && concerns(&valid.systems, plain(name));
    complaints.extend(plan.valid.iter().filter(asked).filter_map(|valid| violated(valid, form.quick, &heard.said)));
    complaints.extend(heard.said.figures.iter().filter_map(|(figure, (_, unit))| {
        let planned = plan.figure(plain(name), form.instrument, figure)?;
        (planned.unit != *unit).then(|| format!("{figure} was said in {unit}, not in {}", planned.unit))
    }));
    complaints.into_iter().map(|why| format!("{name}: {why}")).collect()
}

fn violated(valid: &Valid, quick: bool, said: &Said) -> Option<String> {
    let name = &valid.figure;
    let Some((value, _)) = said.figures.get(name) else { return Some(format!("{name} was not said")) };
    let limit = |short: Option<f64>, long: Option<f64>| short.filter(|_| quick).or(long);
    let (least, most) = (limit(valid.quick_least, valid.least), limit(valid.quick_most, valid.most));
    if let Some(least) = least.filter(|least| value < least) {
        return Some(format!("{name} is {value}, and must be {least} or more"));
    }
    most.filter(|most| value > most).map(|most| format!("{name} is {value}, and must be {most} or less"))
}

/// Figures of the plan that no system, or not each named one, said: SYSTEM and NAME.
pub fn missing(plan: &Plan, measurement: &Measurement) -> Vec<(String, String)> {
    let mut missing = Vec::new();
    for planned in plan.figure.iter().filter(|planned| planned.instruments.contains(&measurement.instrument)) {
        let name = &planned.name;
        if planned.systems.is_empty() && measurement.figures.iter().all(|figure| figure.name != *name) {
            missing.push(("any".to_owned(), name.clone()));
        }
        let named =
            measurement.systems.iter().filter(|system| planned.systems.iter().any(|name| name == plain(&system.name)));
        for system in named {
            if measurement.figure(&system.name, name).is_none() {
                missing.push((system.name.clone(), name.clone()));
            }
        }
    }
    missing
}
