//! Runs threads of Linux processes in primary mode: on the process's own page tables, in user mode,
//! as urgent as the system file and the thread's priority in Linux say, until the thread needs
//! Linux.
//!
//! The task has a main thread, which starts and ends it, maps Linux's memory for the vCPUs, and is
//! the watchdog, and a runner for each thread that can be in primary mode at the same time. Linux's
//! kernel module fills in a slot ([`pillion_abi::dual::Slot`]) and signals the slot's runner. A
//! runner is more urgent than Linux: when Linux continues, the thread either waits, or has been
//! given back.
//!
//! Whatever Linux states, a thread can reach only Linux's memory, and uses only its runner's
//! budget.
#![no_std]
#![no_main]

mod answer;
mod commit;
mod fifos;
mod files;
mod futexes;
mod kept;
mod level;
mod lock;
mod names;
mod place;
mod posix_queues;
mod process;
mod queues;
mod roster;
mod runner;
mod services;
mod shadow;
mod signals;
mod view;
mod watchdog;
mod window;

use pillion_runtime::{
    info::{self, dual::SIGNALLED, label, skin, wake},
    manager::tell,
    park, println, task, wait,
};

use view::Views;
use watchdog::Watch;

task!(main);

const ENODEV: i64 = -19;

/// Starts the runners, once they have Linux's memory. Fails with the reason.
fn prepare() -> Result<Views, &'static str> {
    runner::prepare(info::task())?;
    let views = Views::new().map_err(|_| "the kernel refuses to map Linux's memory for its vCPUs")?;
    runner::begin_all()?;
    Ok(views)
}

fn main(_: u64) -> ! {
    let mut views = prepare().unwrap_or_else(|why| {
        println!("[dual] no thread can enter primary mode: {why}");
        tell(label::STARTED, ENODEV);
        park();
    });
    tell(label::STARTED, 0);
    let mut watch = Watch::new();
    loop {
        match wait(skin::slot::NOTIFICATIONS, watch.next()) {
            Ok([bits, _]) if bits & wake::UNLOAD != 0 => {
                runner::end();
                tell(label::ENDED, 0);
                park();
            }
            Ok([bits, _]) if bits & SIGNALLED != 0 => views.follow(),
            Ok(_) => {}
            Err(_) => watch.look(runner::count()),
        }
    }
}
