//! The command line of `x disk`.

use clap::Args;
use std::path::PathBuf;

/// Options of `x disk`.
#[derive(Args, Clone)]
#[command(after_help = "EXAMPLES
  ./x disk debian.img
  ./x run --disk debian.img --task my-task      log in as root, the password is pillion

The disk has the same Debian as this machine, as small as possible, with a C compiler, Python, the headers of the kernel that rides,
the module `pillion` built by DKMS, the command `pillion`, libpillion.a and its headers. It has a network: `apt-get update` and
`apt-get install` work as they do here. What Linux writes to the disk stays there.")]
pub struct DiskArguments {
    /// Image to write
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Debian kernel for the disk: `stock` or `rt` (PREEMPT_RT)
    #[arg(long, value_name = "stock|rt", default_value = "stock", value_parser = ["stock", "rt"])]
    pub linux: String,
    /// Size of the disk; free space on it takes no room here
    #[arg(long, value_name = "GIB", default_value_t = 4)]
    pub size: u32,
}
