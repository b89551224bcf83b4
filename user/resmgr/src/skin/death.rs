//! The death of Linux, as the threads in primary mode see it: they run on until Linux's memory is
//! used again, which the monitor puts off for a while (`linger_ms`). Then the log says what became
//! of each.

use super::Skins;
use crate::{failure::Result, window::Window};
use core::mem::offset_of;
use pillion_abi::PAGE;
use pillion_abi::dual::{Dual, Slot, life, reason, state};
use pillion_runtime::{Cap, now, println};
use pillion_system::Kind;

/// Vector of a page fault.
const PAGE_FAULT: u64 = 14;

/// The slots in the window. Linux can write all of them, so what they say is only its own matter.
struct Slots {
    window: Window,
    memory: Cap,
    first: u64,
    count: u64,
}

impl Slots {
    fn at(&self, slot: u64, field: usize) -> u64 {
        self.first + slot * size_of::<Slot>() as u64 + field as u64
    }

    fn word(&self, slot: u64, field: usize) -> Result<u64> {
        self.window.copy(self.memory, self.at(slot, field))
    }

    fn half(&self, slot: u64, field: usize) -> Result<u32> {
        self.window.copy(self.memory, self.at(slot, field))
    }

    /// Whether its thread can run on without Linux.
    fn runs(&self, slot: u64) -> Result<bool> {
        Ok(matches!(self.half(slot, offset_of!(Slot, state))?, state::OFFERED | state::PRIMARY))
    }

    fn any_runs(&self) -> Result<bool> {
        (0..self.count).try_fold(false, |any, slot| Ok(any || self.runs(slot)?))
    }

    /// Tells the threads that Linux has ended, unless it said itself that it panicked.
    fn tell(&self) -> Result<()> {
        let head = self.first - size_of::<Dual>() as u64;
        let field = offset_of!(Dual, life);
        if self.window.copy::<u32>(self.memory, head + field as u64)? == life::LIVES {
            for slot in 0..self.count {
                let waits = self.word(slot, offset_of!(Slot, waits))?;
                let to = offset_of!(Slot, waits_at_death);
                let words = [(to, waits as u32), (to + 4, (waits >> 32) as u32)];
                self.window.set_words(self.memory, self.at(slot, 0), PAGE, words.into_iter())?;
            }
        }
        self.window.set_words(self.memory, head, PAGE, [(field, life::ENDED)].into_iter())
    }

    /// Reports the thread in a slot, if there is one.
    fn report(&self, slot: u64, tsc_hz: u64) -> Result<()> {
        let state = self.half(slot, offset_of!(Slot, state))?;
        if state == state::LINUX {
            return Ok(());
        }
        let why = match self.half(slot, offset_of!(Slot, reason))? {
            _ if state != state::RETURNED => "stopped",
            reason::RECALL => "recall",
            reason::CALL | reason::INVERSION => "call",
            reason::EXCEPTION if self.word(slot, offset_of!(Slot, number))? == PAGE_FAULT => "page fault",
            reason::EXCEPTION => "exception",
            reason::INSTRUCTION => "instruction",
            reason::WATCHDOG => "watchdog",
            _ => "refused",
        };
        let number = if why == "call" { self.word(slot, offset_of!(Slot, number))? as i64 } else { -1 };
        let [thread, process] =
            [offset_of!(Slot, thread), offset_of!(Slot, process)].map(|field| self.half(slot, field));
        let name: [u8; 16] = self.window.copy(self.memory, self.at(slot, offset_of!(Slot, name)))?;
        let name = name.map(|byte| {
            if byte.is_ascii_alphanumeric() || b" -_./:".contains(&byte) { byte } else { b'?' * u8::from(byte != 0) }
        });
        let name = name.split(|byte| *byte == 0).next().and_then(|name| str::from_utf8(name).ok()).unwrap_or_default();
        let waits = self.word(slot, offset_of!(Slot, waits))?;
        let before = self.word(slot, offset_of!(Slot, waits_at_death))?;
        let overruns = self.word(slot, offset_of!(Slot, overruns))?;
        let latency = u128::from(self.word(slot, offset_of!(Slot, latency_max))?);
        println!(
            "{{\"pillion\":\"dual\",\"event\":\"lost\",\"thread\":{},\"process\":{},\"name\":\"{name}\",\"why\":\"{why}\",\
             \"call\":{number},\"waits\":{waits},\"waits_dead\":{},\"overruns\":{overruns},\"latency_max_ns\":{}}}",
            thread?,
            process?,
            waits.saturating_sub(before),
            latency * 1_000_000_000 / u128::from(tsc_hz.max(1)),
        );
        Ok(())
    }
}

impl Skins {
    fn dual_slots(&self) -> Option<(Slots, u64)> {
        let linger_ms = self.programs.iter().find_map(|program| match program.plan.wanted.kind() {
            Some(Kind::Dual(dual)) => Some(dual.linger_ms),
            _ => None,
        })?;
        let layout = &self.channel.layout;
        let head = size_of::<Dual>() as u64;
        let slots = Slots {
            window: self.window,
            memory: self.channel.memory,
            first: layout.dual + head,
            count: layout.dual_size.saturating_sub(head) / size_of::<Slot>() as u64,
        };
        Some((slots, self.tsc_hz / 1_000 * u64::from(linger_ms)))
    }

    /// Linux is dead. Returns whether the monitor is to wait, because threads in primary mode run
    /// on.
    pub fn linux_died(&mut self) -> bool {
        let Some((slots, linger)) = self.dual_slots() else { return false };
        let told = if self.died.is_none() { slots.tell() } else { Ok(()) };
        let died = *self.died.get_or_insert_with(now);
        match told.and_then(|()| slots.any_runs()) {
            Ok(any) => any && now().saturating_sub(died) < linger,
            Err(failure) => {
                println!("[resmgr] cannot look at threads in primary mode: {failure}");
                false
            }
        }
    }

    /// Says what became of the threads that Linux's death left in primary mode.
    pub fn report_lost(&mut self) {
        if self.died.take().is_none() {
            return;
        }
        let Some((slots, _)) = self.dual_slots() else { return };
        for slot in 0..slots.count {
            if let Err(failure) = slots.report(slot, self.tsc_hz) {
                println!("[resmgr] cannot look at threads in primary mode: {failure}");
            }
        }
    }
}
