//! Finds the smallest part of a failing seed's steps that still fails.

use super::images::Images;
use super::judge::judge;
use super::play;
use super::scenario::{NOTHING, Scenario};
use crate::progress::step;
use anyhow::Result;
use pillion_campaign::{Actor, Orders, guest, task};
use std::fmt::Write as _;

/// The most runs spent on one seed.
const TRIES: u32 = 80;
/// Steps that are listed one by one.
const TOLD: usize = 60;
/// Steps that fit on the guest's command line.
const LISTED: usize = 100;

/// Shrinks a failing seed, and describes what is left of it.
pub fn text(images: &Images, failing: &Scenario, emulator_died: bool) -> Result<String> {
    let mut run = |scenario: &Scenario| {
        let judged = judge(scenario, &play::run(images, scenario)?);
        let died = judged.emulator.is_some();
        Ok(if emulator_died { died } else { !died && !judged.wrong.is_empty() })
    };
    let mut search = Search { tries: 0, run: &mut run };
    let small = step(&format!("shrinking seed {}", failing.seed), || search.shrink(failing))?;
    let mut text = format!("seed {} fails with ({} runs tried):\n  {}\n", failing.seed, search.tries, small.command());
    for line in steps(&small).iter().take(TOLD) {
        let _ = writeln!(text, "    {line}");
    }
    Ok(text)
}

/// All steps of a scenario, for people.
pub fn steps(scenario: &Scenario) -> Vec<String> {
    let line = scenario.orders(Actor::Guest);
    let orders = Orders::parse(&line);
    let mut all: Vec<String> = guest::wanted(orders)
        .map(|number| format!("guest {number}: {:x?}", guest::step(scenario.seed, number).1))
        .collect();
    for (actor, name, is_there) in
        [(Actor::Task, "task", scenario.task.is_some()), (Actor::Skinned, "skinned", scenario.skinned.is_some())]
    {
        let line = scenario.orders(actor);
        let orders = Orders::parse(&line);
        let numbers = (0..task::STEPS).filter(|number| is_there && orders.wants(*number));
        let steps = numbers.map(|number| (number, task::step(scenario.seed, actor, number)));
        let wanted = steps.filter(|(_, (class, _))| class.bit() & orders.classes != 0);
        all.extend(wanted.map(|(number, (_, step))| format!("{name} {number}: {step:x?}")));
    }
    all
}

/// A search; `run` says whether a scenario fails.
struct Search<'a> {
    tries: u32,
    run: &'a mut dyn FnMut(&Scenario) -> Result<bool>,
}

