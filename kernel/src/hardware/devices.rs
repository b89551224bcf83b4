//! Ports, interrupt lines and the log.

use super::Hardware;
use crate::arch::{self, apic, code, ioapic, port, serial};
use crate::{lock, post};
use core::num::NonZeroU32;
use pillion_abi::vcpu::route;
use pillion_core::{Id, Opt, away::Letter, interrupt::LineUser, machine::Devices, post::Post};

/// Ports that the kernel keeps, first and count: both interrupt controllers, and the log.
pub(super) fn kept_ports() -> [(u16, u16); 3] {
    let log = serial::ports();
    [(0x20, 2), (0xa0, 2), (log, if log == 0 { 0 } else { 8 })]
}

fn is_kept(first: u16, count: u32) -> bool {
    let end = u32::from(first) + count;
    kept_ports().iter().any(|(base, size)| u32::from(first) < u32::from(base + size) && end > u32::from(*base))
}

impl Devices for Hardware {
    #[inline(always)]
    fn several(&self) -> bool {
        let mut several = false;
        code::several! { several = true; }
        several
    }

    fn enter_tree(&mut self) -> bool {
        lock::take_tree(self.cpu)
    }

    fn leave_tree(&mut self) {
        lock::release_tree(self.cpu);
    }

    fn announce(&mut self, post: Opt<Post>) {
        post::announce(self.cpu, post.map(NonZeroU32::from));
    }

    fn is_announced(&mut self, post: Id<Post>) -> bool {
        post::is_announced(post.into())
    }

    fn runs(&self, processor: u8) -> bool {
        u32::from(processor) < arch::processors()
    }

    fn post(&mut self, to: u8, letter: Id<Letter>) {
        // SAFETY: the handle is that of a letter, with whose link it begins, and the core sends
        // none that is on its way. It lies behind a thread or a notification, which does not end
        // before it is back.
        unsafe { post::send(self.cpu, to.into(), letter.into()) };
    }

    fn port_in(&mut self, port: u16, width: u8) -> u32 {
        if is_kept(port, width.into()) {
            return u32::MAX >> (32 - 8 * u32::from(width));
        }
        // SAFETY: the holder of the capability for a port may do with the device behind it whatever
        // the port allows.
        unsafe {
            match width {
                1 => port::read8(port).into(),
                2 => port::read16(port).into(),
                _ => port::read32(port),
            }
        }
    }

    fn port_out(&mut self, port: u16, width: u8, value: u32) {
        if is_kept(port, width.into()) {
            return;
        }
        // SAFETY: as in `port_in`.
        unsafe {
            match width {
                1 => port::write8(port, value as u8),
                2 => port::write16(port, value as u16),
                _ => port::write32(port, value),
            }
        }
    }

    fn line_exists(&mut self, line: u32) -> bool {
        ioapic::exists(line)
    }

    fn line_user(&mut self, line: u32) -> LineUser {
        match ioapic::user(line) {
            0 => LineUser::Nobody,
            1 => LineUser::Interrupt,
            passenger => LineUser::Passenger(passenger - 2),
        }
    }

    fn set_line_user(&mut self, line: u32, user: LineUser) {
        let number = match user {
            LineUser::Nobody => 0,
            LineUser::Interrupt => 1,
            LineUser::Passenger(processor) => processor + 2,
        };
        ioapic::set_user(line, number);
    }

    fn route_line(&mut self, line: u32, vector: u8, flags: u64) {
        let (level, low) = (flags & route::LEVEL != 0, flags & route::LOW != 0);
        ioapic::program(line, ioapic::Route { vector, level, low, masked: false });
    }

    fn mask_line(&mut self, line: u32, masked: bool) {
        ioapic::mask(line, masked);
    }

    fn msi(&mut self, vector: u8) -> [u64; 2] {
        [0xfee0_0000 | u64::from(apic::id() & 0xff) << 12, vector.into()]
    }

    #[inline]
    fn hold_passenger(&mut self, hold: bool) {
        apic::hold_passenger(hold);
    }

    #[inline]
    fn end_of_interrupt(&mut self) {
        apic::eoi();
    }

    fn trace(&mut self, on: bool) {
        crate::trace::switch(on);
    }

    fn log_byte(&mut self, byte: u8) -> bool {
        serial::try_put(byte)
    }
}
