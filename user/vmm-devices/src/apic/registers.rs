//! The registers, by their number in both modes (SDM vol. 3, tables 11-1 and 11-6).

use super::{Destination, Effect, Kind, LocalApic, Message, Shared};

/// Mask bit of a local vector table entry.
pub(super) const MASKED: u32 = 1 << 16;

const ID: u32 = 0x02;
const VERSION: u32 = 0x03;
const TASK_PRIORITY: u32 = 0x08;
const PROCESSOR_PRIORITY: u32 = 0x0a;
const END_OF_INTERRUPT: u32 = 0x0b;
const LOGICAL: u32 = 0x0d;
const FORMAT: u32 = 0x0e;
const SPURIOUS: u32 = 0x0f;
const IN_SERVICE: u32 = 0x10;
const TRIGGER_MODE: u32 = 0x18;
const REQUESTED: u32 = 0x20;
const ERRORS: u32 = 0x28;
const COMMAND: u32 = 0x30;
const COMMAND_HIGH: u32 = 0x31;
const TIMER: u32 = 0x32;
const LOCAL: u32 = 0x33;
const LOCAL_LAST: u32 = 0x37;
const INITIAL_COUNT: u32 = 0x38;
const CURRENT_COUNT: u32 = 0x39;
const DIVIDE: u32 = 0x3e;
const SELF: u32 = 0x3f;

/// Version 0x14; the highest local vector entry is number 5.
const VERSION_VALUE: u32 = 0x0005_0014;
const SOFTWARE_ENABLED: u32 = 1 << 8;
const SPURIOUS_BITS: u32 = 0x3ff;
const TIMER_BITS: u32 = 0x0007_00ff;
/// Writable bits of thermal, performance, LINT0, LINT1 and error.
const LOCAL_BITS: [u32; 5] = [0x107ff, 0x107ff, 0x1a7ff, 0x1a7ff, 0x100ff];
/// Delivery status and remote IRR, which a write may contain.
const READ_ONLY_BITS: u32 = 0x5000;
const COMMAND_BITS: u64 = 0xffff_ffff_000c_cfff;
const DIVIDE_BITS: u32 = 0xb;
const ERROR_SENT_VECTOR: u32 = 1 << 5;

impl LocalApic {
    pub(super) fn read_x2apic(&self, register: u32, now: u64, shared: &Shared) -> Option<u64> {
        match register {
            ID => Some(self.id.into()),
            LOGICAL => Some(self.address().logical.into()),
            COMMAND => Some(shared.command),
            FORMAT | COMMAND_HIGH | END_OF_INTERRUPT | SELF => None,
            _ => self.read_common(register, now, shared).map(u64::from),
        }
    }

    pub(super) fn read_xapic(&self, register: u32, now: u64, shared: &Shared) -> Option<u32> {
        match register {
            ID => Some(self.id << 24),
            LOGICAL => Some(self.logical),
            FORMAT => Some(self.format),
            COMMAND => Some(shared.command as u32),
            COMMAND_HIGH => Some((shared.command >> 32) as u32),
            _ => self.read_common(register, now, shared),
        }
    }

    fn read_common(&self, register: u32, now: u64, shared: &Shared) -> Option<u32> {
        Some(match register {
            VERSION => VERSION_VALUE,
            TASK_PRIORITY => u32::from(shared.tpr),
            PROCESSOR_PRIORITY => u32::from(processor_priority(shared)),
            SPURIOUS => self.spurious,
            IN_SERVICE..=0x17 => word(&shared.isr, register - IN_SERVICE),
            TRIGGER_MODE..=0x1f => word(&shared.tmr, register - TRIGGER_MODE),
            REQUESTED..=0x27 => word(&shared.irr, register - REQUESTED),
            ERRORS => self.errors_read,
            TIMER => self.timer.entry(),
            LOCAL..=LOCAL_LAST => self.local[(register - LOCAL) as usize],
            INITIAL_COUNT => self.timer.initial_count(),
            CURRENT_COUNT => self.timer.current_count(now),
            DIVIDE => self.timer.divide(),
            _ => return None,
        })
    }

    /// Writes in x2APIC mode. `None` is general protection, as for reserved bits (11.12.1.3).
    pub(super) fn write_x2apic(&mut self, register: u32, value: u64, now: u64, shared: &mut Shared) -> Option<Effect> {
        if register == COMMAND {
            return (value & !COMMAND_BITS == 0).then(|| self.send(value, shared));
        }
        let value = u32::try_from(value).ok()?;
        let writable = match register {
            TASK_PRIORITY | SELF => 0xff,
            END_OF_INTERRUPT | ERRORS => 0,
            SPURIOUS => SPURIOUS_BITS,
            TIMER => TIMER_BITS | READ_ONLY_BITS & 0x1000,
            LOCAL..=LOCAL_LAST => LOCAL_BITS[(register - LOCAL) as usize] | READ_ONLY_BITS,
            INITIAL_COUNT => u32::MAX,
            DIVIDE => DIVIDE_BITS,
            _ => return None,
        };
        if value & !writable != 0 {
            return None;
        }
        Some(if register == SELF {
            self.interrupt_self(value)
        } else {
            self.write_common(register, value, now, shared)
        })
    }

