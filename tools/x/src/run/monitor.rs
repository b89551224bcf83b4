//! Commands for the emulator's monitor, sent when a text appears in Pillion's log.

use super::emulated::Folder;
use super::streams::LineSocket;

/// The commands still to be sent, and the connection.
pub struct Monitor {
    socket: LineSocket,
    /// Text and command.
    left: Vec<(String, String)>,
}

impl Monitor {
    /// Commands by the texts that trigger them.
    pub fn new(folder: &Folder, commands: &[(String, String)]) -> Monitor {
        Monitor { socket: LineSocket::to(folder.monitor()), left: commands.to_vec() }
    }

    /// Sends the commands that this line triggers. Returns what went wrong.
    pub fn line(&mut self, line: &str) -> Option<String> {
        let (due, left) = std::mem::take(&mut self.left).into_iter().partition(|(text, _)| line.contains(text));
        self.left = left;
        let failed =
            |(_, command): (String, String)| self.socket.say(&command).err().map(|error| format!("{command}: {error}"));
        Vec::from_iter(due).into_iter().find_map(failed)
    }

    /// What the emulator has answered since this was called last.
    pub fn answers(&mut self) -> Vec<u8> {
        self.socket.heard()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};
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
        let mut emulator = listener.accept().unwrap().0;
        assert_eq!(monitor.answers(), b"");
        emulator.write_all(b"answer\n").unwrap();
        assert_eq!((monitor.answers(), monitor.answers()), (b"answer\n".to_vec(), vec![]));
        drop(monitor);
        let mut got = String::new();
        emulator.read_to_string(&mut got).unwrap();
        assert_eq!(got, "first\nsecond\n");
    }

    #[test]
    fn an_emulator_without_a_monitor_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let mut monitor = Monitor::new(&Folder(folder.path()), &[("up".into(), "quit".into())]);
        assert!(monitor.line("up").unwrap().starts_with("quit: "));
    }
}
