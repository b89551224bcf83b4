//! The command line.

mod measure;
mod program;

use crate::debian::kernel;
use clap::{Args, Parser, Subcommand};
pub use measure::MeasureCommand;
pub use program::{BuildTaskArguments, Kind, NewArguments};
use std::path::PathBuf;

/// Pillion, a real-time microhypervisor: build it, boot it, test it, measure it.
///
/// Everything runs in QEMU's software emulation; no special hardware is needed. Exit status: 0 if
/// all is well, 1 if the result is bad, 2 if it could not be done (the message says why and what to
/// do).
#[derive(Parser)]
#[command(name = "x", version, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Subcommand)]
pub enum Command {
    /// Boot Linux beside the real-time tasks, with a shell on this terminal
    Run(Box<RunArguments>),
    /// Build everything that boots, and the bundle
    Build(BuildArguments),
    /// Make a disk with Debian on it for `x run --disk`
    Disk(DiskArguments),
    /// Make Debian packages, by which Pillion is installed on a machine of its own
    Deb(DebArguments),
    /// Start a real-time program from a template
    New(NewArguments),
    /// Compile an RTLinux program (a module in C or C++) to a real-time task
    BuildTask(BuildTaskArguments),
    /// Run every test, on the host and in the emulator; `x test campaign` pits a hostile Linux,
    /// drawn from seeds, against the system
    Test(TestArguments),
    /// Fuzz the device models, the instruction decoder and the parsers, guided by coverage
    Fuzz(FuzzArguments),
    /// Check format, lints (also of kernels that experiments patch), documentation, generated
    /// headers, and whether the documents match the code
    Check,
    /// Run the experiments of measure/, and draw and compare their results
    #[command(subcommand)]
    Measure(MeasureCommand),
    /// List what is missing on this machine and how to get it
    Doctor,
    /// Build pillion-hw, a static program that says whether Pillion runs on a machine
    Hw,
    /// Generate the C headers of the binary interface
    Headers {
        /// Only report whether they are up to date
        #[arg(long)]
        check: bool,
    },
}

/// What goes into a bundle.
#[derive(Args, Clone)]
pub struct BuildArguments {
    /// System file: which tasks run, and with what resources [default: NAME.toml beside the source
    /// of --task NAME, else systems/demo.toml]
    #[arg(long, value_name = "FILE")]
    pub system: Option<PathBuf>,
    /// Linux kernel: Debian's `stock` or `rt` (PREEMPT_RT), another version that Debian has
    /// (`6.12`, `6.12-rt`), or the path of a bzImage
    #[arg(long, value_name = "stock|rt|VERSION|PATH", default_value = "stock")]
    pub linux: String,
    /// Add to Linux's command line
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub append: Option<String>,
    /// Boot Linux's kernel without its decompressor, which takes more than half of a boot: for
    /// tests. It lies at a fixed address then
    #[arg(long, conflicts_with_all = ["root", "no_linux"])]
    pub unpacked: bool,
    /// Boot the program of the package pillion-NAME as the first and only task: no system file, no
    /// Linux
    #[arg(long, value_name = "NAME", conflicts_with_all = ["linux", "append", "tasks"])]
    pub root: Option<String>,
    /// With --root: check assertions, overflow, and what unsafe functions of the standard library
    /// demand, in the kernel and the task. Figures of such a build mean nothing
    #[arg(long, requires = "root")]
    pub checked: bool,
    /// Run an RTLinux program instead of the demonstration: NAME.c or NAME/NAME.c here, or one that
    /// `./x build-task` built. May be given more than once. A NAME that is no such program puts the
    /// program of the package pillion-NAME into the bundle
    #[arg(long = "task", value_name = "NAME")]
    pub tasks: Vec<String>,
    /// Put a file into Linux: a program or script into /bin, where `--load NAME` can run it as well
    /// (a last line "NUMBER UNIT" is its result); a source in C or C++ is first compiled to a
    /// static program with libpillion; any other file goes into /root. May be given more than once
    #[arg(long = "file", value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Search a folder for the headers of --file sources
    #[arg(short = 'I', value_name = "FOLDER")]
    pub includes: Vec<PathBuf>,
    /// Define a macro for --file sources
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    pub definitions: Vec<String>,
    /// Boot without Linux; the run ends when all RTLinux programs have ended
    #[arg(long, conflicts_with_all = ["linux", "append"])]
    pub no_linux: bool,
    /// Build the kernel and the system's tasks from a copy of the sources with a patch applied: for
    /// experiments, which keep their patches in their folders
    #[arg(long, value_name = "FILE", conflicts_with = "root")]
    pub patch: Option<PathBuf>,
    /// Put the fault-injection module into Linux's initramfs; `x run --fault` does so where needed
    #[arg(long)]
    pub fault_module: bool,
    /// Put the kernel module of linux/measure into Linux's initramfs and load it: /dev/measure
    /// raises interrupts and reports when they are handled
    #[arg(long)]
    pub measure_module: bool,
    /// Give the machine two network cards on one wire, and Linux their driver, for the load
    /// `packets`. The emulator serves them in the machine's own thread: unlike the network to this
    /// computer, they keep a counted run repeatable
    #[arg(long)]
    pub wire: bool,
    /// Give the machine a memory card instead of the disk that this computer serves, and Linux its
    /// driver, for the load `disk`. The emulator serves it in the machine's own thread, as it does
    /// the wire
    #[arg(long)]
    pub card: bool,
    /// Leave out the machine's second serial port: Pillion's log goes to Linux's kernel log and to
    /// `pillion dmesg`, and `x` cannot report what the log would have told it
    #[arg(long)]
    pub no_uart: bool,
}

