//! Linux's command line.

use crate::cli::RunArguments;

/// The command line: the parameters of init, and what the user adds. `size` is the rows and columns
/// of the terminal that Linux may use.
pub fn line(run: &RunArguments, size: Option<(u16, u16)>) -> String {
    let mut words = vec!["console=ttyS0".to_owned(), "quiet".into(), "panic=-1".into()];
    if run.counted {
        words.push("nokaslr".into());
    }
    words.push(format!("ride.mode={}", if run.headless { "script" } else { "shell" }));
    // Passed only if the user gave it: it ends the user's own programs as well.
    words.extend(run.seconds.map(|seconds| format!("ride.seconds={seconds}")));
    if !run.load.is_empty() {
        words.push(format!("ride.load={}", run.load.join(",")));
    }
    if let Some((rows, columns)) = size {
        words.push(format!("ride.rows={rows} ride.cols={columns}"));
    }
    if run.disk.is_some() {
        words.push("ride.root=auto".into());
    }
    if let Some(fault) = &run.fault {
        words.push(format!("ride.fault={fault}"));
    }
    if run.direct {
        words.push("ride.direct".into());
    }
    words.extend(run.build.append.clone());
    words.join(" ")
}
