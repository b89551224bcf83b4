//! The broker: the server of what several tasks with a skin share. It has no scheduling context: it
//! runs on its callers' time.

use super::{
    channel::{Access, Channel},
    layout::{DIRECTORY, STATUS},
};
use crate::{
    failure::{Result, While},
    page_tables::Extent,
    platform::Platform,
    task::{Maker, Spec, Task, Urgency, give},
};
use alloc::vec::Vec;
use pillion_abi::call::MESSAGE_WORDS;
use pillion_abi::object::{Kind, map, right};
use pillion_abi::{boot, status};
use pillion_runtime::broker::{Caller, ENDED_PARTS, Request, badge};
use pillion_runtime::call::call;
use pillion_runtime::info::broker::{TRANSFER_SIZE, TRANSFERS, WAKERS};
use pillion_runtime::info::{SkinInfo, address, skin, wake};
use pillion_runtime::{
    Cap, cap_delete, endpoint_bind_with, memory_map, memory_part, thread_bind_context, thread_resume,
};
use pillion_system::BROKER;

// The check of the system file counts with the time that the broker promises.
const _: () = assert!(pillion_runtime::broker::LONGEST_NS == pillion_system::BROKER_NS);

/// Slots for the wakers of one task.
const STRIDE: u32 = pillion_abi::channel::THREADS as u32;

/// Bytes of the data of all FIFOs that belong to the broker, where there are any.
pub const FIFO_BYTES: u64 = 512 << 10;

/// Bytes of the broker's own memory.
const MEMORY: u64 = 256 << 10;

/// Plans the broker for that many tasks.
pub fn plan(machine: &Platform, facts: SkinInfo, tasks: usize) -> Result<Spec> {
    let mut spec = Spec::new(BROKER, machine.image(BROKER)?, machine.boot.tsc_hz);
    spec.info.memory_size = MEMORY;
    spec.info.skin = facts;
    spec.slots = WAKERS + STRIDE * tasks as u32;
    spec.more = Vec::from([
        Extent::small(address::STATUS, STATUS),
        Extent::small(address::SHARE, facts.share_size),
        Extent::small(address::DIRECTORY, DIRECTORY),
        Extent::small(TRANSFERS, transfers(tasks)),
    ]);
    // The tasks' transfer memory comes from the broker's own region.
    spec.more_pages = transfers(tasks) / pillion_abi::PAGE;
    Ok(spec)
}

fn transfers(tasks: usize) -> u64 {
    tasks as u64 * TRANSFER_SIZE
}

pub struct Broker {
    pub task: Task,
    endpoint: Cap,
    /// The manager's capability to call that endpoint.
    call: Cap,
    /// Memory for messages between the broker and the tasks.
    transfers: Cap,
}

impl Broker {
    /// Makes the broker and lets it run until it serves. `need` is the number of ticks that a
    /// caller must have left; `visitors`, the budget and period for callers of other processors, if
    /// there are any.
    pub fn make(
        maker: &mut Maker<'_>,
        spec: &Spec,
        channel: &Channel,
        tasks: usize,
        sender: u64,
        need: u64,
        visitors: Option<(u64, u64)>,
    ) -> Result<Broker> {
        let task = maker.make(spec, sender)?;
        let endpoint = maker.slots.make_on(task.cpu, task.region, Kind::Endpoint)?;
        // It is used at its callers' priorities, which are above this one.
        let visitors = visitors.map(|time| maker.time(task.cpu, task.region, Urgency::fixed(1, Some(time))));
        let visitors = visitors.transpose()?.unwrap_or(0);
        endpoint_bind_with(endpoint, task.thread, 0, need, visitors).when("binding the broker's endpoint")?;
        let call = maker.slots.derive(endpoint, right::WRITE, badge::MANAGER)?;
        let transfers = maker.memory(&task, TRANSFERS, transfers(tasks), &[], map::WRITE)?;
        show(maker, &task, channel, tasks)?;
        let broker = Broker { task, endpoint, call, transfers };
        broker.begin(maker)?;
        Ok(broker)
    }

    /// Gives the broker time only until it waits for calls.
    fn begin(&self, maker: &mut Maker<'_>) -> Result<()> {
        maker.give_time(&self.task, self.task.thread, Urgency::fixed(1, None))?;
        thread_resume(self.task.thread).when("starting the broker")?;
        self.ask(Request::Ready).when("waiting for the broker")?;
        thread_bind_context(self.task.thread, 0).when("taking the broker's budget")?;
        Ok(())
    }

    fn ask(&self, request: Request) -> status::Result<[u64; MESSAGE_WORDS]> {
        let (label, words) = request.encode(Caller::default());
        call(self.call, label, words).map(|message| message.words)
    }

    /// Connects a task that was just made: `wakers` are the notifications of its threads.
    pub fn connect(
        &self,
        maker: &mut Maker<'_>,
        task: &Task,
        facts: &SkinInfo,
        wakers: impl Iterator<Item = Cap>,
    ) -> Result<()> {
        let ceiling = facts.ceiling.min(u8::MAX.into()) as u8;
        give(
            task,
            skin::slot::BROKER,
            self.endpoint,
            right::WRITE,
            badge::of(facts.index, facts.shares != 0, ceiling),
        )?;
        let memory = maker.slots.take()?;
        let offset = u64::from(facts.index) * TRANSFER_SIZE;
        memory_part(self.transfers, offset, TRANSFER_SIZE, memory, right::READ | right::WRITE)
            .when("sharing the broker's memory")?;
        maker.window.fill(memory, TRANSFER_SIZE, &[])?;
        memory_map(memory, task.space, address::TRANSFER, map::WRITE).when("mapping the broker's memory")?;
        for (at, notification) in (WAKERS + STRIDE * facts.index..).zip(wakers) {
            give(&self.task, at, notification, right::WRITE, wake::THREAD)?;
        }
        Ok(())
    }

    /// Closes a faulted broker: threads that it serves, and that call it, return with `Gone`.
    pub fn close(&self) {
        for object in [self.endpoint, self.task.thread] {
            let _ = cap_delete(boot::slot::CAP_SPACE, object);
        }
    }

    /// Reports that a task has ended, or is stopped for good. Its threads are suspended but still
    /// exist: the broker may be working for one of them, on that thread's time.
    pub fn task_ended(&self, index: usize) -> status::Result<()> {
        (0..ENDED_PARTS).try_for_each(|part| self.ask(Request::TaskEnded { index: index as u32, part }).map(|_| ()))
    }
}

fn show(maker: &mut Maker<'_>, task: &Task, channel: &Channel, index: usize) -> Result<()> {
    let places = channel.layout.tasks[index];
    channel.map(maker.slots, task.space, address::STATUS, (places.status, STATUS), Access::Write)?;
    channel.map(maker.slots, task.space, address::SHARE, (places.share, places.share_size), Access::Write)?;
    channel.map(maker.slots, task.space, address::DIRECTORY, (0, DIRECTORY), Access::Read)
}
