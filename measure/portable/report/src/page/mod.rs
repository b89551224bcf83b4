//! The page.

mod bullet;
mod commands;
mod conclusion;
mod contents;
mod cover;
mod experiment;
mod html_table;
pub mod instrument;
mod processors;
mod prose;
mod sections;
mod verdict;

pub use sections::Report;

use crate::theme;
use maud::{DOCTYPE, PreEscaped, html};
use pillion_measure_data::plain;

/// The whole page.
pub fn html(report: &Report) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "Pillion: measurements" }
                style { (PreEscaped(theme::style())) (PreEscaped(include_str!("style.css"))) }
            }
            body {
                (cover::cover(report))
                @for experiment in &report.experiments { (experiment::section(report, experiment)) }
                footer { p { "All numbers of this page, and more, are in " a href="data.json" { "data.json" } "." } }
            }
        }
    };
    plain(&page.into_string())
}
