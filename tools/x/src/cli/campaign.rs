//! Options of the campaign.

use clap::Args;
use std::path::PathBuf;

/// Options of `x test campaign`.
#[derive(Args, Clone, Default)]
#[command(next_help_heading = "For `x test campaign`")]
pub struct CampaignArguments {
    /// Seeds to run: a number, or the first and the one behind the last [default: the known ones,
    /// and 20 that follow from the commit]
    #[arg(long, value_name = "A..B", requires = "name")]
    pub seeds: Option<String>,
    /// Which steps the guest makes: `from=N to=N classes=MASK only=N,N,..`
    #[arg(long, value_name = "ORDERS", requires = "seeds")]
    pub guest: Option<String>,
    /// Which steps the hostile task makes
    #[arg(long, value_name = "ORDERS", requires = "seeds")]
    pub task: Option<String>,
    /// Which steps the hostile task with a skin makes
    #[arg(long, value_name = "ORDERS", requires = "seeds")]
    pub skinned: Option<String>,
    /// Only say what the steps are
    #[arg(long, requires = "seeds")]
    pub tell: bool,
    /// Do not look for fewer steps of a seed that fails
    #[arg(long, requires = "name")]
    pub no_shrink: bool,
    /// Seeds side by side [default: as many as there are processors]
    #[arg(long, value_name = "N", requires = "name")]
    pub jobs: Option<usize>,
    /// Write Pillion's log of each seed into a folder
    #[arg(long, value_name = "FOLDER", requires = "name")]
    pub logs: Option<PathBuf>,
    /// Write the sums as JSON
    #[arg(long, value_name = "FILE", requires = "name")]
    pub json: Option<PathBuf>,
}
