//! Maps each exiting access to ports, memory or MSRs to the model that answers it.
//!
//! For ports, those of tasks and the kernel are checked first, and withheld ports before any model
//! that lets an access through. So no order of the models opens a port that is not the guest's.

use pillion_abi::vcpu::State;

use crate::answer::{Access, Answer, Effect};
use crate::apic::{self, ApicMode, LocalApic, Shared};
use crate::ioapic::IoApics;
use crate::msr::Msrs;
use crate::pci::Filter;
use crate::power::Power;
use crate::processors::Processors;
use crate::steal_time::StealTime;
use crate::{GeneralProtection, notes, ones};

/// All models but those of a single processor, and the ports that are not the guest's.
#[derive(Clone, Debug)]
pub struct Bus<'a> {
    hidden: &'a [[u32; 2]],
    /// Configuration space.
    pub pci: Filter,
    power: Power,
    /// I/O APICs.
    pub io_apics: IoApics,
    /// What processors send each other.
    pub processors: Processors,
}

/// What belongs to one processor.
#[derive(Clone, Debug)]
pub struct Local {
    index: usize,
    apic: LocalApic,
    msrs: Msrs,
    /// What it has lost to tasks. Its register names memory, so it is not on the bus.
    pub steal_time: StealTime,
}

impl Local {
    /// Processor `index` of [`Bus::processors`], whose local APIC has that ID. The first one boots.
    pub fn new(index: usize, apic_id: u32) -> Local {
        let apic = if index == 0 { LocalApic::new(apic_id) } else { LocalApic::not_booting(apic_id) };
        Local { index, apic, msrs: Msrs::default(), steal_time: StealTime::default() }
    }

    /// Its number in [`Bus::processors`].
    pub fn index(&self) -> usize {
        self.index
    }

    /// Whether its local APIC is an x2APIC.
    pub fn has_x2apic(&self) -> bool {
        self.apic.mode() == ApicMode::X2apic
    }

    /// Restores the state in which firmware hands over.
    pub fn reset(&mut self) {
        self.apic.reset();
        self.msrs = Msrs::default();
        self.steal_time = StealTime::default();
    }
}

const PORTS: u32 = 1 << 16;

