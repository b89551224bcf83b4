//! All I/O APICs of the machine. Each has a model, its address, and its lines among all lines.
//!
//! The doorbell follows the last line of the last one, so that no other line has its number.

use super::{IoApic, LINES, Route, WINDOW};
use crate::apic::Message;
use pillion_abi::boot::{self, IO_APICS};

/// One I/O APIC.
#[derive(Clone, Debug)]
struct Placed {
    base: u64,
    first: u8,
    model: IoApic,
}

/// The models.
#[derive(Clone, Debug)]
pub struct IoApics {
    all: [Option<Placed>; IO_APICS],
    /// Lines that the guest's shield lets through: bit `i` for line `i`.
    through: u64,
}

/// A route of an I/O APIC's line, as one of the machine's lines.
fn among_all(route: Route, first: u8, through: u64) -> Route {
    let line = route.line + first;
    Route { line, through: through.checked_shr(line.into()).unwrap_or(0) & 1 != 0, ..route }
}

impl IoApics {
    /// The machine's I/O APICs whose lines are all below [`LINES`], with a set of hidden lines; the
    /// guest has no others. With or without a doorbell.
    pub fn new(machine: &[boot::IoApic; IO_APICS], hidden: u64, doorbell: bool) -> IoApics {
        let end = |found: &boot::IoApic| found.first.checked_add(found.lines).filter(|end| *end <= LINES as u32);
        let usable = |found: &&boot::IoApic| found.lines != 0 && end(found).is_some();
        let last = machine.iter().filter(usable).filter_map(end).max();
        let mut all = [const { None }; IO_APICS];
        for (to, found) in all.iter_mut().zip(machine.iter().filter(usable)) {
            let model = IoApic::new(found.lines as u8, hidden >> found.first);
            let rings = doorbell && end(found) == last;
            let model = if rings { model.with_doorbell() } else { model };
            *to = Some(Placed { base: found.address, first: found.first as u8, model });
        }
        IoApics { all, through: 0 }
    }

    /// The same, with a set of lines that the guest's shield lets through.
    pub fn letting_through(self, through: u64) -> IoApics {
        IoApics { through, ..self }
    }

    fn iter(&self) -> impl Iterator<Item = &Placed> {
        self.all.iter().flatten()
    }

    /// Their addresses.
    pub fn addresses(&self) -> impl Iterator<Item = u64> {
        self.iter().map(|placed| placed.base)
    }

    /// Line of the doorbell among all lines.
    pub fn doorbell(&self) -> Option<u32> {
        self.iter().find_map(|placed| Some(u32::from(placed.first) + u32::from(placed.model.doorbell()?)))
    }

    /// See [`IoApic::ring`].
    pub fn ring(&mut self) -> Option<Message> {
        self.all.iter_mut().flatten().find_map(|placed| placed.model.ring())
    }

    /// See [`IoApic::take_pended`].
    pub fn take_pended(&mut self) -> Option<Message> {
        self.all.iter_mut().flatten().find_map(|placed| placed.model.take_pended())
    }

    /// The I/O APIC at an address, and the offset in its window.
    fn at(&mut self, address: u64) -> Option<(&mut Placed, u64)> {
        let inside = |placed: &&mut Placed| address.checked_sub(placed.base).is_some_and(|offset| offset < WINDOW);
        let placed = self.all.iter_mut().flatten().find(inside)?;
        let offset = address - placed.base;
        Some((placed, offset))
    }

    /// Reads; `None` if there is no I/O APIC at the address.
    pub fn read(&mut self, address: u64, width: u8) -> Option<u64> {
        self.at(address).map(|(placed, offset)| placed.model.read(offset, width))
    }

    /// Writes, and returns the route that changed; `None` if there is no I/O APIC at the address.
    pub fn write(&mut self, address: u64, width: u8, value: u64) -> Option<Option<Route>> {
        let through = self.through;
        let (placed, offset) = self.at(address)?;
        let route = placed.model.write(offset, width, value);
        Some(route.map(|route| among_all(route, placed.first, through)))
    }

    /// The current routes of all lines that have one.
    pub fn routes(&self) -> impl Iterator<Item = Route> {
        self.iter().flat_map(|placed| {
            let routes = (0..LINES).filter_map(|line| placed.model.route(line));
            routes.map(|route| among_all(route, placed.first, self.through))
        })
    }

    /// See [`IoApic::level_vectors`].
    pub fn level_vectors(&self) -> [u64; 4] {
        self.iter().fold([0; 4], |mut all, placed| {
            all.iter_mut().zip(placed.model.level_vectors()).for_each(|(to, from)| *to |= from);
            all
        })
    }

    /// See [`IoApic::reset`].
    pub fn reset(&mut self) {
        self.all.iter_mut().flatten().for_each(|placed| placed.model.reset());
    }
}
