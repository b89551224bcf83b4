//! `pillion-measure`: measures how any Linux responds, on any machine, without Pillion.
//!
//! One static program. `run` measures, and prints [lines](pillion_measure_data::lines) or a table,
//! or writes files; `load` provides the loads to measure under; `report` draws files and `compare`
//! compares them. Nothing is printed before everything is measured.
#![deny(missing_docs)]

mod bench;
mod cli;
mod cyclictest;
mod date;
mod dev_measure;
mod disturbances;
mod experiments;
mod findings;
mod list;
mod load;
mod mark;
mod measurement;
mod measurement_files;
mod options;
mod output;
mod preempted;
mod process;
mod realtime;
mod run;
mod sleep;
mod sync;
mod team;
mod this_machine;
mod time_source;

use pillion_measure_data::plain;
use std::process::ExitCode;

/// The argument that makes this program end at once, for measurements that start a program.
const NOTHING: &str = "nothing";

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|word| word == NOTHING) {
        return ExitCode::SUCCESS;
    }
    match cli::run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(problem) => {
            eprintln!("pillion-measure: {}", plain(&format!("{problem:#}")));
            ExitCode::from(2)
        }
    }
}
