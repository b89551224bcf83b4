//! The tasks of the campaign, in one image. Each task's arguments choose its part: `watch`;
//! `leash`; `task` or `skinned` and the orders of a hostile one.
#![no_std]
#![no_main]

mod hostile;
mod leash;
mod watch;

use pillion_campaign::{Actor, Orders};
use pillion_runtime::{info, task};

task!(main);

fn main(_: u64) -> ! {
    let arguments = info::text(&info::task().arguments);
    match arguments.split_ascii_whitespace().next() {
        Some("part=task") => hostile::run(Actor::Task, Orders::parse(arguments)),
        Some("part=skinned") => hostile::run(Actor::Skinned, Orders::parse(arguments)),
        Some("part=leash") => leash::run(arguments),
        _ => watch::run(),
    }
}
