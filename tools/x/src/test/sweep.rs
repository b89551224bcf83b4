//! Tests the model of caches in the emulator: a task sweeps through memory, and the number of
//! misses is known.

use crate::measure::Here;
use crate::progress::step;
use crate::repository::Repository;
use crate::tally::Tally;
use anyhow::Result;
use pillion_measure_run::{Boot, modelled};

/// The test's name.
pub const NAME: &str = "model-sweep";
/// The task; its source describes what it does.
const TASK: &str = "measure/plugin/check/sweep";
/// The model's parameters: from the machine's first instruction on, no piece of work left out. The
/// first-level caches have 64 sets of 8 lines, the second-level one 64 sets of 64: the offset
/// within a page selects the set, so that it does not matter where pages lie.
const MACHINE: &str = "begin=power-on,skip=0,mhz=1000,instruction=1,line=64,memory=100,cache.l1i.size=32768,cache.l1i.ways=8,\
    cache.l1d.size=32768,cache.l1d.ways=8,cache.l2.size=262144,cache.l2.ways=64,tlb.code.entries=64,tlb.code.ways=64,\
    tlb.data.entries=64,tlb.data.ways=64,walk.levels=4,walk.entry=8,walk.remembered=16,tags=guest";

/// Cache lines in `kib` KiB.
const fn lines(kib: u64) -> u64 {
    kib * 1024 / 64
}

/// 80 pages are more than the TLB holds; their page-table entries occupy ten lines.
const WALKED: u64 = lines(320) + 10;

/// How often the task does each piece of work. Only the last time counts: the others bring data and
/// code into the caches.
const PASSES: usize = 3;

/// The exact counts for the task's pieces of work, in their order.
const EXPECTED: [(&str, [u64; 7]); 4] = [
    ("work_l1d_misses", [0, lines(36), lines(192), WALKED, 0, lines(36), WALKED]),
    ("work_l2_misses", [0, 0, 0, WALKED, 0, 0, WALKED]),
    ("work_walks", [0, 0, 0, 80, 0, 0, 80]),
    ("work_write_backs", [0, 0, 0, 0, 0, lines(36), 2 * lines(320)]),
];

/// Runs the task twice, and compares the results.
pub fn run(repository: &Repository) -> Result<Tally> {
    let boot = || Boot { no_linux: true, task: vec![TASK.into()], ..Boot::default() };
    let sweep = || modelled(&Here { repository }, boot(), MACHINE);
    let swept = step(&format!("test {NAME}"), || Ok((sweep()?, sweep()?)));
    let mut tally = Tally::default();
    tally.take(NAME, swept.map_or_else(|error| vec![format!("{error:#}")], |(first, second)| faults(&first, &second)));
    Ok(tally)
}

fn faults(first: &str, second: &str) -> Vec<String> {
    let wrong = EXPECTED.iter().filter_map(|(name, expected)| wrong(first, name, expected));
    wrong.chain((first != second).then(|| "two runs differ".into())).collect()
}

/// What is wrong with the points that the plug-in wrote as `points NAME 1 1 0:Y 1:Y ..`.
fn wrong(said: &str, name: &str, expected: &[u64]) -> Option<String> {
    let line = said.lines().find_map(|line| line.strip_prefix(&format!("points {name} 1 1 ")));
    let points = line.unwrap_or_default().split(' ').filter_map(|point| point.split_once(':')?.1.parse().ok());
    let last: Vec<u64> = points.skip(PASSES - 1).step_by(PASSES).collect();
    (last != expected).then(|| format!("{name} is {last:?}, not {expected:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_or_missing_is_told() {
        let said = "figure x 1 ns\npoints work_walks 1 1 0:9 1:9 2:0 3:9 4:9 5:80\n";
        assert_eq!(wrong(said, "work_walks", &[0, 80]), None);
        assert!(wrong(said, "work_walks", &[0, 81]).unwrap().contains("[0, 80], not [0, 81]"));
        assert!(wrong(said, "work_l2_misses", &[0]).unwrap().contains("is []"));
    }
}
