//! Runs handlers of Linux processes at real-time priority (PSC): a handler is code of an ordinary
//! process, which runs in user mode on the process's own page tables, on a user vCPU.
//!
//! The task has a main thread, which carries out Linux's requests, and a runner for each possible
//! handler. The main thread has a higher priority than Linux and a lower one than the runners. So
//! when Linux's module continues after its call, the request is done; and when the main thread
//! stops a handler, that handler is either between two runs or out of budget, so suspending its
//! runner is enough to know that it does not run.
//!
//! Linux's kernel states which page tables a handler runs on, in memory that none of its processes
//! can write. Whatever it states, the handler can reach only Linux's memory, and can use up only
//! its runner's budget.
//! runner's budget.
#![no_std]
#![no_main]

mod fifos;
mod handler_run;
mod requests;
mod runner;
mod share;

use pillion_abi::NEVER;
use pillion_runtime::{
    info::{self, label, skin, wake},
    manager::tell,
    park, println, task, wait,
};
use requests::Server;

task!(main);

fn main(_: u64) -> ! {
    let info = info::task();
    if let Err(error) = runner::prepare(info) {
        println!("[psc] no handler can run: {error:?}");
        tell(label::STARTED, -12);
        park();
    }
    let mut server = Server::new(info);
    tell(label::STARTED, 0);
    loop {
        let bits = wait(skin::slot::NOTIFICATIONS, NEVER).map_or(0, |[bits, _]| bits);
        if bits & wake::UNLOAD != 0 {
            server.close();
            tell(label::ENDED, 0);
            park();
        }
        server.look();
        runner::log_faults();
    }
}
