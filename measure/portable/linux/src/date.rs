//! Dates in local time in the format of RFC 2822, which rt-tests uses too.

use std::time::{SystemTime, UNIX_EPOCH};

/// A time as a date: `Sun, 22 Nov 2026 02:32:27 +0100`.
pub fn date(time: SystemTime) -> String {
    text(&local(time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64)))
}

/// A time in seconds since 1970 as local time of this machine.
fn local(seconds: i64) -> libc::tm {
    // SAFETY: a C structure of integers and a pointer that may be null, for which zeros are values.
    let mut time: libc::tm = unsafe { std::mem::zeroed() };
    // SAFETY: both live during the call; nothing here changes the environment that it reads.
    unsafe { libc::localtime_r(&raw const seconds, &raw mut time) };
    time
}

fn text(time: &libc::tm) -> String {
    let mut text = [0_u8; 64];
    // SAFETY: there is room for as many bytes as are passed, and the format is a string. The names
    // are English ones: nothing in this program sets a locale.
    let length =
        unsafe { libc::strftime(text.as_mut_ptr().cast(), text.len(), c"%a, %d %b %Y %H:%M:%S %z".as_ptr(), time) };
    String::from_utf8_lossy(&text[..length]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_written_as_mail_has_it() {
        let mut time = libc::tm {
            tm_sec: 7,
            tm_min: 5,
            tm_hour: 23,
            tm_mday: 3,
            tm_mon: 1,
            tm_year: 126,
            tm_wday: 2,
            tm_yday: 33,
            tm_isdst: 0,
            tm_gmtoff: 19_800,
            tm_zone: std::ptr::null(),
        };
        assert_eq!(text(&time), "Tue, 03 Feb 2026 23:05:07 +0530");
        time.tm_gmtoff = -12_600;
        assert_eq!(text(&time), "Tue, 03 Feb 2026 23:05:07 -0330");
    }

    #[test]
    fn local_time_is_its_zone_away() {
        for seconds in [0, 1_000_000_000, 1_795_314_747] {
            let time = local(seconds);
            let of_day = i64::from(time.tm_hour * 3600 + time.tm_min * 60 + time.tm_sec);
            assert_eq!((of_day - time.tm_gmtoff).rem_euclid(86_400), seconds % 86_400);
        }
    }
}
