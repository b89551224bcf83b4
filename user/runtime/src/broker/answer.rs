//! Answers of the broker.

use crate::info::broker::{MORE, WAIT};
use pillion_abi::call::MESSAGE_WORDS;

/// The broker's answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The request is done. Each request documents its values; the others are 0.
    Done([u64; 3]),
    /// The caller must wait, then call again.
    Wait,
    /// The request is begun: the caller must repeat it.
    More,
    /// Failed with one of [`super::errno`].
    Failed(i32),
}

impl Answer {
    /// Done, without values.
    pub const OK: Answer = Answer::Done([0; 3]);

    /// Done, with one value, which is below [`MORE`].
    #[must_use]
    pub const fn value(value: u64) -> Answer {
        Answer::Done([value, 0, 0])
    }

    /// The words of the message.
    #[must_use]
    pub fn encode(self) -> [u64; MESSAGE_WORDS] {
        let mut words = [0; MESSAGE_WORDS];
        match self {
            Answer::Done(values) => words[..3].copy_from_slice(&values),
            Answer::Wait => words[0] = WAIT,
            Answer::More => words[0] = MORE,
            Answer::Failed(errno) => words[0] = i64::from(errno).wrapping_neg() as u64,
        }
        words
    }

    /// The inverse of [`Answer::encode`].
    #[must_use]
    pub fn decode(words: &[u64; MESSAGE_WORDS]) -> Answer {
        match words[0] {
            WAIT => Answer::Wait,
            MORE => Answer::More,
            first if (first as i64) < 0 => Answer::Failed((first as i64).wrapping_neg() as i32),
            first => Answer::Done([first, words[1], words[2]]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::broker::errno::{ECANCELED, EPERM};

    #[test]
    fn answers_round_trip() {
        let answers = [Answer::OK, Answer::value(7), Answer::Done([1, 2, 3]), Answer::Wait, Answer::More];
        for answer in answers.into_iter().chain([EPERM, ECANCELED].map(Answer::Failed)) {
            assert_eq!(Answer::decode(&answer.encode()), answer);
        }
    }
}
