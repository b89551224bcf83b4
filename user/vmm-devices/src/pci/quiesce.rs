//! Stops the guest's devices from using the bus and from interrupting, before its memory is reused.

use super::{Filter, Function};

/// Reads configuration space, for [`Quiesce`].
pub trait ConfigAccess {
    /// The doubleword at `register` (a multiple of 4, below 256); all ones when nothing answers.
    fn read(&mut self, function: Function, register: u8) -> u32;
}

/// A write of a word for the caller to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    /// Function.
    pub function: Function,
    /// Register, even.
    pub register: u8,
    /// Value of the word.
    pub value: u16,
}

const COMMAND: u8 = 0x04;
const BUS_MASTER: u16 = 1 << 2;
const NO_INTX: u16 = 1 << 10;

/// Iterates over all functions that are not hidden and yields, for each device function where it
/// changes something, the write that ends its DMA, message-signalled interrupts and line
/// interrupts: bus mastering off and INTx disabled in the command register (PCI 3.0, 6.2.2). A
/// function that is no bus master can still hold a line that others share, until Linux takes the
/// line for broken. Bridges are left alone, because a hidden device may be behind one; Linux
/// switches both bits back when it starts a driver.
///
/// Each step is one device at most; the whole is all 256 buses of 256 functions.
pub struct Quiesce<'a, A> {
    filter: &'a Filter,
    access: A,
    next: u32,
}

/// Number of possible functions: only the guest knows which buses it has used.
const END: u32 = 1 << 16;

impl<'a, A: ConfigAccess> Quiesce<'a, A> {
    /// Over all buses.
    pub fn new(filter: &'a Filter, access: A) -> Self {
        Quiesce { filter, access, next: 0 }
    }

    /// The write for one function, if it needs one.
    fn visit(&mut self, function: Function) -> Option<Write> {
        if self.filter.is_hidden(function) || self.access.read(function, 0) as u16 == 0xffff {
            return None;
        }
        let header = self.access.read(function, 0x0c) >> 16 & 0x7f;
        let command = self.access.read(function, COMMAND) as u16;
        let value = command & !BUS_MASTER | NO_INTX;
        (header == 0 && value != command).then_some(Write { function, register: COMMAND, value })
    }

    /// Whether the device of this function 0 has no others: its other numbers may be aliases.
    fn is_single(&mut self, function: Function) -> bool {
        let header = self.access.read(function, 0x0c);
        self.access.read(function, 0) as u16 == 0xffff || header >> 16 & 0x80 == 0
    }
}

impl<A: ConfigAccess> Iterator for Quiesce<'_, A> {
    type Item = Write;

    fn next(&mut self) -> Option<Write> {
        while self.next < END {
            let function = Function::of(self.next << 8);
            self.next += 1;
            let found = self.visit(function);
            if function.function == 0 && self.is_single(function) {
                self.next += 7;
            }
            if found.is_some() {
                return found;
            }
        }
        None
    }
}