/// Options of `x run`.
#[derive(Args, Clone)]
#[command(after_help = "EXAMPLES
  ./x run                                       a shell in Linux, with the task's latency below it
  ./x run --headless --seconds 10 --load hackbench,disk,cache,net --json result.json
  ./x run --linux rt --counted                  Debian's PREEMPT_RT kernel, in repeatable virtual time
  ./x run --disk debian.img                     a full Debian, to its login; `./x disk debian.img` makes it
  ./x run --task my-task                        an RTLinux program, my-task.c, instead of the demonstration
  ./x run --direct                              the same Linux without Pillion, for comparison
  ./x run --task control --file monitor.c       an RTLinux program, and its partner in Linux: /bin/monitor (-I and -D too)

KEYS
  Ctrl-C and everything else goes to Linux. Ctrl-] switches Linux off, so that the run reports what it measured, and leaves; a second Ctrl-] leaves at once.")]
pub struct RunArguments {
    /// What boots.
    #[command(flatten)]
    pub build: BuildArguments,
    /// Run without a terminal: Linux runs the loads, then switches itself off
    #[arg(long)]
    pub headless: bool,
    /// How long each load runs, in seconds of Linux's time [default: 10; programs of --file, which
    /// get N as their first argument, run until they end]. Without Linux: when the run ends at the
    /// latest, in seconds of the machine's time [default: when all programs have ended]
    #[arg(long, value_name = "N")]
    pub seconds: Option<u32>,
    /// Loads that Linux runs concurrently: hackbench, disk, cache, net, cpu
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub load: Vec<String>,
    /// Write the result as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Count instructions instead of time, and skip idle time: repeatable, 1 ns is one instruction
    #[arg(long)]
    pub counted: bool,
    /// Let the machine's clock follow this computer's. The emulator cannot keep up with it: tasks
    /// will be late
    #[arg(long, conflicts_with = "counted")]
    pub wall_clock: bool,
    /// Give Linux a disk image; Linux boots the Debian on it. With --headless, the run ends
    /// --seconds after the login prompt
    #[arg(long, value_name = "FILE")]
    pub disk: Option<PathBuf>,
    /// Memory of the machine
    #[arg(long, value_name = "MIB", default_value_t = 1024)]
    pub memory: u32,
    /// Number of the machine's processors
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..))]
    pub cpus: u8,
    /// Longest turn of a processor in µs, where several take turns because the clock counts
    /// instructions and Linux has them: part of each latency. Short turns are slow [default: 1 with
    /// --counted, else 10]
    #[arg(long, value_name = "US", value_parser = clap::value_parser!(u32).range(1..=10_000), conflicts_with = "wall_clock")]
    pub turn: Option<u32>,
    /// Emulator to use. Where Linux rides on several processors and --wall-clock is not given, QEMU
    /// must be 8.1 or later; instead of an older default, that of Debian's backports is downloaded
    #[arg(long, value_name = "PATH", default_value = "qemu-system-x86_64")]
    pub qemu: PathBuf,
    /// Emulated CPU model; it must have SVM and nested paging
    #[arg(long, value_name = "MODEL", default_value = "EPYC,+svm,+npt")]
    pub cpu: String,
    /// Forward a TCP port of this machine to Linux
    #[arg(long, value_name = "HERE:LINUX")]
    pub forward: Vec<String>,
    /// Boot the same Linux without Pillion on the same emulated machine
    #[arg(long)]
    pub direct: bool,
    /// Leave out disk, network and random number source: the emulator serves these from threads of
    /// this computer, and only without them does a counted run repeat to the last instruction
    #[arg(long, conflicts_with_all = ["disk", "forward"])]
    pub isolated: bool,
    /// Boot from a CD with GRUB, as a real machine would, instead of the emulator's own loader
    #[arg(long, conflicts_with = "direct")]
    pub grub: bool,
    /// Do so by a UEFI, OVMF, instead of a BIOS. The machine has a graphics card then, and Linux's
    /// kernel writes to the screen too; no window shows it: --when "TEXT=screendump FILE" takes a
    /// picture, and --qemu-arg=-vnc --qemu-arg=:0 serves it to a VNC viewer
    #[arg(long, conflicts_with = "direct")]
    pub uefi: bool,
    /// Give up after N seconds [default when headless: 120 plus six times --seconds, and three
    /// times that unless --wall-clock]
    #[arg(long, value_name = "N")]
    pub timeout: Option<u64>,
    /// Write Pillion's log (the second serial port) to a file
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Trace the kernel, and write the last entries into a folder: in the Common Trace Format
    /// (babeltrace, Trace Compass), and as trace.pftrace for Perfetto
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["direct", "root"])]
    pub trace: Option<PathBuf>,
    /// Write Linux's console to a file
    #[arg(long, value_name = "FILE")]
    pub console: Option<PathBuf>,
    /// Add to Pillion's own command line
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub kernel_append: Option<String>,
    /// Make Linux fail halfway, in a way that linux/initramfs/lib/fault names: panic, spin,
    /// triple-fault, ...
    #[arg(long, value_name = "NAME")]
    pub fault: Option<String>,
    /// Add an argument to the emulator's command line
    #[arg(long = "qemu-arg", value_name = "ARGUMENT", allow_hyphen_values = true)]
    pub qemu_args: Vec<String>,
    /// Send a command to the emulator's monitor when a line of Pillion's log first contains a text:
    /// "TEXT=COMMAND", as in "boot] virtualisation=info pic"
    #[arg(long, value_name = "TEXT=COMMAND", value_parser = command_at)]
    pub when: Vec<(String, String)>,
}

