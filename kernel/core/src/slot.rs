//! Slots: places for capabilities, in words that one processor writes while others look.
//!
//! The frequent calls look at the first two words only, the head and the badge: see
//! `Slot::look`. They do so while another processor changes slots, which one at a time does
//! ([`crate::machine::Devices::enter_tree`]). A capability that names an object is in the head
//! alone. To fill a slot, the head is written last; to empty it, first. A head comes back only
//! after the slot was filled 32 times, each in a call, and emptied in another one, which together
//! take some 10,000 instructions. The loads of a look are made with interrupts off, a few
//! instructions apart; but a system management interrupt that stops one processor alone, or a
//! hypervisor below, can come between them and last longer. So the badge is looked at once more
//! too: for one that belongs to another capability, the slot would have to be filled 32 times
//! before the second load of the head, and once more after it, within two gaps between single
//! loads. Even then the capability was there, and so is the object: only the badge is another.

use crate::{
    Id, Opt, cap::Cap, context::Context, endpoint::Endpoint, home::Homed, id::AtomicOpt, interrupt::Interrupt,
    notification::Notification, space::Space, thread::Thread, timer::Timer, vcpu::Vcpu,
};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use pillion_abi::object::right;
use pillion_post::Watched;

/// Most processors that run a kernel: a head has room for the numbers of so many.
pub const PROCESSORS: usize = 8;

/// The parts of a head: the kind of capability, rights, numbers of processors, flags, and above
/// them the handle of an object. All of them but the count are 0 in an empty slot.
mod head {
    pub const KIND: u64 = 0xff;
    pub const RIGHTS: u32 = 8;
    pub const HOME: u32 = 12;
    pub const WITHIN: u32 = 15;
    pub const INNER: u64 = 1 << 18;
    pub const ORIGINAL: u64 = 1 << 19;
    pub const UNMAPPING: u64 = 1 << 20;
    pub const DEVICE: u64 = 1 << 21;
    pub const DEPTH: u32 = 22;
    /// Counts how often the slot was filled, so that a head does not come back at once.
    pub const FILLED: u64 = 31 << 27;
    pub const HANDLE: u32 = 32;

    /// A processor's number.
    pub const PROCESSOR: u64 = super::PROCESSORS as u64 - 1;
}

mod kind {
    pub const REGION: u64 = 1;
    pub const MEMORY: u64 = 2;
    pub const STATE_PAGE: u64 = 3;
    pub const CAP_SPACE: u64 = 4;
    pub const ADDRESS_SPACE: u64 = 5;
    pub const GUEST_SPACE: u64 = 6;
    pub const THREAD: u64 = 7;
    pub const CONTEXT: u64 = 8;
    pub const ENDPOINT: u64 = 9;
    pub const NOTIFICATION: u64 = 10;
    pub const TIMER: u64 = 11;
    pub const INTERRUPT: u64 = 12;
    pub const VCPU: u64 = 13;
    pub const PORTS: u64 = 14;
    pub const SCHED_CONTROL: u64 = 15;
    pub const IRQ_CONTROL: u64 = 16;
    pub const TRACE: u64 = 17;
}

/// A place for a capability. Zeros are an empty one.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct Slot {
    /// Head and badge.
    words: Watched<{ head::FILLED }>,
    /// Of a region: base, size, bytes in use, bytes in use or cleared. Of memory: base, size,
    /// address; space and mapped pages; previous and next in the list of the space. Of ports: first
    /// and count.
    content: [AtomicU64; 5],
    previous: AtomicOpt<Slot>,
    next: AtomicOpt<Slot>,
}

const _: () = assert!(size_of::<Slot>() == 64);

/// What a slot holds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Entry {
    /// The capability.
    pub cap: Cap,
    /// Badge, 0 when none was given.
    pub badge: u64,
    /// Rights as in [`pillion_abi::object::right`].
    pub rights: u8,
    /// Whether this is the object's original capability: the object is deleted with it.
    pub original: bool,
    /// If the slot lies in an object: the object's home, where alone it is emptied.
    pub within: Option<u8>,
    /// Distance from the root of its tree.
    pub depth: u8,
    /// The mapping is being taken away: nothing is mapped anew until it is gone.
    pub unmapping: bool,
    /// Pages from the capability's mapping address on that are mapped.
    pub mapped_pages: u32,
    /// Previous in the derivation list.
    pub previous: Opt<Slot>,
    /// Next in the derivation list.
    pub next: Opt<Slot>,
}

