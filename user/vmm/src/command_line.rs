//! Linux's command line: the text from system file, host tool and boot loader, the number of this
//! life of Linux, and two options. One is against sleep states deeper than HLT, because the ports
//! for those, which ACPI's objects may name, are closed. The other makes a panic end in a reset:
//! Linux would otherwise loop with interrupts on, which no watchdog can tell from work.

use core::fmt::{self, Write};

/// Room for the resource manager's line and the additions: what Linux takes.
const SIZE: usize = 1984 + 64 - 1;

pub struct CommandLine {
    text: [u8; SIZE],
    length: usize,
}

impl CommandLine {
    /// `given`, and that Linux starts for the `life`th time, counted from 1.
    pub fn new(given: &str, life: u64) -> CommandLine {
        let mut line = CommandLine { text: [0; SIZE], length: 0 };
        // There is room for the longest of both.
        let _ = write!(line, "processor.max_cstate=1 panic=-1 {given} ride.boot={life}");
        line
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.text[..self.length]
    }
}

impl Write for CommandLine {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        let end = self.length + more.len();
        self.text.get_mut(self.length..end).ok_or(fmt::Error)?.copy_from_slice(more.as_bytes());
        self.length = end;
        Ok(())
    }
}
