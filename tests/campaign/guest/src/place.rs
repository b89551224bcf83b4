//! The addresses of the places that steps use.

use pillion_campaign::guest::Place;

use crate::facts::{Device, Facts};

/// Where Pillion's kernel lies (`docs/memory-layout.md`). Code in device memory would take the
/// emulator minutes.
pub const KERNEL: u64 = 0x20_0000;

/// Memory for steps: a page more than a place can name.
#[repr(C, align(4096))]
struct Own([u8; (64 << 10) + 4096]);

static mut OWN: Own = Own([0; (64 << 10) + 4096]);

/// An address in the guest's own memory for steps.
pub fn own(offset: u16) -> u64 {
    &raw const OWN as u64 + u64::from(offset)
}

/// The physical, and here linear, address of a place. A place that does not exist is mapped to an
/// address with nothing behind it.
pub fn address(place: Place) -> u64 {
    const NOWHERE: u64 = 0x00ff_f000_0000;
    let facts = Facts::get();
    match place {
        Place::At(address) => address,
        Place::Own(offset) => own(offset),
        Place::Reserved(number, offset) => match facts.range(number) {
            None | Some((_, 0)) => NOWHERE,
            Some((base, size)) => base.wrapping_add(offset % size),
        },
        Place::Device(number, offset) => match facts.device(number) {
            Some(Device::Memory(base)) => base + u64::from(offset),
            _ => NOWHERE,
        },
        Place::Window(offset) => match facts.window {
            (_, 0) => NOWHERE,
            (base, size) => base.wrapping_add(u64::from(offset) % size),
        },
    }
}
