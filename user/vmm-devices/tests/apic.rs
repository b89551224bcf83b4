//! The local APIC.

use core::sync::atomic::Ordering::Relaxed;
use pillion_abi::vcpu::State;
use pillion_vmm_devices::GeneralProtection;
use pillion_vmm_devices::apic::{
    ApicMode, Destination, Effect, Kind, LocalApic, MSR_BASE, MSR_DEADLINE, Message, Shared,
};
use pillion_vmm_devices::boot::{Plan, entry};
use proptest::prelude::*;

const ON: u64 = 0x1ff;

fn on() -> (LocalApic, Shared) {
    let (mut apic, mut shared) = (LocalApic::new(0), Shared::default());
    apic.write_msr(0x80f, ON, 0, &mut shared).unwrap();
    (apic, shared)
}

#[test]
fn starts_in_x2apic_mode() {
    let (apic, shared) = on();
    let read = |msr| apic.read_msr(msr, 0, &shared);
    assert_eq!(read(MSR_BASE), Ok(0xfee0_0d00));
    assert_eq!(LocalApic::not_booting(0).read_msr(MSR_BASE, 0, &shared), Ok(0xfee0_0c00));
    assert_eq!((read(0x802), read(0x803), read(0x80d), read(0x80f)), (Ok(0), Ok(0x5_0014), Ok(1), Ok(ON)));
    assert_eq!((read(0x80e), read(0x83f), read(0x82f), read(0x8ff)), (GP, GP, GP, GP));
}

const GP: Result<u64, GeneralProtection> = Err(GeneralProtection);

#[test]
fn only_what_changed_is_copied_back() {
    let plan = Plan { kernel: 0, initrd: 0, initrd_size: 0, zero_page: 0, gdt: 0, command_line: 0, tables: 0 };
    let state = State::default();
    entry(&plan, &state);
    state.deadline.store(500, Relaxed);
    let before = Shared::of(&state, [0; 4]);
    let (mut apic, mut shared) = (LocalApic::new(0), before);
    apic.write_msr(0x808, 0x20, 0, &mut shared).unwrap();
    state.deadline.store(0, Relaxed);
    shared.store(&before, &state);
    assert_eq!((state.tpr.get(), state.deadline.load(Relaxed)), (0x20, 0));
}

#[test]
fn deadline_mode() {
    let (mut apic, mut shared) = on();
    apic.write_msr(0x832, 0x4_00ec, 5, &mut shared).unwrap();
    assert_eq!(shared.timer_vector, 0xec);
    apic.write_msr(MSR_DEADLINE, 1000, 5, &mut shared).unwrap();
    assert_eq!((shared.deadline, apic.read_msr(MSR_DEADLINE, 5, &shared)), (1000, Ok(1000)));
    apic.write_msr(0x832, 0x5_00ec, 5, &mut shared).unwrap();
    assert_eq!((shared.timer_vector, shared.deadline), (0, 1000));
    apic.write_msr(0x832, 0x4_00ec, 2000, &mut shared).unwrap();
    assert_eq!((shared.timer_vector, shared.deadline), (0xec, 0), "what expired while masked is lost");
    assert_eq!(apic.next_wake(), None);
}

#[test]
fn one_shot_counts_exactly() {
    let (mut apic, mut shared) = on();
    apic.write_msr(0x832, 0x30, 0, &mut shared).unwrap();
    apic.write_msr(0x83e, 0x3, 0, &mut shared).unwrap();
    apic.write_msr(0x838, 100, 1000, &mut shared).unwrap();
    assert_eq!((shared.timer_vector, shared.deadline), (0x30, 2600));
    assert_eq!(apic.read_msr(0x839, 1016, &shared), Ok(99));
    assert_eq!(apic.read_msr(0x839, 2600, &shared), Ok(0));
    shared.deadline = 0;
    apic.rearm(3000, &mut shared);
    assert_eq!(shared.deadline, 0, "one-shot mode has no next period");
    apic.write_msr(0x838, 0, 3000, &mut shared).unwrap();
    assert_eq!(shared.deadline, 0);
}

