//! Commands for the emulator's monitor, sent when a text appears in Pillion's log.

use super::emulated::Folder;
use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

/// The commands still to be sent, and the connection.
pub struct Monitor {
    socket: PathBuf,
    /// Text and command.
    left: Vec<(String, String)>,
    /// Kept open: the emulator takes one connection at a time, and discards unread input when one
    /// closes.
    connection: Option<UnixStream>,
}

impl Monitor {
    /// Commands by the texts that trigger them.
    pub fn new(folder: &Folder, commands: &[(String, String)]) -> Monitor {
        Monitor { socket: folder.monitor(), left: commands.to_vec(), connection: None }
    }

    /// Sends the commands that this line triggers. Returns what went wrong.
    pub fn line(&mut self, line: &str) -> Option<String> {
        let (due, left) = std::mem::take(&mut self.left).into_iter().partition(|(text, _)| line.contains(text));
        self.left = left;
        let failed =
            |(_, command): (String, String)| self.give(&command).err().map(|error| format!("{command}: {error}"));
        Vec::from_iter(due).into_iter().find_map(failed)
    }

    fn give(&mut self, command: &str) -> std::io::Result<()> {
        let stream = match self.connection.take() {
            Some(stream) => stream,
            None => UnixStream::connect(&self.socket)?,
        };
        writeln!(self.connection.insert(stream), "{command}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;
    use std::os::unix::net::UnixListener;

    #[test]
    fn each_command_is_given_once() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Folder(folder.path());
        let listener = UnixListener::bind(folder.monitor()).unwrap();
        let command = |text: &str, command: &str| (text.to_owned(), command.to_owned());
        let mut monitor = Monitor::new(&folder, &[command("up", "first"), command("down", "second")]);
        let said: Vec<_> = ["nothing", "it is up", "up again", "down"].map(|line| monitor.line(line)).into();
        assert!(said.iter().all(Option::is_none), "{said:?}");
        drop(monitor);
        let mut got = String::new();
        listener.accept().unwrap().0.read_to_string(&mut got).unwrap();
        assert_eq!(got, "first\nsecond\n");
    }

    #[test]
    fn an_emulator_without_a_monitor_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let mut monitor = Monitor::new(&Folder(folder.path()), &[("up".into(), "quit".into())]);
        assert!(monitor.line("up").unwrap().starts_with("quit: "));
    }
}
