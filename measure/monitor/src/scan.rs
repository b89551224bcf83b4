//! The scan: makes a call repeatedly, interrupted a little later each time.

use crate::{curve::Curve, name::Name, watch::Watch};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use pillion_abi::{call::Call, status::Result};
use pillion_runtime::{now, println};
use pillion_test_kit::{Checked, Kit, failure};

/// How far before the call the scan begins, and how far after its end it stops, in ticks.
const MARGIN: i64 = 24;

/// A distance at which the interrupt certainly comes after the call.
const FAR: u64 = 1_000_000;

/// A bit for each call that was scanned; the number of places, the longest delay and the longest
/// non-preemptible stretch of all scans.
static SCANNED: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];
static PLACES: AtomicU64 = AtomicU64::new(0);
static LONGEST_DELAY: AtomicU64 = AtomicU64::new(0);
static LONGEST: AtomicU64 = AtomicU64::new(0);

static CURVE: Curve = Curve::new();

/// Measurements of one call, in ticks.
struct Sample {
    /// From arming the timer to the call.
    lead: i64,
    /// Duration of the call, including the interrupt if it came meanwhile.
    length: i64,
    /// When the interrupt came, relative to the start of the call.
    place: i64,
    /// From the interrupt until the most urgent thread ran.
    delay: u64,
}

/// A call to scan: what prepares it, the call, and what undoes its effect.
pub struct Trial<P, C, U> {
    /// Prepares what the call needs, and returns it.
    prepare: P,
    call: C,
    /// Undoes the effect of both.
    undo: U,
}

impl<T, R, P: FnMut() -> Result<T>, C: Fn(&T) -> Result<R>, U: FnMut(T) -> Result<()>> Trial<P, C, U> {
    /// A trial made of these parts.
    pub fn new(prepare: P, call: C, undo: U) -> Trial<P, C, U> {
        Trial { prepare, call, undo }
    }

    /// Scans it and reports the curve, the longest delay, and the uninterrupted call's duration.
    pub fn scan(mut self, kit: &mut Kit, name: Name) -> Checked {
        CURVE.clear();
        let watch = Watch::start(kit)?;
        // Twice: the first call creates page-table tables and the like.
        self.once(&watch, FAR, name)?;
        let plain = self.once(&watch, FAR, name)?;
        let step = step(kit);
        let mut distance = plain.lead - MARGIN;
        loop {
            let sample = self.once(&watch, distance as u64, name)?;
            // At earlier places, the interrupt comes while the timer is being armed.
            if sample.place >= -MARGIN && !CURVE.add(sample.place, sample.delay) {
                return Err(failure!("{name} is too long to be scanned"));
            }
            if sample.place > plain.length + MARGIN {
                break;
            }
            distance += step;
        }
        say(name, &CURVE, &plain);
        Ok(())
    }

    fn once(&mut self, watch: &Watch, distance: u64, name: Name) -> Checked<Sample> {
        let given = (self.prepare)().map_err(|error| failure!("{name} cannot be prepared: {error:?}"))?;
        let runs = watch.runs();
        let armed = now();
        let due = armed + distance;
        watch.arm(due);
        let start = now();
        let result = (self.call)(&given);
        let end = now();
        let ran = watch.await_run(runs);
        result.map_err(|error| failure!("{name}: {error:?}"))?;
        (self.undo)(given).map_err(|error| failure!("{name} cannot be undone: {error:?}"))?;
        let (lead, length) = ((start - armed) as i64, (end - start) as i64);
        Ok(Sample { lead, length, place: distance as i64 - lead, delay: ran.saturating_sub(due) })
    }
}

/// Ticks between places: 1, or N if the kernel's command line has `step=N`.
fn step(kit: &Kit) -> i64 {
    let line = &kit.info.command_line;
    let words = line.split(|byte| matches!(byte, b' ' | 0));
    let number =
        words.into_iter().find_map(|word| core::str::from_utf8(word.strip_prefix(b"step=")?).ok()?.parse().ok());
    number.filter(|&number| number > 0).unwrap_or(1)
}

/// Reports a scan. Before and after the call, the delay is only that of the switch to the most
/// urgent thread; elsewhere, any excess is time that this thread waited for the call.
fn say(name: Name, curve: &Curve, plain: &Sample) {
    let delay = curve.longest();
    let longest = delay.saturating_sub(curve.beside(plain.length));
    curve.print(name);
    println!("figure {name}_longest {longest} ns");
    println!("figure {name}_length {} ns", plain.length);
    println!("figure {name}_places {} 1", curve.places());
    PLACES.fetch_add(curve.places() as u64, Relaxed);
    LONGEST_DELAY.fetch_max(delay.into(), Relaxed);
    LONGEST.fetch_max(longest.into(), Relaxed);
    let number = name.call as usize;
    SCANNED[number / 64].fetch_or(1 << (number % 64), Relaxed);
}

/// Reports the figures over all scans; the measurement is invalid if a call was left out.
pub fn conclude(kit: &Kit) {
    println!("figure places {} 1", PLACES.load(Relaxed));
    println!("figure step {} ns", step(kit));
    println!("figure longest {} ns", LONGEST.load(Relaxed));
    println!("figure longest_delay {} ns", LONGEST_DELAY.load(Relaxed));
    let is_scanned = |call: &&Call| SCANNED[**call as usize / 64].load(Relaxed) >> (**call as usize % 64) & 1 != 0;
    println!("figure calls {} 1", Call::ALL.iter().filter(is_scanned).count());
    for call in Call::ALL.iter().filter(|call| !is_scanned(call)) {
        println!("invalid {} was not scanned", call.name());
    }
}
