//! What the machine-independent half needs from the machine.

use crate::{
    Id, Opt, Slot,
    away::{Away, Letter, Visit},
    cap::CapSpace,
    context::{Context, Used},
    endpoint::Endpoint,
    id::Site,
    interrupt::{Interrupt, LineUser},
    notification::Notification,
    post::Post,
    space::Space,
    thread::Thread,
    timer::Timer,
    vcpu::Vcpu,
};
use pillion_abi::status::Result;

/// A message between threads: label and words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// Label.
    pub label: u64,
    /// Words.
    pub words: [u64; pillion_abi::call::MESSAGE_WORDS],
}

/// Format of page tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The host's own tables.
    Host,
    /// Nested tables of a guest.
    Nested,
}

/// The machine: the hardware in the kernel, the host's memory in the tests.
pub trait Machine: Objects + Time + Threads + Spaces + Devices + Guests {}

impl<T: Objects + Time + Threads + Spaces + Devices + Guests> Machine for T {}

/// What only one processor uses at a time: an object's home; and of what a thread is away with, its
/// holder.
pub trait Local: sealed::Local + 'static {}

/// What several processors use at the same time: it consists of atomic words, and of what never
/// changes.
pub trait Shared: sealed::Shared + 'static {}

/// What slots lie behind.
pub trait HasSlots: sealed::HasSlots + 'static {}

impl<T: sealed::HasSlots + 'static> HasSlots for T {}
impl<T: sealed::Local + 'static> Local for T {}
impl<T: sealed::Shared + 'static> Shared for T {}

mod sealed {
    use super::{
        Away, CapSpace, Context, Endpoint, Interrupt, Notification, Post, Slot, Space, Thread, Timer, Used, Vcpu, Visit,
    };

    pub trait HasSlots {}
    pub trait Local {}
    pub trait Shared {}

    macro_rules! mark {
        ($($which:ident: $($kind:ty),*;)*) => { $($(impl $which for $kind {})*)* };
    }
    mark! {
        HasSlots: CapSpace, Thread, Endpoint, Timer, Interrupt, Vcpu;
        Local: Thread, Context, Endpoint, Notification, Timer, Interrupt, Vcpu, Visit;
        Shared: Slot, CapSpace, Space, Post, Away, Used;
    }
}

/// Object memory.
pub trait Objects {
    /// The object of this processor behind a handle, or what a thread is away with that it holds.
    fn get<T: Local>(&mut self, id: Id<T>) -> &mut T;

    /// What several processors may use.
    fn shared<T: Shared>(&self, id: Id<T>) -> &T;

    /// What a context was used for: [`Used::AT`] bytes behind its start.
    fn used(&self, context: Id<Context>) -> &Used;

    /// A slot that lies so many granules behind the start of an object or a capability space.
    fn slot_behind<T: HasSlots>(&self, id: Id<T>, granules: u64) -> &Slot;

    /// Puts a new object at a site. `home`: the processor that it belongs to; 0 for an object of a
    /// kind that belongs to none.
    fn place<T: 'static>(&mut self, site: &Site<T>, home: u8, object: T);

    /// Memory for the first task's objects: physical address and bytes. It is page-aligned, all
    /// zeros, and in no other use. `None` from the second time on.
    fn first_memory(&mut self) -> Option<[u64; 2]>;

    /// Called when an object is deleted.
    fn forget<T: 'static>(&mut self, id: Id<T>);

    /// Writes zeros over at most [`crate::create::CLEAR_STEP`] bytes of RAM.
    fn clear(&mut self, physical: u64, bytes: u64);
}

/// Clock, timer, and the preemption point of long calls.
pub trait Time {
    /// Time-stamp counter.
    fn now(&mut self) -> u64;

    /// Programs the CPU's timer for the deadline ([`pillion_abi::NEVER`]: none).
    fn program_timer(&mut self, deadline: u64);

    /// Preemption point: whether an interrupt is pending, translations have to be dropped
    /// ([`Spaces::translations_dropped`]), or another processor wants to change capabilities, so
    /// that the call should stop and start again later.
    fn interrupt_pending(&mut self) -> bool;

    /// Whether such an interrupt was taken, and is handled on the way out.
    fn has_taken_interrupt(&self) -> bool;
}

/// Registers of threads.
pub trait Threads {
    /// Result of the call that the thread is in: status, and values for `rdx` and `rsi`.
    fn set_result(&mut self, thread: Id<Thread>, status: u64, values: [u64; 2]);

    /// Has the thread, which made a call, make it again when it runs.
    fn repeat_call(&mut self, thread: Id<Thread>);

    /// Message that the thread sends.
    fn message(&mut self, thread: Id<Thread>) -> Message;

    /// Gives a thread a message: status 0, badge, label, words.
    fn set_message(&mut self, thread: Id<Thread>, badge: u64, message: &Message);

    /// Copies the message that `from` sends into the registers of `to`, with status 0 and the
    /// badge.
    fn copy_message(&mut self, from: Id<Thread>, to: Id<Thread>, badge: u64);

    /// Sets the registers of a thread that is to start or restart.
    fn set_registers(&mut self, thread: Id<Thread>, entry: u64, stack: u64, argument: u64);

    /// Sets the instruction pointer of a thread.
    fn set_instruction_pointer(&mut self, thread: Id<Thread>, address: u64);

    /// Pair `index` (0..=8) of a thread's registers.
    fn register_pair(&mut self, thread: Id<Thread>, index: u64) -> [u64; 2];

