//! The loop: mutates a known input, runs the target, and keeps the new input if it reached
//! something that none reached before.

use crate::coverage::Counters;
use crate::mutate::{Random, mutate};
use crate::targets::Target;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Longest time that a target may spend on one input.
const HANG: Duration = Duration::from_secs(10);

/// Maximum number of inputs kept for good.
const MOST: usize = 48;

/// Result of a search.
#[derive(Debug)]
pub struct Found {
    /// Inputs that were run.
    pub runs: u64,
    /// Inputs worth keeping for good.
    pub kept: Vec<Vec<u8>>,
    /// Counters that some input reached, counted once for each step of its value that was seen.
    pub reached: usize,
    /// All counters.
    pub counters: usize,
}

/// The input being run, for the code that reports it when the process ends.
type Current = Arc<Mutex<Vec<u8>>>;

struct Search<'a> {
    target: &'a Target,
    counters: Counters,
    /// For each counter, one bit for each step of its value that was seen.
    seen: Vec<u8>,
    kept: Vec<Vec<u8>>,
    runs: u64,
    current: Current,
    beat: Arc<AtomicU64>,
}

/// Searches for `time`, beginning with the known inputs. A panic or a hang prints the input and
/// ends the process.
pub fn search(target: &Target, counters: Counters, known: Vec<Vec<u8>>, time: Duration, seed: u64) -> Found {
    let current = Current::default();
    let beat = Arc::new(AtomicU64::new(0));
    tell_of_the_end(current.clone(), target.name);
    watch(beat.clone(), current.clone(), target.name);
    let seen = vec![0; counters.count()];
    let mut search = Search { target, counters, seen, kept: Vec::new(), runs: 0, current, beat };
    let mut random = Random::new(seed);
    for input in known.into_iter().chain([Vec::new()]) {
        search.take(input);
    }
    let end = Instant::now() + time;
    while Instant::now() < end {
        for _ in 0..200 {
            let mut input = search.pick(&mut random).to_vec();
            let other = search.pick(&mut random).to_vec();
            mutate(&mut input, &other, target.words, target.longest, &mut random);
            search.take(input);
        }
    }
    let reached = search.seen.iter().filter(|steps| **steps != 0).count();
    let (runs, counters) = (search.runs, search.seen.len());
    Found { runs, kept: search.best(), reached, counters }
}

impl Search<'_> {
    /// Picks one of the kept inputs, mostly the newest.
    fn pick(&self, random: &mut Random) -> &[u8] {
        let count = self.kept.len();
        let at = if random.below(2) == 0 { random.below(count) } else { count - 1 - random.below(count.min(16)) };
        self.kept.get(at).map_or(&[], Vec::as_slice)
    }

    /// A few of the kept inputs that together reach most: each next one is the one that adds most.
    fn best(mut self) -> Vec<Vec<u8>> {
        let mut left: Vec<(Vec<u8>, BTreeSet<usize>)> = Vec::new();
        for input in std::mem::take(&mut self.kept) {
            let reached = self.reach(&input);
            left.push((input, reached));
        }
        let (mut best, mut seen) = (Vec::new(), BTreeSet::new());
        while best.len() < MOST {
            let adds = |(_, reached): &(Vec<u8>, BTreeSet<usize>)| reached.difference(&seen).count();
            let next = (0..left.len()).max_by_key(|at| (adds(&left[*at]), usize::MAX - left[*at].0.len()));
            let Some(next) = next.filter(|at| adds(&left[*at]) > 0) else { break };
            let (input, reached) = left.swap_remove(next);
            seen.extend(reached);
            best.push(input);
        }
        best.sort();
        best
    }

    fn reach(&mut self, input: &[u8]) -> BTreeSet<usize> {
        let mut reached = BTreeSet::new();
        self.counters.clear();
        (self.target.run)(input);
        self.counters.each(|at, _| {
            reached.insert(at);
        });
        reached
    }

    /// Runs an input, and keeps it if it is the first one, or the first to reach something.
    fn take(&mut self, input: Vec<u8>) {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&input);
        self.runs += 1;
        self.beat.store(self.runs, Relaxed);
        self.counters.clear();
        (self.target.run)(&input);
        let (seen, mut is_new) = (&mut self.seen, false);
        self.counters.each(|at, value| {
            // The steps are 1, 2, 3 to 4, 5 to 8, ...
            let step = 1 << (8 - (value - 1).leading_zeros()).min(7);
            is_new |= seen[at] & step == 0;
            seen[at] |= step;
        });
        if is_new || self.kept.is_empty() {
            self.kept.push(input);
        }
    }
}

fn tell_of_the_end(current: Current, name: &'static str) {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        usual(info);
        tell(&current, name, "panicked");
        std::process::exit(1);
    }));
}

fn watch(beat: Arc<AtomicU64>, current: Current, name: &'static str) {
    std::thread::spawn(move || {
        loop {
            let before = beat.load(Relaxed);
            std::thread::sleep(HANG);
            if before != 0 && beat.load(Relaxed) == before {
                tell(&current, name, "hangs");
                std::process::exit(1);
            }
        }
    });
}

fn tell(current: &Current, name: &str, what: &str) {
    let input = hex(&current.lock().unwrap_or_else(PoisonError::into_inner));
    eprintln!(
        "fuzz: {name} {what}; again: ./x fuzz {name} --input {input}\n      a line for tests/fuzz/corpus/{name}.txt: {input}"
    );
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The inverse of [`hex`].
pub fn bytes(hex: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = hex.chars().map(|c| c.to_digit(16).map(|digit| digit as u8)).collect();
    let digits = digits.filter(|digits| digits.len().is_multiple_of(2))?;
    Some(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_is_read_back() {
        assert_eq!(bytes(&hex(&[0, 0x5a, 0xff])), Some(vec![0, 0x5a, 0xff]));
        assert!(bytes("123").is_none() && bytes("xx").is_none());
        assert_eq!(bytes(""), Some(Vec::new()));
    }
}
