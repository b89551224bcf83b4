//! Code of a guest's process: 64-bit user mode, on page tables in the guest's memory.

use crate::{Checked, Kit, done, guest::Guest};
use pillion_abi::{
    PAGE,
    object::{Kind, map},
    vcpu::{Segment, configure, dirty, gpr},
};
use pillion_runtime::vcpu_configure;

/// Guest-physical address of the root table; two more tables follow it.
pub const ROOT: u64 = 0x8000;

/// Bytes that an entry of the last table maps. Entry 0 maps the guest's memory from its start,
/// entry 1 memory that the guest does not have, entry 2 the guest's memory for the guest's kernel
/// only; the others are empty.
pub const PART: u64 = 2 << 20;

const PRESENT: u64 = 1;
const WRITE: u64 = 1 << 1;
const USER: u64 = 1 << 2;
const LARGE: u64 = 1 << 7;

impl Guest {
    /// Makes a user vCPU in a space and with memory of its own.
    pub fn user(kit: &mut Kit) -> Checked<Guest> {
        Guest::user_on(kit, 0)
    }

    /// As [`Guest::user`], with a home for the vCPU.
    pub fn user_on(kit: &mut Kit, home: u64) -> Checked<Guest> {
        let mut guest = Guest::make(kit, home, configure::USER)?;
        guest.map();
        guest.enter_user_mode();
        Ok(guest)
    }

    /// Makes a user vCPU in the space of this guest. The page tables go into the guest's memory.
    pub fn process(&self, kit: &mut Kit) -> Checked<Guest> {
        let vcpu = done!(kit.make(Kind::Vcpu, 0));
        let (state_memory, state) = done!(kit.memory(PAGE, map::WRITE));
        done!(vcpu_configure(vcpu, self.space, state_memory, configure::USER));
        let mut guest = Guest { vcpu, state_memory, state, ..*self };
        guest.map();
        guest.enter_user_mode();
        Ok(guest)
    }

    fn map(&mut self) {
        let link = PRESENT | WRITE | USER;
        self.entry(ROOT, (ROOT + PAGE) | link);
        self.entry(ROOT + PAGE, (ROOT + 2 * PAGE) | link);
        for (i, entry) in [link | LARGE, PART | link | LARGE, PRESENT | WRITE | LARGE].into_iter().enumerate() {
            self.entry(ROOT + 2 * PAGE + 8 * i as u64, entry);
        }
    }

    /// Sets an entry of a table in the guest's memory.
    pub fn entry(&mut self, address: u64, entry: u64) {
        self.put(address, &entry.to_le_bytes());
    }

    /// Sets the state of a process that is about to execute its first instruction, at address 0.
    pub fn enter_user_mode(&mut self) {
        let segment = |attributes| Segment { selector: 0x2b, attributes, limit: u32::MAX, base: 0 };
        self.clear_state();
        let state = self.state();
        state.rflags.set(2);
        state.cr0.set(0x8005_0033);
        state.cr3.set(ROOT);
        state.cr4.set(0x620);
        state.efer.set(0xd00);
        state.cs.set(segment(0xafb));
        [&state.ss, &state.ds, &state.es, &state.fs, &state.gs].into_iter().for_each(|data| data.set(segment(0xcf3)));
        state.dr6.set(0xffff_0ff0);
        state.dr7.set(0x400);
        state.pat.set(0x0007_0406_0007_0406);
        state.gpr[gpr::RSP].set(0x7000);
        state.dirty.set(dirty::CORE | dirty::SYSTEM);
    }

    /// Puts code at address 0, to be executed from the start in the initial state.
    pub fn execute(&mut self, code: &[u8]) {
        self.put(0, code);
        self.enter_user_mode();
    }
}
