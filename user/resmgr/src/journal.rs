//! The log on its way out: printed text goes into memory at once, and from there to the device as
//! fast as the device takes it. No thread waits for the device: at 115,200 baud a line takes 10 ms.

use core::fmt::Write as _;
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Relaxed};
use pillion_abi::{NEVER, boot::slot};
use pillion_runtime::log::{Writer, use_writer};
use pillion_runtime::{log_put, now, sleep};

/// Most bytes that can wait.
const SIZE: usize = 128 << 10;

/// Bytes sent before the manager looks at its messages again: what the UART's FIFO takes. A client
/// that calls meanwhile waits for that many system calls.
const BATCH: u64 = 16;

/// Bytes that the UART transmits in a second.
const BYTES_PER_SECOND: u64 = 11_520;

/// How many times `finish` waits for a device that takes nothing. Each wait is as long as a full
/// FIFO takes to drain, so the waits are a second in all.
const PATIENCE: u32 = 720;

/// Most bytes of the line that reports lost bytes.
const LOSS: u64 = 64;

/// Text that waits to be sent. One thread writes and reads it; it is atomic to be a static.
pub struct Ring<const N: usize> {
    written: AtomicU64,
    sent: AtomicU64,
    /// Bytes dropped for want of room since text last found room.
    lost: AtomicU64,
    bytes: [AtomicU8; N],
}

impl<const N: usize> Ring<N> {
    const fn new() -> Ring<N> {
        Ring {
            written: AtomicU64::new(0),
            sent: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            bytes: [const { AtomicU8::new(0) }; N],
        }
    }

    /// Bytes not yet sent.
    fn waiting(&self) -> u64 {
        self.written.load(Relaxed) - self.sent.load(Relaxed)
    }

    fn room(&self) -> u64 {
        N as u64 - self.waiting()
    }

    /// Adds text, all of it or nothing. Reports earlier losses first.
    fn push(&self, text: &[u8]) {
        let lost = self.lost.load(Relaxed);
        let told = if lost == 0 { 0 } else { LOSS };
        if self.room() < told + text.len() as u64 {
            self.lost.store(lost + text.len() as u64, Relaxed);
            return;
        }
        self.lost.store(0, Relaxed);
        if lost != 0 {
            let _ = write!(Adder(self), "\n[resmgr] ({lost} bytes of the log are lost)\n");
        }
        text.iter().for_each(|byte| self.add(*byte));
    }

    fn add(&self, byte: u8) {
        let written = self.written.load(Relaxed);
        self.bytes[written as usize % N].store(byte, Relaxed);
        self.written.store(written + 1, Relaxed);
    }

    /// Offers at most `most` bytes to the device and stops at the first that it refuses. Returns
    /// whether the device took all that it was offered.
    fn send(&self, most: u64, mut device: impl FnMut(u8) -> bool) -> bool {
        let mut sent = self.sent.load(Relaxed);
        let end = sent + self.waiting().min(most);
        while sent != end {
            if !device(self.bytes[sent as usize % N].load(Relaxed)) {
                return false;
            }
            sent += 1;
            self.sent.store(sent, Relaxed);
        }
        true
    }
}

/// Lets `write!` append to a ring.
struct Adder<'a, const N: usize>(&'a Ring<N>);

impl<const N: usize> core::fmt::Write for Adder<'_, N> {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        text.bytes().for_each(|byte| self.0.add(byte));
        Ok(())
    }
}

/// The manager's log.
pub struct Journal {
    ring: Ring<SIZE>,
    /// When to offer the device more.
    next: AtomicU64,
    /// Ticks that a full FIFO takes to drain.
    pause: AtomicU64,
    /// The system is ending: the manager has nothing left to do but wait for the device.
    ending: AtomicBool,
}

static JOURNAL: Journal =
    Journal { ring: Ring::new(), next: AtomicU64::new(0), pause: AtomicU64::new(0), ending: AtomicBool::new(false) };

/// From now on, what the manager prints goes into the journal.
pub fn begin(tsc_hz: u64) {
    JOURNAL.pause.store(tsc_hz * BATCH / BYTES_PER_SECOND, Relaxed);
    use_writer(&Writer { write, finish });
}

fn write(text: &[u8]) {
    if JOURNAL.ending.load(Relaxed) && JOURNAL.ring.room() < 2 * text.len() as u64 {
        finish();
    }
    JOURNAL.ring.push(text);
}

/// Sends a byte to the UART, through the kernel.
pub fn uart(byte: u8) -> bool {
    log_put(slot::TRACE, byte).is_ok()
}

/// Whether so much waits that other work that prints should be put off.
pub fn is_behind() -> bool {
    JOURNAL.ring.waiting() > SIZE as u64 / 2
}

/// Whether everything printed has been sent.
pub fn is_empty() -> bool {
    JOURNAL.ring.waiting() == 0
}

/// When to call [`look`] again.
pub fn next_look() -> u64 {
    if JOURNAL.ring.waiting() == 0 { NEVER } else { JOURNAL.next.load(Relaxed) }
}

