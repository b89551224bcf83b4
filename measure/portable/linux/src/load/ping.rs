//! Echo requests as fast as possible: interrupts of a network device, or, over the loopback device,
//! the work of the network stack itself.

use super::Piece;
use anyhow::{Context, Result, bail};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, ipproto, recv, sendto, socket, sockopt};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::OwnedFd;
use std::time::Duration;

/// Requests in flight.
const WINDOW: u16 = 16;

/// Bytes of a packet: 8 of header, 56 of contents, as `ping` sends them.
const LENGTH: usize = 64;

const REQUEST: u8 = 8;
const REPLY: u8 = 0;

/// Opens a socket; each piece sends a window of requests and waits for the replies.
pub fn prepare(host: Ipv4Addr) -> Result<Piece> {
    let raw = socket(AddressFamily::INET, SocketType::RAW, Some(ipproto::ICMP));
    let raw = raw.context("a raw socket needs root, or the capability net_raw")?;
    sockopt::set_socket_timeout(&raw, sockopt::Timeout::Recv, Some(Duration::from_secs(2)))?;
    let identifier = std::process::id() as u16;
    let mut sequence = 0u16;
    Ok(Box::new(move || {
        for _ in 0..WINDOW {
            sequence = sequence.wrapping_add(1);
            let packet = request(identifier, sequence);
            sendto(&raw, &packet, SendFlags::empty(), &SocketAddrV4::new(host, 0)).context("a request")?;
        }
        for _ in 0..WINDOW {
            answer(&raw, identifier).with_context(|| format!("{host} does not answer"))?;
        }
        Ok(u64::from(WINDOW))
    }))
}

/// Waits for a reply to this process; the socket also receives requests and replies to others.
fn answer(raw: &OwnedFd, identifier: u16) -> Result<()> {
    let mut packet = [0; 1500];
    for _ in 0..10_000 {
        let (length, _) = recv(raw, &mut packet, RecvFlags::empty())?;
        if is_reply(&packet[..length], identifier) {
            return Ok(());
        }
    }
    bail!("among 10,000 packets there is no reply")
}

/// An echo request.
fn request(identifier: u16, sequence: u16) -> [u8; LENGTH] {
    let mut packet = [0x55; LENGTH];
    packet[..4].copy_from_slice(&[REQUEST, 0, 0, 0]);
    packet[4..6].copy_from_slice(&identifier.to_be_bytes());
    packet[6..8].copy_from_slice(&sequence.to_be_bytes());
    let sum = checksum(&packet);
    packet[2..4].copy_from_slice(&sum.to_be_bytes());
    packet
}

/// The Internet checksum of RFC 1071, over an even number of bytes.
fn checksum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks_exact(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
    let mut sum: u32 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// Whether a packet, which begins with its IP header, is an echo reply to this process.
fn is_reply(packet: &[u8], identifier: u16) -> bool {
    let header = packet.first().map_or(0, |byte| usize::from(byte & 0xf) * 4);
    packet.get(header..header + 8).is_some_and(|icmp| icmp[0] == REPLY && icmp[4..6] == identifier.to_be_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_the_rfc() {
        assert_eq!(checksum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), !0xddf2);
        assert_eq!(checksum(&request(7, 9)), 0, "with the sum in it, the sum is zero");
    }

    #[test]
    fn only_replies_to_this_process_count() {
        let packet = |kind: u8, identifier: u8| {
            let mut packet = vec![0x45; 20];
            packet.extend([kind, 0, 0, 0, 0, identifier, 0, 1]);
            packet
        };
        assert!(is_reply(&packet(REPLY, 5), 5));
        assert!(!is_reply(&packet(REQUEST, 5), 5) && !is_reply(&packet(REPLY, 6), 5));
        assert!(!is_reply(&packet(REPLY, 5)[..22], 5) && !is_reply(&[], 5));
    }
}
