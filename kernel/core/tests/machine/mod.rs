//! A fake machine in host memory: objects lie in an arena as in the real kernel's direct map, and
//! all accesses to devices, clock and registers are recorded.

mod agenda;
pub mod check;
pub mod relations;
pub mod slots;
mod threads;
mod translations;
pub mod world;

use pillion_abi::{
    NEVER, PAGE,
    call::MESSAGE_WORDS,
    status::{Error, Result},
};
use pillion_core::{
    Id, Slot,
    away::{Away, Letter, Visit},
    cap::CapSpace,
    context::{Context, Used},
    create::{CLEAR_STEP, THREAD_PAGES, VCPU_PAGES},
    endpoint::Endpoint,
    id::{CONTEXT_BYTES, NOTIFICATION_BYTES, Site, bytes_with_slots},
    interrupt::{Interrupt, LineUser},
    machine::{Devices, Guests, HasSlots, Local, Message, Objects, Shared, Spaces, Threads, Time},
    notification::Notification,
    post::Post,
    space::Space,
    thread::Thread,
    timer::Timer,
    vcpu::Vcpu,
    x86_64::paging::{self, Flags, Tables},
};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::any::{TypeId, type_name};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering::Relaxed;
use translations::Translations;

/// Physical address of the arena's first byte.
pub const BASE: u64 = 0x100_0000;

/// Number of interrupt lines.
pub const LINES: u32 = 24;

/// Steps that preparing a vCPU takes.
const PREPARE_STEPS: u32 = 5;

/// Page-aligned memory.
pub struct Arena {
    memory: *mut u8,
    layout: Layout,
}

impl Arena {
    fn new(size: usize) -> Self {
        let layout = Layout::from_size_align(size, PAGE as usize).unwrap();
        // SAFETY: the size is not zero.
        let memory = unsafe { alloc_zeroed(layout) };
        assert!(!memory.is_null());
        Arena { memory, layout }
    }

    fn size(&self) -> u64 {
        self.layout.size() as u64
    }

    fn pointer<T>(&self, physical: u64) -> *mut T {
        let offset = physical.checked_sub(BASE).expect("below the arena");
        assert!(offset + size_of::<T>() as u64 <= self.size(), "past the arena: {physical:#x}");
        assert!(offset.is_multiple_of(align_of::<T>() as u64), "not aligned: {physical:#x} for {}", type_name::<T>());
        // SAFETY: inside the allocation.
        unsafe { self.memory.add(offset as usize).cast() }
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout.
        unsafe { dealloc(self.memory, self.layout) };
    }
}

/// Kinds of objects in the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    CapSpace,
    Space,
    Thread,
    Context,
    Endpoint,
    Notification,
    Timer,
    Interrupt,
    Vcpu,
}

fn what<T: 'static>() -> Option<What> {
    let id = TypeId::of::<T>();
    [
        (TypeId::of::<CapSpace>(), What::CapSpace),
        (TypeId::of::<Space>(), What::Space),
        (TypeId::of::<Thread>(), What::Thread),
        (TypeId::of::<Context>(), What::Context),
        (TypeId::of::<Endpoint>(), What::Endpoint),
        (TypeId::of::<Notification>(), What::Notification),
        (TypeId::of::<Timer>(), What::Timer),
        (TypeId::of::<Interrupt>(), What::Interrupt),
        (TypeId::of::<Vcpu>(), What::Vcpu),
    ]
    .into_iter()
    .find(|(t, _)| *t == id)
    .map(|(_, w)| w)
}

/// A live object: its kind and size in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Live {
    pub what: What,
    pub bytes: u64,
    /// The processor that it belongs to, if it is of a kind that does.
    pub home: Option<u8>,
    /// Ended during the current entry into the kernel, which may still access it.
    pub ended: bool,
}

/// The registers of a thread that calls use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    pub rax: u64,
    pub rdi: u64,
    pub rsi: u64,
    /// rdx, r10, r8, r9, r12 to r15.
    pub words: [u64; MESSAGE_WORDS],
    pub rip: u64,
    pub rsp: u64,
    /// Messages received so far.
    pub received: u64,
}

