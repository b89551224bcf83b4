//! The broker as a task: a passive server.
//!
//! # What the resource manager makes for it
//!
//! It is in the directory as a task with a skin, named `broker`, the last one: index `k`,
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
//! FIFO is `k + 1` from boot on and stays so; a claim of a task for one of them is refused.
//!
//! Each client has its endpoint in [`info::skin::slot::BROKER`], right W, with the badge
//! [`pillion_runtime::broker::badge::of`]; the resource manager one with
//! [`pillion_runtime::broker::badge::MANAGER`].
//!
//! Linux has nothing to ask of it: its FIFOs have no handlers. In the VM monitor the slot of its
//! kicks stays empty.
//!
//! # How it starts
//!
//! 1. The endpoint is bound to its thread, a context without a limit to its budget is bound to it,
//!    and it is resumed.
//! 2. The resource manager calls it with `Request::Ready`. When the answer is there, the broker
//!    waits in `ReplyReceive`.
//! 3. `ThreadBindContext(thread, 0)`: from now on it runs on its callers' time.
//!
//! # How a task ends
//!
//! All threads of the task are suspended first. One that was being served leaves its time with the
//! broker until that is done. Then comes `Request::TaskEnded`, part by part; each is answered after
//! what was under way, so that nothing of the task runs in the broker any more. Only then may the
//! task's region be reset. The other order takes the time from under the broker, which then stands
//! still for all.
//!
//! Should the broker itself fault, the endpoint is deleted: callers then get `Gone` instead of
//! waiting for good.
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

fn main(_: u64) -> ! {
    let broker = &raw mut BROKER;
    // SAFETY: this is the only reference, and it is made once.
    let broker = unsafe { &mut *broker };
    // SAFETY: the resource manager mapped what the table above names, for good.
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
            // It was stopped for a while, and its caller with it.
            Err(Error::Gone) => receive(NEVER),
            Err(_) => park(),
        }
    }
}
