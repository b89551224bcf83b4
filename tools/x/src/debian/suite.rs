//! Which Debian release this machine runs.

use crate::problem::problem;
use anyhow::Result;
use std::fs;

/// The release's name, such as `bookworm`.
pub fn suite() -> Result<String> {
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    named(&release).map(str::to_owned).ok_or_else(|| {
        let why = "/etc/os-release has no VERSION_CODENAME";
        problem("it is unknown which Debian this is", why, "do this on Debian 12 or 13")
    })
}

fn named(release: &str) -> Option<&str> {
    release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME=")).map(|name| name.trim_matches('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_the_suite() {
        assert_eq!(named("ID=debian\nVERSION_CODENAME=trixie\n"), Some("trixie"));
        assert_eq!(named("ID=debian\nVERSION_CODENAME=\"bookworm\"\n"), Some("bookworm"));
        assert_eq!(named("ID=other\n"), None);
    }
}