/// An effect of the kernel on the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    Eoi,
    Route(u32, u8, u64),
    Mask(u32, bool),
    PortOut(u16, u8, u32),
    AllowPorts(u16, u32),
    Log(u8),
    Trace(bool),
    Fault(u32),
    Show(u32),
    SpaceDrop(u32),
    VcpuDrop(u32),
    DropFpu(u32),
}

/// The machine as one processor sees it. What all share is with the processor whose kernel runs, as
/// one kernel runs at a time.
pub struct Fake {
    /// The processor.
    pub number: u8,
    /// How many there are.
    pub processors: u8,
    arena: Arena,
    pub live: BTreeMap<u64, Live>,
    /// Letters on their way, and where to.
    pub letters: Vec<(u8, Id<Letter>)>,
    /// Threads that are to make their calls again.
    pub repeated: Vec<Id<Thread>>,
    pub frames: BTreeMap<u32, Frame>,
    pub clock: u64,
    pub programmed: u64,
    /// Whether the passenger's interrupts are held back.
    pub holds_passenger: bool,
    /// Masked lines of user threads.
    pub masked: BTreeSet<u32>,
    /// Lines that somebody uses.
    pub line_users: BTreeMap<u32, LineUser>,
    pub events: Vec<Event>,
    /// Every n-th preemption point reports a pending interrupt; 0: none does.
    pub interrupt_every: u32,
    /// How long it takes to the next preemption point.
    pub ticks_per_point: u64,
    /// How long it takes from one look at the clock to the next.
    pub ticks_per_look: u64,
    pub points: u64,
    /// Calls of `get` since the call began or since the last preemption point.
    pub gets: Cell<u64>,
    pub worst: u64,
    /// Preemption points since the call began.
    pub points_in_call: u64,
    /// Vector of the guest's timer.
    pub timer_vector: Option<u8>,
    pub virtualisation: bool,
    pub log_has_room: bool,
    /// Whether the passenger gets what other processors' guests send it.
    pub accepts_messages: bool,
    /// What they have sent it.
    pub messages: [u64; 4],
    /// What processors know of page tables, where there are several.
    pub translations: Translations,
    /// Whether this processor changes capabilities, and how often it asked.
    has_tree: bool,
    tries: u64,
    /// Every n-th time it asks, another processor does so; 0: none does.
    pub tree_every: u64,
    announced: Option<Id<Post>>,
    initialised: BTreeSet<u32>,
    /// vCPUs whose pages were prepared since they were last initialised.
    prepared: BTreeSet<u32>,
}

impl Fake {
    /// The first processor, with the memory.
    pub fn new(size: usize) -> Self {
        Fake {
            number: 0,
            processors: 1,
            arena: Arena::new(size),
            live: BTreeMap::new(),
            letters: Vec::new(),
            repeated: Vec::new(),
            frames: BTreeMap::new(),
            clock: 1000,
            programmed: NEVER,
            holds_passenger: false,
            masked: BTreeSet::new(),
            line_users: BTreeMap::new(),
            events: Vec::new(),
            interrupt_every: 0,
            ticks_per_point: 0,
            ticks_per_look: 0,
            points: 0,
            gets: Cell::new(0),
            worst: 0,
            points_in_call: 0,
            timer_vector: Some(0x30),
            virtualisation: true,
            log_has_room: true,
            accepts_messages: false,
            messages: [0; 4],
            translations: Translations::default(),
            has_tree: false,
            tries: 0,
            tree_every: 0,
            announced: None,
            initialised: BTreeSet::new(),
            prepared: BTreeSet::new(),
        }
    }

    /// Another processor, which has nothing yet.
    pub fn another(number: u8, processors: u8) -> Self {
        Fake { number, processors, ..Fake::new(PAGE as usize) }
    }

    /// Hands to another processor what all share.
    pub fn hand_over(&mut self, to: &mut Fake) {
        use std::mem::swap;
        swap(&mut self.arena, &mut to.arena);
        swap(&mut self.live, &mut to.live);
        swap(&mut self.letters, &mut to.letters);
        swap(&mut self.repeated, &mut to.repeated);
        swap(&mut self.frames, &mut to.frames);
        swap(&mut self.clock, &mut to.clock);
        swap(&mut self.masked, &mut to.masked);
        swap(&mut self.line_users, &mut to.line_users);
        swap(&mut self.translations, &mut to.translations);
        swap(&mut self.initialised, &mut to.initialised);
        swap(&mut self.prepared, &mut to.prepared);
        (to.interrupt_every, to.tree_every) = (self.interrupt_every, self.tree_every);
        (to.ticks_per_point, to.ticks_per_look) = (self.ticks_per_point, self.ticks_per_look);
    }

