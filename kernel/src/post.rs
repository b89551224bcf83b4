//! Letters between the kernels of several processors: see [`pillion_post`].

use core::num::NonZeroU32;

use crate::arch::{self, Cpu, MAX_CPUS, apic, direct, physical};
use crate::{guest::taken, hardware::Hardware, lock, shootdown, trace};
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use pillion_core::{Kernel, away, away::About, id::GRANULE, machine::Devices as _};
use pillion_post::{Announced, Inbox, Letter, Letters};

static INBOXES: [Inbox<MAX_CPUS>; MAX_CPUS] = [const { Inbox::new() }; MAX_CPUS];

/// The posts that processors are about to use.
static USED: Announced<MAX_CPUS> = Announced::new();

// The number of a letter of the core's is that of its link.
const _: () = assert!(core::mem::offset_of!(away::Letter, link) == 0);

/// A letter that no object contains, where a handle can name it.
#[repr(align(64))]
struct Card(Letter);

/// What the first processor sends each other one when that begins, and gets back: by number.
static GREETINGS: [Card; MAX_CPUS] = [const { Card(Letter::new()) }; MAX_CPUS];

/// Whose greetings came back: bit `n` for processor `n`.
static ANSWERS: AtomicU32 = AtomicU32::new(0);

/// Where letters are: their numbers are physical addresses in units of [`GRANULE`], as those of
/// handles are.
struct Memory;

impl Letters for Memory {
    fn letter(&self, number: NonZeroU32) -> &Letter {
        // SAFETY: the number was given to `send`, whose caller vouched for it until now.
        unsafe { &*direct(u64::from(number.get()) * GRANULE) }
    }
}

/// Sends a letter to the kernel of another processor, and interrupts it if it has to be. Constant
/// time: at most three locked instructions and a message of the local interrupt controller.
///
/// # Safety
/// The number is the address of a [`Letter`] in units of [`GRANULE`]; the letter is in no list, and
/// stays where it is until its receiver has had it.
pub unsafe fn send(from: Cpu, to: usize, number: NonZeroU32) {
    if INBOXES.get(to).is_some_and(|inbox| inbox.put(from.index(), number, Memory.letter(number))) {
        arch::interrupt_processor(to);
    }
}

/// Takes a letter, if there is one, and does what else another processor may want: for each
/// interrupt by one, after its EOI. If more letters are left, the processor interrupts itself, so
/// that what is more urgent can come in between. Where one processor runs, a device has sent the
/// vector, and nobody anything: no interrupt is taken then, as only those who run several look for
/// it after a guest and after sleep.
#[cold]
pub fn receive(k: &mut Kernel<Hardware>) {
    if !k.m.several() {
        return;
    }
    lock::wait_if_asked();
    shootdown::heed(&mut k.m);
    taken::heed(&mut k.m);
    let own = k.m.cpu.index();
    let number = INBOXES.get(own).and_then(|inbox| k.m.post.take(inbox, &Memory));
    if let_others_in(k) || k.m.post.has_more() {
        arch::interrupt_processor(own);
    }
    if let Some(number) = number {
        open(k, number);
    }
}

/// Takes an interrupt of a line, or of the timer, to be handled on the way out. The vectors of
/// lines are below that of letters, so without this they would wait for as long as letters come.
/// Returns whether an interrupt for letters came instead: mostly one at most, as no sender
/// interrupts again before somebody has looked at the inbox; but a device may send that vector too.
fn let_others_in(k: &mut Kernel<Hardware>) -> bool {
    let mut letters = false;
    for _ in 0..2 {
        if k.m.interrupt_taken() != Some(apic::vector::IPI) {
            break;
        }
        k.m.pending = None;
        k.m.end_of_interrupt();
        letters = true;
    }
    letters
}

/// Says which post of another processor this one is about to use, by the number of its handle, or
/// that it is done.
pub fn announce(own: Cpu, post: Option<NonZeroU32>) {
    USED.announce(own.index(), post);
}

/// Whether a processor says that it uses a post.
pub fn is_announced(post: NonZeroU32) -> bool {
    USED.is_announced(post)
}

/// A greeting goes back to the first processor, which counts it; any other letter is the core's.
fn open(k: &mut Kernel<Hardware>, number: NonZeroU32) {
    let Some(greeted) = greeted(number) else {
        // SAFETY: other letters are sent by the core only (`Devices::post`). This one is not sent
        // again, nor does its object end, before the core has had it; what it is about does not
        // change.
        let about = unsafe { (*direct::<away::Letter>(u64::from(number.get()) * GRANULE)).about };
        let counters = k.m.counters;
        trace::add_one(match about {
            About::Signal(_) => &counters.signals,
            About::Away(_) | About::News(_) => &counters.calls,
        });
        return k.letter(about);
    };
    if k.m.cpu.index() == 0 {
        ANSWERS.fetch_or(1 << greeted, Relaxed);
    } else {
        // SAFETY: the letter was just taken, is static, and goes back to whom it came from.
        unsafe { send(k.m.cpu, 0, number) };
    }
}

/// The processor that the greeting with that number is for; `None`: it is no greeting.
fn greeted(number: NonZeroU32) -> Option<usize> {
    (1..MAX_CPUS).find(|processor| greeting(*processor) == Some(number))
}

/// The number of the greeting for a processor.
fn greeting(processor: usize) -> Option<NonZeroU32> {
    let letter: *const Letter = &GREETINGS.get(processor)?.0;
    NonZeroU32::new((physical(letter) / GRANULE) as u32)
}

/// Sends all other processors a greeting, and waits for the answers: for the first one. An error
/// names a processor that does not answer in ten seconds; on an emulator it may be a thread of a
/// busy computer.
pub fn greet(k: &mut Kernel<Hardware>) -> Result<(), usize> {
    let others = 1..arch::processors() as usize;
    for processor in others.clone() {
        if let Some(number) = greeting(processor) {
            // SAFETY: nobody has sent this letter; it is static.
            unsafe { send(k.m.cpu, processor, number) };
        }
    }
    let silent = || others.clone().find(|processor| ANSWERS.load(Relaxed) >> processor & 1 == 0);
    let start = arch::clock::now();
    while let Some(processor) = silent() {
        if arch::clock::now().wrapping_sub(start) >= arch::clock::tsc_hz() * 10 {
            return Err(processor);
        }
        core::hint::spin_loop();
        if arch::take_pending_interrupt(k.m.cpu) == Some(apic::vector::IPI) {
            k.m.end_of_interrupt();
            receive(k);
        }
    }
    Ok(())
}
