//! How to repeat the measurement.

use maud::{Markup, html};
use pillion_measure_data::{Measurement, System};

/// Longest command line that is shown unfolded, in letters.
const LONG: usize = 300;

/// The command of the whole measurement, and of each system.
pub fn commands(measurement: &Measurement) -> Markup {
    let said = |system: &&System| !system.commands.is_empty();
    html! {
        div.commands {
            h4 { "How to measure it again" }
            (command(&measurement.command))
            @if measurement.systems.iter().any(|system| said(&system)) {
                dl {
                    @for system in measurement.systems.iter().filter(said) {
                        dt { (system.title) }
                        dd { @for line in &system.commands { (folded(line)) } }
                    }
                }
            }
        }
    }
}

/// A command line; if it is long, only its beginning is shown.
fn folded(line: &str) -> Markup {
    match line.char_indices().nth(LONG) {
        None => command(line),
        Some((at, _)) => html! { details { summary { code { (line[..at]) "…" } } (command(line)) } },
    }
}

/// A command line that breaks only between its words.
fn command(line: &str) -> Markup {
    html! { pre { code { @for word in line.split(' ') { span { (word) } " " } } } }
}