fn command_at(word: &str) -> Result<(String, String), String> {
    let (text, command) = word.split_once('=').ok_or("there is no = in it: write TEXT=COMMAND")?;
    if text.is_empty() || command.is_empty() {
        return Err("neither the text nor the command may be empty".into());
    }
    Ok((text.into(), command.into()))
}

/// What the emulated machine's clock follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// Executed instructions; idle time is skipped.
    Counted,
    /// Executed instructions; idle time is executed as well, so the machine's time passes more
    /// slowly than this computer's.
    Paced,
    /// This computer's clock.
    Wall,
}

impl RunArguments {
    /// How long loads run, in seconds.
    pub fn load_seconds(&self) -> u32 {
        self.seconds.unwrap_or(10)
    }

    /// The clock that the arguments select.
    pub fn clock(&self) -> Clock {
        match (self.counted, self.wall_clock) {
            (true, _) => Clock::Counted,
            (_, true) => Clock::Wall,
            _ => Clock::Paced,
        }
    }

    /// Whether processors that compute must take turns: the clock counts instructions, and Linux
    /// has several of them.
    pub fn takes_turns(&self) -> bool {
        let rides = !self.build.no_linux && self.build.root.is_none();
        self.cpus > 1 && self.clock() != Clock::Wall && rides
    }
}

