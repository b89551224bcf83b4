//! Options of fuzzing.

use clap::Args;

/// Options of `x fuzz`.
#[derive(Args, Clone)]
pub struct FuzzArguments {
    /// What is fuzzed; without it all are listed
    pub name: Option<String>,
    /// For how long
    #[arg(long, value_name = "N", default_value_t = 60)]
    pub seconds: u64,
    /// Write the corpus anew with what was found
    #[arg(long)]
    pub keep: bool,
    /// Run one input, in hexadecimal digits, as a failure printed it
    #[arg(long, value_name = "HEX", conflicts_with = "keep")]
    pub input: Option<String>,
}
