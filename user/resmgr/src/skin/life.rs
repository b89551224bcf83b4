//! Starts and ends tasks.

use super::channel::Channel;
use super::mbuff::Holder;
use super::program::Program;
use super::{After, Passenger, Skins, dual, psc, threads, warden};
use crate::failure::Result;
use crate::task::Maker;
use crate::task_log;
use crate::text::{Text, text};
use alloc::vec::Vec;
use pillion_abi::call::MESSAGE_WORDS;
use pillion_abi::channel::{FIFOS, FaultReport, FifoEntry, Status, THREADS, ThreadEntry, task_state, user};
use pillion_abi::object::right;
use pillion_runtime::call::reply;
use pillion_runtime::info::{monitor, monitor_bit, skin, wake};
use pillion_runtime::{Cap, context_consumed, now, println, signal};
use pillion_system::{Kind, Processors};

/// Result of an `init_module` that did not return in time.
const ETIMEDOUT: i32 = -110;

impl Skins {
    /// Makes a task that does not run yet.
    pub(super) fn load(&mut self, index: usize) -> Result<()> {
        let made = self.make_task(index);
        if made.is_err() {
            self.programs[index].unload()?;
            return made;
        }
        self.channel.change(|directory| {
            let entry = &mut directory.tasks[index];
            entry.state = task_state::STARTING;
            entry.result = 0;
            entry.starts = entry.starts.wrapping_add(1);
            entry.fault = FaultReport::default();
            entry.busy = 0;
        });
        let Program { plan, threads, .. } = &self.programs[index];
        let may_end = plan.wanted.time.is_none() && !plan.wanted.unlimited;
        warden::watch_over(index, may_end, threads.iter().map(|one| one.context));
        self.give_grace(index);
        self.ring();
        Ok(())
    }

    /// Sets the deadline for what the task does now.
    fn give_grace(&mut self, index: usize) {
        let program = &mut self.programs[index];
        warden::set(index, now().saturating_add(program.plan.grace));
        program.others_before = program.ticks_of_others();
    }

    /// The earliest deadline of a task that starts or stops.
    pub fn next_end(&self) -> u64 {
        warden::next()
    }

    /// Ends a task that did not start or stop in time, or that left the manager no time.
    pub fn end_overdue(&mut self) -> After {
        let Some(index) = warden::overdue(now()) else { return After::GoOn };
        if let Some(cpu) = warden::starves(index) {
            let why = self.why_it_starves(index, cpu);
            return self.end_by_force(index, ETIMEDOUT, why.as_str());
        }
        let starts = self.state(index) == task_state::STARTING;
        let what = if starts { "init_module" } else { "cleanup_module" };
        let program = &self.programs[index];
        let grace_ms = program.grace_ns() / 1_000_000;
        let others_ms = self.milliseconds(program.ticks_of_others().saturating_sub(program.others_before));
        // A task that starves its own main thread would miss any deadline.
        let why = if others_ms >= grace_ms.div_ceil(2) {
            text!(
                "its {what} did not return within {grace_ms} ms, of which its other threads, which are more urgent, took {others_ms}; \
                 give them a budget, or let them wait: a larger grace_ms alone will not help"
            )
        } else {
            text!("its {what} did not return within {grace_ms} ms; if it needs longer, raise its grace_ms")
        };
        self.end_by_force(index, ETIMEDOUT, why.as_str())
    }

    fn milliseconds(&self, ticks: u64) -> u64 {
        ticks.saturating_mul(1_000) / self.tsc_hz.max(1)
    }

    /// How a task left others no time on a processor, as text: where that is the manager's, with
    /// the thread that has used most since the manager last had time.
    fn why_it_starves(&self, index: usize, cpu: u8) -> Text {
        if cpu != 0 {
            return text!(
                "its threads on processor {cpu} left Linux no time there for {} s; let them wait, give them a budget, \
                 or write budget = 'unlimited'",
                warden::PATIENCE
            );
        }
        let used = |one: &threads::Thread| {
            let [ticks, _] = context_consumed(one.context).unwrap_or_default();
            self.milliseconds(ticks.saturating_sub(one.ticks))
        };
        let threads = self.programs[index].threads.iter().map(used);
        let all: u64 = threads.clone().sum();
        let (most, thread) = threads.zip(0u32..).max().unwrap_or_default();
        let past = self.milliseconds(now().saturating_sub(self.timed_at));
        text!(
            "in the last {past} ms its threads used {all}, thread {thread} {most} of them, and left Linux and the log no time; \
             let them wait, give them a budget, or write budget = 'unlimited'"
        )
    }

    /// Ends a task that does not end by itself. If the task was in its `init_module`, `result`
    /// becomes the result of that.
    pub(super) fn end_by_force(&mut self, index: usize, result: i32, why: &str) -> After {
        let program = &self.programs[index];
        let name = program.name();
        self.stop(index);
        self.failed = true;
        println!("[resmgr] {name} was ended by force: {why}");
        self.say_in_linux(index, &text!("pillion: it was ended by force: {why}"));
        println!("{{\"pillion\":\"skin\",\"name\":\"{name}\",\"event\":\"forced\",\"why\":\"{why}\"}}");
        if self.state(index) == task_state::STARTING {
            self.channel.change(|directory| directory.tasks[index].result = result);
            tell_started(name, result);
        }
        self.ended(index)
    }

