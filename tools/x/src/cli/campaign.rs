//! Options of the campaign.

use clap::Args;
use std::path::PathBuf;

/// Options of `x test campaign`.
#[derive(Args, Clone, Default)]
#[command(next_help_heading = "For `x test campaign`")]
pub struct CampaignArguments {
    /// Seeds to run: one number, or the first and the one after the last [default: the known ones,
    /// and 20 derived from the commit]
    #[arg(long, value_name = "A..B", requires = "name")]
    pub seeds: Option<String>,
    /// Steps that the guest takes: `from=N to=N classes=MASK only=N,N,..`
    #[arg(long, value_name = "ORDERS", requires = "seeds")]
    pub guest: Option<String>,
    /// Steps that the hostile task takes
    #[arg(long, value_name = "ORDERS", requires = "seeds")]
    pub task: Option<String>,
    /// Steps that the hostile task with a skin takes
    #[arg(long, value_name = "ORDERS", requires = "seeds")]
    pub skinned: Option<String>,
    /// Only list the steps
    #[arg(long, requires = "seeds")]
    pub tell: bool,
    /// Do not shrink a seed that fails
    #[arg(long, requires = "name")]
    pub no_shrink: bool,
    /// Seeds run in parallel [default: one for each processor]
    #[arg(long, value_name = "N", requires = "name")]
    pub jobs: Option<usize>,
    /// Write Pillion's log of each seed into a folder
    #[arg(long, value_name = "FOLDER", requires = "name")]
    pub logs: Option<PathBuf>,
    /// Write the totals as JSON
    #[arg(long, value_name = "FILE", requires = "name")]
    pub json: Option<PathBuf>,
}
