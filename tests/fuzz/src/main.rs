//! `./x fuzz`: searches for input that makes a target fail.

use pillion_fuzz::coverage::Counters;
use pillion_fuzz::{Target, engine, targets};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// `list` names the targets; `NAME SECONDS [keep]` searches, and with `keep` rewrites the corpus;
/// `NAME run HEX` runs one input.
fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let target = |name: &str| targets::ALL.iter().find(|target| target.name == name);
    match words.as_slice() {
        ["list"] => {
            targets::ALL.iter().for_each(|target| println!("{:14}{}", target.name, target.about));
            ExitCode::SUCCESS
        }
        [name, "run", hex] => match (target(name), engine::bytes(hex)) {
            (Some(target), Some(input)) => {
                (target.run)(&input);
                println!("{name} withstands it");
                ExitCode::SUCCESS
            }
            _ => refuse("no such target, or no hexadecimal digits"),
        },
        [name, seconds, rest @ ..] => match (target(name), seconds.parse(), Counters::take()) {
            (Some(target), Ok(seconds), Some(counters)) => {
                search(target, Duration::from_secs(seconds), counters, *rest == ["keep"])
            }
            (_, _, None) => refuse("built without counters; run it by ./x fuzz"),
            _ => refuse("no such target, or no number of seconds"),
        },
        _ => refuse("usage: NAME SECONDS [keep] | NAME run HEX | list"),
    }
}

fn refuse(why: &str) -> ExitCode {
    eprintln!("fuzz: {why}");
    ExitCode::from(2)
}

fn search(target: &Target, time: Duration, counters: Counters, keep: bool) -> ExitCode {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let known = target.known(folder);
    let before = known.len();
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |time| time.as_nanos() as u64);
    let found = engine::search(target, counters, known, time, seed);
    println!(
        "{:14}{:>10} runs, {:>5} of {} counters, {} inputs kept, {before} known before",
        target.name,
        found.runs,
        found.reached,
        found.counters,
        found.kept.len()
    );
    if keep && let Err(error) = write(&target.file(folder), &found.kept) {
        return refuse(&format!("{}: {error}", target.file(folder).display()));
    }
    ExitCode::SUCCESS
}

/// Rewrites the corpus: lines with a remark stay; the others are replaced by what is worth keeping
/// of them and of the inputs found.
fn write(file: &Path, kept: &[Vec<u8>]) -> std::io::Result<()> {
    let old = std::fs::read_to_string(file).unwrap_or_default();
    let remarked = old.lines().filter(|line| line.contains('#')).map(str::to_owned);
    let lines: Vec<String> = remarked.chain(kept.iter().map(|input| engine::hex(input))).collect();
    std::fs::create_dir_all(file.parent().unwrap_or(Path::new(".")))?;
    std::fs::write(file, lines.join("\n") + "\n")
}
