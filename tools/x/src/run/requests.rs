//! Requests from the user's terminal to Linux: lines on a channel of their own, which
//! linux/initramfs/lib/requests.sh reads.
//!
//! A serial console cannot convey that the window has changed its size, or that the user wants to
//! leave.

use super::emulated::Folder;
use super::streams::LineSocket;

/// This end of the channel.
pub struct Requests {
    socket: LineSocket,
    /// Rows, columns, and the boot of Linux that was told them last.
    told: (u16, u16, u64),
}

impl Requests {
    /// A channel with nothing sent: Linux has the terminal's initial size on its command line.
    pub fn new(folder: &Folder) -> Requests {
        Requests { socket: LineSocket::to(folder.requests()), told: (0, 0, 0) }
    }

    /// Sends the size if the terminal's size has changed or Linux has booted anew since.
    pub fn size(&mut self, (rows, columns): (u16, u16), life: u64) {
        if self.told != (rows, columns, life) && self.socket.say(&format!("size {rows} {columns}")).is_ok() {
            self.told = (rows, columns, life);
        }
    }

    /// Asks Linux to switch itself off; most runs end with that, and then report what they
    /// measured.
    pub fn leave(&mut self) -> std::io::Result<()> {
        self.socket.say("leave")
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
        let listener = UnixListener::bind(folder.requests()).unwrap();
        let mut requests = Requests::new(&folder);
        for (size, life) in [((24, 80), 1), ((24, 80), 1), ((30, 90), 1), ((30, 90), 2)] {
            requests.size(size, life);
        }
        requests.leave().unwrap();
        drop(requests);
        let mut got = String::new();
        listener.accept().unwrap().0.read_to_string(&mut got).unwrap();
        assert_eq!(got, "size 24 80\nsize 30 90\nsize 30 90\nleave\n");
    }
}
