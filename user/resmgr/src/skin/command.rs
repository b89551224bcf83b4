//! Linux's commands to the manager. A command lies in memory that Linux can write: the manager
//! reads it once and trusts nothing in it.

use super::{Skins, mbuff};
use crate::text::{Text, text};
use crate::window::put_text;
use pillion_abi::channel::{Command, MBUFF_NAME, ThreadUsage, command, task_state};
use pillion_runtime::context_consumed;

const ENOENT: i64 = -2;
/// Result of an `init_module` that was cut short.
const EINTR: i32 = -4;
const E2BIG: i64 = -7;
const ENOMEM: i64 = -12;
const EBUSY: i64 = -16;
const EINVAL: i64 = -22;

impl Skins {
    /// Carries out Linux's command. Returns 0 or more, or a negative errno.
    pub fn command(&mut self) -> i64 {
        let Command { number, size, text, .. } = self.channel.command();
        let Some((name, rest)) = split(&text) else { return EINVAL };
        match number {
            command::REFRESH => self.refresh(),
            command::LOAD => self.find(name).map_or(ENOENT, |index| self.load_with(index, rest)),
            command::UNLOAD => self.find(name).map_or(ENOENT, |index| self.unload_if_loaded(index)),
            command::MBUFF_HOLD => {
                let held = buffer_name(name).and_then(|name| self.hold(mbuff::Holder::Linux, &name, size));
                held.map_or_else(mbuff::Refusal::errno, |(index, ..)| index as i64)
            }
            command::MBUFF_RELEASE => {
                let released = buffer_name(name).and_then(|name| self.release(mbuff::Holder::Linux, &name));
                released.map_or_else(mbuff::Refusal::errno, |()| 0)
            }
            _ => EINVAL,
        }
    }

    /// Drops everything that a Linux which is gone held.
    pub fn linux_gone(&mut self) {
        let Skins { channel, mbuffs, .. } = self;
        channel.change(|directory| mbuffs.release_all(&mut directory.mbuffs, mbuff::Holder::Linux));
        self.restart_with_linux();
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.programs.iter().position(|program| program.name() == name)
    }

    /// Brings the processors and times of threads up to date.
    fn refresh(&mut self) -> i64 {
        for program in &self.programs {
            let times = &mut self.channel.usage.threads[program.index];
            let info = &program.plan.spec.info;
            for ((number, one), time) in (0..).zip(&program.threads).zip(times) {
                let [ticks, exhausted] = context_consumed(one.context).unwrap_or_default();
                *time = ThreadUsage { ticks, exhausted, cpu: info.processor_of(number) };
            }
        }
        self.channel.change(|_| ());
        0
    }

    /// Starts a task with more arguments after those in the system file.
    fn load_with(&mut self, index: usize, more: &str) -> i64 {
        if self.state(index) != task_state::STOPPED {
            return EBUSY;
        }
        if let Some(text) = self.in_the_way(index) {
            self.say_in_linux(index, &text);
            return EBUSY;
        }
        let plan = &mut self.programs[index].plan;
        let all = &mut plan.spec.info.arguments;
        let own = plan.wanted.arguments.as_bytes();
        if own.len() + 1 + more.len() >= all.len() {
            return E2BIG;
        }
        all.fill(0);
        put_text(all, &plan.wanted.arguments);
        if !more.is_empty() {
            let start = if own.is_empty() { 0 } else { own.len() + 1 };
            if start != 0 {
                all[own.len()] = b' ';
            }
            put_text(&mut all[start..], more);
        }
        match self.load(index).and_then(|()| self.programs[index].start()) {
            Ok(()) => 0,
            Err(failure) => {
                pillion_runtime::println!("[resmgr] {}: {failure}", self.programs[index].name());
                self.say_in_linux(index, &text!("pillion: {failure}"));
                ENOMEM
            }
        }
    }

    /// A resource that this task needs and that a loaded task has. Only tasks that Linux starts can
    /// have one in common.
    fn in_the_way(&self, index: usize) -> Option<Text> {
        let wanted = &self.programs[index].plan.wanted;
        let there = self.programs.iter().filter(|other| other.index != index && other.task.is_some());
        there.map(|other| &other.plan.wanted).find_map(|other| {
            let (name, thing) = (&other.name, wanted.shared_with(other)?);
            Some(text!("pillion: {thing} belongs to {name}, which is loaded: `pillion unload {name}` first"))
        })
    }

    fn unload_if_loaded(&mut self, index: usize) -> i64 {
        match self.state(index) {
            task_state::RUNNING => self.unload(index),
            // No thread is left to run `cleanup_module`.
            task_state::FAULTED => {
                self.ended(index);
            }
            task_state::STARTING => {
                self.end_by_force(index, EINTR, "it was unloaded while its init_module ran");
            }
            task_state::STOPPING => {
                self.end_by_force(index, EINTR, "it was unloaded once more while its cleanup_module ran");
            }
            _ => return ENOENT,
        }
        0
    }
}

/// Splits off a name and the text between its terminating zero and the next one. Neither is cut
/// off, and neither contains what the system file could not: no name and no argument has control
/// characters.
fn split(bytes: &[u8]) -> Option<(&str, &str)> {
    let mut parts = bytes.split(|b| *b == 0);
    let mut next = || {
        let text = core::str::from_utf8(parts.next().unwrap_or(&[])).ok()?;
        (!text.chars().any(char::is_control)).then_some(text)
    };
    Some((next()?, next()?))
}

/// A name as it is stored in the directory.
fn buffer_name(name: &str) -> Result<mbuff::Name, mbuff::Refusal> {
    let mut padded = [0; MBUFF_NAME];
    if name.len() >= MBUFF_NAME {
        return Err(mbuff::Refusal::Invalid);
    }
    put_text(&mut padded, name);
    mbuff::Name::new(&padded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_s_text_is_split() {
        assert_eq!(split(b"demo\0period=5 x=1\0junk\n"), Some(("demo", "period=5 x=1")));
        assert_eq!(split(b"demo"), Some(("demo", "")));
        assert_eq!(split(b"\0\0"), Some(("", "")));
    }

    #[test]
    fn what_is_no_text_is_refused_and_not_cut() {
        for bad in [&b"d\xff\0x"[..], b"d\0x\xff", b"d\n\0x", b"d\0x\x1b[2J", b"d\0\xc2\x9b"] {
            assert_eq!(split(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn a_buffer_s_name_ends_with_a_zero() {
        assert!(buffer_name(core::str::from_utf8(&[b'x'; 32]).unwrap()).is_ok());
        for length in [0, 33, MBUFF_NAME, MBUFF_NAME + 1] {
            assert!(buffer_name(core::str::from_utf8(&[b'x'; 64][..length]).unwrap()).is_err());
        }
    }
}