#[test]
fn periodic_keeps_its_phase() {
    let (mut apic, mut shared) = on();
    apic.write_msr(0x832, 0x2_0030, 0, &mut shared).unwrap();
    apic.write_msr(0x83e, 0xb, 0, &mut shared).unwrap();
    apic.write_msr(0x838, 100, 1000, &mut shared).unwrap();
    assert_eq!((shared.deadline, apic.next_wake()), (1100, Some(1100)));
    apic.rearm(1150, &mut shared);
    assert_eq!(shared.deadline, 1100, "the kernel has not delivered it");
    shared.deadline = 0;
    apic.rearm(1350, &mut shared);
    assert_eq!((shared.deadline, apic.next_wake()), (1400, Some(1400)));
}

/// Whether what a write of the command register in xAPIC mode sends reaches the sender.
fn reaches(apic: &mut LocalApic, command: u64, shared: &mut Shared) -> bool {
    match apic.write_memory(0x300, 4, command, 0, shared) {
        Effect::Interrupt(_) => true,
        Effect::Message(message) => apic.address().is_reached(message.to, true),
        _ => false,
    }
}

#[test]
fn interrupt_commands() {
    let (mut apic, mut shared) = on();
    let mut send = |value| apic.write_msr(0x830, value, 0, &mut shared);
    assert_eq!(send(0x4_00f2), Ok(Effect::Interrupt(0xf2)));
    assert_eq!(send(0x31), Ok(Effect::Interrupt(0x31)));
    let message = |kind, to| Ok(Effect::Message(Message { kind, to }));
    assert_eq!(send(1 << 32 | 0x31), message(Kind::Fixed(0x31), Destination::Physical(1)));
    assert_eq!(send(0xc_0031), message(Kind::Fixed(0x31), Destination::Others));
    assert_eq!(send(0x8_0031), message(Kind::Fixed(0x31), Destination::All));
    assert_eq!((send(0x4_4500), send(0x4608)), (Ok(Effect::None), Ok(Effect::None)), "INIT and start-up to itself");
    assert_eq!(send(0x200), Ok(Effect::None), "SMI");
    assert_eq!(send(0x4400), Ok(Effect::Nmi));
    assert_eq!(send(1 << 32 | 0x4500), message(Kind::Init, Destination::Physical(1)));
    assert_eq!(send(1 << 13), Err(GeneralProtection));
    assert_eq!((send(0x4_0005), send(0xc_0005)), (Ok(Effect::None), Ok(Effect::None)));
    assert_eq!(apic.write_msr(0x83f, 0x41, 0, &mut shared), Ok(Effect::Interrupt(0x41)));
    apic.write_msr(0x828, 0, 0, &mut shared).unwrap();
    assert_eq!(apic.read_msr(0x828, 0, &shared), Ok(0x20));
}

/// The IDs of a processor that is not the machine's first: in x2APIC mode the logical one has a
/// cluster and a bit in it; in xAPIC mode it is what was written.
#[test]
fn ids_are_the_machines() {
    let (mut apic, mut shared) = (LocalApic::new(0x1_0023), Shared::default());
    let read = |apic: &LocalApic, msr| apic.read_msr(msr, 0, &Shared::default());
    assert_eq!((read(&apic, 0x802), read(&apic, 0x80d)), (Ok(0x1_0023), Ok(0x1002_0008)));
    let mut send = |value| apic.write_msr(0x830, value, 0, &mut shared);
    assert_eq!(send(0x1_0023 << 32 | 0x31), Ok(Effect::Interrupt(0x31)));
    assert_ne!(send(0x23 << 32 | 0x31), Ok(Effect::Interrupt(0x31)));
    for (destination, reached) in [(0x1002_0008, true), (0x1002_ffff, true), (0x1002_fff7, false), (8, false)] {
        assert_eq!(apic.address().is_reached(Destination::Logical(destination), false), reached, "{destination:#x}");
    }
    let mut apic = LocalApic::new(5);
    apic.write_msr(MSR_BASE, 0xfee0_0100, 0, &mut shared).unwrap();
    apic.write_msr(MSR_BASE, 0xfee0_0900, 0, &mut shared).unwrap();
    assert_eq!(apic.read_memory(0x20, 4, 0, &shared), 5 << 24);
    for (destination, reached) in [(5_u64, true), (0, false), (0xff, true)] {
        apic.write_memory(0x310, 4, destination << 24, 0, &mut shared);
        assert_eq!(reaches(&mut apic, 0x31, &mut shared), reached, "{destination}");
    }
    apic.reset();
    assert_eq!((read(&apic, 0x802), apic.mode()), (Ok(5), ApicMode::X2apic));
}