    /// Reports tasks that are still in their `init_module` when the system ends: they have not
    /// started, however long their grace is.
    pub fn tell_unfinished(&mut self) {
        for index in 0..self.programs.len() {
            if self.state(index) == task_state::STARTING {
                self.failed = true;
                let name = self.programs[index].name();
                let why = "its init_module had not returned when the system ended";
                println!("{{\"pillion\":\"skin\",\"name\":\"{name}\",\"event\":\"unfinished\",\"why\":\"{why}\"}}");
            }
        }
    }

    /// A task that ends the system need not return from its `init_module` any more.
    pub fn is_through(&mut self, index: usize) {
        if index < self.programs.len() && self.state(index) == task_state::STARTING {
            warden::forget(index);
            self.set_state(index, task_state::RUNNING);
        }
    }

    fn make_task(&mut self, index: usize) -> Result<()> {
        let Skins { programs, channel, broker, window, endpoint, passenger, tsc_hz, .. } = self;
        let program = &mut programs[index];
        let places = channel.layout.tasks[index];
        window.fill_part(channel.memory, places.share, places.share_size, &[])?;
        clear_status(channel, index);
        program.load(window, *endpoint, channel)?;
        let facts = program.plan.spec.info.skin;
        let Program { plan, task: Some(task), threads, slots, .. } = program else { return Ok(()) };
        let mut maker = Maker { slots, window, pool: task.region, endpoint: *endpoint };
        broker.connect(&mut maker, task, &facts, threads.iter().map(|one| one.notification))?;
        if let Some(passenger) = passenger {
            match plan.wanted.kind() {
                Some(Kind::Psc) => {
                    psc::show(&mut maker, task, channel)?;
                    psc::make(&mut maker, task, passenger.guest.space, facts.threads)?;
                }
                Some(Kind::Dual(_)) => {
                    let notifications: Vec<Cap> = threads.iter().map(|one| one.notification).collect();
                    let rules = dual::Rules::of(&plan.wanted, *tsc_hz);
                    let rules = (&rules, &plan.spec.info, plan.guest_tables);
                    dual::make(&mut maker, task, channel, passenger, &notifications, rules)?;
                }
                Some(Kind::RtLinux) | None => {}
            }
            connect_linux(program, passenger)?;
        }
        self.connect_runners(index)
    }

    /// Lets a task that was made just now, and those that threads in primary mode share FIFOs with,
    /// signal the runners of these.
    fn connect_runners(&self, made: usize) -> Result<()> {
        let Some(dual) = self.programs.iter().find(|one| one.is_dual()) else { return Ok(()) };
        let runners = (skin::slot::RUNNERS..).zip(dual.threads.iter().skip(1));
        let tasks = self.programs.iter().filter(|one| matches!(one.plan.wanted.kind(), Some(Kind::RtLinux)));
        for task in tasks.filter(|one| dual.index == made || one.index == made) {
            runners.clone().try_for_each(|(to, one)| task.give(to, one.notification, right::WRITE, wake::THREAD))?;
        }
        Ok(())
    }

    /// `init_module` returned. A task whose initialisation failed gets no reply: it ends.
    pub(super) fn started(&mut self, index: usize, result: i32) -> After {
        if self.state(index) != task_state::STARTING {
            let _ = reply(0, [0; MESSAGE_WORDS]);
            return After::GoOn;
        }
        warden::forget(index);
        if result != 0 {
            // Suspend them before the failure is announced: its other threads must not act for a
            // task that counts as gone.
            self.stop(index);
        }
        self.channel.change(|directory| {
            directory.tasks[index].result = result;
            directory.tasks[index].state = task_state::RUNNING;
        });
        self.note_change(index);
        if result == 0 {
            let _ = reply(0, [0; MESSAGE_WORDS]);
            self.ring();
        }
        tell_started(self.programs[index].name(), result);
        if result == 0 {
            return After::GoOn;
        }
        self.failed = true;
        self.ended(index)
    }

    /// Asks a task to run `cleanup_module` and end.
    pub(super) fn unload(&mut self, index: usize) {
        if let Some(waker) = self.programs[index].unloader {
            self.set_state(index, task_state::STOPPING);
            self.give_grace(index);
            let _ = signal(waker);
        }
    }

    /// Stops a task's threads for good.
    pub(super) fn stop(&self, index: usize) {
        let program = &self.programs[index];
        if program.plan.wanted.processors != Processors::FIRST {
            warden::lower(index);
        }
        warden::leave(index);
        threads::suspend(&program.threads);
    }

