//! Time: the time-stamp counter, and the local APIC's timer, which is programmed in its own ticks.

use core::arch::x86_64::_rdtsc;
use core::sync::atomic::{AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

use super::{apic, cpu, fatal, log, port};
use pillion_abi::NEVER;
use pillion_core::x86_64::processor::{plausible_tsc_hz, told_tsc_hz};
use pillion_firmware::acpi::Tables;

static TSC_HZ: AtomicU64 = AtomicU64::new(0);
/// Ticks of the local APIC's timer per tick of the counter, times 2^32.
static RATIO: AtomicU64 = AtomicU64::new(0);
/// Longest time that the timer can be set to, in ticks of the counter.
static REACH: AtomicU64 = AtomicU64::new(0);

/// The counter of a processor that compares it with the first one's, shifted by one, and a bit: 1
/// from that processor, 0 the answer.
static EXCHANGE: AtomicU64 = AtomicU64::new(0);
const ROUNDS: u32 = 64;

/// Ticks of the time-stamp counter.
#[inline]
#[must_use]
pub fn now() -> u64 {
    // SAFETY: every processor that got past `cpu::init` has the counter.
    unsafe { _rdtsc() }
}

/// Ticks of the time-stamp counter in a second.
#[must_use]
pub fn tsc_hz() -> u64 {
    TSC_HZ.load(Relaxed)
}

/// Sets the timer to a deadline; [`NEVER`] stops it. It fires at once if the deadline has passed,
/// and early, once or several times, if it is beyond the timer's reach. The time is rounded down to
/// whole ticks of the timer, so that it fires less than a tick too soon.
#[inline(always)]
pub fn program_deadline(deadline: u64) {
    if deadline == NEVER {
        return apic::set_timer(0);
    }
    let distance = deadline.saturating_sub(now());
    let ticks = if distance >= REACH.load(Relaxed) {
        u32::MAX
    } else {
        ((u128::from(distance) * u128::from(RATIO.load(Relaxed))) >> 32) as u32
    };
    apic::set_timer(ticks.max(1));
}

/// Finds the frequencies of the counter and the timer.
///
/// # Safety
/// The ACPI timer is at the port that the tables name.
pub unsafe fn init(tables: &Tables) {
    // SAFETY: the caller vouches for the timer.
    let (tsc_hz, source) = unsafe { find_tsc_hz(tables.pm_timer) };
    TSC_HZ.store(tsc_hz, Relaxed);
    let apic_hz = measure_apic(tsc_hz, tsc_hz / 20);
    if tsc_hz == 0 || apic_hz == 0 {
        fatal("a clock stands still");
    }
    let ratio = (u128::from(apic_hz) << 32) / u128::from(tsc_hz);
    RATIO.store(ratio.min(u64::MAX.into()) as u64, Relaxed);
    let reach = (u128::from(u32::MAX) << 32) / ratio.max(1);
    REACH.store(reach.min(u64::MAX.into()) as u64, Relaxed);
    log!("[boot] TSC {tsc_hz} Hz ({source}), timer {apic_hz} Hz");
}

/// # Safety
/// The ACPI timer is at the port, unless that is 0.
unsafe fn find_tsc_hz(pm_timer: u16) -> (u64, &'static str) {
    if let Some(hz) = told_tsc_hz(cpu::leaf) {
        return (hz, "CPUID");
    }
    // SAFETY: the caller vouches for the port; the closure is called only if it is not 0.
    if let Some(hz) = (pm_timer != 0).then(|| unsafe { measure_with_pm_timer(pm_timer) }).flatten() {
        return (hz, "ACPI timer");
    }
    (measure_with_pit().unwrap_or(0), "8254")
}

/// Reads another clock and the counter together; of a few tries the shortest counts.
fn together(read: impl Fn() -> u32) -> (u64, u32) {
    let mut best = (u64::MAX, 0, 0);
    for _ in 0..8 {
        let before = now();
        let value = read();
        let after = now();
        let took = after.wrapping_sub(before);
        if took < best.0 {
            best = (took, before + took / 2, value);
        }
    }
    (best.1, best.2)
}

/// The measurements are good to about this many millionths.
const UNCERTAINTY: u64 = 30;

/// Rounds a frequency to a whole number of megahertz if that is within [`UNCERTAINTY`].
fn rounded(hz: u64) -> u64 {
    const MEGA: u64 = 1_000_000;
    let whole = (hz + MEGA / 2) / MEGA * MEGA;
    if whole.abs_diff(hz) <= hz / MEGA * UNCERTAINTY { whole } else { hz }
}

/// # Safety
/// The ACPI timer is at the port; reading it changes nothing.
unsafe fn measure_with_pm_timer(port: u16) -> Option<u64> {
    const HZ: u64 = 3_579_545;
    const MASK: u32 = 0xff_ffff;
    const TICKS: u32 = (HZ / 20) as u32;
    // SAFETY: the caller vouches for the port.
    let read = || unsafe { port::read32(port) } & MASK;
    let (tsc, start) = together(read);
    for _ in 0..10_000_000 {
        if read().wrapping_sub(start) & MASK >= TICKS {
            let (end_tsc, end) = together(read);
            let ticks = end.wrapping_sub(start) & MASK;
            // A timer that jumps may be back where it started.
            let hz = (u128::from(end_tsc - tsc) * u128::from(HZ)).checked_div(ticks.into())?;
            return plausible_tsc_hz(rounded(hz as u64));
        }
    }
    None
}

/// Channel 2 of the 8254, whose output can be read back, counts 50 ms once.
fn measure_with_pit() -> Option<u64> {
    const HZ: u64 = 1_193_182;
    const TICKS: u16 = (HZ / 20) as u16;
    const GATE: u16 = 0x61;
    const OUTPUT: u8 = 0x20;
    // SAFETY: the timer's and the speaker's ports on every PC; the speaker stays off.
    unsafe {
        port::write8(GATE, port::read8(GATE) & !2 | 1);
        port::write8(0x43, 0xb0);
        port::write8(0x42, TICKS as u8);
        port::write8(0x42, (TICKS >> 8) as u8);
    }
    let start = now();
    for _ in 0..10_000_000 {
        // SAFETY: as above.
        if unsafe { port::read8(GATE) } & OUTPUT != 0 {
            return plausible_tsc_hz(rounded(
                ((u128::from(now() - start) * u128::from(HZ)) / u128::from(TICKS)) as u64,
            ));
        }
    }
    None
}

/// Speed of the local APIC's timer, by so many ticks of the counter.
fn measure_apic(tsc_hz: u64, during: u64) -> u64 {
    apic::mask_timer(true);
    apic::set_timer(u32::MAX);
    wait(tsc_hz / 1000); // until what the start disturbed has settled
    let (start_tsc, start) = together(apic::timer_left);
    wait(during);
    let (end_tsc, end) = together(apic::timer_left);
    apic::set_timer(0);
    apic::mask_timer(false);
    let ticks = u128::from(start.wrapping_sub(end)) * u128::from(tsc_hz);
    rounded((ticks / u128::from(end_tsc.wrapping_sub(start_tsc).max(1))) as u64)
}

fn wait(ticks: u64) {
    let start = now();
    while now().wrapping_sub(start) < ticks {
        core::hint::spin_loop();
    }
}

/// Whether the running processor's timer is as fast as the first one's, up to a hundredth. Takes 2
/// milliseconds.
#[must_use]
pub fn timer_is_like_the_first() -> bool {
    let hz = u128::from(measure_apic(tsc_hz(), tsc_hz() / 1000));
    let expected = (u128::from(tsc_hz()) * u128::from(RATIO.load(Relaxed))) >> 32;
    hz.abs_diff(expected) * 100 <= expected
}

/// Waits for the other side of the exchange, for a second at most.
fn exchanged(side: u64) -> Option<u64> {
    let start = now();
    loop {
        let value = EXCHANGE.load(Acquire);
        if value & 1 == side {
            return Some(value >> 1);
        }
        if now().wrapping_sub(start) > tsc_hz() {
            return None;
        }
        core::hint::spin_loop();
    }
}

/// The first processor's side of [`counts_with_the_first`].
pub fn echo() {
    for _ in 0..ROUNDS {
        if exchanged(1).is_none() {
            return;
        }
        EXCHANGE.store(now() << 1, Release);
    }
}

/// Whether the running processor's counter shows the same time as the first one's, up to a
/// microsecond. `ready` has to make the first one call [`echo`].
#[must_use]
pub fn counts_with_the_first(ready: impl FnOnce()) -> bool {
    let tolerance = tsc_hz() / 1_000_000;
    EXCHANGE.store(0, Relaxed);
    ready();
    (0..ROUNDS).all(|_| {
        let sent = now();
        EXCHANGE.store(sent << 1 | 1, Release);
        exchanged(0).is_some_and(|first| sent <= first + tolerance && first <= now() + tolerance)
    })
}
