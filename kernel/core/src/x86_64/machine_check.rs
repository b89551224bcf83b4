//! Reading the register banks after a machine check (AMD APM vol. 2, 9.3).

/// Maximum number of banks that are looked at; the registers of further ones are elsewhere.
pub const BANKS: u32 = 32;

/// Bits of a bank's status.
mod status {
    /// It holds an error.
    pub const VALID: u64 = 1 << 63;
    /// The error was not corrected.
    pub const UNCORRECTED: u64 = 1 << 61;
    /// The bank's address register holds the error's address.
    pub const HAS_ADDRESS: u64 = 1 << 58;
    /// The state of the processor may be wrong.
    pub const CORRUPT: u64 = 1 << 57;
}

/// The gravest error found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Status of the bank; 0 when none holds an error.
    pub status: u64,
    /// Its number.
    pub bank: u32,
}

/// Number of banks to look at, given the capabilities register.
#[must_use]
pub const fn banks(capabilities: u64) -> u32 {
    let count = capabilities as u32 & 0xff;
    if count < BANKS { count } else { BANKS }
}

/// Whether a bank holds an error.
#[must_use]
pub const fn is_valid(word: u64) -> bool {
    word & status::VALID != 0
}

/// Whether a bank's address register holds an address. If not, the register may be missing, and
/// reading it may fault.
#[must_use]
pub const fn has_address(word: u64) -> bool {
    is_valid(word) && word & status::HAS_ADDRESS != 0
}

const fn gravity(word: u64) -> u8 {
    if !is_valid(word) {
        0
    } else if word & status::CORRUPT != 0 {
        3
    } else if word & status::UNCORRECTED != 0 {
        2
    } else {
        1
    }
}

impl Found {
    /// Takes the status of a bank into account. The first of equals stays.
    pub const fn add(&mut self, bank: u32, word: u64) {
        if gravity(word) > gravity(self.status) {
            *self = Found { status: word, bank };
        }
    }

    /// Whether the processor's own state is intact, so that all but the interrupted code can go on.
    #[must_use]
    pub const fn contained(&self) -> bool {
        self.status & status::CORRUPT == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gravest_is_kept() {
        const CORRECTED: u64 = 1 << 63 | 5;
        const LOST: u64 = 1 << 63 | 1 << 61 | 6;
        const CORRUPT: u64 = LOST | 1 << 57;
        let mut found = Found::default();
        assert!(found.contained());
        // Without the valid bit a bank holds no error.
        found.add(0, !(1 << 63));
        assert_eq!(found, Found::default());
        found.add(1, CORRECTED);
        found.add(2, LOST);
        found.add(3, CORRECTED);
        found.add(4, LOST | 1);
        assert_eq!(found, Found { status: LOST, bank: 2 });
        assert!(found.contained());
        found.add(5, CORRUPT);
        found.add(6, LOST);
        assert_eq!(found, Found { status: CORRUPT, bank: 5 });
        assert!(!found.contained());
    }

    #[test]
    fn an_address_is_there_where_a_valid_bank_says_so() {
        assert_eq!([1 << 63 | 1 << 58, 1 << 63, 1 << 58, !(1 << 58)].map(has_address), [true, false, false, false]);
    }

    #[test]
    fn the_number_of_banks_is_bounded() {
        assert_eq!([banks(0), banks(0x100 | 10), banks(0xff)], [0, 10, BANKS]);
    }
}
