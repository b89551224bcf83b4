//! Paths of devices, commands of I/O controls, and ticks of the old timer.

use pillion_rt_core::{
    device_name::{Device, parse},
    ioctl, ticks,
};
use proptest::prelude::*;

#[test]
fn paths() {
    let device = |name: &'static str, minor| Some(Device { name: name.as_bytes(), minor });
    assert_eq!(parse(b"/dev/rtf12"), device("rtf", 12));
    assert_eq!(parse(b"/dev/mem"), device("mem", 0));
    assert_eq!(parse(b"/dev/ttyS0"), device("ttyS", 0));
    assert_eq!(parse(b"/dev/a1b2"), device("a1b", 2));
    for wrong in ["", "rtf1", "/dev/", "/dev/7", "/tmp/rtf1", "/dev/rtf4294967296"] {
        assert_eq!(parse(wrong.as_bytes()), None, "{wrong}");
    }
}

#[test]
fn commands_say_what_they_carry() {
    assert_eq!(ioctl::size(0), 0);
    assert_eq!(ioctl::size(0x541b), 0);
    assert_eq!(ioctl::size(0x2000_7001), 0);
    assert_eq!(ioctl::size(0x4008_7001), 8);
    assert_eq!(ioctl::size(0xc010_7001), 16);
    assert_eq!(ioctl::size(u32::MAX), 0x3fff);
}

#[test]
fn known_ticks() {
    assert_eq!(ticks::to_ns(ticks::PER_SECOND), 1_000_000_000);
    assert_eq!(ticks::to_ns(1), 838);
    assert_eq!(ticks::from_ns(1_000_000), 1193);
    assert_eq!(ticks::to_ns(ticks::NEVER), ticks::NEVER);
    assert_eq!(ticks::to_ns(ticks::NEVER - 1), ticks::NEVER);
    assert_eq!(ticks::priority(0), 1_000_000);
    assert_eq!(ticks::priority(3), 999_997);
    assert_eq!(ticks::priority(i32::MAX), 0);
    assert_eq!(ticks::priority(-1), 1_000_000);
}

proptest! {
    #[test]
    fn ticks_survive_the_way_back(ticks in 0i64..10_000_000_000) {
        let back = ticks::from_ns(ticks::to_ns(ticks));
        prop_assert!(back == ticks || back == ticks - 1);
    }
}