/// What distinguishes a copy of a capability from the one that it is derived from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copied {
    /// The rights that it has at most.
    pub rights: u8,
    /// Badge, 0 for none; not 0 only if the source has none.
    pub badge: u64,
    /// If it goes into a slot that lies in an object: the object's home.
    pub within: Option<u8>,
    /// Of memory or ports: the part that it is for, as first and size; none for all of it.
    pub part: Option<[u64; 2]>,
    /// Of memory: whether it is what a vCPU holds of its state's page.
    pub is_state_page: bool,
}

impl Copied {
    /// All of it.
    pub const ALL: Copied = Copied { rights: right::ALL, badge: 0, within: None, part: None, is_state_page: false };
}

/// What a look at a slot found: the head, and the badge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    head: u64,
    /// The badge.
    pub badge: u64,
}

impl Look {
    /// Whether the slot was empty.
    pub fn is_none(self) -> bool {
        self.head & head::KIND == 0
    }

    /// Whether the capability has all of these rights.
    #[inline(always)]
    pub fn allows(self, rights: u8) -> bool {
        self.head & u64::from(rights) << head::RIGHTS == u64::from(rights) << head::RIGHTS
    }

    /// The endpoint, if it is one.
    #[inline(always)]
    pub fn endpoint(self) -> Option<Homed<Endpoint>> {
        homed(self.head, kind::ENDPOINT)
    }

    /// The notification, if it is one.
    #[inline(always)]
    pub fn notification(self) -> Option<Homed<Notification>> {
        homed(self.head, kind::NOTIFICATION)
    }
}

/// The object that a head names, if it is of a kind.
#[inline(always)]
fn object<T>(head: u64, of_kind: u64) -> Opt<T> {
    if head & head::KIND == of_kind { Id::in_word((head >> head::HANDLE) as u32) } else { None }
}

#[inline(always)]
fn homed<T>(head: u64, of_kind: u64) -> Option<Homed<T>> {
    object(head, of_kind).map(|id| Homed::new(id, processor(head, head::HOME)))
}

const fn processor(head: u64, at: u32) -> u8 {
    (head >> at) as u8 & head::PROCESSOR as u8
}

fn number<T>(id: Id<T>) -> u64 {
    u64::from(id.number()) << head::HANDLE
}

fn named<T>(kind: u64, object: Homed<T>) -> u64 {
    kind | u64::from(object.home()) << head::HOME | number(object.beside())
}

const fn if_set(condition: bool, flag: u64) -> u64 {
    if condition { flag } else { 0 }
}

/// Two handles in a word.
fn pair(low: Option<Id<Slot>>, high: Option<Id<Slot>>) -> u64 {
    Id::word(low) as u64 | (Id::word(high) as u64) << 32
}

impl Slot {
    /// Looks at the slot. Where others may change it meanwhile, badge and head belong together if
    /// both are still the same afterwards ([`Slot::shows`]).
    #[inline(always)]
    pub(crate) fn look(&self) -> Look {
        let (head, badge) = self.words.look();
        Look { head, badge }
    }

    /// Whether the slot still has what a look found.
    #[inline(always)]
    pub(crate) fn shows(&self, look: Look) -> bool {
        self.words.still_has((look.head, look.badge))
    }

    /// Takes the rights from the capability: whoever looks at the slot from now on cannot use it,
    /// and it does not show any more what others found before.
    pub(crate) fn retire(&self) {
        self.words.keep(!(15 << head::RIGHTS));
    }

    /// The vCPU that it names, if the capability has all of these rights.
    #[inline(always)]
    pub(crate) fn vcpu(&self, rights: u8) -> Option<Homed<Vcpu>> {
        let look = Look { head: self.words.head(), badge: 0 };
        if look.allows(rights) { homed(look.head, kind::VCPU) } else { None }
    }

