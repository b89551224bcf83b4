//! Calls on regions, memory and capabilities.

use super::{Arguments, Caller, DONE, Outcome, identify};
use crate::{Cap, Id, Kernel, Machine, Slot};
use pillion_abi::{
    call::Call,
    object::{Kind, right},
    status::{Error, Result},
};

impl<M: Machine> Kernel<M> {
    pub(super) fn memory_call(&mut self, me: Caller, call: Call, a: &Arguments) -> Result<Outcome> {
        let slot = self.slot(me.caps, a[0])?;
        let cap = self.cap(me, a[0], 0)?;
        let done = match call {
            Call::RegionCreate => {
                let kind = Kind::from_raw(a[1]).ok_or(Error::BadArgument)?;
                self.create(slot, kind, a[2], me.caps, a[3])?
            }
            Call::RegionReset => {
                let Cap::Region { .. } = cap else { return Err(Error::WrongKind) };
                let done = self.delete(slot, false);
                if let (true, Cap::Region { used, cleared, .. }) = (done, &mut self.m.get(slot).cap) {
                    (*used, *cleared) = (0, 0);
                }
                done
            }
            Call::MemoryPart => {
                let Cap::Memory { device, base, size, .. } = cap else { return Err(Error::WrongKind) };
                let inside = a[1].checked_add(a[2]).is_some_and(|end| end <= size);
                if !inside || a[2] == 0 || !(a[1] | a[2]).is_multiple_of(pillion_abi::PAGE) {
                    return Err(Error::BadArgument);
                }
                let at = self.empty_slot(me.caps, a[3])?;
                self.derive(slot, at, a[4] as u8, 0)?;
                self.m.get(at).cap = Cap::unmapped(device, base + a[1], a[2]);
                true
            }
            Call::MemoryMap => {
                let (Cap::AddressSpace(space) | Cap::GuestSpace(space)) = self.cap(me, a[1], right::CONTROL)? else {
                    return Err(Error::WrongKind);
                };
                self.map(slot, space, a[2], a[3])?
            }
            _ => {
                let Cap::Memory { .. } = cap else { return Err(Error::WrongKind) };
                self.unmap(slot)
            }
        };
        Ok(if done { Outcome::Done([0, 0]) } else { Outcome::Restart })
    }

    fn unmap(&mut self, slot: Id<Slot>) -> bool {
        while !self.unmap_step(slot) {
            if self.m.interrupt_pending() {
                return false;
            }
        }
        true
    }

    pub(super) fn cap_call(&mut self, me: Caller, call: Call, a: &Arguments) -> Result<Outcome> {
        if call == Call::CapIdentify {
            let slot = self.slot(me.caps, a[0])?;
            return Ok(Outcome::Done(identify(self.m.get(slot).cap)));
        }
        let space = self.target_space(me, a[0])?;
        match call {
            Call::CapDerive | Call::CapMove => {
                let source = self.slot(me.caps, a[2])?;
                let cap = self.cap(me, a[2], 0)?;
                self.may_stand_in(cap, space)?;
                let at = self.empty_slot(space, a[1])?;
                if call == Call::CapMove {
                    self.move_slot(source, at)?;
                } else {
                    self.derive(source, at, a[3] as u8, a[4])?;
                }
                DONE
            }
            _ => {
                let slot = self.slot(space, a[1])?;
                let done = self.delete(slot, call == Call::CapDelete);
                Ok(if done { Outcome::Done([0, 0]) } else { Outcome::Restart })
            }
        }
    }
}