/// Options of `x test`.
#[derive(Args, Clone)]
pub struct TestArguments {
    /// Run only the emulator tests whose name contains this. `rt` selects the programs in
    /// rt/tests/programs, `rt/NAME` some of them. `fresh` tries both commands of the README on
    /// fresh machines (minimal roots of Debian 12 and 13), as root and as a user with sudo, and
    /// takes hours; `fresh-start` is the first half hour of that; `fresh-other` is the least of it,
    /// on the Debian release that this machine does not run; `fresh/trixie/user` is one of
    /// the four. These need root; a user is asked for sudo. `long` selects what takes long and
    /// runs only if it is named: the tests in tests/system/long, `miri` and `measure-repeats`
    pub name: Option<String>,
    /// Run only the tests on the host
    #[arg(long, conflicts_with = "name")]
    pub host: bool,
    /// Run only the tests in the emulator
    #[arg(long, conflicts_with = "host")]
    pub system: bool,
    /// What a campaign does.
    #[command(flatten)]
    pub campaign: CampaignArguments,
}

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

/// Options of `x deb`.
#[derive(Args)]
#[command(after_help = "\
Example:
  ./x deb
  sudo apt install build/deb/*.deb              on the machine itself; then reboot

docs/packages.md says what each package holds.")]
pub struct DebArguments {
    /// Folder for the packages; build/deb unless given
    #[arg(value_name = "FOLDER")]
    pub folder: Option<PathBuf>,
}

/// Options of `x disk`.
#[derive(Args, Clone)]
#[command(after_help = "EXAMPLES
  ./x disk debian.img
  ./x run --disk debian.img --task my-task      log in as root, the password is pillion

The disk has the same Debian as this machine, as small as possible, with a C compiler, Python, the headers of the kernel that rides,
the module `pillion` built by DKMS, the command `pillion`, libpillion.a, Xenomai's interfaces and tools, and their headers. It has a
network: `apt-get update` and `apt-get install` work as they do here. What Linux writes to the disk stays there.")]
pub struct DiskArguments {
    /// Image to write
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Debian kernel for the disk: `stock` or `rt` (PREEMPT_RT), or another version that Debian has
    /// (`6.12`, `6.12-rt`)
    #[arg(long, value_name = "stock|rt|VERSION", default_value = "stock", value_parser = kernel::name)]
    pub linux: String,
    /// Size of the disk; free space on it takes no room here
    #[arg(long, value_name = "GIB", default_value_t = 4)]
    pub size: u32,
}

/// The arguments of `x run` with these words, for tests.
#[cfg(test)]
pub fn run_arguments(words: &[impl AsRef<str>]) -> RunArguments {
    let words = ["x", "run"].into_iter().chain(words.iter().map(AsRef::as_ref));
    match Cli::try_parse_from(words).map(|cli| cli.command) {
        Ok(Command::Run(run)) => *run,
        Ok(_) => panic!("it is another command"),
        Err(error) => panic!("{error}"),
    }
}
