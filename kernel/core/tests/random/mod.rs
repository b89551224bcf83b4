//! Random calls and events, against invariants and simple models.

mod anything;
mod nested;
mod order;
mod tree;

/// How many cases are tried: the environment may ask for more.
fn cases(usual: u32) -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}