    /// Whether it is empty.
    #[inline(always)]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.head() & head::KIND == 0
    }

    /// Whether it holds a region.
    #[inline(always)]
    pub(crate) fn is_region(&self) -> bool {
        self.words.head() & head::KIND == kind::REGION
    }

    /// The object that the slot of an object names. The caller knows of what kind it is: that slot
    /// never gets another one.
    #[inline(always)]
    pub(crate) fn object<T>(&self) -> Opt<T> {
        Id::in_word((self.words.head() >> head::HANDLE) as u32)
    }

    /// The capability that a look found, whose rights are those of the look. That of a region,
    /// memory or ports is whole only where nobody changes it meanwhile.
    #[inline(always)]
    pub(crate) fn cap_in(&self, look: Look) -> Cap {
        self.decode(look.head).unwrap_or_default()
    }

    /// The capability, in the same way.
    #[inline(always)]
    #[must_use]
    pub fn cap(&self) -> Cap {
        self.decode(self.words.head()).unwrap_or_default()
    }

    #[inline(always)]
    fn word(&self, index: usize) -> u64 {
        self.content.get(index).map_or(0, |word| word.load(Relaxed))
    }

    #[inline(always)]
    fn set_word(&self, index: usize, value: u64) {
        if let Some(word) = self.content.get(index) {
            word.store(value, Relaxed);
        }
    }

    #[inline(always)]
    fn decode(&self, head: u64) -> Option<Cap> {
        let device = head & head::DEVICE != 0;
        Some(match head & head::KIND {
            kind::REGION => {
                let [base, size, used, cleared] = [0, 1, 2, 3].map(|index| self.word(index));
                Cap::Region { device, base, size, used, cleared }
            }
            kind::MEMORY => {
                let [base, size, address, space, links] = [0, 1, 2, 3, 4].map(|index| self.word(index));
                let (previous, next) = (Id::in_word(links as u32), Id::in_word((links >> 32) as u32));
                Cap::Memory { device, base, size, address, space: Id::in_word(space as u32), previous, next }
            }
            kind::STATE_PAGE => Cap::StatePage,
            kind::CAP_SPACE => Cap::CapSpace(object(head, kind::CAP_SPACE)?),
            kind::ADDRESS_SPACE => Cap::AddressSpace(object(head, kind::ADDRESS_SPACE)?),
            kind::GUEST_SPACE => Cap::GuestSpace(object(head, kind::GUEST_SPACE)?),
            kind::THREAD => Cap::Thread(homed::<Thread>(head, kind::THREAD)?),
            kind::CONTEXT => Cap::Context(homed::<Context>(head, kind::CONTEXT)?),
            kind::ENDPOINT => Cap::Endpoint(homed(head, kind::ENDPOINT)?),
            kind::NOTIFICATION => Cap::Notification(homed(head, kind::NOTIFICATION)?),
            kind::TIMER => Cap::Timer(homed::<Timer>(head, kind::TIMER)?),
            kind::INTERRUPT => Cap::Interrupt(homed::<Interrupt>(head, kind::INTERRUPT)?),
            kind::VCPU => Cap::Vcpu(homed(head, kind::VCPU)?),
            kind::PORTS => Cap::Ports { first: self.word(0) as u16, count: self.word(1) as u32 },
            kind::SCHED_CONTROL => Cap::SchedControl,
            kind::IRQ_CONTROL => Cap::IrqControl,
            kind::TRACE => Cap::Trace,
            _ => return None,
        })
    }

    /// Writes what a capability has besides the head, and returns its part of that.
    #[inline(always)]
    fn encode(&self, cap: &Cap, mapped_pages: u32) -> u64 {
        match *cap {
            Cap::None => 0,
            Cap::Region { device, base, size, used, cleared } => {
                [base, size, used, cleared]
                    .into_iter()
                    .enumerate()
                    .for_each(|(index, word)| self.set_word(index, word));
                kind::REGION | if_set(device, head::DEVICE)
            }
            Cap::Memory { device, base, size, address, space, previous, next } => {
                let space = Id::word(space) as u64 | u64::from(mapped_pages) << 32;
                [base, size, address, space, pair(previous, next)]
                    .into_iter()
                    .enumerate()
                    .for_each(|(index, word)| self.set_word(index, word));
                kind::MEMORY | if_set(device, head::DEVICE)
            }
            Cap::StatePage => kind::STATE_PAGE,
            Cap::CapSpace(id) => kind::CAP_SPACE | number(id),
            Cap::AddressSpace(id) => kind::ADDRESS_SPACE | number(id),
            Cap::GuestSpace(id) => kind::GUEST_SPACE | number(id),
            Cap::Thread(object) => named(kind::THREAD, object),
            Cap::Context(object) => named(kind::CONTEXT, object),
            Cap::Endpoint(object) => named(kind::ENDPOINT, object),
            Cap::Notification(object) => named(kind::NOTIFICATION, object),
            Cap::Timer(object) => named(kind::TIMER, object),
            Cap::Interrupt(object) => named(kind::INTERRUPT, object),
            Cap::Vcpu(object) => named(kind::VCPU, object),
            Cap::Ports { first, count } => {
                self.set_word(0, first.into());
                self.set_word(1, count.into());
                kind::PORTS
            }
            Cap::SchedControl => kind::SCHED_CONTROL,
            Cap::IrqControl => kind::IRQ_CONTROL,
            Cap::Trace => kind::TRACE,
        }
    }

    /// Everything that it holds, where nobody changes it meanwhile; as are all that follow.
    #[inline(always)]
    #[must_use]
    pub fn entry(&self) -> Entry {
        let head = self.words.head();
        let cap = self.decode(head).unwrap_or_default();
        Entry {
            cap,
            badge: self.words.other(),
            rights: (head >> head::RIGHTS) as u8 & 15,
            original: head & head::ORIGINAL != 0,
            within: (head & head::INNER != 0).then_some(processor(head, head::WITHIN)),
            depth: (head >> head::DEPTH) as u8 & 31,
            unmapping: head & head::UNMAPPING != 0,
            mapped_pages: if let Cap::Memory { .. } = cap { (self.word(3) >> 32) as u32 } else { 0 },
            previous: self.previous.get(),
            next: self.next.get(),
        }
    }

    /// Fills it, when it is empty.
    #[inline(always)]
    pub fn fill(&self, entry: &Entry) {
        let Entry { ref cap, badge, rights, original, within, depth, unmapping, mapped_pages, previous, next } = *entry;
        self.previous.set(previous);
        self.next.set(next);
        self.words.prepare(badge);
        let head = self.encode(cap, mapped_pages)
            | u64::from(rights) << head::RIGHTS
            | if_set(original, head::ORIGINAL)
            | if_set(unmapping, head::UNMAPPING);
        self.fill_head(head, within, depth);
    }

    /// Fills it, when it is empty, with a copy of what another slot holds. The copy has no more
    /// rights, and memory is not mapped through it.
    #[inline]
    pub(crate) fn fill_with_copy(&self, of: &Slot, copy: &Copied, depth: u8, next: Opt<Slot>, previous: Id<Slot>) {
        const SAME: u64 = head::KIND | head::PROCESSOR << head::HOME | head::DEVICE | u64::MAX << head::HANDLE;
        let from = of.words.head();
        let head = from & SAME | from & u64::from(copy.rights & right::ALL) << head::RIGHTS;
        let head = if copy.is_state_page { head & !(head::KIND | head::DEVICE) | kind::STATE_PAGE } else { head };
        let [first, second] = copy.part.unwrap_or([of.word(0), of.word(1)]);
        self.previous.set(Some(previous));
        self.next.set(next);
        self.words.prepare(of.words.other() | copy.badge);
        self.content.iter().zip([first, second, 0, 0, 0]).for_each(|(word, value)| word.store(value, Relaxed));
        self.fill_head(head, copy.within, depth);
    }

    #[inline(always)]
    fn fill_head(&self, head: u64, within: Option<u8>, depth: u8) {
        let within = within.map_or(0, |home| head::INNER | u64::from(home) << head::WITHIN);
        self.words.fill(head | within | u64::from(depth) << head::DEPTH);
    }

    /// Empties it. Returns its neighbours in the derivation list.
    #[inline]
    pub fn empty(&self) -> (Opt<Slot>, Opt<Slot>) {
        self.words.empty();
        let links = (self.previous.get(), self.next.get());
        self.previous.set(None);
        self.next.set(None);
        links
    }

    /// Empties it into another one, which is empty. Returns its neighbours.
    #[inline]
    pub(crate) fn empty_into(&self, to: &Slot) -> (Opt<Slot>, Opt<Slot>) {
        let head = self.words.head() & !head::FILLED;
        let (previous, next) = self.empty();
        to.previous.set(previous);
        to.next.set(next);
        to.words.prepare(self.words.other());
        self.content.iter().zip(&to.content).for_each(|(from, to)| to.store(from.load(Relaxed), Relaxed));
        to.fill_head(head, None, 0);
        (previous, next)
    }

    /// Distance from the root of its tree.
    pub(crate) fn depth(&self) -> u8 {
        (self.words.head() >> head::DEPTH) as u8 & 31
    }

    /// Previous in the derivation list.
    pub(crate) fn set_previous(&self, to: Opt<Slot>) {
        self.previous.set(to);
    }

    /// Next in the derivation list.
    pub(crate) fn next(&self) -> Opt<Slot> {
        self.next.get()
    }

    /// Next in the derivation list.
    pub(crate) fn set_next(&self, to: Opt<Slot>) {
        self.next.set(to);
    }

    /// Of a region: bytes in use, and bytes in use or cleared.
    pub(crate) fn set_used(&self, used: u64, cleared: u64) {
        self.set_word(2, used);
        self.set_word(3, cleared);
    }

    /// Of memory: changes where and how far it is mapped.
    pub(crate) fn set_mapping(&self, address: u64, space: Opt<Space>, mapped_pages: u32) {
        self.set_word(2, address);
        self.set_word(3, Id::word(space) as u64 | u64::from(mapped_pages) << 32);
    }

    /// Of memory: previous and next in the list of its space.
    pub(crate) fn set_mapped_links(&self, previous: Opt<Slot>, next: Opt<Slot>) {
        self.set_word(4, pair(previous, next));
    }

    /// Of memory: whether its mapping is being taken away.
    pub(crate) fn set_unmapping(&self, unmapping: bool) {
        self.words.change(|head| head & !head::UNMAPPING | if_set(unmapping, head::UNMAPPING));
    }
}