    /// The registers of a thread, as its home sees them, or, while it is away, the holder.
    pub fn frame(&mut self, thread: Id<Thread>) -> &mut Frame {
        if !self.holds(thread) {
            self.check_access(thread);
        }
        self.frames.get_mut(&thread.number()).expect("no such thread")
    }

    /// The registers for the kernel: they are the home's, or, while the thread is away, the
    /// holder's alone.
    fn registers(&mut self, thread: Id<Thread>) -> &mut Frame {
        assert!(self.holds(thread), "the registers of {thread:?} are another processor's");
        self.frames.get_mut(&thread.number()).expect("no such thread")
    }

    fn holds(&mut self, thread: Id<Thread>) -> bool {
        self.peek(thread.away()).trip.at() == self.number
    }

    /// Begins an entry into the kernel.
    pub fn begin_entry(&mut self) {
        self.gets.set(0);
        self.points_in_call = 0;
    }

    /// Ends the entry: from now on, objects that ended may not be accessed.
    pub fn end_entry(&mut self) {
        self.worst = self.worst.max(self.gets.take());
        self.live.retain(|_, l| !l.ended);
    }

    /// Whether an object is this processor's, or of a kind that belongs to none.
    fn may_use(&self, l: &Live) -> bool {
        l.home.is_none_or(|home| home == self.number)
    }

    /// The live objects of a kind that this processor may use.
    pub fn all<T: 'static>(&self) -> Vec<Id<T>> {
        let wanted = what::<T>();
        let alive = self.live.iter().filter(|(_, l)| Some(l.what) == wanted && !l.ended && self.may_use(l));
        alive.map(|(physical, _)| Id::at(*physical).unwrap()).collect()
    }

    /// The live objects of a kind, of all processors.
    pub fn everywhere<T: 'static>(&self) -> Vec<Id<T>> {
        let alive = self.live.iter().filter(|(_, l)| Some(l.what) == what::<T>() && !l.ended);
        alive.map(|(physical, _)| Id::at(*physical).unwrap()).collect()
    }

    pub fn is_live<T: 'static>(&self, id: Id<T>) -> bool {
        self.live.get(&id.physical()).is_some_and(|l| Some(l.what) == what::<T>() && !l.ended && self.may_use(l))
    }

    /// Slots that exist: those of capability spaces, and those inside objects.
    fn slot_exists(&self, physical: u64) -> bool {
        let Some((start, l)) = self.live.range(..=physical).next_back() else { return false };
        (physical > *start || l.what != What::CapSpace) && physical + 64 <= start + l.bytes
    }

    /// Writes a word, as a task does to memory that it has mapped.
    pub fn poke(&mut self, physical: u64, word: u64) {
        assert!(self.live.range(..=physical).next_back().is_none_or(|(start, l)| start + l.bytes <= physical));
        // SAFETY: memory of the arena without an object in it.
        unsafe { *self.arena.pointer::<u64>(physical) = word };
    }

    /// Accesses an object without counting the access.
    pub fn peek<T: 'static>(&mut self, id: Id<T>) -> &mut T {
        self.check_access(id);
        // SAFETY: a live object of that type lies there (just checked); one reference at a time.
        unsafe { &mut *self.arena.pointer::<T>(id.physical()) }
    }

    fn check_access<T: 'static>(&self, id: Id<T>) {
        let physical = id.physical();
        if TypeId::of::<T>() == TypeId::of::<Slot>() {
            assert!(self.slot_exists(physical), "no slot at {physical:#x}");
            return;
        }
        let (away, visit, post) = (TypeId::of::<Away>(), TypeId::of::<Visit>(), TypeId::of::<Post>());
        let used = TypeId::of::<Used>();
        if [away, visit, post, used, TypeId::of::<Letter>()].contains(&TypeId::of::<T>()) {
            let l = self.live.range(..=physical).next_back().filter(|(start, l)| physical < *start + l.bytes);
            let fits = match l.map(|(_, l)| l.what) {
                Some(What::Thread) => ![post, used].contains(&TypeId::of::<T>()),
                Some(What::Notification) => ![away, visit, used].contains(&TypeId::of::<T>()),
                Some(What::Context) => TypeId::of::<T>() == used,
                _ => false,
            };
            assert!(fits, "no {} at {physical:#x}: {l:?}", type_name::<T>());
            return;
        }
        let l = self.live.get(&physical);
        assert!(l.is_some_and(|l| Some(l.what) == what::<T>()), "no {} at {physical:#x}: {l:?}", type_name::<T>());
        assert!(l.is_some_and(|l| self.may_use(l)), "processor {} uses {physical:#x}: {l:?}", self.number);
    }

    fn tables(&self, space: &Space) -> PageTables<'_> {
        let (pages, used) = (space.pages.into(), space.used.load(Relaxed).into());
        PageTables { arena: &self.arena, root: space.root, pages, used }
    }

    /// All mappings of a space: page address to physical address.
    pub fn mappings(&mut self, id: Id<Space>) -> BTreeMap<u64, u64> {
        let space = self.shared(id);
        let (root, tables) = (space.root, self.tables(space));
        let mut found = BTreeMap::new();
        tables.collect(root, 3, 0, &mut found);
        found
    }
}

