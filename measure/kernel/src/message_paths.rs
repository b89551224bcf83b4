//! A message of a guest to that of another processor, between markers, as in
//! [`crate::several_paths`].

use crate::{
    several_paths::{LAST, ROUNDS, mark},
    timer_path::runner,
    wake_path::{LOW, work},
};
use pillion_abi::vcpu::{Exit, Segment, gpr};
use pillion_test_kit::{Checked, Kit, Setup, done, guest::Guest, same};

const VECTOR: u8 = 0x30;
const HANDLER: u8 = 0x40;
const INTERRUPTS_ON: u64 = 0x202;
/// Registers of an x2APIC.
const END_OF_INTERRUPT: u64 = 0x80b;
const COMMAND: u64 = 0x830;
/// A word of the receiver's memory, which counts the messages.
const COUNT: u64 = 0x2000;

/// From; wrmsr; Upto; vmmcall
#[rustfmt::skip]
const SEND: [u8; 21] = [
    0x67, 0x0f, 0x1f, 0x80, b'F', b'r', b'o', b'm',
    0x0f, 0x30,
    0x67, 0x0f, 0x1f, 0x80, b'U', b'p', b't', b'o',
    0x0f, 0x01, 0xd9,
];

/// Resp; inc dword ptr [COUNT]; wrmsr; iret
#[rustfmt::skip]
const RECEIVE: [u8; 16] = [
    0x67, 0x0f, 0x1f, 0x80, b'R', b'e', b's', b'p',
    0x66, 0xff, 0x06, 0x00, 0x20,
    0x0f, 0x30,
    0xcf,
];

/// To a guest that computes.
pub fn to_running(kit: &mut Kit) -> Checked {
    // pause; jmp back
    to(kit, &[0xf3, 0x90, 0xeb, 0xfc])
}

/// To one that halts: the processor sleeps.
pub fn to_halted(kit: &mut Kit) -> Checked {
    // hlt; jmp back
    to(kit, &[0xf4, 0xeb, 0xfd])
}

/// Sends, and waits for the response each time.
fn to(kit: &mut Kit, meanwhile: &[u8]) -> Checked {
    if kit.info.cpus <= LAST {
        return Ok(());
    }
    let receiver = start_receiver(kit, meanwhile)?;
    let mut sender = Guest::new(kit)?;
    sender.put(0, &SEND);
    let state = sender.state();
    state.messages.set(1);
    state.gpr[gpr::RCX].set(COMMAND);
    state.gpr[gpr::RAX].set(VECTOR.into());
    state.gpr[gpr::RDX].set(kit.apic_id(LAST).into());
    work(100);
    mark!("Mark");
    for round in 0..ROUNDS {
        // Until the receiver is where it was before the last one.
        for _ in 0..50 {
            core::hint::spin_loop();
        }
        same!(receiver.word(COUNT), round);
        sender.go(0);
        same!(done!(sender.run())[0], Exit::Hypercall as u64);
        while receiver.word(COUNT) == round {
            core::hint::spin_loop();
        }
    }
    Ok(())
}

fn start_receiver(kit: &mut Kit, code: &[u8]) -> Checked<Guest> {
    let mut guest = Guest::on(kit, LAST)?;
    guest.put(0, code);
    guest.put(u64::from(VECTOR) * 4, &[HANDLER, 0, 0, 0]);
    guest.put(HANDLER.into(), &RECEIVE);
    let state = guest.state();
    state.idtr.set(Segment { limit: 0xffff, ..Segment::default() });
    state.rflags.set(INTERRUPTS_ON);
    state.gpr[gpr::RCX].set(END_OF_INTERRUPT);
    let space = done!(kit.space());
    done!(kit.start(Setup::new(LOW, runner).within(space).with(guest.vcpu.into()).on(LAST)));
    Ok(guest)
}