    /// Frees everything that an ended task was made from and held.
    pub(super) fn ended(&mut self, index: usize) -> After {
        self.stop(index);
        let name = self.programs[index].name();
        if self.state(index) != task_state::FAULTED
            && let Err(error) = self.broker.task_ended(index)
        {
            println!("[resmgr] cannot tell the broker that {name} has ended: {error:?}");
        }
        let program = &mut self.programs[index];
        program.task.iter().for_each(|task| task_log::last(task, self.channel.period_ns(index)));
        self.failed |= program.task.as_ref().is_some_and(|task| task.overruns() != 0);
        if let Err(failure) = program.unload() {
            println!("[resmgr] {name}: {failure}");
        }
        if program.is_dual() {
            self.close_fifos(user::LINUX);
        }
        let Skins { channel, mbuffs, .. } = self;
        channel.change(|directory| {
            directory.tasks[index].state = task_state::STOPPED;
            directory.tasks[index].busy = 0;
            directory
                .fifo_owner
                .iter_mut()
                .filter(|owner| usize::from(**owner) == index + 1)
                .for_each(|owner| *owner = 0);
            mbuffs.release_all(&mut directory.mbuffs, Holder::Task(index));
        });
        clear_status(channel, index);
        self.note_change(index);
        self.ring();
        println!("{{\"pillion\":\"skin\",\"name\":\"{name}\",\"event\":\"ended\"}}");
        self.after()
    }

    /// Restarts the tasks that run code of Linux's processes: what ran in those of the old Linux
    /// must not run in the memory of the next.
    pub(super) fn restart_with_linux(&mut self) {
        let runs_linux =
            |index: &usize| matches!(self.programs[*index].plan.wanted.kind(), Some(Kind::Psc | Kind::Dual(_)));
        let with_linux: Vec<usize> = (0..self.programs.len()).filter(runs_linux).collect();
        // First end all of them: a failure to start one must not leave another running.
        for &index in &with_linux {
            if self.state(index) != task_state::STOPPED {
                self.ended(index);
            }
        }
        self.report_lost();
        self.close_fifos(0);
        for index in with_linux {
            if let Err(failure) = self.load(index).and_then(|()| self.programs[index].start()) {
                println!("[resmgr] {}: {failure}", self.programs[index].name());
            }
        }
    }

    /// Closes FIFOs for all on Linux's side but those that some bits of such words name: the others
    /// do not exist any more.
    fn close_fifos(&self, kept: u32) {
        if let Err(failure) = self.channel.close_fifos(&self.window, kept) {
            println!("[resmgr] cannot close the FIFOs of threads that are gone: {failure}");
        }
    }

    /// Notes that a task was started or ended on its processors.
    fn note_change(&mut self, index: usize) {
        let on = self.programs[index].plan.wanted.processors;
        self.changed_on |= on.numbers().fold(0, |set, number| set | 1 << (number & 63));
    }

    /// Ends the system if it is to end with its tasks and all of them have ended.
    pub(super) fn after(&self) -> After {
        let over = |index| matches!(self.state(index), task_state::STOPPED | task_state::FAULTED);
        if self.until_ended && (0..self.programs.len()).all(over) { After::End } else { After::GoOn }
    }

    /// A task's state.
    pub(super) fn state(&self, index: usize) -> u32 {
        self.channel.directory().tasks[index].state
    }

    /// Changes a task's state and notifies Linux.
    pub(super) fn set_state(&mut self, index: usize, state: u32) {
        self.channel.change(|directory| directory.tasks[index].state = state);
        self.ring();
    }
}

/// Reports the result of `init_module`, for machines.
fn tell_started(name: &str, result: i32) {
    println!("{{\"pillion\":\"skin\",\"name\":\"{name}\",\"event\":\"started\",\"result\":{result}}}");
}

/// Lets a task and Linux signal each other.
fn connect_linux(program: &mut Program, passenger: &Passenger) -> Result<()> {
    program.give(skin::slot::LINUX, passenger.notification, right::WRITE, monitor_bit::DOORBELL)?;
    let Some(main) = program.threads.first() else { return Ok(()) };
    crate::task::give_into(
        passenger.caps,
        monitor::slot::KICKS + program.index as u32,
        main.notification,
        right::WRITE,
        wake::KICK,
    )
}

/// Clears threads and FIFOs in what a task shows. Keeps the log, and how often each FIFO was made,
/// because readers hold positions in them.
fn clear_status(channel: &Channel, index: usize) {
    let status: *mut Status = channel.status(index).cast_mut();
    for thread in 0..THREADS {
        // SAFETY: the manager has the status mapped writable, for good, and the index is within the
        // array. Linux may read it meanwhile.
        unsafe { (&raw mut (*status).threads[thread]).write_volatile(ThreadEntry::default()) };
    }
    for fifo in 0..FIFOS {
        // SAFETY: as above; the task, which also writes it, does not exist now.
        unsafe {
            let fifo = &raw mut (*status).fifos[fifo];
            let generation = (&raw const (*fifo).generation).read_volatile();
            fifo.write_volatile(FifoEntry { generation, ..FifoEntry::default() });
        }
    }
}