struct PageTables<'a> {
    arena: &'a Arena,
    root: u64,
    pages: u64,
    used: u64,
}

impl PageTables<'_> {
    fn entry(&self, table: u64, index: usize) -> *mut u64 {
        assert!(index < 512 && (self.root..self.root + self.used * PAGE).contains(&table));
        self.arena.pointer(table + index as u64 * 8)
    }

    fn collect(&self, table: u64, level: u32, at: u64, found: &mut BTreeMap<u64, u64>) {
        for index in 0..512 {
            let entry = self.read(table, index);
            let address = at + ((index as u64) << (12 + 9 * level));
            if entry & 1 == 0 {
                continue;
            }
            let target = entry & 0x000f_ffff_ffff_f000;
            if level > 0 && entry & 0x80 == 0 {
                self.collect(target, level - 1, address, found);
                continue;
            }
            for page in 0..1 << (9 * level) {
                found.insert(address + page * PAGE, target + page * PAGE);
            }
        }
    }
}

impl Tables for PageTables<'_> {
    fn read(&self, table: u64, index: usize) -> u64 {
        // SAFETY: inside the tables of a live space.
        unsafe { *self.entry(table, index) }
    }
    fn write(&mut self, table: u64, index: usize, entry: u64) {
        // SAFETY: as above.
        unsafe { *self.entry(table, index) = entry }
    }
    fn alloc(&mut self) -> Option<u64> {
        if self.used == self.pages {
            return None;
        }
        self.used += 1;
        let table = self.root + (self.used - 1) * PAGE;
        assert!((0..512).all(|i| self.read(table, i) == 0), "a table was not cleared");
        Some(table)
    }
}

impl Objects for Fake {
    fn get<T: Local>(&mut self, id: Id<T>) -> &mut T {
        self.gets.set(self.gets.get() + 1);
        if TypeId::of::<T>() == TypeId::of::<Visit>() {
            let (thread, _) = self.live.range(..=id.physical()).next_back().unwrap();
            let at = self.peek(Id::<Thread>::at(*thread).unwrap().away()).trip.at();
            assert_eq!(at, self.number, "the visit at {:#x} is another processor's", id.physical());
        }
        self.peek(id)
    }

    fn shared<T: Shared>(&self, id: Id<T>) -> &T {
        self.gets.set(self.gets.get() + 1);
        self.check_access(id);
        // SAFETY: a live object of that type lies there (just checked); no other reference exists.
        unsafe { &*self.arena.pointer::<T>(id.physical()) }
    }

    fn used(&self, context: Id<Context>) -> &Used {
        self.shared(context.used())
    }

    fn slot_behind<T: HasSlots>(&self, id: Id<T>, granules: u64) -> &Slot {
        self.shared(Id::at(id.physical() + 64 * granules).unwrap())
    }

