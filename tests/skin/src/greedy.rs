//! A task that asks the resource manager for as much as it can: every request in a row, in endless
//! rounds, from an urgent thread.

use crate::{manager, spawn};
use pillion_abi::call::MESSAGE_WORDS;
use pillion_runtime::call::call;
use pillion_runtime::info::{self, label, slot};
use pillion_runtime::park;

/// Level of the asking thread.
const LEVEL: u8 = 200;

/// Rounds after which it reports; it continues forever.
const TURNS: u32 = 20;

/// Starts the asking thread.
pub fn main() -> ! {
    manager::started(0);
    let _ = spawn::start(1, LEVEL, ask, 0);
    park()
}

/// The large buffer is created anew in each round, as nobody else holds it: it has to be cleared.
extern "C" fn ask(_: u64) -> ! {
    let pool = info::task().skin.pool_size;
    for turn in 0_u32.. {
        manager::ask_about(label::MBUFF_HOLD, pool / 2, "large");
        manager::ask_about(label::MBUFF_HOLD, 4096, "small");
        manager::ask_for(label::FIFO_CLAIM, 5);
        manager::ask_for(label::FIFO_RELEASE, 5);
        manager::ask_about(label::MBUFF_RELEASE, 0, "small");
        manager::ask_about(label::MBUFF_RELEASE, 0, "large");
        // A request that does not exist, and one with nothing in it.
        let _ = call(slot::MANAGER, 0xff, [u64::MAX; MESSAGE_WORDS]);
        let _ = call(slot::MANAGER, label::LOG, [0; MESSAGE_WORDS]);
        if turn == TURNS {
            pillion_runtime::println!("[greedy] asked for everything");
        }
    }
    park()
}
