//! What follows when Linux ends: it restarts, stays off, or the system ends with it.

/// What follows, according to the system file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// Linux starts again.
    Restart,
    /// Linux stays off until something starts it.
    Off,
    /// The system ends.
    End,
}

/// The rules in the system file.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// After Linux switched itself off.
    pub poweroff: Then,
    /// After it ended in another way.
    pub crash: Then,
    /// After too many restarts, or if Linux cannot start. [`Then::Restart`] means [`Then::Off`].
    pub limit: Then,
    /// Most restarts since Linux was last started on request.
    pub restarts: u64,
    /// Pause before the first restart, in ticks.
    pub pause: u64,
}

/// How a life ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Death {
    /// Linux asked for it.
    PowerOff,
    /// Otherwise; this includes a reboot, because a panic reboots.
    Crash,
    /// Linux cannot continue: it could not be loaded, or the kernel below refuses to run it.
    Hopeless,
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Start Linux, after a pause in ticks.
    Start {
        /// The pause.
        pause: u64,
    },
    /// Leave Linux off until something starts it.
    Off {
        /// Whether it was given up.
        gave_up: bool,
    },
    /// End the system.
    End {
        /// Whether it was given up.
        gave_up: bool,
    },
}

/// The pause doubles with each restart, at most this many times.
const DOUBLINGS: u64 = 4;

/// The lives of Linux.
#[derive(Clone, Debug)]
pub struct Lives {
    rules: Rules,
    begun: u64,
    restarts: u64,
}

impl Lives {
    /// No life has begun yet.
    pub const fn new(rules: Rules) -> Lives {
        Lives { rules, begun: 0, restarts: 0 }
    }

    /// Number of lives begun.
    pub const fn begun(&self) -> u64 {
        self.begun
    }

    /// Records that Linux begins to run.
    pub fn begin(&mut self) {
        self.begun += 1;
    }

    /// Records that Linux was started on request: its restarts are counted anew.
    pub fn asked_for(&mut self) {
        self.restarts = 0;
    }

    /// What follows an end of Linux.
    pub fn after(&mut self, death: Death) -> Next {
        let then = match death {
            Death::PowerOff => self.rules.poweroff,
            Death::Crash => self.rules.crash,
            Death::Hopeless => return self.give_up(),
        };
        match then {
            Then::Restart if self.restarts < self.rules.restarts => {
                let pause = self.rules.pause.saturating_mul(1 << self.restarts.min(DOUBLINGS));
                self.restarts += 1;
                Next::Start { pause }
            }
            Then::Restart => self.give_up(),
            Then::Off => Next::Off { gave_up: death != Death::PowerOff },
            Then::End => Next::End { gave_up: death != Death::PowerOff },
        }
    }

    fn give_up(&self) -> Next {
        match self.rules.limit {
            Then::End => Next::End { gave_up: true },
            Then::Off | Then::Restart => Next::Off { gave_up: true },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Then; 3] = [Then::Restart, Then::Off, Then::End];

    fn lives(poweroff: Then, crash: Then, limit: Then) -> Lives {
        Lives::new(Rules { poweroff, crash, limit, restarts: 2, pause: 10 })
    }

    #[test]
    fn what_the_file_says_follows() {
        for (poweroff, crash, limit) in ALL.iter().flat_map(|a| ALL.iter().flat_map(move |b| ALL.map(|c| (*a, *b, c))))
        {
            let first = |death| lives(poweroff, crash, limit).after(death);
            let wanted = |then, gave_up| match then {
                Then::Restart => Next::Start { pause: 10 },
                Then::Off => Next::Off { gave_up },
                Then::End => Next::End { gave_up },
            };
            assert_eq!(first(Death::PowerOff), wanted(poweroff, false));
            assert_eq!(first(Death::Crash), wanted(crash, true));
            let end = limit == Then::End;
            let given_up = if end { Next::End { gave_up: true } } else { Next::Off { gave_up: true } };
            assert_eq!(first(Death::Hopeless), given_up);
        }
    }

    #[test]
    fn the_limit_counts_and_the_pause_doubles() {
        let mut lives = lives(Then::Restart, Then::Restart, Then::Off);
        assert_eq!(lives.after(Death::Crash), Next::Start { pause: 10 });
        // A Linux that is to restart and switches off at once is no better than one that dies.
        assert_eq!(lives.after(Death::PowerOff), Next::Start { pause: 20 });
        assert_eq!(lives.after(Death::Crash), Next::Off { gave_up: true });
        lives.asked_for();
        assert_eq!(lives.after(Death::Crash), Next::Start { pause: 10 });
    }

    #[test]
    fn pauses_have_a_longest() {
        let rules = Rules { restarts: u64::MAX, pause: 1 << 61, ..lives(Then::Off, Then::Restart, Then::Off).rules };
        let mut lives = Lives::new(rules);
        for _ in 0..100 {
            assert!(matches!(lives.after(Death::Crash), Next::Start { .. }));
        }
        assert_eq!(lives.after(Death::Crash), Next::Start { pause: u64::MAX });
        lives.begin();
        assert_eq!(lives.begun(), 1);
    }
}
