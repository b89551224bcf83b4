//! A hostile kernel in Linux's place: it makes the steps that a seed determines, one after the
//! other, whatever comes of each.
//!
//! It is entered as Linux is, at the 32-bit entry point, maps all memory one to one, and finds its
//! orders on its command line. An exception leads to the next step ([`trap`]). Its output goes to
//! the port of notes: when a life is over, and whenever it saw what it must never see
//! ([`witness`]).
#![no_std]
#![no_main]

mod entry;
mod facts;
mod instruction;
mod page;
mod perform;
mod place;
mod port;
mod processor;
mod trap;
mod witness;

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use facts::Facts;
use pillion_campaign::{
    LIFE, Orders,
    guest::{self, End, Step},
};
use port::note;

/// Number of the next step.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// Called by the entry with the address of the boot parameters.
extern "C" fn main(parameters: u64) -> ! {
    trap::set_up();
    facts::find(parameters);
    let facts = Facts::get();
    // The last life may have ended before its last step.
    if facts.life > guest::lives(Orders::parse(facts.command_line()).seed) {
        port::power_off()
    }
    NEXT.store(facts.life * LIFE, Relaxed);
    go_on()
}

/// Makes the remaining steps. Entered again after each exception.
extern "C" fn go_on() -> ! {
    let facts = Facts::get();
    let orders = Orders::parse(facts.command_line());
    let end = facts.life * LIFE + guest::steps(orders.seed);
    loop {
        let number = NEXT.fetch_add(1, Relaxed);
        if number >= end {
            over(orders.seed, number)
        }
        let (class, step) = guest::step(orders.seed, number);
        if orders.wants(number) && class.bit() & orders.classes != 0 {
            perform::step(&step);
        }
    }
}

/// The end of a life: looks around once more, and switches the machine off after the last life.
fn over(seed: u64, number: u32) -> ! {
    let facts = Facts::get();
    // An exception leads back here: doing this twice would loop forever.
    if number == facts.life * LIFE + guest::steps(seed) {
        witness::look_around();
    }
    note("life over", facts.life.into());
    if facts.life < guest::lives(seed) {
        perform::step(&Step::End(End::Done));
    }
    port::power_off()
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    note("the guest is broken at step", NEXT.load(Relaxed).into());
    port::power_off()
}