impl Search<'_> {
    fn fails(&mut self, scenario: &Scenario) -> Result<bool> {
        if self.tries >= TRIES {
            return Ok(false);
        }
        self.tries += 1;
        (self.run)(scenario)
    }

    fn shrink(&mut self, failing: &Scenario) -> Result<Scenario> {
        let mut small = failing.clone();
        self.silence(&mut small)?;
        if small.guest != NOTHING {
            self.shrink_guest(&mut small)?;
        }
        for actor in [Actor::Task, Actor::Skinned] {
            self.shrink_task(&mut small, actor)?;
        }
        Ok(small)
    }

    /// Silences whole actors.
    fn silence(&mut self, small: &mut Scenario) -> Result<()> {
        for actor in [Actor::Skinned, Actor::Task, Actor::Guest] {
            let mut other = small.clone();
            if let Some(orders) = orders_of(&mut other, actor).filter(|orders| *orders != NOTHING) {
                *orders = NOTHING.into();
                if self.fails(&other)? {
                    *small = other;
                }
            }
        }
        Ok(())
    }

    /// Lists the steps, and drops halves, quarters and so on of the list.
    fn shrink_guest(&mut self, small: &mut Scenario) -> Result<()> {
        let line = small.orders(Actor::Guest);
        let mut numbers: Vec<u32> = guest::wanted(Orders::parse(&line)).collect();
        self.cut_off(small, &mut numbers)?;
        let mut part = numbers.len().div_ceil(2);
        while part >= 1 && !numbers.is_empty() {
            let mut at = 0;
            while at < numbers.len() {
                let rest: Vec<u32> =
                    numbers.iter().enumerate().filter(|(i, _)| !(at..at + part).contains(i)).map(|(_, n)| *n).collect();
                let other = Scenario { guest: guest_orders(&rest), ..small.clone() };
                if self.fails(&other)? {
                    (*small, numbers) = (other, rest);
                } else {
                    at += part;
                }
            }
            part = if part == 1 { 0 } else { part.div_ceil(2) };
        }
        Ok(())
    }

    /// Finds the step with which the run starts to fail, and drops those after it.
    fn cut_off(&mut self, small: &mut Scenario, numbers: &mut Vec<u32>) -> Result<()> {
        let (mut good, mut bad) = (0, numbers.len());
        while bad - good > 1 {
            let middle = good.midpoint(bad);
            let other = Scenario { guest: format!("to={}", numbers[middle]), ..small.clone() };
            if self.fails(&other)? { bad = middle } else { good = middle }
        }
        if let Some(&behind) = numbers.get(bad) {
            small.guest = format!("to={behind}");
            numbers.truncate(bad);
        }
        Ok(())
    }

    fn shrink_task(&mut self, small: &mut Scenario, actor: Actor) -> Result<()> {
        if orders_of(small, actor).is_none_or(|orders| orders == NOTHING) {
            return Ok(());
        }
        let mut from_to = [0, task::STEPS];
        // First the end is moved, then the beginning.
        for end in [1, 0] {
            let (mut bad, mut good) = (from_to[end], from_to[1 - end]);
            while bad.abs_diff(good) > 1 {
                let middle = bad.midpoint(good);
                let mut tried = from_to;
                tried[end] = middle;
                let mut other = small.clone();
                orders_of(&mut other, actor).into_iter().for_each(|orders| *orders = task_orders(tried));
                if self.fails(&other)? {
                    (*small, bad, from_to) = (other, middle, tried);
                } else {
                    good = middle;
                }
            }
        }
        Ok(())
    }
}

fn orders_of(scenario: &mut Scenario, actor: Actor) -> Option<&mut String> {
    match actor {
        Actor::Guest => Some(&mut scenario.guest),
        Actor::Task => scenario.task.as_mut(),
        Actor::Skinned => scenario.skinned.as_mut(),
    }
}

fn task_orders([from, to]: [u32; 2]) -> String {
    format!("from={from} to={to}")
}

/// The steps as a list if that is short enough, otherwise as a range from the first to the last.
fn guest_orders(numbers: &[u32]) -> String {
    match numbers {
        [] => NOTHING.into(),
        [first, .., last] if numbers.len() > LISTED => format!("from={first} to={}", last + 1),
        _ => format!("only={}", numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(",")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shrinks a seed that fails if the guest takes all `needed` steps; returns the steps left and
    /// the number of runs.
    fn shrunk(seed: u64, needed: &[usize]) -> (Vec<u32>, u32) {
        let all: Vec<u32> = guest::wanted(Orders::new(seed)).collect();
        let needed: Vec<u32> = needed.iter().map(|at| all[*at]).collect();
        let mut run = |scenario: &Scenario| {
            let line = scenario.orders(Actor::Guest);
            let orders = Orders::parse(&line);
            Ok(needed.iter().all(|number| guest::wanted(orders).any(|made| made == *number)))
        };
        let mut search = Search { tries: 0, run: &mut run };
        let small = search.shrink(&Scenario::new(seed)).unwrap();
        let line = small.orders(Actor::Guest);
        let left = guest::wanted(Orders::parse(&line)).collect();
        (left, search.tries)
    }

    #[test]
    fn one_step_is_found_among_hundreds() {
        for seed in 0..20 {
            let (left, tries) = shrunk(seed, &[50]);
            assert_eq!(left.len(), 1, "seed {seed}");
            assert!(tries < 30, "{tries} runs");
        }
    }

    #[test]
    fn two_steps_that_belong_together_are_found() {
        let (left, _) = shrunk(2, &[11, 40]);
        assert_eq!(left.len(), 2);
    }
}