    /// Writes in xAPIC mode, which ignores reserved bits and registers that cannot be written.
    pub(super) fn write_xapic(&mut self, register: u32, value: u32, now: u64, shared: &mut Shared) -> Effect {
        match register {
            LOGICAL => self.logical = value & 0xff00_0000,
            FORMAT => self.format = value | 0x0fff_ffff,
            COMMAND_HIGH => shared.command = shared.command & 0xffff_ffff | u64::from(value & 0xff00_0000) << 32,
            COMMAND => {
                let command = shared.command & !0xffff_ffff | u64::from(value) & COMMAND_BITS;
                return self.send(command, shared);
            }
            _ => return self.write_common(register, value, now, shared),
        }
        Effect::None
    }

    fn write_common(&mut self, register: u32, value: u32, now: u64, shared: &mut Shared) -> Effect {
        match register {
            TASK_PRIORITY => shared.tpr = value as u8,
            END_OF_INTERRUPT => return Effect::EndOfInterrupt,
            SPURIOUS => self.set_spurious(value, now, shared),
            ERRORS => self.errors_read = core::mem::take(&mut self.errors),
            TIMER => self.timer.set_entry(self.maskable(value & TIMER_BITS), now, shared),
            LOCAL..=LOCAL_LAST => {
                let index = (register - LOCAL) as usize;
                self.local[index] = self.maskable(value & LOCAL_BITS[index]);
            }
            INITIAL_COUNT => self.timer.set_initial_count(value, now, shared),
            DIVIDE => self.timer.set_divide(value & DIVIDE_BITS, now, shared),
            _ => {}
        }
        Effect::None
    }

    /// While software has disabled the APIC, every local vector stays masked (11.4.7.2).
    fn maskable(&self, entry: u32) -> u32 {
        if self.spurious & SOFTWARE_ENABLED == 0 { entry | MASKED } else { entry }
    }

    fn set_spurious(&mut self, value: u32, now: u64, shared: &mut Shared) {
        self.spurious = value & SPURIOUS_BITS;
        if self.spurious & SOFTWARE_ENABLED == 0 {
            self.local.iter_mut().for_each(|entry| *entry |= MASKED);
            self.timer.set_entry(self.timer.entry() | MASKED, now, shared);
        }
    }

    /// The interrupt command register (11.6.1). A vector below 16 is an error of the sender.
    fn send(&mut self, command: u64, shared: &mut Shared) -> Effect {
        shared.command = command;
        let Some(message) = Message::decode(command, self.mode) else { return Effect::None };
        let to_self_alone = match message.to {
            Destination::Own => true,
            Destination::Physical(id) => id == self.id,
            _ => false,
        };
        match (message.kind, to_self_alone) {
            (Kind::Fixed(vector) | Kind::Lowest(vector), _) if vector < 16 || to_self_alone => {
                self.interrupt_self(vector.into())
            }
            (Kind::Nmi, true) => Effect::Nmi,
            // A processor can neither reset nor start itself.
            (_, true) => Effect::None,
            (_, false) => Effect::Message(message),
        }
    }

    fn interrupt_self(&mut self, vector: u32) -> Effect {
        match vector as u8 {
            0..16 => {
                self.errors |= ERROR_SENT_VECTOR;
                Effect::None
            }
            vector => Effect::Interrupt(vector),
        }
    }
}

/// 11.8.3.1: the class of the highest vector in service, or the task priority if that is higher.
fn processor_priority(shared: &Shared) -> u8 {
    let in_service = highest(&shared.isr).map_or(0, |vector| vector & 0xf0);
    if shared.tpr & 0xf0 >= in_service { shared.tpr } else { in_service }
}

fn highest(vectors: &[u64; 4]) -> Option<u8> {
    let index = vectors.iter().rposition(|word| *word != 0)?;
    let bit = 63 - vectors.get(index)?.leading_zeros();
    Some((index as u32 * 64 + bit) as u8)
}

/// Doubleword `index` (0 to 7) of a set of vectors.
fn word(vectors: &[u64; 4], index: u32) -> u32 {
    (vectors[(index / 2 % 4) as usize] >> (index % 2 * 32)) as u32
}