/// Sends a batch if it is time to. Returns whether anything was sent.
pub fn look(device: impl FnMut(u8) -> bool) -> bool {
    let time = now();
    if time < next_look() {
        return false;
    }
    let before = JOURNAL.ring.waiting();
    let all = JOURNAL.ring.send(BATCH, device);
    JOURNAL.next.store(if all { time } else { time.saturating_add(JOURNAL.pause.load(Relaxed)) }, Relaxed);
    JOURNAL.ring.waiting() != before
}

/// From now on no text is lost for want of room: printing waits instead.
pub fn ending() {
    JOURNAL.ending.store(true, Relaxed);
}

/// Waits until everything is sent, or the device takes nothing any more.
pub fn finish() {
    let mut patience = PATIENCE;
    while JOURNAL.ring.waiting() != 0 && patience != 0 {
        let before = JOURNAL.ring.waiting();
        if !JOURNAL.ring.send(u64::MAX, uart) {
            let _ = sleep(now().saturating_add(JOURNAL.pause.load(Relaxed)));
        }
        patience = if JOURNAL.ring.waiting() == before { patience - 1 } else { PATIENCE };
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use proptest::prelude::*;
    use std::{string::String, vec::Vec};

    fn all<const N: usize>(ring: &Ring<N>) -> String {
        let mut out = Vec::new();
        ring.send(u64::MAX, |byte| {
            out.push(byte);
            true
        });
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_finds_no_room_is_told() {
        let ring = Ring::<80>::new();
        ring.push(&[b'a'; 78]);
        ring.push(b"12345");
        ring.push(b"678");
        assert_eq!(all(&ring), "a".repeat(78));
        ring.push(b"b\n");
        assert_eq!(all(&ring), "\n[resmgr] (8 bytes of the log are lost)\nb\n");
    }

    #[test]
    fn a_device_that_is_full_is_asked_once() {
        let ring = Ring::<64>::new();
        ring.push(b"hello");
        let mut asked = 0;
        assert!(!ring.send(16, |_| {
            asked += 1;
            asked <= 2
        }));
        assert_eq!((asked, all(&ring).as_str()), (3, "llo"));
    }

    /// A UART as on a real machine: when empty it takes 16 bytes, and each takes 87 µs to leave.
    /// Time is in microseconds.
    struct Slow {
        now: u64,
        empty_at: u64,
        room: u32,
        got: Vec<u8>,
        in_vain: u32,
    }

    impl Slow {
        fn offer(&mut self, byte: u8) -> bool {
            self.now += 1;
            if self.room == 0 && self.now < self.empty_at {
                self.in_vain += 1;
                return false;
            }
            if self.room == 0 {
                (self.room, self.empty_at) = (16, self.now);
            }
            (self.room, self.empty_at) = (self.room - 1, self.empty_at.max(self.now) + 87);
            self.got.push(byte);
            true
        }
    }

    /// A tenth of a second's text leaves without excess polling: the writer is never busy for
    /// longer than filling a FIFO takes, and is refused once per fill.
    #[test]
    fn nobody_waits_for_a_slow_uart() {
        let ring = Ring::<4096>::new();
        let mut uart = Slow { now: 0, empty_at: 0, room: 0, got: Vec::new(), in_vain: 0 };
        let text: Vec<u8> = (0..1100u32).map(|i| b'a' + (i % 26) as u8).collect();
        ring.push(&text);
        let (mut busy, mut longest) = (0, 0);
        while ring.waiting() != 0 {
            let from = uart.now;
            let all = ring.send(BATCH, |byte| uart.offer(byte));
            busy += uart.now - from;
            longest = longest.max(uart.now - from);
            uart.now += if all { 1 } else { 1_000_000 * BATCH / BYTES_PER_SECOND };
        }
        assert_eq!(uart.got, text);
        assert!(longest <= BATCH + 1, "{longest} µs at a stretch");
        assert!(busy < 2 * text.len() as u64 && uart.now > 80 * text.len() as u64, "busy for {busy} of {}", uart.now);
        assert!(uart.in_vain <= text.len() as u32 / BATCH as u32 + 1, "{} polls in vain", uart.in_vain);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Accepted text comes out once and in order; of refused text, the bytes are counted.
        #[test]
        fn all_is_sent_or_counted(steps in prop::collection::vec(("[a-z]{0,60}", 0u64..80), 1..60)) {
            let ring = Ring::<256>::new();
            let (mut got, mut given) = (Vec::new(), 0);
            let mut take = |ring: &Ring<256>, most| ring.send(most, |byte| { got.push(byte); true });
            for (text, most) in steps {
                ring.push(text.as_bytes());
                given += text.len();
                take(&ring, most);
            }
            take(&ring, u64::MAX);
            ring.push(b"!");
            take(&ring, u64::MAX);
            let text = String::from_utf8(got).unwrap();
            let told: usize = text.split('(').skip(1).map(|rest| rest.split(' ').next().unwrap().parse::<usize>().unwrap()).sum();
            let letters = text.split('\n').filter(|line| !line.starts_with("[resmgr]")).map(str::len).sum::<usize>();
            prop_assert_eq!(letters - 1 + told, given);
        }
    }
}
