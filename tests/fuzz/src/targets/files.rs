//! The system file.

use pillion_system::{Target, check, parse};

/// Pieces of a system file.
pub const WORDS: &[&str] = &[
    "[system]\nname = \"a\"\n",
    "[[task]]\nname = \"b\"\n",
    "[linux]\n",
    "[channels]\n",
    "priority = 200\n",
    "period_us = 100\n",
    "budget_us = 20\n",
    "memory_kib = 64\n",
    "skin = \"rtlinux\"\n",
    "threads = 4\n",
    "ports = [{ first = 0x300, count = 8 }]\n",
    "interrupts = [{ line = 16, level = true }]\n",
    "devices = [\"00:04.0\"]\n",
    "mbuff_kib = 64\n",
    "shared_fifos = [3]\n",
    "18446744073709551615",
    "-1",
];

/// A refused file has a reason; one that passes the check has response times within its periods.
pub fn system(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match parse(text) {
        Err(problems) => assert!(!problems.is_empty()),
        Ok(system) => {
            let machine = Target::default();
            if let Err(problems) = check(&system, &machine) {
                assert!(!problems.is_empty());
            }
        }
    }
}
