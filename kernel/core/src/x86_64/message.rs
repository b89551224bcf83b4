//! Interrupts that one of a guest's processors sends others: values of the command register of an
//! x2APIC (Intel SDM vol. 3A, 11.6.1 and 11.12.9).

/// Fields of the command: the vector, what would be ignored, the shorthand.
const VECTOR: u64 = 0xff;
const ASSERT: u64 = 1 << 14;
const SHORTHAND: u64 = 3 << 18;
/// Vectors below this cannot be sent.
const VECTOR_FIRST: u8 = 16;

/// Whom an interrupt is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receivers {
    /// The local APIC with that ID.
    One(u32),
    /// All.
    All,
    /// All but the sender.
    Others,
}

/// An interrupt for other processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its vector.
    pub vector: u8,
    /// Whom it is for.
    pub to: Receivers,
}

impl Message {
    /// What a value sends, if that is an interrupt with a fixed vector for a physical address or
    /// for many. All else is the monitor's: NMI, INIT, start-up, logical addresses, the sender
    /// alone, errors.
    #[must_use]
    pub const fn decode(command: u64) -> Option<Message> {
        let (vector, address) = (command as u8, (command >> 32) as u32);
        if command as u32 as u64 & !(VECTOR | ASSERT | SHORTHAND) != 0 || vector < VECTOR_FIRST {
            return None;
        }
        let to = match (command & SHORTHAND) >> 18 {
            0 if address == u32::MAX => Receivers::All,
            0 => Receivers::One(address),
            2 => Receivers::All,
            3 => Receivers::Others,
            _ => return None,
        };
        Some(Message { vector, to })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interrupts_for_others_are_the_kernels() {
        let sent = |command| Message::decode(command).map(|message| (message.vector, message.to));
        assert_eq!(sent(0x3_0000_00fd), Some((0xfd, Receivers::One(3))));
        assert_eq!(sent(0x3_0000_40fd), Some((0xfd, Receivers::One(3))), "asserted, which changes nothing");
        assert_eq!(sent(0xffff_ffff_0000_0010), Some((0x10, Receivers::All)));
        assert_eq!(sent(0x8_00fb), Some((0xfb, Receivers::All)));
        assert_eq!(sent(0x5_000c_00fb), Some((0xfb, Receivers::Others)), "a shorthand has no address");
    }

    #[test]
    fn all_else_is_the_monitors() {
        let others = [
            (0xf, "a vector of exceptions"),
            (0x1_0000_01fd, "lowest priority"),
            (0x1_0000_0400, "NMI"),
            (0x1_0000_4500, "INIT"),
            (0x1_0000_4608, "start-up"),
            (0x1_0000_08fd, "a logical address"),
            (0x1_0000_80fd, "level-triggered"),
            (0x4_00fd, "the sender alone"),
            (0x1_0010_00fd, "a reserved bit"),
        ];
        for (command, what) in others {
            assert_eq!(Message::decode(command), None, "{what}");
        }
    }
}
