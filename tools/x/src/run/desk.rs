//! What the user at the terminal wants of Linux: lines on a wire of its own, which
//! linux/initramfs/lib/desk.sh reads.
//!
//! A serial console has no way to say that the window has another size, or that somebody wants to
//! leave.

use super::emulated::Folder;
use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

/// The wire's end here.
pub struct Desk {
    socket: PathBuf,
    connection: Option<UnixStream>,
    /// Rows, columns, and which of Linux's lives was told of them.
    told: (u16, u16, u64),
}

impl Desk {
    /// Linux has the terminal's size of its start on its command line.
    pub fn new(folder: &Folder) -> Desk {
        Desk { socket: folder.desk(), connection: None, told: (0, 0, 0) }
    }

    /// Tells the size where it is new, to the terminal or to this life of Linux.
    pub fn size(&mut self, (rows, columns): (u16, u16), life: u64) {
        if self.told != (rows, columns, life) && self.say(&format!("size {rows} {columns}")).is_ok() {
            self.told = (rows, columns, life);
        }
    }

    /// Has Linux switch itself off, by which most runs end and say what they measured.
    pub fn leave(&mut self) -> std::io::Result<()> {
        self.say("leave")
    }

    fn say(&mut self, line: &str) -> std::io::Result<()> {
        let mut stream = match self.connection.take() {
            Some(stream) => stream,
            None => UnixStream::connect(&self.socket)?,
        };
        // A Linux that does not read does not hold this tool up.
        stream.set_nonblocking(true)?;
        writeln!(stream, "{line}")?;
        self.connection = Some(stream);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;
    use std::os::unix::net::UnixListener;

    #[test]
    fn a_size_is_told_once_to_each_life_of_linux() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Folder(folder.path());
        let listener = UnixListener::bind(folder.desk()).unwrap();
        let mut desk = Desk::new(&folder);
        for (size, life) in [((24, 80), 1), ((24, 80), 1), ((30, 90), 1), ((30, 90), 2)] {
            desk.size(size, life);
        }
        desk.leave().unwrap();
        drop(desk);
        let mut got = String::new();
        listener.accept().unwrap().0.read_to_string(&mut got).unwrap();
        assert_eq!(got, "size 24 80\nsize 30 90\nsize 30 90\nleave\n");
    }
}
