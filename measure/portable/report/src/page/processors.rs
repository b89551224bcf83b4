//! The table of processors: what each told, where several ran.

use super::html_table::{swatch, title};
use super::sections::Report;
use crate::number::{exact, plain};
use maud::{Markup, html};
use pillion_measure_data::{Measurement, Processor};

/// Counts: the column's head, what is counted, and how often a processor did.
type Count = (&'static str, &'static str, fn(&Processor) -> u64);
const COUNTS: [Count; 7] = [
    ("timers", "interrupts of its timer", |one| one.timers),
    ("messages", "interrupts by other processors", |one| one.messages),
    ("calls", "letters about calls of or to other processors", |one| one.calls),
    ("signals", "letters with signals of other processors", |one| one.signals),
    ("flushes", "address spaces that it left because memory was unmapped", |one| one.flushes),
    ("devices", "interrupts of its tasks' devices", |one| one.devices),
    ("Linux", "interrupts of Linux's devices while Linux did not run", |one| one.linux),
];

/// The table; nothing if no system told of its processors. Counts that stayed 0 everywhere have no
/// column.
pub fn table(report: &Report, measurement: &Measurement) -> Markup {
    let all = &measurement.processors;
    let counts: Vec<&Count> = COUNTS.iter().filter(|(_, _, count)| all.iter().any(|one| count(one) != 0)).collect();
    let has_systems = all.iter().any(|one| one.system != all[0].system);
    let has_tasks = all.iter().any(|one| !one.tasks.is_empty());
    html! {
        @if !all.is_empty() {
            div.wide { table.figures.processors {
                thead { tr {
                    th { "processor" }
                    @if has_systems { th { "system" } }
                    th { "who has it" }
                    @if has_tasks { th { "tasks" } th.value { "longest latency" } th.value { "missed periods" } }
                    @for (head, meaning, _) in &counts { th.value title=(meaning) { (head) } }
                } }
                tbody {
                    @for one in all { tr {
                        th { (one.cpu) }
                        @if has_systems { td.system { (swatch(report.colours.slot(&one.system))) " " (title(measurement, &one.system)) } }
                        td { (one.has) }
                        @if has_tasks { (tasks(one)) }
                        @for (_, _, count) in &counts { td.value { (plain(count(one) as f64)) } }
                    } }
                }
            } }
            p.remark {
                @if has_tasks { "Where emulated processors take turns, a latency of this table contains those of the others. " }
                @for (n, (head, meaning, _)) in counts.iter().enumerate() {
                    @if n > 0 { "; " }
                    i { (head) } ": " (meaning)
                }
                @if !counts.is_empty() { "." }
            }
        }
    }
}

/// A processor's tasks, their longest latency, and the periods that they missed.
fn tasks(one: &Processor) -> Markup {
    html! {
        td { (one.tasks.join(", ")) }
        td.value { @if let Some(max_ns) = one.max_ns { (exact(max_ns as f64, "ns")) } }
        td.value.beyond[one.overruns > Some(0)] { @if let Some(overruns) = one.overruns { (plain(overruns as f64)) } }
    }
}
