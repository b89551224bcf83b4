//! Runs handlers of Linux processes at real-time priority (PSC): a handler is code of an ordinary
//! process, which runs in user mode on the process's own page tables, on a user vCPU.
//!
//! The task has a main thread, which carries out what Linux asks for, and a runner for each handler
//! that there can be. The main thread is above Linux and below the runners. So Linux's module, when
//! it has made its call, finds it carried out; and a handler that is stopped is either between two
//! runs or out of its time, which is why suspending its runner is enough to know that it does not
//! run.
//!
//! Linux's kernel says on which page tables a handler runs, where none of its processes can write.
//! Whatever it says, what the handler reaches is memory of Linux, and what it uses up is its
//! runner's budget.
#![no_std]
#![no_main]

mod desk;
mod fifos;
mod guest;
mod runner;
mod share;

use desk::Desk;
use pillion_abi::{NEVER, call::MESSAGE_WORDS};
use pillion_runtime::{
    call,
    info::{self, label, skin, slot, wake},
    park, println, task, wait,
};

task!(main);

fn main(_: u64) -> ! {
    let info = info::task();
    if let Err(error) = runner::prepare(info) {
        println!("[psc] no handler can run: {error:?}");
        tell(label::STARTED, -12);
        park();
    }
    let mut desk = Desk::new(info);
    tell(label::STARTED, 0);
    loop {
        let bits = wait(skin::slot::NOTIFICATIONS, NEVER).map_or(0, |[bits, _]| bits);
        if bits & wake::UNLOAD != 0 {
            desk.close();
            tell(label::ENDED, 0);
            park();
        }
        desk.look();
        runner::log_faults();
    }
}

/// Tells the resource manager something.
fn tell(label: u64, value: i64) {
    let mut words = [0; MESSAGE_WORDS];
    words[0] = value as u64;
    let _ = call::call(slot::MANAGER, label, words);
}
