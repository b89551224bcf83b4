//! Traces in the Common Trace Format 1.8, which babeltrace and Trace Compass read:
//! <https://diamon.org/ctf/>.
//!
//! A trace is a folder with two files: [`METADATA`], which describes the layout, and [`STREAM`],
//! one packet with all events. Every integer is little-endian and byte-aligned. An event consists
//! of its time, its kind and two words, which each kind names differently.

use super::entries::{Entry, KINDS};
use pillion_abi::trace::Event;

/// Magic number at the start of every packet.
const MAGIC: u32 = 0xc1fc_1fc1;

/// Name of the file with the description.
pub const METADATA: &str = "metadata";

/// Name of the file with the events.
pub const STREAM: &str = "cpu0";

/// The description of a trace, as text.
#[must_use]
pub fn metadata() -> String {
    let events: String = KINDS.iter().map(event).collect();
    format!("{HEAD}{events}")
}

const HEAD: &str = "/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
typealias integer { size = 64; align = 8; signed = false; base = hex; } := hex64_t;

trace {
\tmajor = 1;
\tminor = 8;
\tbyte_order = le;
\tpacket.header := struct {
\t\tuint32_t magic;
\t\tuint32_t stream_id;
\t};
};

env {
\tdomain = \"kernel\";
\ttracer_name = \"pillion\";
\ttracer_major = 1;
\ttracer_minor = 0;
};

clock {
\tname = tsc;
\tdescription = \"Time-stamp counter\";
\tfreq = 1000000000;
};

typealias integer { size = 64; align = 8; signed = false; map = clock.tsc.value; } := tsc_t;

stream {
\tid = 0;
\tpacket.context := struct {
\t\ttsc_t timestamp_begin;
\t\ttsc_t timestamp_end;
\t\tuint64_t content_size;
\t\tuint64_t packet_size;
\t\tuint32_t cpu_id;
\t};
\tevent.header := struct {
\t\ttsc_t timestamp;
\t\tuint8_t id;
\t};
};
";

fn event((event, name, [first, second]): &(Event, &str, [&str; 2])) -> String {
    let id = *event as u64;
    format!(
        "\nevent {{\n\tname = \"{name}\";\n\tid = {id};\n\tstream_id = 0;\n\tfields := struct {{\n\t\thex64_t _{first};\n\t\thex64_t _{second};\n\t}};\n}};\n"
    )
}

/// Bytes of the packet's header and context.
const HEADER: usize = 4 + 4 + 8 + 8 + 8 + 8 + 4;

/// Bytes of an event.
const EVENT: usize = 8 + 1 + 8 + 8;

/// The events, as one packet.
#[must_use]
pub fn stream(entries: &[Entry]) -> Vec<u8> {
    let time = |entry: Option<&Entry>| entry.map_or(0, |entry| entry.time_ns);
    let bits = ((HEADER + entries.len() * EVENT) * 8) as u64;
    let mut bytes = Vec::with_capacity(bits as usize / 8);
    bytes.extend(MAGIC.to_le_bytes());
    bytes.extend(0u32.to_le_bytes());
    for word in [time(entries.first()), time(entries.last()), bits, bits] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend(0u32.to_le_bytes());
    for entry in entries {
        bytes.extend(entry.time_ns.to_le_bytes());
        bytes.push(entry.event as u8);
        bytes.extend(entry.first.to_le_bytes());
        bytes.extend(entry.second.to_le_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::super::entries::read;
    use super::*;

    #[test]
    fn a_packet_has_the_length_that_it_says() {
        let entries = read("trace 0 100 2 0xec 0x0\ntrace 1 300 4 0x5 0x0\n");
        let bytes = stream(&entries);
        assert_eq!(bytes.len(), HEADER + 2 * EVENT);
        assert_eq!(bytes[..4], [0xc1, 0x1f, 0xfc, 0xc1]);
        assert_eq!(bytes[8..16], 100u64.to_le_bytes());
        assert_eq!(bytes[24..32], (bytes.len() as u64 * 8).to_le_bytes());
        assert_eq!(bytes[HEADER + 8], Event::Interrupt as u8);
    }

    #[test]
    fn every_kind_is_described_once() {
        let text = metadata();
        for (event, name, _) in KINDS {
            assert_eq!(text.matches(&format!("name = \"{name}\";\n\tid = {};", event as u64)).count(), 1);
        }
        assert!(text.starts_with("/* CTF 1.8 */\n"));
    }
}
