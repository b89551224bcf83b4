//! Tests of what a task with a skin finds and may do. One image, several tasks: each task's
//! arguments choose its part (`tests/system/systems/skin.toml`).
#![no_std]
#![no_main]
#![allow(clippy::result_large_err, reason = "a failure carries its text, and there is no heap")]

mod checks;
mod crowd;
mod greedy;
mod manager;
mod parts;
mod requests;
mod spawn;

use pillion_runtime::{info, println, task};
use pillion_test_kit::Checked;

task!(main);

fn main(_: u64) -> ! {
    let facts = info::task();
    let mut arguments = info::text(&facts.arguments).split(' ');
    match arguments.next().unwrap_or("") {
        "victim" => parts::victim(),
        "leaver" => parts::leaver(),
        "failing" => parts::failing(),
        "greedy" => greedy::main(),
        "requests" => requests::main(),
        "crowd" => crowd::main(crowd::LEADER, crowd::one_of_it),
        "asker" => crowd::main(crowd::HOARDER, crowd::asker),
        "visitor" => parts::visitor(arguments.next().unwrap_or("unasked")),
        _ => run(),
    }
}

/// Runs all tests and ends the system.
fn run() -> ! {
    let mut failed = 0;
    for (name, test) in checks::ALL {
        match test() {
            Ok(()) => println!("test {name} ok"),
            Err(why) => {
                failed += 1;
                println!("test {name} FAILED {why}");
            }
        }
    }
    println!("tests {} passed {failed} failed", checks::ALL.len() - failed);
    manager::end(failed as u64)
}

/// A test: its name and its function.
type Test = (&'static str, fn() -> Checked);
