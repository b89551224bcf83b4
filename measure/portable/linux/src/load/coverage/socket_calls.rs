//! Sockets and pipes.

use super::Place;
use anyhow::Result;
use rustix::pipe::{PipeFlags, SpliceFlags, pipe_with, splice, tee};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};

/// Bytes of a message in a round; each size fits into sockets and pipes.
const SIZES: [usize; 4] = [1, 100, 1400, 4096];

pub fn cover(place: &Place, round: u64) -> Result<()> {
    let message = vec![3; SIZES[round as usize % SIZES.len()]];
    in_the_machine(place, &message)?;
    datagrams(&message)?;
    connection(&message)?;
    pipes(&message)
}

fn in_the_machine(place: &Place, message: &[u8]) -> Result<()> {
    let path = place.at("socket");
    let listener = UnixListener::bind(&path)?;
    let mut client = UnixStream::connect(&path)?;
    let (mut server, _) = listener.accept()?;
    exchange(&mut client, &mut server, message)?;
    std::fs::remove_file(&path)?;
    let (first, second) = UnixDatagram::pair()?;
    first.send(message)?;
    second.recv(&mut vec![0; message.len()])?;
    Ok(())
}

fn datagrams(message: &[u8]) -> Result<()> {
    let [first, second] = [UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?, UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?];
    first.send_to(message, second.local_addr()?)?;
    second.recv_from(&mut vec![0; message.len()])?;
    second.set_nonblocking(true)?;
    second.take_error()?;
    Ok(())
}

fn connection(message: &[u8]) -> Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let mut client = TcpStream::connect(listener.local_addr()?)?;
    let (mut server, _) = listener.accept()?;
    client.set_nodelay(true)?;
    exchange(&mut client, &mut server, message)?;
    client.shutdown(Shutdown::Both)?;
    Ok(())
}

fn exchange(client: &mut (impl Read + Write), server: &mut (impl Read + Write), message: &[u8]) -> Result<()> {
    let mut received = vec![0; message.len()];
    client.write_all(message)?;
    server.read_exact(&mut received)?;
    server.write_all(&received)?;
    Ok(client.read_exact(&mut received)?)
}

/// Duplicates the contents of a pipe into a second one, and moves both on.
fn pipes(message: &[u8]) -> Result<()> {
    let (input, output) = pipe_with(PipeFlags::CLOEXEC)?;
    let (copied, copy) = pipe_with(PipeFlags::CLOEXEC)?;
    rustix::io::write(&output, message)?;
    let length = tee(&input, &copy, message.len(), SpliceFlags::empty())?;
    splice(&input, None, &copy, None, length, SpliceFlags::empty())?;
    rustix::io::read(&copied, &mut vec![0; 2 * length])?;
    Ok(())
}