    fn place<T: 'static>(&mut self, site: &Site<T>, home: u8, object: T) {
        let physical = site.physical();
        let behind = [TypeId::of::<Away>(), TypeId::of::<Visit>(), TypeId::of::<Post>(), TypeId::of::<Used>()];
        if behind.contains(&TypeId::of::<T>()) {
            // SAFETY: the arena's memory, behind the object that it is part of.
            return unsafe { self.arena.pointer::<T>(physical).write(object) };
        }
        let what = what::<T>().expect("an unknown type");
        // SAFETY: the arena's memory, which holds no object (checked below).
        unsafe { self.arena.pointer::<T>(physical).write(object) };
        let bytes = match what {
            // SAFETY: just written.
            What::CapSpace => 64 * (1 + u64::from(unsafe { (*self.arena.pointer::<CapSpace>(physical)).count })),
            What::Thread => THREAD_PAGES * PAGE,
            What::Vcpu => VCPU_PAGES * PAGE,
            What::Notification => NOTIFICATION_BYTES as u64,
            // SAFETY: just written.
            What::Space => PAGE * (1 + u64::from(unsafe { (*self.arena.pointer::<Space>(physical)).pages })),
            What::Endpoint | What::Timer | What::Interrupt => bytes_with_slots::<T>(1) as u64,
            What::Context => CONTEXT_BYTES as u64,
        };
        let end = physical + bytes;
        let clash = self.live.range(..end).next_back().filter(|(s, l)| *s + l.bytes > physical);
        self.translations.check_unknown(physical, bytes);
        assert!(clash.is_none(), "{what:?} at {physical:#x} overlaps {clash:?}");
        let step = if cfg!(miri) { 512 } else { 8 };
        for at in (physical + (size_of::<T>() as u64).next_multiple_of(8)..end).step_by(step) {
            // SAFETY: memory of the arena that belongs to the new object.
            let word = unsafe { *self.arena.pointer::<u64>(at) };
            assert_eq!(word, 0, "{what:?} at {physical:#x} was created in memory that was not cleared");
        }
        let home = (!matches!(what, What::CapSpace | What::Space)).then_some(home);
        self.live.insert(physical, Live { what, bytes, home, ended: false });
        if what == What::Thread {
            self.frames.insert(Id::<T>::at(physical).unwrap().number(), Frame::default());
        }
    }

    fn first_memory(&mut self) -> Option<[u64; 2]> {
        self.live.is_empty().then_some([BASE, self.arena.size()])
    }

    fn forget<T: 'static>(&mut self, id: Id<T>) {
        self.check_access(id);
        let number = id.number();
        let l = self.live.get_mut(&id.physical()).unwrap();
        assert!(!l.ended, "ended twice");
        l.ended = true;
        // The hardware must forget an object before the object ends.
        let last = self.events.last().copied();
        match l.what {
            What::Thread => assert_eq!(last, Some(Event::DropFpu(number)), "its registers may still be saved"),
            What::Vcpu => assert!(self.events.contains(&Event::VcpuDrop(number)), "its FPU state may still be saved"),
            What::Space => assert_eq!(last, Some(Event::SpaceDrop(number)), "its tables may still be loaded"),
            _ => {}
        }
    }

    fn clear(&mut self, physical: u64, bytes: u64) {
        assert!(bytes <= CLEAR_STEP && physical + bytes <= BASE + self.arena.size());
        let clash = self.live.range(..physical + bytes).next_back().filter(|(s, l)| *s + l.bytes > physical);
        assert!(clash.is_none(), "clearing {physical:#x} inside {clash:?}");
        self.translations.check_unknown(physical, bytes);
        // SAFETY: memory of the arena without an object in it.
        unsafe { self.arena.pointer::<u64>(physical).cast::<u8>().write_bytes(0, bytes as usize) };
    }
}

impl Time for Fake {
    fn now(&mut self) -> u64 {
        self.clock += self.ticks_per_look;
        self.clock
    }

    fn program_timer(&mut self, deadline: u64) {
        self.programmed = deadline;
    }

    /// Interrupts are delivered by the stories, before or after a call.
    fn has_taken_interrupt(&self) -> bool {
        false
    }

    fn interrupt_pending(&mut self) -> bool {
        self.worst = self.worst.max(self.gets.take());
        self.points += 1;
        self.clock += self.ticks_per_point;
        self.points_in_call += 1;
        assert!(self.points_in_call < 20_000, "the call does not end");
        // The others are as fast as this one.
        if self.points.is_multiple_of(2) {
            self.translations.heed_one();
        }
        self.interrupt_every != 0 && self.points.is_multiple_of(self.interrupt_every.into())
    }
}