impl<'a> Bus<'a> {
    /// `hidden` lists the ports of tasks and the kernel, as first port and count; `ids` are
    /// those of the processors' local APICs, the first one's first.
    pub fn new(hidden: &'a [[u32; 2]], pci: Filter, power: Power, io_apics: IoApics, ids: &[u32]) -> Bus<'a> {
        Bus { hidden, pci, power, io_apics, processors: Processors::new(ids) }
    }

    /// Resets the I/O APICs, and has all processors but the first wait to be started.
    pub fn reset(&mut self) {
        self.io_apics.reset();
        self.processors.reset();
    }

    /// Reads ports.
    pub fn read_port(&self, access: Access) -> Answer {
        let note = Answer::Value(notes::PORT.into());
        self.hidden(access)
            .or_else(|| self.pci.read(access))
            .or_else(|| self.power.read(access))
            .or_else(|| notes(access, note))
            .unwrap_or(Answer::Machine(0))
    }

    /// Writes ports.
    pub fn write_port(&mut self, access: Access, value: u32) -> Answer {
        let note = Answer::Effect(Effect::Note(value as u8));
        self.hidden(access)
            .or_else(|| self.pci.write(access, value))
            .or_else(|| self.power.write(access, value))
            .or_else(|| notes(access, note))
            .unwrap_or(Answer::Machine(value))
    }

    fn hidden(&self, access: Access) -> Option<Answer> {
        let hidden = self.hidden.iter().any(|[first, count]| access.reaches(*first, *count));
        hidden.then(|| access.absent())
    }

    /// Ports that must exit, as first port and count, in no order.
    pub fn taken_ports(&self) -> impl Iterator<Item = (u32, u32)> {
        let hidden = self.hidden.iter().map(|[first, count]| (*first, *count));
        let notes = (notes::PORT.into(), 1);
        let all = [Filter::PORTS, notes].into_iter().chain(hidden).chain(self.power.ports());
        all.filter(|(_, count)| *count != 0)
    }

    /// All other ports, in order: the guest uses them without an exit.
    pub fn free_ports(&self) -> impl Iterator<Item = (u32, u32)> {
        let mut from = 0;
        core::iter::from_fn(move || {
            while from < PORTS {
                let taken = self.taken_ports().filter(|(first, count)| first + count > from).min();
                let (first, end) = taken.map_or((PORTS, PORTS), |(first, count)| (first, first + count));
                let free = (from, first.saturating_sub(from));
                from = end;
                if free.1 != 0 {
                    return Some(free);
                }
            }
            None
        })
    }

    /// Reads unmapped memory; returns ones where nothing answers.
    pub fn read_memory(&mut self, local: &Local, address: u64, width: u8, now: u64, state: &State) -> u64 {
        self.io_apics.read(address, width).unwrap_or_else(|| match in_local_apic(address) {
            Some(offset) => local.apic.read_memory(offset, width, now, &self.shared(state)),
            None => ones(width),
        })
    }

    /// Writes unmapped memory; has no effect where nothing answers.
    pub fn write_memory(
        &mut self,
        local: &mut Local,
        address: u64,
        width: u8,
        value: u64,
        now: u64,
        state: &State,
    ) -> Effect {
        match (self.io_apics.write(address, width, value), in_local_apic(address)) {
            (Some(Some(route)), _) => Effect::Route(route),
            // The write may have unmasked the doorbell, which has no route.
            (Some(None), _) => self.io_apics.take_pended().map_or(Effect::None, Effect::Message),
            (None, Some(offset)) => {
                let before = self.shared(state);
                let mut shared = before;
                let effect = local.apic.write_memory(offset, width, value, now, &mut shared);
                shared.store(&before, state);
                self.processors.readdress(local.index, local.apic.address());
                effect
            }
            (None, None) => Effect::None,
        }
    }

    /// Reads a model-specific register. Fails if the guest is not offered the register.
    pub fn read_msr(&self, local: &Local, number: u32, now: u64, state: &State) -> Result<u64, GeneralProtection> {
        match apic::has_msr(number) {
            true => local.apic.read_msr(number, now, &self.shared(state)),
            false => local.msrs.read(number),
        }
    }

    /// Writes a model-specific register. Fails if the guest is not offered the register, or the
    /// value is invalid.
    pub fn write_msr(
        &mut self,
        local: &mut Local,
        number: u32,
        value: u64,
        now: u64,
        state: &State,
    ) -> Result<Effect, GeneralProtection> {
        if !apic::has_msr(number) {
            return local.msrs.write(number, value).map(|()| Effect::None);
        }
        let before = self.shared(state);
        let mut shared = before;
        let effect = local.apic.write_msr(number, value, now, &mut shared)?;
        shared.store(&before, state);
        self.processors.readdress(local.index, local.apic.address());
        Ok(effect)
    }

    /// Rearms a periodic timer for its next period. Call it before each entry; it returns the
    /// latest time for the next call.
    pub fn rearm(&self, local: &mut Local, now: u64, state: &State) -> Option<u64> {
        let before = self.shared(state);
        let mut shared = before;
        local.apic.rearm(now, &mut shared);
        shared.store(&before, state);
        local.apic.next_wake()
    }

    /// The state that the local APIC's model and the kernel share.
    fn shared(&self, state: &State) -> Shared {
        Shared::of(state, self.io_apics.level_vectors())
    }
}

/// The last port model: a note, at its port, as bytes.
fn notes(access: Access, note: Answer) -> Option<Answer> {
    const NOTE: Access = Access { port: notes::PORT, width: 1 };
    match access {
        NOTE => Some(note),
        _ => access.reaches(notes::PORT.into(), 1).then(|| access.absent()),
    }
}

/// The offset within the page of the local APIC's registers.
fn in_local_apic(address: u64) -> Option<u64> {
    address.checked_sub(apic::BASE).filter(|offset| *offset < apic::WINDOW)
}
