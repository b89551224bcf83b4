//! Serves the requests of tasks with a skin.

use super::mbuff::{Hold, Holder, Name, Refusal};
use super::{After, Skins};
use crate::lines::{bytes_of_words, print};
use pillion_abi::call::{LABEL_FAULT, MESSAGE_WORDS};
use pillion_abi::channel::{FIFOS, MBUFF_NAME};
use pillion_runtime::call::{Message, reply};
use pillion_runtime::info::label;

/// Label of the reply to an unknown request.
const UNKNOWN: u64 = 1;

const EACCES: i64 = -13;
const EBUSY: i64 = -16;
const EINVAL: i64 = -22;

fn answer(value: i64) {
    answer_all([value, 0, 0]);
}

fn answer_all(values: [i64; 3]) {
    let mut words = [0; MESSAGE_WORDS];
    for (word, value) in words.iter_mut().zip(values) {
        *word = value as u64;
    }
    let _ = reply(0, words);
}

impl Skins {
    /// Serves a message of the task with that index; the index after the last task is the broker's.
    pub fn serve(&mut self, index: usize, message: &Message, is_fault: bool) -> After {
        let words = &message.words;
        let is_task = index < self.programs.len();
        match (message.label & 0xff, is_fault) {
            (_, true) if message.label == LABEL_FAULT => return self.fault(index, words),
            (label::LOG, false) => {
                answer(0);
                let bytes = bytes_of_words(words);
                self.lines[index].push(&bytes[..bytes.len().min((message.label >> 8) as usize)], print);
            }
            (label::FIFO_CLAIM, false) => {
                let result = self.claim(index, words[0]);
                answer(result);
            }
            (label::FIFO_RELEASE, false) => {
                let result = self.release_fifo(index, words[0]);
                answer(result);
            }
            (label::MBUFF_HOLD, false) if is_task => {
                let result = name_of(words).and_then(|name| self.hold(Holder::Task(index), &name, words[0]));
                answer_all(result.map_or_else(
                    |refusal| [refusal.errno(), 0, 0],
                    |(i, offset, size)| [i as i64, offset as i64, size as i64],
                ));
            }
            (label::MBUFF_RELEASE, false) if is_task => {
                let result = name_of(words).and_then(|name| self.release(Holder::Task(index), &name));
                answer(result.map_or_else(Refusal::errno, |()| 0));
            }
            (label::STARTED, false) if is_task => return self.started(index, words[0] as i32),
            (label::ENDED, false) if is_task => return self.ended(index),
            _ => {
                let _ = reply(UNKNOWN, [0; MESSAGE_WORDS]);
            }
        }
        After::GoOn
    }

    /// Gives a task a FIFO of its own.
    fn claim(&mut self, index: usize, fifo: u64) -> i64 {
        let Some(fifo) = usize::try_from(fifo).ok().filter(|fifo| *fifo < FIFOS) else { return EINVAL };
        let (owner, broker) = (usize::from(self.channel.directory().fifo_owner[fifo]), self.programs.len() + 1);
        match owner {
            0 => {}
            owner if owner == index + 1 => return 0,
            owner if owner == broker => return EACCES,
            _ => return EBUSY,
        }
        self.channel.change(|directory| directory.fifo_owner[fifo] = index as u8 + 1);
        self.ring();
        0
    }

    /// Releases a task's FIFO. The broker keeps its own.
    fn release_fifo(&mut self, index: usize, fifo: u64) -> i64 {
        let Some(fifo) = usize::try_from(fifo).ok().filter(|fifo| *fifo < FIFOS) else { return EINVAL };
        if usize::from(self.channel.directory().fifo_owner[fifo]) != index + 1 || index == self.programs.len() {
            return EINVAL;
        }
        self.channel.change(|directory| directory.fifo_owner[fifo] = 0);
        self.ring();
        0
    }

    /// Finds or makes a shared buffer and holds it: index, offset in the pool and size. For a new
    /// buffer it clears a piece and returns [`Refusal::Again`]: the holder must ask again.
    pub(super) fn hold(&mut self, holder: Holder, name: &Name, size: u64) -> Result<(usize, u64, u64), Refusal> {
        let Skins { channel, mbuffs, window, .. } = self;
        match channel.change(|directory| mbuffs.hold(&mut directory.mbuffs, holder, name, size))? {
            Hold::Held(index) => {
                let buffer = channel.directory().mbuffs[index];
                self.ring();
                Ok((index, buffer.offset, buffer.size))
            }
            Hold::Clear { index, at, bytes } => {
                window
                    .fill_part(channel.memory, channel.layout.pool + at, bytes, &[])
                    .map_err(|_| Refusal::NoMemory)?;
                mbuffs.cleared(index, bytes);
                Err(Refusal::Again)
            }
        }
    }

    pub(super) fn release(&mut self, holder: Holder, name: &Name) -> Result<(), Refusal> {
        let Skins { channel, mbuffs, .. } = self;
        channel.change(|directory| mbuffs.release(&mut directory.mbuffs, holder, name))?;
        self.ring();
        Ok(())
    }
}

/// The name of a shared buffer, in words 1 to 5.
fn name_of(words: &[u64; MESSAGE_WORDS]) -> Result<Name, Refusal> {
    let mut name = [0; MBUFF_NAME];
    name.copy_from_slice(&bytes_of_words(words)[8..8 + MBUFF_NAME]);
    Name::new(&name)
}
