//! A guest of a few bytes, in real mode.

use crate::{Checked, Kit, done};
use pillion_abi::{
    PAGE,
    boot::slot,
    object::{Kind, map},
    vcpu::{Segment, State, dirty},
};
use pillion_runtime::{Cap, Values, memory_map, vcpu_configure, vcpu_run};

/// Bytes of guest-physical memory, from address 0 on.
pub const MEMORY: u64 = 64 << 10;

/// A guest.
pub struct Guest {
    /// Its processor.
    pub vcpu: Cap,
    /// Its space.
    pub space: Cap,
    /// Its memory, as the guest sees it.
    pub memory: Cap,
    /// Memory of the shared state.
    pub state_memory: Cap,
    pub(crate) state: u64,
    pub(crate) bytes: u64,
}

const fn segment(attributes: u16) -> Segment {
    Segment { selector: 0, attributes, limit: 0xffff, base: 0 }
}

impl Guest {
    /// Makes a guest with empty memory.
    pub fn new(kit: &mut Kit) -> Checked<Guest> {
        Guest::on(kit, 0)
    }

    /// As [`Guest::new`], with a home for its vCPU.
    pub fn on(kit: &mut Kit, home: u64) -> Checked<Guest> {
        let mut guest = Guest::make(kit, home, 0)?;
        guest.reset();
        Ok(guest)
    }

    /// Makes a guest with home and flags for its vCPU; its state must be set.
    pub(crate) fn make(kit: &mut Kit, home: u64, flags: u64) -> Checked<Guest> {
        let vcpu = done!(kit.make(Kind::Vcpu, home));
        let space = done!(kit.make(Kind::GuestSpace, 8));
        let (state_memory, state) = done!(kit.memory(PAGE, map::WRITE));
        let (own, bytes) = done!(kit.memory(MEMORY, map::WRITE));
        let memory = done!(kit.limited(own, 15));
        done!(memory_map(memory, space, 0, map::WRITE | map::EXECUTE));
        done!(vcpu_configure(vcpu, space, state_memory, flags));
        Ok(Guest { vcpu, space, memory, state_memory, state, bytes })
    }

    /// The shared state: not while the guest runs on another processor.
    pub fn state(&self) -> &State {
        // SAFETY: `make` mapped the page, until the end of the test; all bit patterns are valid,
        // and the kernel writes cells only while this thread is in a call: other threads that run
        // the guest are less urgent, or on another processor, while no test uses the state.
        unsafe { &*(self.state as *const State) }
    }

    /// Zeroes the shared state.
    pub(crate) fn clear_state(&mut self) {
        // SAFETY: as in `state`, of which no reference is left.
        unsafe { (self.state as *mut State).write(State::default()) };
    }

    /// Sets the state after a reset, but with code and data at the start of memory, at `rip` 0.
    pub fn reset(&mut self) {
        self.clear_state();
        let state = self.state();
        state.rflags.set(2);
        state.cr0.set(0x10);
        state.cs.set(segment(0x9b));
        for data in [&state.ds, &state.es, &state.fs, &state.gs, &state.ss] {
            data.set(segment(0x93));
        }
        state.tr.set(segment(0x8b));
        state.ldtr.set(segment(0x82));
        [&state.gdtr, &state.idtr].into_iter().for_each(|table| table.set(segment(0)));
        state.dr6.set(0xffff_0ff0);
        state.dr7.set(0x400);
        state.pat.set(0x0007_0406_0007_0406);
        state.gpr[4].set(0xf000);
        state.dirty.set(dirty::CORE | dirty::SYSTEM);
    }

    /// Puts bytes into the guest's memory.
    pub fn put(&mut self, address: u64, bytes: &[u8]) {
        assert!(address + bytes.len() as u64 <= MEMORY);
        for (i, byte) in bytes.iter().enumerate() {
            // SAFETY: `make` mapped the memory, until the end of the test, and the byte is inside.
            unsafe { ((self.bytes + address) as *mut u8).add(i).write_volatile(*byte) };
        }
    }

    /// A word of the guest's memory, at a multiple of eight.
    pub fn word(&self, address: u64) -> u64 {
        assert!(address.is_multiple_of(8) && address < MEMORY);
        // SAFETY: as in `put`.
        unsafe { ((self.bytes + address) as *const u64).read_volatile() }
    }

    /// Sets the address at which the guest continues.
    pub fn go(&mut self, rip: u64) {
        let state = self.state();
        state.rip.set(rip);
        state.dirty.update(|bits| bits | dirty::CORE);
    }

    /// Runs the guest.
    pub fn run(&mut self) -> pillion_abi::status::Result<Values> {
        vcpu_run(self.vcpu)
    }
}

/// The space of this task.
pub const OWN: Cap = slot::ADDRESS_SPACE;
