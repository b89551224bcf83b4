//! A task that asks the resource manager for as much as it can: every request in a row, in endless
//! turns, from an urgent thread.

use crate::{manager, threads};
use pillion_abi::call::MESSAGE_WORDS;
use pillion_runtime::{
    call::call,
    info::{self, label, slot},
    park,
};

/// Level of the thread that asks.
const LEVEL: u8 = 200;

/// Turns after which it says so; it goes on for ever.
const TURNS: u32 = 20;

/// Starts the thread that asks.
pub fn main() -> ! {
    manager::started(0);
    let _ = threads::start(1, LEVEL, ask, 0);
    park()
}

/// The large buffer is made anew in each turn, as nobody else holds it: it has to be cleared.
extern "C" fn ask(_: u64) -> ! {
    let pool = info::task().skin.pool_size;
    for turn in 0_u32.. {
        manager::ask_about(label::MBUFF_HOLD, pool / 2, "large");
        manager::ask_about(label::MBUFF_HOLD, 4096, "small");
        manager::ask_for(label::FIFO_CLAIM, 5);
        manager::ask_for(label::FIFO_RELEASE, 5);
        manager::ask_about(label::MBUFF_RELEASE, 0, "small");
        manager::ask_about(label::MBUFF_RELEASE, 0, "large");
        // A request that there is not, and one with nothing in it.
        let _ = call(slot::MANAGER, 0xff, [u64::MAX; MESSAGE_WORDS]);
        let _ = call(slot::MANAGER, label::LOG, [0; MESSAGE_WORDS]);
        if turn == TURNS {
            pillion_runtime::println!("[greedy] asked for everything");
        }
    }
    park()
}