impl Threads for Fake {
    fn set_result(&mut self, thread: Id<Thread>, status: u64, values: [u64; 2]) {
        let f = self.registers(thread);
        (f.rax, f.words[0], f.rsi) = (status, values[0], values[1]);
    }

    fn repeat_call(&mut self, thread: Id<Thread>) {
        self.repeated.push(thread);
    }

    fn message(&mut self, thread: Id<Thread>) -> Message {
        let f = self.registers(thread);
        Message { label: f.rsi, words: f.words }
    }

    fn set_message(&mut self, thread: Id<Thread>, badge: u64, message: &Message) {
        let f = self.registers(thread);
        (f.rax, f.rdi, f.rsi, f.words) = (0, badge, message.label, message.words);
        f.received += 1;
    }

    fn copy_message(&mut self, from: Id<Thread>, to: Id<Thread>, badge: u64) {
        let message = self.message(from);
        self.set_message(to, badge, &message);
    }

    fn set_registers(&mut self, thread: Id<Thread>, entry: u64, stack: u64, argument: u64) {
        let received = self.registers(thread).received;
        *self.registers(thread) = Frame { rip: entry, rsp: stack, rdi: argument, received, ..Frame::default() };
    }

    fn set_instruction_pointer(&mut self, thread: Id<Thread>, address: u64) {
        self.registers(thread).rip = address;
    }

    fn register_pair(&mut self, thread: Id<Thread>, index: u64) -> [u64; 2] {
        assert!(index <= 8);
        let f = *self.registers(thread);
        if index == 0 { [f.rip, f.rsp] } else { [0, 0] }
    }

    fn drop_fpu(&mut self, thread: Id<Thread>) {
        self.events.push(Event::DropFpu(thread.number()));
    }

    fn report_fault(&mut self, thread: Id<Thread>, _: &Message) {
        self.events.push(Event::Fault(thread.number()));
    }
}

impl Spaces for Fake {
    fn space_init(&mut self, space: Id<Space>) {
        let physical = self.peek(space).root;
        for at in (physical..physical + PAGE).step_by(8) {
            // SAFETY: memory of the arena that becomes a table.
            assert_eq!(unsafe { *self.arena.pointer::<u64>(at) }, 0, "a root table was not cleared");
        }
    }

    fn space_map(&mut self, space: Id<Space>, address: u64, physical: u64, size: u64, flags: u64) -> Result<u64> {
        let space = self.shared(space);
        let mut tables = self.tables(space);
        let result = paging::map_step(&mut tables, space.root, address, physical, size, Flags::from_call(flags)?);
        space.used.store(tables.used as u32, Relaxed);
        result
    }

    fn space_unmap(&mut self, space: Id<Space>, address: u64, size: u64) -> u64 {
        let space = self.shared(space);
        let root = space.root;
        let done = paging::unmap_step(&mut self.tables(space), root, address, size).expect("a mapping was split");
        self.translations.removed(self.number, root);
        done
    }

    fn translations_dropped(&mut self) -> bool {
        self.translations.are_dropped()
    }

    fn space_drop(&mut self, space: Id<Space>) -> bool {
        self.events.push(Event::SpaceDrop(space.number()));
        let root = self.peek(space).root;
        self.translations.ends(self.number, root)
    }
}

impl Devices for Fake {
    fn several(&self) -> bool {
        self.processors > 1
    }

    fn enter_tree(&mut self) -> bool {
        assert!(!self.has_tree, "taken twice");
        self.tries += 1;
        self.has_tree = self.tree_every == 0 || !self.tries.is_multiple_of(self.tree_every);
        self.has_tree
    }

    fn leave_tree(&mut self) {
        assert!(std::mem::take(&mut self.has_tree));
        // Another processor may make something else of the memory at once.
        self.live.retain(|_, l| !l.ended);
    }

    fn announce(&mut self, post: Option<Id<Post>>) {
        assert_ne!(post, self.announced, "a post is announced twice, or none was");
        self.announced = post;
    }

    fn is_announced(&mut self, _: Id<Post>) -> bool {
        false
    }

    fn runs(&self, processor: u8) -> bool {
        processor < self.processors
    }

