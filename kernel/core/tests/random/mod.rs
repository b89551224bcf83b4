//! Random calls and events, checked against invariants and simple models.

mod anything;
mod nested;
mod order;
mod posts;
mod translations;
mod tree;

/// Number of cases to try; the environment variable overrides it.
fn cases(usual: u32) -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}
