//! Options of `x fuzz`.

use clap::Args;

/// Options of `x fuzz`.
#[derive(Args, Clone)]
pub struct FuzzArguments {
    /// Target to fuzz; without a name, all are listed
    pub name: Option<String>,
    /// How long to fuzz, in seconds
    #[arg(long, value_name = "N", default_value_t = 60)]
    pub seconds: u64,
    /// Rewrite the corpus with what was found
    #[arg(long)]
    pub keep: bool,
    /// Run one input, given in hexadecimal digits as a failure prints it
    #[arg(long, value_name = "HEX", conflicts_with = "keep")]
    pub input: Option<String>,
}
