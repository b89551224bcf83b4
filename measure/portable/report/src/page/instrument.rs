//! Descriptions of the instruments, shown wherever their figures are.

use maud::{Markup, html};
use pillion_measure_data::Instrument;

/// The description of an instrument.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    pub name: &'static str,
    /// In a few words.
    pub short: &'static str,
    /// What its figures are, and what they are not.
    pub meaning: &'static str,
}

/// The description of an instrument.
pub fn words(instrument: Instrument) -> Words {
    let (short, meaning) = match instrument {
        Instrument::Counted => (
            "1 ns is one executed instruction",
            "Executed instructions of an emulated machine, each of which takes 1 ns of the machine's time. Repeatable to the last digit. The machine has no caches, \
             TLBs or buses: a figure is no hardware latency, but a measure for comparisons.",
        ),
        Instrument::Modelled => (
            "cycles of a cache and TLB model",
            "Cycles that a model of caches and TLBs charges while an emulated machine executes. Repeatable. As good as the model: what it does not know costs \
             nothing.",
        ),
        Instrument::Measured => (
            "time-stamp counter of a real machine",
            "Time by the time-stamp counter of a real machine. The real thing, on this machine and on this day; the next run differs.",
        ),
    };
    Words { name: instrument.name(), short, meaning }
}

/// The mark beside each figure.
pub fn badge(instrument: Instrument) -> Markup {
    let words = words(instrument);
    html! { span class={ "badge " (words.name) } title=(words.meaning) { (words.name) } }
}