    /// A thread is deleted: none of its state may be loaded or saved any more.
    fn drop_fpu(&mut self, thread: Id<Thread>);

    /// Logs the fault of a thread without a handler. The thread stays stopped.
    fn report_fault(&mut self, thread: Id<Thread>, fault: &Message);
}

/// Page tables.
pub trait Spaces {
    /// Prepares the root table, a zeroed page, of a new space.
    fn space_init(&mut self, space: Id<Space>);

    /// Maps part of what is left; returns the bytes mapped. Bounded; the caller repeats.
    fn space_map(&mut self, space: Id<Space>, address: u64, physical: u64, size: u64, flags: u64) -> Result<u64>;

    /// Unmaps part of what is left of a mapping; returns the bytes unmapped. Other processors may
    /// use its translations until [`Spaces::translations_dropped`], which was true before the call.
    fn space_unmap(&mut self, space: Id<Space>, address: u64, size: u64) -> u64;

    /// Whether no processor uses a translation any more that was removed from tables. Others drop
    /// them without the kernel's help, at their next interrupt.
    fn translations_dropped(&mut self) -> bool;

    /// A space is to be deleted: it must not be the active one afterwards, on any processor. If it
    /// is, this says false, the others are told, and the caller tries again.
    fn space_drop(&mut self, space: Id<Space>) -> bool;
}

/// Processors, ports, interrupt lines, trace and log.
pub trait Devices {
    /// Whether several processors run. It does not change once a thread runs. In the kernel it
    /// costs one instruction where it is false.
    fn several(&self) -> bool;

    /// Has this processor alone change capabilities, memory and page tables, where several run.
    /// False if another one does; then the call is made again.
    fn enter_tree(&mut self) -> bool;

    /// Lets others do so: for the one that [`Devices::enter_tree`] let in.
    fn leave_tree(&mut self);

    /// Says which post of another processor this one is about to use, or that it is done (`None`).
    /// What the caller looks at after that is at least as new.
    fn announce(&mut self, post: Opt<Post>);

    /// Whether another processor says that it uses a post. What it looked at after it said so is no
    /// older than what the caller wrote before.
    fn is_announced(&mut self, post: Id<Post>) -> bool;

    /// Whether a processor other than this one runs a kernel.
    fn runs(&self, processor: u8) -> bool;

    /// Sends a letter to a processor that runs a kernel, this one or another, which gives it to
    /// [`crate::Kernel::letter`] after those that it has already. The letter is in no list.
    fn post(&mut self, to: u8, letter: Id<Letter>);

    /// Reads an I/O port; width 1, 2 or 4.
    fn port_in(&mut self, port: u16, width: u8) -> u32;

    /// Writes an I/O port.
    fn port_out(&mut self, port: u16, width: u8, value: u32);

    /// Whether a line exists and may be given to a thread.
    fn line_exists(&mut self, line: u32) -> bool;

    /// Who uses a line. For whoever changes capabilities, as is the next.
    fn line_user(&mut self, line: u32) -> LineUser;

    /// Notes who uses a line, which exists, from now on.
    fn set_line_user(&mut self, line: u32, user: LineUser);

    /// Routes a line to a vector. `flags` as in [`pillion_abi::vcpu::route`], without the vector.
    fn route_line(&mut self, line: u32, vector: u8, flags: u64);

    /// Masks or unmasks a line.
    fn mask_line(&mut self, line: u32, masked: bool);

    /// Address and data that a device writes to raise a vector.
    fn msi(&mut self, vector: u8) -> [u64; 2];

    /// Holds the passenger's interrupts back, or lets them through.
    fn hold_passenger(&mut self, hold: bool);

    /// Sends a physical EOI.
    fn end_of_interrupt(&mut self);

    /// Switches tracing on or off.
    fn trace(&mut self, on: bool);

    /// Puts a byte into the log; false when there is no room at the moment.
    fn log_byte(&mut self, byte: u8) -> bool;
}

/// Virtual CPUs: the processor's part.
pub trait Guests {
    /// Does one step of preparing the pages of a vCPU; returns whether it was the last one.
    fn vcpu_prepare(&mut self, vcpu: Id<Vcpu>, step: u32) -> bool;

    /// Prepares the processor's part of a vCPU, a user vCPU or the passenger, in the pages that
    /// follow the object. `state` is the physical address of the shared page.
    fn vcpu_init(&mut self, vcpu: Id<Vcpu>, space: Id<Space>, state: u64, user: bool) -> Result<()>;

    /// Lets the guest use ports.
    fn vcpu_allow_ports(&mut self, vcpu: Id<Vcpu>, first: u16, count: u32);

    /// The guest's timer fired: clears the deadline in the shared state and returns the vector, if
    /// one is set.
    fn vcpu_timer_fired(&mut self, vcpu: Id<Vcpu>) -> Option<u8>;

    /// A vCPU is deleted.
    fn vcpu_drop(&mut self, vcpu: Id<Vcpu>);

    /// Copies the guest's interrupt state to the page that the monitor shares.
    fn vcpu_show(&mut self, vcpu: Id<Vcpu>);

    /// Takes the interrupts that other processors' guests have sent the passenger, a bit for each
    /// vector.
    fn take_messages(&mut self) -> [u64; 4];

    /// Forgets the interrupts that other processors' guests have sent the passenger, and accepts
    /// further ones, or none.
    fn accept_messages(&mut self, accept: bool);
}