#[test]
fn modes_change_as_the_manual_allows() {
    let (mut apic, mut shared) = on();
    assert!(apic.write_msr(MSR_BASE, 0xfee0_0900, 0, &mut shared).is_err());
    assert!(apic.write_msr(MSR_BASE, 0xfed0_0d00, 0, &mut shared).is_err());
    apic.write_msr(MSR_BASE, 0xfee0_0100, 0, &mut shared).unwrap();
    assert_eq!(apic.read_memory(0x30, 4, 0, &shared), 0xffff_ffff);
    apic.write_msr(MSR_BASE, 0xfee0_0900, 0, &mut shared).unwrap();
    assert_eq!((apic.mode(), apic.read_memory(0x30, 4, 0, &shared)), (ApicMode::Xapic, 0x5_0014));
    assert_eq!(apic.read_msr(0x803, 0, &shared), GP);
    assert_eq!(apic.write_memory(0xb0, 4, 0, 0, &mut shared), Effect::EndOfInterrupt);
    apic.write_memory(0xd0, 4, 0x0100_0000, 0, &mut shared);
    apic.write_memory(0x310, 4, 0x0100_0000, 0, &mut shared);
    assert!(reaches(&mut apic, 0x0830, &mut shared));
    apic.write_memory(0x310, 4, 0x0200_0000, 0, &mut shared);
    assert!(!reaches(&mut apic, 0x0830, &mut shared));
    apic.write_msr(MSR_BASE, 0xfee0_0d00, 0, &mut shared).unwrap();
    assert_eq!(apic.mode(), ApicMode::X2apic);
}

#[test]
fn vectors_are_read_from_the_given_words() {
    let (apic, mut shared) = on();
    shared.isr[1] = 1 << 33;
    shared.tmr[3] = 1 << 63;
    shared.irr[0] = 1 << 48;
    let read = |msr| apic.read_msr(msr, 0, &shared).unwrap();
    assert_eq!((read(0x813), read(0x81f), read(0x821)), (2, 1 << 31, 1 << 16));
    assert_eq!(read(0x80a), 0x60);
}

proptest! {
    #[test]
    fn any_access_keeps_the_invariants(
        accesses in prop::collection::vec((0_u8..5, any::<u8>(), prop_oneof![any::<u64>(), 0_u64..0x8_0000], any::<u32>()), 1..60),
        start in any::<u32>(),
    ) {
        let (mut apic, mut shared) = on();
        let mut now = u64::from(start);
        for (kind, register, value, step) in accesses {
            now += u64::from(step);
            let msr = 0x800 + u32::from(register & 0x3f);
            match kind {
                0 => { let _ = apic.write_msr(msr, value, now, &mut shared); }
                1 => { let _ = apic.read_msr(msr, now, &shared); }
                2 => { apic.write_memory(u64::from(register) << 4, 4, value, now, &mut shared); }
                3 => { let _ = apic.write_msr(MSR_BASE, 0xfee0_0000 | value & 0xd00, now, &mut shared); }
                _ => { let _ = apic.write_msr(MSR_DEADLINE, value, now, &mut shared); }
            }
            if shared.timer_vector != 0 && shared.deadline != 0 && shared.deadline <= now {
                shared.deadline = 0;
            }
            apic.rearm(now, &mut shared);
            prop_assert!(shared.timer_vector == 0 || shared.timer_vector >= 16);
            if let Some(wake) = apic.next_wake() {
                prop_assert!(wake > now && shared.deadline == wake, "{wake} {} {now}", shared.deadline);
            }
            if apic.mode() == ApicMode::X2apic {
                let initial = apic.read_msr(0x838, now, &shared).unwrap();
                prop_assert!(apic.read_msr(0x839, now, &shared).unwrap() <= initial);
            }
        }
    }
}

proptest! {
    #[test]
    fn extreme_times_do_no_harm(now in any::<u64>(), count in any::<u32>(), divide in 0_u64..16, later in any::<u64>()) {
        let (mut apic, mut shared) = on();
        let _ = apic.write_msr(0x832, 0x2_0030, now, &mut shared);
        let _ = apic.write_msr(0x83e, divide & 0xb, now, &mut shared);
        let _ = apic.write_msr(0x838, u64::from(count), now, &mut shared);
        shared.deadline = 0;
        apic.rearm(later, &mut shared);
        let _ = apic.read_msr(0x839, later, &shared);
        let _ = apic.write_msr(0x83e, 0, later, &mut shared);
    }
}
