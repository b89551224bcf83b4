//! Calls on regions, memory and capabilities.

use super::{Caller, DONE, Outcome, arguments::*, done_or_restart};
use crate::{Cap, Id, Kernel, Machine, Slot, cap::CapSpace, delete::Deletion};
use pillion_abi::{
    object::Kind,
    status::{Error, Result},
};

impl<M: Machine> Kernel<M> {
    pub(super) fn sys_region_create(&mut self, me: Caller, a: RegionCreate) -> Result<Outcome> {
        let (region, _) = self.held(me, a.region())?;
        let kind = Kind::from_raw(a.kind()).ok_or(Error::BadArgument)?;
        Ok(done_or_restart(self.create(region, kind, a.size(), me.caps, a.to())?))
    }

    pub(super) fn sys_region_reset(&mut self, me: Caller, a: RegionReset) -> Result<Outcome> {
        let (slot, Cap::Region { .. }) = self.held(me, a.region())? else { return Err(Error::WrongKind) };
        let deletion = self.delete(slot, false);
        let region = self.m.shared(slot);
        if let (Deletion::Done, Cap::Region { .. }) = (deletion, region.cap()) {
            region.set_used(0, 0);
        }
        deleted(deletion)
    }

    pub(super) fn sys_memory_part(&mut self, me: Caller, a: MemoryPart) -> Result<Outcome> {
        let (slot, Cap::Memory { base, size, .. }) = self.held(me, a.memory())? else {
            return Err(Error::WrongKind);
        };
        let inside = a.offset().checked_add(a.size()).is_some_and(|end| end <= size);
        if !inside || a.size() == 0 || !(a.offset() | a.size()).is_multiple_of(pillion_abi::PAGE) {
            return Err(Error::BadArgument);
        }
        let at = self.empty_slot(me.caps, a.to())?;
        self.derive_part(slot, at, a.rights() as u8, [base + a.offset(), a.size()])?;
        DONE
    }

    pub(super) fn sys_memory_map(&mut self, me: Caller, a: MemoryMap) -> Result<Outcome> {
        let (slot, _) = self.held(me, a.memory())?;
        let (Cap::AddressSpace(space) | Cap::GuestSpace(space)) = self.cap(me, a.space())? else {
            return Err(Error::WrongKind);
        };
        Ok(done_or_restart(self.map(slot, space, a.address(), a.flags())?))
    }

    pub(super) fn sys_memory_unmap(&mut self, me: Caller, a: MemoryUnmap) -> Result<Outcome> {
        let (slot, Cap::Memory { .. }) = self.held(me, a.memory())? else { return Err(Error::WrongKind) };
        while !self.unmap_step(slot) {
            if self.is_to_stop() {
                return Ok(Outcome::Restart);
            }
        }
        DONE
    }

    pub(super) fn sys_cap_derive(&mut self, me: Caller, a: CapDerive) -> Result<Outcome> {
        let (source, at) = self.source_and_place(me, a.space(), a.from(), a.to())?;
        self.derive(source, at, a.rights() as u8, a.badge())?;
        DONE
    }

    pub(super) fn sys_cap_move(&mut self, me: Caller, a: CapMove) -> Result<Outcome> {
        let (source, at) = self.source_and_place(me, a.space(), a.from(), a.to())?;
        self.move_slot(source, at)?;
        DONE
    }

    pub(super) fn sys_cap_delete(&mut self, me: Caller, a: CapDelete) -> Result<Outcome> {
        let slot = self.target(me, a.space(), a.slot())?;
        deleted(self.delete(slot, true))
    }

    pub(super) fn sys_cap_revoke(&mut self, me: Caller, a: CapRevoke) -> Result<Outcome> {
        let slot = self.target(me, a.space(), a.slot())?;
        deleted(self.delete(slot, false))
    }

    pub(super) fn sys_cap_identify(&mut self, me: Caller, a: CapIdentify) -> Result<Outcome> {
        let slot = self.slot(me.caps, a.slot())?;
        Ok(Outcome::Done(identify(self.m.shared(slot).cap())))
    }

    /// The capability space that a call names: 0 is the caller's own.
    fn target_space(&mut self, me: Caller, space: Named) -> Result<Id<CapSpace>> {
        if space.index == 0 {
            return Ok(me.caps);
        }
        if let Cap::CapSpace(id) = self.cap(me, space)? { Ok(id) } else { Err(Error::WrongKind) }
    }

    fn target(&mut self, me: Caller, space: Named, slot: u64) -> Result<Id<Slot>> {
        let space = self.target_space(me, space)?;
        self.slot(space, slot)
    }

    /// A slot of the caller's own, and the empty slot of a space that its capability may go into.
    fn source_and_place(&mut self, me: Caller, space: Named, from: u64, to: u64) -> Result<(Id<Slot>, Id<Slot>)> {
        let space = self.target_space(me, space)?;
        let (source, cap) = self.held(me, Named { index: from, rights: 0 })?;
        self.may_stand_in(cap, space)?;
        Ok((source, self.empty_slot(space, to)?))
    }
}

fn deleted(deletion: Deletion) -> Result<Outcome> {
    match deletion {
        Deletion::Done => DONE,
        Deletion::Interrupted => Ok(Outcome::Restart),
        Deletion::Elsewhere(home) => Ok(Outcome::Elsewhere(home)),
    }
}

/// What `CapIdentify` returns: in the first value, the kind in bits 0..=7 and the base of memory
/// (which is page-aligned) or the first port (from bit 16 on) above them; in the second, the size
/// or the number of ports.
fn identify(cap: Cap) -> [u64; 2] {
    let kind = cap.kind() as u64;
    match cap {
        Cap::Region { base, size, .. } | Cap::Memory { base, size, .. } => [kind | base, size],
        Cap::Ports { first, count } => [kind | u64::from(first) << 16, u64::from(count)],
        _ => [kind, 0],
    }
}
