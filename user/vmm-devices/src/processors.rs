//! Linux's processors as they see each other: which of them run, and what one has sent another and
//! that has not taken it yet.
//!
//! A message changes the receiver's state at once, in the order in which messages are sent, and the
//! receiver's thread acts on it later ([`Processors::take`]). So a start-up message counts from the
//! moment it is sent, and nobody who halts meanwhile is taken for the last one that ran.

use crate::apic::{Address, ApicMode, Destination, Kind, Message};

/// Most processors.
pub const MOST: usize = 8;

/// A set of processors: bit `i` for processor `i`.
pub type Set = u8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Run {
    /// It waits for a start-up message.
    Waits,
    Runs,
    /// It halted with interrupts off: only INIT and NMI bring it back.
    Halted,
}

/// What a processor has been sent since it last looked. It acts on the parts in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct News {
    /// It was reset, and forgets its interrupts.
    pub init: bool,
    /// It starts in the page with that number.
    pub start: Option<u8>,
    /// Vectors that became pending.
    pub vectors: [u64; 4],
    /// It gets an NMI.
    pub nmi: bool,
}

impl News {
    /// The vectors, lowest first.
    pub fn vectors(self) -> impl Iterator<Item = u8> {
        (0..).zip(self.vectors).flat_map(|(number, mut word)| {
            core::iter::from_fn(move || {
                let bit = (word != 0).then(|| word.trailing_zeros() as u8)?;
                word &= word - 1;
                Some(number << 6 | bit)
            })
        })
    }
}

#[derive(Clone, Copy, Debug)]
struct Processor {
    address: Address,
    run: Run,
    news: News,
}

/// The processors.
#[derive(Clone, Debug)]
pub struct Processors {
    all: [Option<Processor>; MOST],
}

impl Processors {
    /// Processors whose local APICs have those IDs, [`MOST`] of them at most; the first one runs,
    /// the others wait to be started.
    pub fn new(ids: &[u32]) -> Processors {
        let mut all = [None; MOST];
        for (i, (to, id)) in all.iter_mut().zip(ids).enumerate() {
            let run = if i == 0 { Run::Runs } else { Run::Waits };
            *to = Some(Processor { address: Address::new(*id), run, news: News::default() });
        }
        Processors { all }
    }

    /// Restores the state of [`Processors::new`].
    pub fn reset(&mut self) {
        let ids = self.all.map(|processor| processor.map_or(0, |processor| processor.address.id));
        let count = self.all.iter().flatten().count();
        *self = Processors::new(&ids[..count]);
    }

    /// A processor's local APIC has that address from now on.
    pub fn readdress(&mut self, index: usize, address: Address) {
        if let Some(processor) = self.get(index) {
            processor.address = address;
        }
    }

    /// A processor sends a message. Returns those that have to look at their news. One that was
    /// reset before sends nothing, though it was on its way: so two cannot reset each other, and
    /// one is left that runs.
    pub fn send(&mut self, from: usize, message: Message) -> Set {
        let mut reached = 0;
        if self.get(from).is_none_or(|sender| sender.run == Run::Waits) {
            return reached;
        }
        for (i, processor) in self.all.iter_mut().enumerate() {
            let Some(processor) = processor else { break };
            if processor.address.is_reached(message.to, i == from) && processor.receive(message.kind, i == from) {
                reached |= 1 << i;
                if let Kind::Lowest(_) = message.kind {
                    break;
                }
            }
        }
        reached
    }

    /// The processor that a line's interrupts for `to` go to: the first that is reached, of those
    /// that run if there is one. If none is reached, the first processor.
    pub fn target(&self, to: Destination) -> usize {
        let all = self.all.iter().flatten().enumerate();
        let mut reached = all.filter(|(_, processor)| processor.address.is_reached(to, false));
        let first = reached.next();
        let runs = first.into_iter().chain(reached).find(|(_, processor)| processor.run == Run::Runs);
        runs.or(first).map_or(0, |(index, _)| index)
    }

    /// Takes what a processor has been sent.
    pub fn take(&mut self, index: usize) -> News {
        self.get(index).map_or(News::default(), |processor| core::mem::take(&mut processor.news))
    }

    /// Takes its interrupts alone, unless the processor was reset or started meanwhile: then it
    /// will look at all.
    pub fn take_interrupts(&mut self, index: usize) -> News {
        match self.get(index) {
            Some(Processor { news: news @ News { init: false, start: None, .. }, .. }) => core::mem::take(news),
            _ => News::default(),
        }
    }

    /// A processor halts with interrupts off. Returns whether none runs any more.
    pub fn halt(&mut self, index: usize) -> bool {
        if let Some(processor) = self.get(index)
            && processor.run == Run::Runs
        {
            processor.run = Run::Halted;
        }
        self.all.iter().flatten().all(|processor| processor.run != Run::Runs)
    }

    fn get(&mut self, index: usize) -> Option<&mut Processor> {
        self.all.get_mut(index)?.as_mut()
    }
}

impl Processor {
    /// Receives a message. Returns whether it has to look at it.
    fn receive(&mut self, kind: Kind, is_sender: bool) -> bool {
        match kind {
            // A processor that waits for a start-up message has its local APIC disabled.
            Kind::Fixed(vector) | Kind::Lowest(vector) if self.run != Run::Waits => {
                self.news.vectors[usize::from(vector >> 6)] |= 1 << (vector & 63);
                true
            }
            Kind::Nmi if self.run != Run::Waits => {
                self.run = Run::Runs;
                self.news.nmi = true;
                true
            }
            // A processor cannot reset itself so.
            Kind::Init if !is_sender => {
                self.address = Address::new(self.address.id);
                self.run = Run::Waits;
                self.news = News { init: true, ..News::default() };
                true
            }
            Kind::StartUp(page) if self.run == Run::Waits => {
                self.run = Run::Runs;
                self.news.start = Some(page);
                true
            }
            _ => false,
        }
    }
}

impl Address {
    /// The address of a local APIC as firmware hands it over.
    pub const fn new(id: u32) -> Address {
        // The cluster, and a bit in it (11.12.10.2).
        let logical = (id >> 4) << 16 | 1 << (id & 15);
        Address { id, mode: ApicMode::X2apic, logical, format: u32::MAX }
    }
}
