//! The lines between the emulator and this tool: everything that arrives becomes an event.

use super::machine::Folder;
use anyhow::Result;
use std::io::Read;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::mpsc::Sender;
use std::thread;

/// Something that happened.
pub enum Event {
    /// Linux's console is there; input goes to this end.
    Connected(UnixStream),
    /// Linux wrote to its console.
    Console(Vec<u8>),
    /// Pillion, or the init of a Linux that runs alone, wrote to the log.
    Log(Vec<u8>),
    /// The user typed.
    Input(Vec<u8>),
    /// The emulator complained.
    Message(Vec<u8>),
    /// A serial line was closed.
    Closed,
}

/// Listens for the emulator's serial lines.
pub fn listen(folder: &Folder, events: &Sender<Event>) -> Result<()> {
    serve(&folder.console(), events.clone(), Event::Console, true)?;
    serve(&folder.log(), events.clone(), Event::Log, false)
}

fn serve(path: &Path, events: Sender<Event>, wrap: fn(Vec<u8>) -> Event, input: bool) -> Result<()> {
    let listener = UnixListener::bind(path)?;
    thread::spawn(move || {
        let Ok((stream, _)) = listener.accept() else { return };
        if input && let Ok(writer) = stream.try_clone() {
            let _ = events.send(Event::Connected(writer));
        }
        pump(stream, &events, wrap);
        let _ = events.send(Event::Closed);
    });
    Ok(())
}

/// Makes events of all that can be read, in the background.
pub fn follow(source: impl Read + Send + 'static, events: &Sender<Event>, wrap: fn(Vec<u8>) -> Event) {
    let events = events.clone();
    thread::spawn(move || pump(source, &events, wrap));
}

fn pump(mut source: impl Read, events: &Sender<Event>, wrap: fn(Vec<u8>) -> Event) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = source.read(&mut buffer) {
        if events.send(wrap(buffer[..count].to_vec())).is_err() {
            return;
        }
    }
}
