//! Two communicating processes: through pipes, local sockets, and TCP over the loopback device.

use super::meter::Meter;
use crate::process::child;
use anyhow::Result;
use std::io::{Read, Write, pipe};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;

const CALLS: u64 = 8_000;

/// Bytes of a message of the bandwidth measurement, and of each write.
const PIECE: usize = 64 << 10;
const PIECES: usize = 64;

/// A byte there and back through two pipes.
pub fn pipe_latency(meter: &Meter) -> Result<f64> {
    let (mut their_input, mut output) = pipe()?;
    let (mut input, mut their_output) = pipe()?;
    let _echo = child(move || echo(&mut their_input, &mut their_output))?;
    round_trip(meter, &mut input, &mut output)
}

/// A byte there and back through a pair of local sockets.
pub fn unix_latency(meter: &Meter) -> Result<f64> {
    let (mine, theirs) = UnixStream::pair()?;
    let _echo = child(move || echo(&mut &theirs, &mut &theirs))?;
    round_trip(meter, &mut &mine, &mut &mine)
}

/// A byte there and back through a TCP connection over the loopback device.
pub fn tcp_latency(meter: &Meter) -> Result<f64> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    let _echo = child(move || {
        let (stream, _) = listener.accept()?;
        stream.set_nodelay(true)?;
        echo(&mut &stream, &mut &stream)
    })?;
    let stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    round_trip(meter, &mut &stream, &mut &stream)
}

fn round_trip(meter: &Meter, input: &mut impl Read, output: &mut impl Write) -> Result<f64> {
    meter.each(CALLS, || {
        output.write_all(&[1])?;
        Ok(input.read_exact(&mut [0])?)
    })
}

fn echo(input: &mut impl Read, output: &mut impl Write) -> Result<()> {
    let mut byte = [0];
    loop {
        input.read_exact(&mut byte)?;
        output.write_all(&byte)?;
    }
}

/// Bytes through a pipe from another process, 64 KiB at a time.
pub fn pipe_bandwidth(meter: &Meter) -> Result<f64> {
    let (mut input, mut their_output) = pipe()?;
    let _source = child(move || {
        let piece = vec![1; PIECE];
        loop {
            their_output.write_all(&piece)?;
        }
    })?;
    let mut piece = vec![0; PIECE];
    meter.bandwidth(PIECE * PIECES, 20, || {
        for _ in 0..PIECES {
            input.read_exact(&mut piece)?;
        }
        Ok(())
    })
}
