//! A run on a terminal: what no headless run shows.

use crate::file::temporary;
use crate::progress::step;
use crate::repository::Repository;
use crate::run::follow;
use crate::tally::Tally;
use anyhow::{Context as _, Result};
use pillion_measure_data::plain;
use std::fs;
use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// The test's name.
pub const NAME: &str = "terminal";

/// `script` provides the terminal. Its size changes when the file `resize` appears.
const COMMAND: &str = "stty rows 30 cols 100
(until [ -e resize ]; do sleep 0.1; done; stty rows 40 cols 120 </dev/tty) &
exec \"$X\" run $OPTIONS";
/// Options of the run: a machine without the host's devices has the channel for requests as well.
const OPTIONS: [&str; 2] = ["", "--isolated"];

/// What is typed, what must appear then, and within how many seconds.
const DIALOGUE: [(&str, &str, u64); 4] = [
    ("", "linux# ", 300),
    ("echo it has $(stty size)\r", "it has 29 100", 60),
    ("", "Ctrl-] leaves", 10),
    ("clear; echo now $(sleep 3; stty size)\r", "now 39 120", 60),
];
/// What must appear at the end, in this order.
const END: [&str; 3] = ["bars are logarithmic", "1 ns is one executed instruction", "to its init in"];

/// Runs the test.
pub fn run(repository: &Repository) -> Result<Tally> {
    let mut tally = Tally::default();
    for options in OPTIONS {
        let name = format!("{NAME} {options}");
        let name = name.trim_end();
        tally.take(name, step(&format!("test {name}"), || talk(repository, options))?);
    }
    Ok(tally)
}

/// What differs from what must appear.
fn talk(repository: &Repository, options: &str) -> Result<Option<String>> {
    let folder = temporary()?;
    let mut command = Command::new("script");
    command.args(["-q", "-e", "-c", COMMAND, "/dev/null"]).current_dir(folder.path());
    command
        .env("X", format!("/proc/{}/exe", std::process::id()))
        .env("PILLION_ROOT", repository.path(""))
        .env("OPTIONS", options);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().context("script cannot be run")?;
    let wrong = dialogue(&mut child, || fs::write(folder.path().join("resize"), ""));
    let _ = child.kill();
    let _ = child.wait();
    wrong
}

fn dialogue(child: &mut Child, resize: impl Fn() -> std::io::Result<()>) -> Result<Option<String>> {
    let mut typed = child.stdin.take().context("no input")?;
    let (sender, seen) = channel();
    follow(child.stdout.take().context("no output")?, &sender, |bytes| bytes);
    drop(sender);
    let mut text = String::new();
    for (at, (words, wanted, seconds)) in DIALOGUE.into_iter().enumerate() {
        if at + 1 == DIALOGUE.len() {
            resize()?;
        }
        typed.write_all(words.as_bytes())?;
        if !comes(&seen, &mut text, wanted, seconds) {
            return Ok(Some(format!("no {wanted:?} after {words:?}: {}", end(&text))));
        }
        text.clear();
    }
    // Ctrl-] leaves.
    typed.write_all(b"\x1d")?;
    for wanted in END {
        if !comes(&seen, &mut text, wanted, 60) {
            return Ok(Some(format!("no {wanted:?} at the end: {}", end(&text))));
        }
        let behind = text.find(wanted).unwrap_or_default() + wanted.len();
        text.drain(..behind);
    }
    Ok(None)
}

fn comes(seen: &Receiver<Vec<u8>>, text: &mut String, wanted: &str, seconds: u64) -> bool {
    let end = Instant::now() + Duration::from_secs(seconds);
    while !text.contains(wanted) && !above_status(text).contains(wanted) {
        let left = end.saturating_duration_since(Instant::now());
        let Ok(bytes) = seen.recv_timeout(left) else { return false };
        *text += &String::from_utf8_lossy(&bytes);
    }
    true
}

/// The text without what was written with the cursor elsewhere, which can be between any two
/// characters of Linux.
fn above_status(text: &str) -> String {
    let mut parts = text.split("\x1b7");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |above, part| above + part.split_once("\x1b8").map_or("", |(_, after)| after))
}

/// The last lines, without control characters.
fn end(text: &str) -> String {
    let plain: Vec<char> = plain(text).chars().collect();
    plain[plain.len().saturating_sub(1000)..].iter().collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_status_line_does_not_part_words() {
        assert_eq!(super::above_status("li\x1b7status\x1b8nu\x1b7\x1b[K\x1b8x\x1b7sta"), "linux");
        assert_eq!(super::above_status("linux"), "linux");
    }
}
