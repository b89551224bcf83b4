//! Traces in Perfetto's own format, which its user interface opens:
//! <https://perfetto.dev/docs/reference/trace-packet-proto>. Only the fields that are written are
//! declared here, with their numbers in that reference.

use super::entries::{Entry, Stretch, Track, stretches};
use prost::Message;
use std::collections::BTreeMap;

#[derive(Clone, PartialEq, Message)]
struct Trace {
    #[prost(message, repeated, tag = "1")]
    packet: Vec<Packet>,
}

#[derive(Clone, PartialEq, Message)]
struct Packet {
    /// Nanoseconds.
    #[prost(uint64, optional, tag = "8")]
    timestamp: Option<u64>,
    #[prost(uint32, optional, tag = "10")]
    trusted_packet_sequence_id: Option<u32>,
    #[prost(message, optional, tag = "11")]
    track_event: Option<TrackEvent>,
    #[prost(message, optional, tag = "60")]
    track_descriptor: Option<TrackDescriptor>,
}

#[derive(Clone, PartialEq, Message)]
struct TrackEvent {
    #[prost(enumeration = "Type", optional, tag = "9")]
    r#type: Option<i32>,
    #[prost(uint64, optional, tag = "11")]
    track_uuid: Option<u64>,
    #[prost(string, optional, tag = "23")]
    name: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
enum Type {
    Unspecified = 0,
    SliceBegin = 1,
    SliceEnd = 2,
}

#[derive(Clone, PartialEq, Message)]
struct TrackDescriptor {
    #[prost(uint64, optional, tag = "1")]
    uuid: Option<u64>,
    #[prost(string, optional, tag = "2")]
    name: Option<String>,
}

/// The trace's only writer.
const SEQUENCE: u32 = 1;

/// The bytes of a trace file.
#[must_use]
pub fn trace(entries: &[Entry]) -> Vec<u8> {
    let stretches = stretches(entries);
    let mut tracks: BTreeMap<Track, u64> = BTreeMap::new();
    for stretch in &stretches {
        let next = tracks.len() as u64 + 1;
        tracks.entry(stretch.track).or_insert(next);
    }
    let mut packet: Vec<Packet> = tracks.iter().map(|(track, &uuid)| descriptor(*track, uuid)).collect();
    packet.extend(stretches.iter().flat_map(|stretch| slice(stretch, tracks[&stretch.track])));
    Trace { packet }.encode_to_vec()
}

fn packet() -> Packet {
    Packet { trusted_packet_sequence_id: Some(SEQUENCE), ..Packet::default() }
}

fn descriptor(track: Track, uuid: u64) -> Packet {
    let descriptor = TrackDescriptor { uuid: Some(uuid), name: Some(track.name()) };
    Packet { track_descriptor: Some(descriptor), ..packet() }
}

fn slice(stretch: &Stretch, track: u64) -> [Packet; 2] {
    let event = |r#type: Type, name, time| Packet {
        timestamp: Some(time),
        track_event: Some(TrackEvent { r#type: Some(r#type as i32), track_uuid: Some(track), name }),
        ..packet()
    };
    [event(Type::SliceBegin, Some(stretch.name.clone()), stretch.from_ns), event(Type::SliceEnd, None, stretch.to_ns)]
}

#[cfg(test)]
mod tests {
    use super::super::entries::read;
    use super::*;

    #[test]
    fn slices_stand_on_their_tracks() {
        let entries = read("trace 0 100 2 0xec 0x0\ntrace 1 300 4 0x5 0x0\ntrace 2 350 7 0x0 0x0\n");
        let bytes = trace(&entries);
        // A packet of 31 bytes: sequence 1, then the descriptor of a track.
        assert_eq!(bytes[..5], [0x0a, 31, 0x50, 1, 0xe2]);
        let packets = Trace::decode(bytes.as_slice()).unwrap().packet;
        assert_eq!(packets.len(), 2 + 2 * 2);
        let names: Vec<_> = packets.iter().filter_map(|p| p.track_event.as_ref()?.name.as_deref()).collect();
        assert_eq!(names, ["interrupt 0xec", "thread 5"]);
        let times: Vec<_> = packets.iter().filter_map(|packet| packet.timestamp).collect();
        assert_eq!(times, [100, 300, 300, 350]);
    }

    #[test]
    fn a_trace_without_entries_is_empty() {
        assert_eq!(trace(&[]), Vec::<u8>::new());
    }
}
