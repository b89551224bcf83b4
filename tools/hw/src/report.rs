//! The report for machines.

use crate::judge::{Judgement, Stakes};
use crate::losses::Loss;
use serde_json::{Value, json};

/// Counts changes of the format.
const FORMAT: u32 = 1;

/// A judgement, and what Linux loses, as JSON.
#[must_use]
pub fn json(judgement: &Judgement, losses: &[Loss]) -> Value {
    let stakes = |stakes| match stakes {
        Stakes::Nothing => "nothing",
        Stakes::TasksInC => "tasks in C",
        Stakes::Linux => "Linux",
        Stakes::Everything => "everything",
    };
    let rows = judgement.rows.iter().map(|row| {
        json!({
            "requirement": row.what,
            "here": row.here,
            "needed_for": row.needed_for,
            "fails_without": stakes(row.stakes),
            "verdict": row.verdict.word().to_lowercase(),
            "note": row.note,
        })
    });
    let lost = losses.iter().map(|loss| json!({ "what": loss.what, "why": loss.why, "costs": loss.costs }));
    json!({
        "format": FORMAT,
        "version": env!("CARGO_PKG_VERSION"),
        "runs": judgement.runs(),
        "fails": stakes(judgement.lost),
        "verdict": judgement.verdict,
        "rows": rows.collect::<Vec<_>>(),
        "withheld": lost.collect::<Vec<_>>(),
    })
}
