//! The scan: a call again and again, interrupted a little later each time.

use crate::{curve::Curve, name::Name, watch::Watch};
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use pillion_abi::{call::Call, status::Result};
use pillion_runtime::{now, println};
use pillion_test_kit::{Kit, Outcome, failure};

/// How far before the call the scan begins, and how far behind its end it ends, in ticks.
const MARGIN: i64 = 24;

/// Distance at which an interrupt surely comes after the call.
const FAR: u64 = 1_000_000;

/// Calls that were scanned, a bit each; places of all; the longest delay of all; the longest
/// stretch that cannot be interrupted.
static SCANNED: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];
static PLACES: AtomicU64 = AtomicU64::new(0);
static LONGEST_DELAY: AtomicU64 = AtomicU64::new(0);
static LONGEST: AtomicU64 = AtomicU64::new(0);

struct Place(UnsafeCell<Curve>);

// SAFETY: only the first thread touches it.
unsafe impl Sync for Place {}

static CURVE: Place = Place(UnsafeCell::new(Curve::new()));

/// How one call went, in ticks.
struct Sample {
    /// From arming the timer to the call.
    lead: i64,
    /// How long the call took, the interrupt included if it came meanwhile.
    length: i64,
    /// When the interrupt came, counted from the begin of the call.
    place: i64,
    /// From then until the most urgent thread ran.
    delay: u64,
}

/// A call that is scanned: what makes it possible, the call, what takes its effect back.
pub struct Trial<P, C, U> {
    /// Brings about what the call needs, and returns that.
    prepare: P,
    /// The call.
    call: C,
    /// Takes back what both did.
    undo: U,
}

impl<T, R, P: FnMut() -> Result<T>, C: Fn(&T) -> Result<R>, U: FnMut(T) -> Result<()>> Trial<P, C, U> {
    /// One of these parts.
    pub fn new(prepare: P, call: C, undo: U) -> Trial<P, C, U> {
        Trial { prepare, call, undo }
    }

    /// Scans it and says the curve, the longest delay, and how long the call takes when nothing
    /// interrupts it.
    pub fn scan(mut self, kit: &mut Kit, name: Name) -> Outcome {
        // SAFETY: the only reference: no other thread comes here, and this function does not call
        // itself.
        let curve = unsafe { &mut *CURVE.0.get() };
        curve.clear();
        let watch = Watch::start(kit)?;
        // Twice: tables of page tables and the like are made the first time.
        self.once(&watch, FAR, name)?;
        let plain = self.once(&watch, FAR, name)?;
        let step = step(kit);
        let mut distance = plain.lead - MARGIN;
        loop {
            let sample = self.once(&watch, distance as u64, name)?;
            // Before that, the interrupt comes while the timer is armed.
            if sample.place >= -MARGIN && !curve.add(sample.place, sample.delay) {
                return Err(failure!("{name} is too long to be scanned"));
            }
            if sample.place > plain.length + MARGIN {
                break;
            }
            distance += step;
        }
        say(name, curve, &plain);
        Ok(())
    }

    fn once(&mut self, watch: &Watch, distance: u64, name: Name) -> Outcome<Sample> {
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

/// Ticks from one place to the next: 1, or N of `step=N` on the kernel's command line.
fn step(kit: &Kit) -> i64 {
    let line = &kit.info.command_line;
    let words = line.split(|byte| matches!(byte, b' ' | 0));
    let number =
        words.into_iter().find_map(|word| core::str::from_utf8(word.strip_prefix(b"step=")?).ok()?.parse().ok());
    number.filter(|&number| number > 0).unwrap_or(1)
}

/// Beside the call the delay is the switch to the most urgent thread alone; what it is longer
/// elsewhere, that thread waited for the call.
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

/// Says what concerns all scans; the measurement is invalid if a call was left out.
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
