//! Random accesses, compared with a model that is as simple as possible: lists in order of use.

use pillion_model_check::{Level, Model};
use proptest::prelude::*;

const LINE: u64 = 16;
const WAYS: [usize; 3] = [2, 4, 4];
const SETS: [u64; 3] = [4, 4, 8];
const HIT: [u64; 3] = [0, 10, 30];
const WRITE_BACK: [u64; 3] = [3, 5, 50];
const MEMORY: u64 = 100;

/// A line of a set: its number and whether it is dirty. The least recently used comes first.
type Set = Vec<(u64, bool)>;

struct Naive {
    levels: [Vec<Set>; 3],
    inclusive: [bool; 3],
    misses: [u64; 3],
    write_backs: [u64; 3],
}

impl Naive {
    fn new(inclusive: [bool; 3]) -> Naive {
        Naive {
            levels: SETS.map(|sets| vec![Set::new(); sets as usize]),
            inclusive,
            misses: [0; 3],
            write_backs: [0; 3],
        }
    }

    fn take(&mut self, level: usize, line: u64) -> Option<bool> {
        let set = &mut self.levels[level][(line % SETS[level]) as usize];
        let place = set.iter().position(|(number, _)| *number == line)?;
        Some(set.remove(place).1)
    }

    fn put(&mut self, level: usize, line: u64, dirty: bool) -> u64 {
        let set = &mut self.levels[level][(line % SETS[level]) as usize];
        set.push((line, dirty));
        if set.len() <= WAYS[level] {
            return 0;
        }
        let (victim, mut dirty) = set.remove(0);
        if self.inclusive[level] {
            for inner in 0..level {
                dirty |= self.take(inner, victim).unwrap_or(false);
            }
        }
        if dirty { self.hand_down(level, victim) } else { 0 }
    }

    fn hand_down(&mut self, level: usize, line: u64) -> u64 {
        self.write_backs[level] += 1;
        if level == 2 {
            return WRITE_BACK[2];
        }
        self.take(level + 1, line);
        WRITE_BACK[level] + self.put(level + 1, line, true)
    }

    fn access(&mut self, level: usize, line: u64, write: bool) -> u64 {
        if level == 3 {
            return MEMORY;
        }
        if let Some(dirty) = self.take(level, line) {
            self.put(level, line, dirty || write);
            return HIT[level];
        }
        self.misses[level] += 1;
        self.access(level + 1, line, false) + self.put(level, line, write)
    }
}

fn model(inclusive: [bool; 3]) -> Model {
    let mut text = format!(
        "mhz=1,instruction=1,line={LINE},memory={MEMORY},memory_write_back={},cache.l1i.size=64,cache.l1i.ways=1,tlb.code.entries=1,\
         tlb.code.ways=1,tlb.data.entries=4096,tlb.data.ways=4,walk.levels=2,walk.entry=8",
        WRITE_BACK[2]
    );
    for (i, name) in ["l1d", "l2", "l3"].iter().enumerate() {
        let size = SETS[i] * WAYS[i] as u64 * LINE;
        let (ways, hit, write_back, inclusive) = (WAYS[i], HIT[i], WRITE_BACK[i], inclusive[i]);
        text += &format!(",cache.{name}.size={size},cache.{name}.ways={ways},cache.{name}.hit={hit}");
        text += &format!(",cache.{name}.write_back={write_back},cache.{name}.inclusive={inclusive}");
    }
    let mut model = Model::new(&text).unwrap();
    // All lines are in one page; its walk comes first, and what that loads is flushed again.
    model.touch(0, false);
    for level in [Level::L1Data, Level::L2, Level::L3] {
        model.flush_cache(level);
    }
    model
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_model_does_as_the_naive_one(
        accesses in prop::collection::vec((0_u64..200, any::<bool>()), 1..600),
        inclusive in any::<[bool; 2]>(),
    ) {
        let inclusive = [false, inclusive[0], inclusive[1]];
        let (mut model, mut naive) = (model(inclusive), Naive::new(inclusive));
        let levels = [Level::L1Data, Level::L2, Level::L3];
        let before = levels.map(|level| model.cache(level));
        for (i, (line, write)) in accesses.into_iter().enumerate() {
            prop_assert_eq!(model.touch(line * LINE, write), naive.access(0, line, write) * 100, "access {}", i);
        }
        for (i, level) in levels.into_iter().enumerate() {
            prop_assert_eq!(model.cache(level).misses - before[i].misses, naive.misses[i]);
            prop_assert_eq!(model.cache(level).write_backs - before[i].write_backs, naive.write_backs[i]);
        }
    }
}
