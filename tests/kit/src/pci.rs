//! PCI configuration through ports 0xcf8 and 0xcfc.

use pillion_abi::boot::slot;
use pillion_runtime::{port_in, port_out};

const ADDRESS: u16 = 0xcf8;
const DATA: u16 = 0xcfc;

/// A function on bus 0.
#[derive(Clone, Copy, Debug)]
pub struct Function(u32);

impl Function {
    /// Finds the function with these identifiers (vendor in the low half).
    pub fn find(identity: u32) -> Option<Function> {
        (0..256).map(|number| Function(number << 8)).find(|function| function.read(0) == identity)
    }

    /// Reads a register.
    pub fn read(self, register: u32) -> u32 {
        let _ = port_out(slot::PORTS, ADDRESS, 4, 1 << 31 | self.0 | register & !3);
        port_in(slot::PORTS, DATA, 4).unwrap_or(u32::MAX)
    }

    /// Writes a register.
    pub fn write(self, register: u32, value: u32) {
        let _ = port_out(slot::PORTS, ADDRESS, 4, 1 << 31 | self.0 | register & !3);
        let _ = port_out(slot::PORTS, DATA, 4, value);
    }

    /// Enables the device's memory space and bus mastering.
    pub fn enable(self) {
        const MEMORY_AND_MASTER: u32 = 6;
        self.write(4, self.read(4) & 0xffff | MEMORY_AND_MASTER);
    }

    /// Register of the capability with this number.
    pub fn capability(self, number: u32) -> Option<u32> {
        let mut at = self.read(0x34) & 0xfc;
        for _ in 0..48 {
            let head = self.read(at);
            if at == 0 || head & 0xff == number {
                break;
            }
            at = head >> 8 & 0xfc;
        }
        (at != 0).then_some(at)
    }

    /// Programs a message-signalled interrupt. Returns false if the device has none.
    #[must_use]
    pub fn set_message(self, address: u64, data: u64) -> bool {
        const MSI: u32 = 5;
        const WIDE: u32 = 1 << 23;
        const ENABLE: u32 = 1 << 16;
        let Some(at) = self.capability(MSI) else { return false };
        let head = self.read(at);
        self.write(at + 4, address as u32);
        if head & WIDE != 0 {
            self.write(at + 8, (address >> 32) as u32);
        }
        self.write(at + if head & WIDE != 0 { 12 } else { 8 }, data as u32);
        self.write(at, head & 0xff8f_ffff | ENABLE);
        true
    }
}
