//! The command line.

use crate::{experiments, list, load, measurement_files, options, run};
use clap::{ArgAction, ArgMatches, Args, Command, FromArgMatches};
use std::path::PathBuf;

#[derive(Args)]
struct ListOptions {
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct ReportOptions {
    /// Measurements
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Folder to write the report to
    #[arg(long, default_value = "report", value_name = "FOLDER")]
    to: PathBuf,
}

#[derive(Args)]
struct CompareOptions {
    /// Measurement before
    old: PathBuf,
    /// Measurement after
    new: PathBuf,
}

/// The whole command line, with every experiment and its options.
pub fn command() -> Command {
    let named = experiments::ALL.iter().map(|entry| with_long_help(entry.command()));
    let all =
        with_long_help(Command::new(run::ALL).about("Every experiment that needs no argument, with its defaults"));
    let run = options::Options::augment_args(Command::new("run").about("Measures"))
        .subcommand_required(true)
        .subcommand_value_name("NAME")
        .subcommand_help_heading("Experiments")
        .subcommand(all)
        .subcommands(named);
    Command::new("pillion-measure")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Measures how this Linux responds")
        .subcommand_required(true)
        .subcommand(ListOptions::augment_args(Command::new("list").about("Lists the experiments")))
        .subcommand(with_long_help(run))
        .subcommand(load::Options::augment_args(Command::new("load").about("Loads this machine")))
        .subcommand(ReportOptions::augment_args(Command::new("report").about("Draws measurements as one page")))
        .subcommand(CompareOptions::augment_args(Command::new("compare").about("Compares two measurements")))
}

/// `-h` prints the histogram, as in cyclictest; help is `--help`.
fn with_long_help(command: Command) -> Command {
    let help = clap::Arg::new("help").long("help").action(ArgAction::Help).help("Print help");
    command.disable_help_flag(true).arg(help)
}

/// Executes the command line; false if a result is bad. Fails if it could not be done.
pub fn run() -> anyhow::Result<bool> {
    let matches = command().get_matches();
    let (name, matches) = matches.subcommand().expect("clap requires a subcommand");
    dispatch(name, matches)
}

fn dispatch(name: &str, matches: &ArgMatches) -> anyhow::Result<bool> {
    match name {
        "list" => list::list(ListOptions::from_arg_matches(matches)?.json),
        "load" => load::run(&load::Options::from_arg_matches(matches)?),
        "report" => {
            let options = ReportOptions::from_arg_matches(matches)?;
            measurement_files::report(&options.files, &options.to)
        }
        "compare" => {
            let options = CompareOptions::from_arg_matches(matches)?;
            measurement_files::compare(&options.old, &options.new)
        }
        _ => run::run(matches),
    }
}
