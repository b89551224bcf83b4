//! Detects threads that use all the time they may have: most often an endless loop. To ask for the
//! time of a thread of another processor interrupts nobody there.

use super::{Skins, warden};
use crate::text::text;
use pillion_abi::{NEVER, channel::task_state};
use pillion_runtime::{context_consumed, println};
use pillion_system::limit;

/// Processors that there can be.
pub const PROCESSORS: usize = *limit::PROCESSOR.end() as usize + 1;

/// What a task's threads used since the last look, in ticks, on each processor.
type Used = [u64; PROCESSORS];

/// Whether a budget that ran out `ran_out` times did so in nearly every period of a stretch. Where
/// other threads are more urgent, it runs out a little less often than once a period.
fn is_used_up(ran_out: u64, period: u64, stretch: u64) -> bool {
    ran_out != 0 && is_nearly_all(ran_out.saturating_mul(period), stretch)
}

/// Whether this many ticks are nearly all of a stretch.
fn is_nearly_all(ticks: u64, stretch: u64) -> bool {
    ticks >= stretch / 5 * 4
}

/// Whether this many ticks are all of a stretch. The kernel of another processor counts a thread's
/// time when it looks at its clock next.
fn is_all(ticks: u64, stretch: u64) -> bool {
    ticks >= stretch - stretch / 64
}

impl Skins {
    /// Checks, about once a second, how much time the threads have used since the last check.
    /// Reports a thread that has used up all of its own, once per thread and start.
    pub fn look_at_time(&mut self, time: u64) {
        let stretch = time.saturating_sub(self.timed_at);
        if stretch < self.tsc_hz / 4 * 3 {
            // The last check was late.
            return;
        }
        self.timed_at = time;
        let mut all = [0u64; PROCESSORS];
        let mut most = [(0u64, None); PROCESSORS];
        for index in 0..self.programs.len() {
            let (used, busy) = self.look_at_task(index, stretch);
            for ((all, most), used) in all.iter_mut().zip(&mut most).zip(used) {
                *all = all.saturating_add(used);
                if used > most.0 && warden::may_end(index) {
                    *most = (used, Some(index));
                }
            }
            if busy != self.channel.directory().tasks[index].busy {
                self.channel.change(|directory| directory.tasks[index].busy = busy);
                self.ring();
            }
            let program = &mut self.programs[index];
            let new = busy & !program.told;
            program.told |= busy;
            (0..u64::BITS).filter(|thread| new >> thread & 1 != 0).for_each(|thread| self.tell_busy(index, thread));
        }
        // If the tasks use a little more of the manager's processor, it has no time left to notice.
        warden::watch_over_manager(is_nearly_all(all[0], stretch));
        for (cpu, (all, (_, greediest))) in (0u8..).zip(all.into_iter().zip(most)).skip(1) {
            let starves = self.linux.has(cpu) && is_all(all, stretch);
            let seconds = &mut self.starved[usize::from(cpu)];
            *seconds = if starves { *seconds + 1 } else { 0 };
            if *seconds >= warden::PATIENCE
                && let Some(index) = greediest
            {
                *seconds = 0;
                warden::end(index, cpu);
            }
        }
    }

    /// The ticks that a task's threads used, and which of them used all that they may, by bit.
    fn look_at_task(&mut self, index: usize, stretch: u64) -> (Used, u64) {
        let is_stopped = self.state(index) == task_state::FAULTED;
        let program = &mut self.programs[index];
        let time = program.plan.urgency.time;
        let (mut all, mut busy) = ([0u64; PROCESSORS], 0);
        for (number, one) in program.threads.iter_mut().enumerate() {
            let Ok([ticks, exhausted]) = context_consumed(one.context) else { continue };
            let (used, ran_out) = (ticks.wrapping_sub(one.ticks), exhausted.wrapping_sub(one.exhausted));
            (one.ticks, one.exhausted) = (ticks, exhausted);
            warden::had(index, number, ticks);
            let cpu = program.plan.spec.info.processor_of(number as u32);
            if let Some(all) = all.get_mut(cpu as usize) {
                *all = all.saturating_add(used);
            }
            // Where nobody else is, a thread without a budget may compute all the time.
            let is_others = self.linux.has(cpu as u8);
            let is_busy = time
                .map_or(is_others && is_nearly_all(used, stretch), |(_, period)| is_used_up(ran_out, period, stretch));
            busy |= u64::from(is_busy && !is_stopped) << number;
        }
        (all, busy)
    }

    fn tell_busy(&self, index: usize, thread: u32) {
        let program = &self.programs[index];
        let name = program.name();
        let us = |ticks: u64| u128::from(ticks) * 1_000_000 / u128::from(self.tsc_hz.max(1));
        let (budget, period) = program.plan.urgency.time.unwrap_or((NEVER, 0));
        let own = if period == 0 {
            text!("and it has no budget")
        } else {
            text!("{} us in each {} us", us(budget), us(period))
        };
        let why = if name == pillion_system::DUAL {
            text!(
                "a thread in primary mode has used all of its time for a second, {own}, and is late: raise budget_us of \
                 [dual]; `pillion ps` counts in EXHAUSTED which one it is"
            )
        } else {
            text!("thread {thread} has used all of its time for a second, {own}: is it in an endless loop?")
        };
        println!("[resmgr] {name}: {why}");
        println!(
            "{{\"pillion\":\"skin\",\"name\":\"{name}\",\"event\":\"busy\",\"thread\":{thread},\"why\":\"{why}\"}}"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_that_runs_out_in_nearly_every_period() {
        let second = 1_000_000_000;
        assert!(is_used_up(100, 10_000_000, second) && is_used_up(80, 10_000_000, second));
        assert!(!is_used_up(79, 10_000_000, second) && !is_used_up(0, 10_000_000, second));
        // A period longer than the stretch.
        assert!(is_used_up(1, 3 * second, second) && !is_used_up(0, 3 * second, second));
        assert!(is_nearly_all(80, 100) && !is_nearly_all(79, 100));
        assert!(is_used_up(u64::MAX, u64::MAX, u64::MAX));
        assert!(is_all(64, 64) && is_all(63, 64) && !is_all(62, 64));
    }
}
