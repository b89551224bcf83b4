//! What the user can put right: one clear message each.

/// What is wrong, why, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[error("{what}\n   why: {why}\n   do:  {remedy}")]
pub struct Problem {
    what: String,
    why: String,
    remedy: String,
}

/// A problem, ready to be returned as an error.
pub fn problem(what: impl Into<String>, why: impl Into<String>, remedy: impl Into<String>) -> anyhow::Error {
    Problem { what: what.into(), why: why.into(), remedy: remedy.into() }.into()
}
