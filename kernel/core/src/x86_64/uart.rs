//! A 16550 that only sends: detecting it, and sending a byte without waiting.
//!
//! At 115,200 baud a byte takes 87 µs to leave. The UART takes 16 at once and reports when all of
//! them are gone, so one look at its line status is worth 16 bytes. Only a kernel that boots or
//! dies waits for it, and then not for long.

use core::sync::atomic::{AtomicBool, AtomicU8, Ordering::Relaxed};

/// The eight registers of a UART.
pub trait Registers {
    /// Reads one.
    fn read(&mut self, register: u16) -> u8;
    /// Writes one.
    fn write(&mut self, register: u16, value: u8);
}

const DATA: u16 = 0;
const INTERRUPT_ENABLE: u16 = 1;
/// Written: FIFO control. Read: interrupt identification, whose two highest bits show that the
/// FIFOs work.
const FIFO: u16 = 2;
const LINE_CONTROL: u16 = 3;
const MODEM_CONTROL: u16 = 4;
const LINE_STATUS: u16 = 5;
const SCRATCH: u16 = 7;

/// The transmitter, with its FIFO if it has one, is empty.
const EMPTY: u8 = 0x20;
const FIFO_WORKS: u8 = 0xc0;

/// Bytes that the FIFO takes.
pub const DEPTH: u8 = 16;

/// Number of looks at the line status while waiting for a full FIFO: it takes 1.4 ms to leave, a
/// look 0.5 to 1 µs.
pub const PATIENCE: u32 = 10_000;

/// A UART, or none.
#[derive(Debug)]
pub struct Uart {
    /// Bytes that it takes when it is empty; 0 when there is none.
    depth: AtomicU8,
    /// Bytes that it takes now, without another look.
    room: AtomicU8,
    /// It did not take a byte in time: nobody waits for it until it takes one again.
    stuck: AtomicBool,
}

impl Uart {
    /// No UART.
    #[must_use]
    pub const fn none() -> Uart {
        Uart { depth: AtomicU8::new(0), room: AtomicU8::new(0), stuck: AtomicBool::new(false) }
    }

    /// Detects the UART and sets it up: 115,200 baud, 8 bits, no parity, FIFO on, no interrupts.
    /// Returns whether there is one.
    pub fn start(&self, registers: &mut impl Registers) -> bool {
        self.depth.store(0, Relaxed);
        self.room.store(0, Relaxed);
        if !answers(registers) {
            return false;
        }
        let setup = [(LINE_CONTROL, 0x80), (DATA, 1), (INTERRUPT_ENABLE, 0), (LINE_CONTROL, 0x03), (FIFO, 0xc7)];
        for (register, value) in setup.into_iter().chain([(MODEM_CONTROL, 0x03)]) {
            registers.write(register, value);
        }
        let works = registers.read(FIFO) & FIFO_WORKS == FIFO_WORKS;
        self.depth.store(if works { DEPTH } else { 1 }, Relaxed);
        true
    }

    /// Sends a byte if there is room for it now: one read and one write at most. Without a UART the
    /// byte goes nowhere, and there is always room.
    pub fn offer(&self, registers: &mut impl Registers, byte: u8) -> bool {
        let depth = self.depth.load(Relaxed);
        if depth == 0 {
            return true;
        }
        let mut room = self.room.load(Relaxed);
        if room == 0 {
            if registers.read(LINE_STATUS) & EMPTY == 0 {
                return false;
            }
            room = depth;
        }
        registers.write(DATA, byte);
        self.room.store(room - 1, Relaxed);
        self.stuck.store(false, Relaxed);
        true
    }

    /// Sends a byte, waiting for room, but not for long: then the byte is dropped, and so are those
    /// after it as long as none leaves. For a kernel that boots or dies.
    pub fn insist(&self, registers: &mut impl Registers, byte: u8) {
        let patience = if self.stuck.load(Relaxed) { 1 } else { PATIENCE };
        for _ in 0..patience {
            if self.offer(registers, byte) {
                return;
            }
            core::hint::spin_loop();
        }
        self.stuck.store(true, Relaxed);
    }
}