    fn post(&mut self, to: u8, letter: Id<Letter>) {
        assert!(to < self.processors);
        assert!(self.letters.iter().all(|(_, other)| *other != letter), "a letter is in two lists");
        self.letters.push((to, letter));
    }

    fn port_in(&mut self, port: u16, width: u8) -> u32 {
        u32::from(port) << 8 | u32::from(width)
    }

    fn port_out(&mut self, port: u16, width: u8, value: u32) {
        self.events.push(Event::PortOut(port, width, value));
    }

    fn line_exists(&mut self, line: u32) -> bool {
        line < LINES
    }

    fn line_user(&mut self, line: u32) -> LineUser {
        self.line_users.get(&line).copied().unwrap_or_default()
    }

    fn set_line_user(&mut self, line: u32, user: LineUser) {
        assert!(self.line_exists(line));
        let before = self.line_users.insert(line, user);
        let is_shared = before == Some(LineUser::Interrupt) && user != LineUser::Nobody;
        assert!(!is_shared, "an interrupt and {user:?} use line {line}");
    }

    fn route_line(&mut self, line: u32, vector: u8, flags: u64) {
        self.masked.remove(&line);
        self.events.push(Event::Route(line, vector, flags));
    }

    fn mask_line(&mut self, line: u32, masked: bool) {
        if masked {
            self.masked.insert(line)
        } else {
            self.masked.remove(&line)
        };
        self.events.push(Event::Mask(line, masked));
    }

    fn msi(&mut self, vector: u8) -> [u64; 2] {
        [0xfee0_0000, vector.into()]
    }

    fn hold_passenger(&mut self, hold: bool) {
        assert_ne!(self.holds_passenger, hold, "told twice");
        self.holds_passenger = hold;
    }

    fn end_of_interrupt(&mut self) {
        self.events.push(Event::Eoi);
    }

    fn trace(&mut self, on: bool) {
        self.events.push(Event::Trace(on));
    }

    fn log_byte(&mut self, byte: u8) -> bool {
        self.events.push(Event::Log(byte));
        self.log_has_room
    }
}

impl Guests for Fake {
    fn vcpu_prepare(&mut self, vcpu: Id<Vcpu>, step: u32) -> bool {
        self.check_access(vcpu);
        assert!(step < PREPARE_STEPS);
        let last = step + 1 == PREPARE_STEPS;
        if last {
            self.prepared.insert(vcpu.number());
        }
        last
    }

    fn vcpu_init(&mut self, vcpu: Id<Vcpu>, space: Id<Space>, state: u64, _user: bool) -> Result<()> {
        assert!(self.peek(space).root != 0 && state != 0);
        if !self.virtualisation {
            return Err(Error::Unsupported);
        }
        assert!(self.prepared.remove(&vcpu.number()), "it may have ports of an earlier guest");
        self.initialised.insert(vcpu.number());
        Ok(())
    }

    fn vcpu_allow_ports(&mut self, vcpu: Id<Vcpu>, first: u16, count: u32) {
        assert!(self.initialised.contains(&vcpu.number()), "port access for a vCPU that is not configured");
        self.events.push(Event::AllowPorts(first, count));
    }

    fn vcpu_timer_fired(&mut self, vcpu: Id<Vcpu>) -> Option<u8> {
        self.writes_state(vcpu);
        self.timer_vector
    }

    fn vcpu_drop(&mut self, vcpu: Id<Vcpu>) {
        self.initialised.remove(&vcpu.number());
        self.prepared.remove(&vcpu.number());
        self.events.push(Event::VcpuDrop(vcpu.number()));
    }

    fn vcpu_show(&mut self, vcpu: Id<Vcpu>) {
        self.writes_state(vcpu);
        self.events.push(Event::Show(vcpu.number()));
    }

    fn take_messages(&mut self) -> [u64; 4] {
        core::mem::take(&mut self.messages)
    }

    fn accept_messages(&mut self, accept: bool) {
        (self.accepts_messages, self.messages) = (accept, [0; 4]);
    }
}

impl Fake {
    /// The kernel writes to the state page, which the vCPU must hold.
    fn writes_state(&mut self, vcpu: Id<Vcpu>) {
        assert!(self.initialised.contains(&vcpu.number()), "writing the state of a vCPU that is not configured");
        assert!(!self.peek(vcpu.state()).is_empty(), "writing to a state page that was taken away");
    }
}
