//! The connections between the emulator and this tool: everything that arrives becomes an event.

use anyhow::Result;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::pipe::fcntl_setpipe_size;
use std::fs::File;
use std::io::{Read, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::thread;

/// Something that happened.
pub enum Event {
    /// Linux's console is connected; input goes to this end.
    Connected(UnixStream),
    /// Linux wrote to its console.
    Console(Vec<u8>),
    /// Pillion, or the init of a Linux without Pillion, wrote to the log.
    Log(Vec<u8>),
    /// The user typed.
    Input(Vec<u8>),
    /// The emulator wrote a message.
    Message(Vec<u8>),
    /// A serial line was closed.
    Closed,
}

/// Bytes of the log that may wait for this tool. The kernel does not wait for long, and what finds
/// no room is lost. A socket has room for only a few hundred, because each byte is sent by itself.
const LOG_ROOM: usize = 1 << 20;

/// Listens for the console: a socket, because it carries input as well.
pub fn listen_to_console(path: &Path, events: Sender<Event>) -> Result<()> {
    let listener = UnixListener::bind(path)?;
    thread::spawn(move || {
        let Ok((stream, _)) = listener.accept() else { return };
        if let Ok(writer) = stream.try_clone() {
            let _ = events.send(Event::Connected(writer));
        }
        pump(stream, &events, Event::Console);
        let _ = events.send(Event::Closed);
    });
    Ok(())
}

/// Listens for the log: a named pipe.
pub fn listen_to_log(path: &Path, events: Sender<Event>) -> Result<()> {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
    let path = path.to_owned();
    thread::spawn(move || {
        // Waits for the emulator to open the other end.
        let Ok(pipe) = File::open(path) else { return };
        // As much as the system allows.
        let _ = fcntl_setpipe_size(&pipe, LOG_ROOM);
        pump(pipe, &events, Event::Log);
        let _ = events.send(Event::Closed);
    });
    Ok(())
}

/// Turns everything that can be read into events, in the background.
pub fn follow<T: Send + 'static>(source: impl Read + Send + 'static, events: &Sender<T>, wrap: fn(Vec<u8>) -> T) {
    let events = events.clone();
    thread::spawn(move || pump(source, &events, wrap));
}

fn pump<T>(mut source: impl Read, events: &Sender<T>, wrap: fn(Vec<u8>) -> T) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = source.read(&mut buffer) {
        if events.send(wrap(buffer[..count].to_vec())).is_err() {
            return;
        }
    }
}

/// A socket of the emulator that takes lines, connected when the first one is sent. The connection
/// stays: the emulator takes one at a time, and discards unread input when one closes.
pub struct LineSocket {
    socket: PathBuf,
    connection: Option<UnixStream>,
}

impl LineSocket {
    /// The socket at a path, not yet connected.
    pub fn to(socket: PathBuf) -> LineSocket {
        LineSocket { socket, connection: None }
    }

    /// What the receiver has said since it was asked last. Does not wait.
    pub fn heard(&mut self) -> Vec<u8> {
        let (mut all, mut buffer) = (Vec::new(), [0; 4096]);
        while let Some(stream) = &mut self.connection
            && let Ok(count @ 1..) = stream.read(&mut buffer)
        {
            all.extend_from_slice(&buffer[..count]);
        }
        all
    }

    /// Sends a line. A receiver that does not read must not block this tool.
    pub fn say(&mut self, line: &str) -> std::io::Result<()> {
        let mut stream = match self.connection.take() {
            Some(stream) => stream,
            None => UnixStream::connect(&self.socket)?,
        };
        stream.set_nonblocking(true)?;
        writeln!(stream, "{line}")?;
        self.connection = Some(stream);
        Ok(())
    }
}