/// Whether the scratch register keeps what is written to it, and the line status is not what a
/// missing device reads as. The write in between is for a bus that still holds its last value.
fn answers(registers: &mut impl Registers) -> bool {
    let keeps = [0x5a, 0xa5].into_iter().all(|value| {
        registers.write(SCRATCH, value);
        registers.write(INTERRUPT_ENABLE, 0);
        registers.read(SCRATCH) == value
    });
    keeps && registers.read(LINE_STATUS) != 0xff
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    /// Nanoseconds that an access takes, and that a byte does.
    const ACCESS: u64 = 700;
    const BYTE: u64 = 86_805;

    /// A UART whose time passes with each access.
    struct Model {
        now: u64,
        /// Each byte, and when it has left.
        sent: Vec<(u8, u64)>,
        depth: usize,
        scratch: u8,
        reads: usize,
        writes: usize,
        /// The UART sends nothing any more.
        dead: bool,
        /// There is no UART, and the bus first reads as this.
        missing: Option<u8>,
    }

    impl Model {
        fn new(depth: usize) -> Model {
            Model { now: 0, sent: Vec::new(), depth, scratch: 0, reads: 0, writes: 0, dead: false, missing: None }
        }

        fn waiting(&self) -> usize {
            self.sent.iter().filter(|(_, gone)| *gone > self.now).count()
        }

        fn bytes(&self) -> Vec<u8> {
            self.sent.iter().map(|(byte, _)| *byte).collect()
        }
    }

    impl Registers for Model {
        fn read(&mut self, register: u16) -> u8 {
            self.now += ACCESS;
            self.reads += 1;
            match (self.missing, register) {
                (Some(floats), _) => floats,
                (None, LINE_STATUS) if self.dead || self.waiting() != 0 => 0,
                (None, LINE_STATUS) => EMPTY | 0x40,
                (None, SCRATCH) => self.scratch,
                (None, FIFO) if self.depth > 1 => FIFO_WORKS | 1,
                _ => 0,
            }
        }

        fn write(&mut self, register: u16, value: u8) {
            self.now += ACCESS;
            self.writes += 1;
            if let Some(floats) = &mut self.missing {
                if *floats != 0xff {
                    *floats = value;
                }
            } else if register == SCRATCH {
                self.scratch = value;
            } else if register == DATA && self.scratch == 0xa5 && value != 1 {
                assert!(self.waiting() < self.depth, "a byte is lost");
                let from = self.sent.last().map_or(0, |(_, gone)| *gone).max(self.now);
                self.sent.push((value, if self.dead { u64::MAX } else { from + BYTE }));
            }
        }
    }

    #[test]
    fn a_bus_without_one_is_told_from_one() {
        for (missing, there) in [(None, true), (Some(0xff), false), (Some(0), false)] {
            let (uart, mut model) = (Uart::none(), Model { missing, ..Model::new(16) });
            assert_eq!(uart.start(&mut model), there);
        }
    }

    #[test]
    fn without_one_nothing_waits_and_nothing_is_touched() {
        let (uart, mut model) = (Uart::none(), Model { missing: Some(0xff), ..Model::new(16) });
        uart.start(&mut model);
        let before = model.reads + model.writes;
        for byte in 0..=255 {
            assert!(uart.offer(&mut model, byte));
            uart.insist(&mut model, byte);
        }
        assert_eq!(model.reads + model.writes, before);
    }

    /// A sender that comes back after the time that a FIFO takes to empty finds room for a whole
    /// FIFO, never looks twice in vain, and loses nothing.
    #[test]
    fn bytes_leave_in_order_and_nobody_polls() {
        for depth in [16, 1] {
            let (uart, mut model) = (Uart::none(), Model::new(depth));
            assert!(uart.start(&mut model));
            let text: Vec<u8> = (0..1000u32).map(|i| (i % 250 + 2) as u8).collect();
            let (mut next, mut in_vain) = (0, 0);
            while next < text.len() {
                let accesses = model.reads + model.writes;
                if uart.offer(&mut model, text[next]) {
                    (next, in_vain) = (next + 1, 0);
                } else {
                    in_vain += 1;
                    assert!(in_vain <= 1, "polls");
                    model.now += depth as u64 * BYTE;
                }
                assert!(model.reads + model.writes - accesses <= 2);
            }
            assert_eq!(model.bytes(), text);
        }
    }

    #[test]
    fn a_kernel_that_dies_says_everything() {
        let (uart, mut model) = (Uart::none(), Model::new(16));
        uart.start(&mut model);
        let text = [b'x'; 300];
        text.iter().for_each(|byte| uart.insist(&mut model, *byte));
        assert_eq!(model.bytes(), text);
    }

    #[test]
    fn a_uart_that_never_goes_on_stops_nobody() {
        let (uart, mut model) = (Uart::none(), Model { dead: true, ..Model::new(16) });
        uart.start(&mut model);
        (0..10_000).for_each(|_| uart.insist(&mut model, b'x'));
        assert!(model.reads < PATIENCE as usize + 10_000 + 10, "{} reads", model.reads);
        model.dead = false;
        model.sent.clear();
        (0..100).for_each(|_| uart.insist(&mut model, b'y'));
        assert_eq!(model.bytes(), [b'y'; 100]);
    }
}
