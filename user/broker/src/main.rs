//! The broker as a task: a passive server.
//!
//! # What the resource manager provides
//!
//! The broker is in the directory as a task with a skin, named `broker`, the last one: index `k`,
//! [`info::TaskInfo::skin`] with `threads` 1 and `shared_fifos`.
//!
//! | capability | slot |
//! |---|---|
//! | endpoint of the resource manager (for panics), its own badge | [`info::slot::MANAGER`] |
//! | notification of Linux's monitor, badge [`info::monitor_bit::DOORBELL`], right W; empty without Linux | [`info::skin::slot::LINUX`] |
//! | notification of thread `t` of task `i`, badge [`info::wake::THREAD`], right W, for all tasks and threads | `WAKERS + 64 * i + t` |
//!
//! So its capability space has `WAKERS + 64 * TASKS` slots. A task that is made anew gets new ones
//! there before it starts (the old are deleted with its region).
//!
//! | mapping | address |
//! |---|---|
//! | facts, stack, image, as of every task | [`info::address`] |
//! | memory for messages, [`info::TaskInfo::memory_size`] bytes; 256 KiB do for most | [`info::address::MEMORY`] |
//! | its own status and share | [`info::address::STATUS`], [`info::address::SHARE`] |
//! | transfer memory of task `i`, writable | `TRANSFERS + i * TRANSFER_SIZE` |
//!
//! Status and share begin as zeros. [`pillion_abi::channel::Directory::fifo_owner`] of each shared
//! FIFO is `k + 1` from boot on and stays so; the manager refuses a task's claim for one of them.
//!
//! Each client has the broker's endpoint in [`info::skin::slot::BROKER`], right W, with the badge
//! [`pillion_runtime::broker::badge::of`]; the resource manager has it with
//! [`pillion_runtime::broker::badge::MANAGER`].
//!
//! Linux makes no requests to the broker: its FIFOs have no handlers. The slot for its kicks in the
//! VM monitor stays empty.
//!
//! # How it starts
//!
//! 1. The endpoint is bound to the broker's thread, a context with an unlimited budget is bound to
//!    the thread, and the thread is resumed.
//! 2. The resource manager calls the broker with `Request::Ready`. When the reply arrives, the
//!    broker waits in `ReplyReceive`.
//! 3. `ThreadBindContext(thread, 0)`: from now on the broker runs on its callers' time.
//!
//! # How a task ends
//!
//! All threads of the task are suspended first. A thread that was being served leaves its
//! scheduling context with the broker until that request is done. Then comes `Request::TaskEnded`,
//! part by part; each is answered after the request under way, so that nothing of the task runs in
//! the broker any more. Only then may the task's region be reset. The reverse order would take the
//! scheduling context away from the broker, which would then be stuck for all tasks.
//!
//! If the broker faults, the endpoint is deleted: callers get `Gone` instead of waiting forever.
#![no_std]
#![no_main]

mod hardware;

use hardware::Hardware;
use pillion_abi::{NEVER, status::Error};
use pillion_broker::Broker;
use pillion_runtime::{
    broker::{WAKES, badge},
    info, park, receive, reply_receive, task,
};

static mut BROKER: Broker = Broker::new();

task!(main);

/// # Safety
/// Only the entry point calls it.
unsafe fn main(_: u64) -> ! {
    let broker = &raw mut BROKER;
    // SAFETY: this is the only reference, and it is made once.
    let broker = unsafe { &mut *broker };
    // SAFETY: the resource manager mapped everything in the table above, for good.
    let mut hardware = unsafe { Hardware::new(info::task()) };
    let mut next = receive(NEVER);
    loop {
        next = match next {
            Ok(message) => {
                hardware.begin(badge::index(message.badge));
                let mut words = broker.serve(&mut hardware, message.badge, message.label, &message.words);
                words[WAKES] = hardware.end();
                reply_receive(0, words)
            }
            // The broker was stopped for a while, and its caller is gone.
            Err(Error::Gone) => receive(NEVER),
            Err(_) => park(),
        }
    }
}
