//! CPUID and MSRs.

use core::cell::Cell;
use pillion_abi::vcpu::gpr;
use pillion_vmm_devices::cpuid::{Context, Registers, Topology, cpuid, hypervisor};
use pillion_vmm_devices::hypercall::{
    self,
    Hypercall::{Answer, Command, Hello, Kick},
};
use pillion_vmm_devices::msr::Msrs;
use proptest::prelude::*;

/// A machine with every bit set and AVX-512 laid out as on Intel.
fn host(leaf: u32, subleaf: u32) -> Registers {
    match (leaf, subleaf) {
        (0, _) => [0x20, u32::from_le_bytes(*b"Auth"), 0, 0],
        (0x8000_0000, _) => [0x8000_0028, 0, 0, 0],
        (0xd, 0) => [u32::MAX; 4],
        (0xd, 2) => [256, 576, 0, 0],
        (0xd, 5) => [64, 1088, 0, 0],
        (0xd, 6) => [512, 1152, 2, 0],
        (0xd, 7) => [1024, 1664, 2, 0],
        _ => [u32::MAX; 4],
    }
}

fn ask(leaf: u32, subleaf: u32, context: &Context) -> Registers {
    cpuid(host(leaf, subleaf), leaf, subleaf, context)
}

#[test]
fn withheld_and_added() {
    let mut context = Context::from_host(2_000_000_000, Topology::new(0, &[0]), host);
    let [_, ebx, ecx, edx] = ask(1, 0, &context);
    for bit in [3, 5, 27] {
        assert_eq!(ecx >> bit & 1, 0, "{bit}");
    }
    for bit in [21, 24, 31] {
        assert_eq!(ecx >> bit & 1, 1, "{bit}");
    }
    for bit in [21, 28, 31] {
        assert_eq!(edx >> bit & 1, 0, "{bit}");
    }
    assert_eq!((edx >> 12 & 1, ebx >> 16), (1, 1), "MTRR stay; one processor, ID 0");
    context.cr4 = 1 << 18;
    assert_eq!(ask(1, 0, &context)[2] >> 27 & 1, 1);
    assert_eq!(ask(0x8000_0001, 0, &context)[2] & 1 << 2, 0);
    for leaf in [5, 0xa, 0x12, 0x14, 0x17, 0x1f, 0x8000_000a, 0x8000_001e, 0x8000_001f, 0x8000_0022, 0xc000_0000] {
        assert_eq!(ask(leaf, 0, &context), [0; 4], "{leaf:#x}");
    }
    assert_eq!(ask(0x8000_0007, 0, &context), [0, 0, 0, 1 << 8]);
    assert_eq!((ask(0, 0, &context)[0], ask(0x8000_0000, 0, &context)[0]), (0x16, 0x8000_0021));
}

#[test]
fn several_processors_are_cores_of_one_package() {
    let context = |all: &[u32]| Context::from_host(2_000_000_000, Topology::new(0, all), host);
    let cores = |all| cpuid([0; 4], 0x8000_0008, 0, &context(all))[2];
    assert_eq!((cores(&[0]), cores(&[0, 1]), cores(&[0, 2, 4])), (0, 0x1001, 0x3002));
    assert_eq!(cores(&[0, 0x1_0000]), 0xf001, "as many bits as there is room for");
}

#[test]
fn clocks_of_several_processors_are_one() {
    let context = |all: &[u32]| Context::from_host(2_000_000_000, Topology::new(0, all), host);
    let power = |all| cpuid([0; 4], 0x8000_0007, 0, &context(all))[3];
    assert_eq!((power(&[0]), power(&[0, 1])), (0, 1 << 8));
}

#[test]
fn one_processor() {
    let context = Context::from_host(2_000_000_000, Topology::new(0, &[0]), host);
    assert_eq!(ask(0xb, 0, &context), [0, 1, 0x100, 0]);
    assert_eq!(ask(0xb, 1, &context), [0, 1, 0x201, 0]);
    assert_eq!(ask(0xb, 2, &context), [0, 0, 2, 0]);
    assert_eq!(ask(4, 0, &context)[0] >> 14, 0);
    assert_eq!(ask(0x8000_001d, 0, &context)[0] >> 14, 0);
    assert_eq!(ask(0x8000_0008, 0, &context)[2], 0);
}

#[test]
fn several_processors() {
    let on = |apic_id, all: &[u32]| Context::from_host(2_000_000_000, Topology::new(apic_id, all), host);
    let context = on(6, &[0, 6, 4]);
    assert_eq!(ask(0xb, 0, &context), [0, 1, 0x100, 6]);
    assert_eq!(ask(0xb, 1, &context), [3, 3, 0x201, 6]);
    assert_eq!(ask(0xb, 2, &context), [0, 0, 2, 6]);
    assert_eq!(ask(1, 0, &context)[1] >> 16, 0x0601);
    // The older field has eight bits; no package has all bits, and none has so many cores.
    let context = on(u32::MAX, &[1, u32::MAX]);
    assert_eq!((ask(1, 0, &context)[1] >> 16, ask(0xb, 1, &context)), (0xff01, [32, 2, 0x201, u32::MAX]));
}

#[test]
fn sizes_of_the_extended_state() {
    let mut context = Context::from_host(2_000_000_000, Topology::new(0, &[0]), host);
    assert_eq!(ask(0xd, 0, &context), [0xe7, 576, 2688, 0]);
    context.xcr0 = 7;
    assert_eq!((ask(0xd, 0, &context)[1], ask(0xd, 1, &context)), (832, [7, 832, 0, 0]));
    context.xcr0 = 0xe7;
    assert_eq!(ask(0xd, 1, &context)[1], 896 + 512 + 1024);
    assert_eq!((ask(0xd, 3, &context), ask(0xd, 9, &context)), ([0; 4], [0; 4]));
}

#[test]
fn hypervisor_leaves() {
    let context = Context::from_host(2_400_000_000, Topology::new(0, &[0]), host);
    let [max, b, c, d] = ask(0x4000_0000, 0, &context);
    let name: Vec<u8> = [b, c, d].iter().flat_map(|word| word.to_le_bytes()).collect();
    assert_eq!((max, name.as_slice()), (0x4000_0010, b"KVMKVMKVM\0\0\0".as_slice()));
    assert_eq!(ask(0x4000_0001, 0, &context), [1 << 5, 0, 0, 0], "steal time");
    assert_eq!(ask(0x4000_0010, 0, &context)[0], 2_400_000);
    assert_eq!(ask(hypervisor::OWN, 0, &context)[1], u32::from_le_bytes(*b"Pill"));
    assert_eq!(ask(0x4000_0101, 0, &context), [0; 4], "no channels");
    let channels = hypervisor::Channels { gsi: 24, base: 0x12_3450_0000, size: 0x3000 };
    let context = Context { channels: Some(channels), ..context };
    assert_eq!(ask(0x4000_0101, 0, &context), [pillion_abi::channel::VERSION, 24, 0x0123_4500, 3]);
}

#[test]
fn hypercalls_are_for_the_kernel_only() {
    let made = |code_segment, rax, rbx| {
        let mut registers = [7; 16];
        (registers[gpr::RAX], registers[gpr::RBX]) = (rax, rbx);
        hypercall::decode(&registers.map(Cell::new), code_segment, 3)
    };
    assert_eq!(made(0x33, 0x5049_0000, 1), None);
    assert_eq!((made(0x10, 0x5049_0000, 1), made(0x10, 0x5049_0000, 0)), (Some(Hello(true)), Some(Hello(false))));
    assert_eq!((made(0x10, 0x5049_0001, 2), made(0x10, 0x5049_0001, 3)), (Some(Kick(2)), Some(Answer(-22))));
    assert_eq!((made(0x10, 0x5049_0002, 9), made(0x10, 0x5049_0000, 2)), (Some(Command), Some(Answer(-22))));
    assert_eq!((made(0x10, 5, 0), made(0x10, u64::MAX, 0)), (Some(Answer(-38)), Some(Answer(-38))));
}

#[test]
fn registers_that_linux_touches_without_a_net() {
    let mut msrs = Msrs::default();
    for msr in [0x1a0, 0xc001_0015, 0xc001_001f, 0xc001_0058] {
        let value = msrs.read(msr).unwrap_or_else(|_| panic!("{msr:#x}"));
        msrs.write(msr, value).unwrap();
    }
    assert_eq!(msrs.read(0xc001_0015).unwrap() >> 24 & 1, 1);
    assert_eq!(msrs.read(0xc001_1029), Ok(2));
    assert!(msrs.write(0x12, 0).is_ok() && msrs.write(0x12, 1).is_err());
    assert_eq!(msrs.read(0x179), Ok(1), "one bank");
    assert_eq!((msrs.write(0x400, u64::MAX), msrs.read(0x400)), (Ok(()), Ok(0)));
    for msr in [0x48, 0x49, 0x17b, 0x404, 0xc001_0000, 0xc001_0200, 0xc001_1020, 0xc001_0117, 0x4b56_4d00] {
        assert!(msrs.read(msr).is_err() && msrs.write(msr, 1).is_err(), "{msr:#x}");
    }
}

proptest! {
    #[test]
    fn any_leaf_is_answered(
        words in any::<[u32; 4]>(), components in any::<[[u32; 4]; 8]>(),
        leaf in prop_oneof![any::<u32>(), 0_u32..0x30, 0x8000_0000_u32..0x8000_0030, 0x4000_0000_u32..0x4000_0110],
        subleaf in prop_oneof![any::<u32>(), 0_u32..10], cr4 in any::<u64>(), xcr0 in any::<u64>(), hz in any::<u64>(),
    ) {
        let mut context = Context::from_host(hz, Topology::new(words[0], &components[0]), |leaf, subleaf| match leaf {
            0xd => components[subleaf as usize % 8],
            _ => words,
        });
        context.cr4 = cr4;
        context.xcr0 = xcr0;
        let [eax, _, ecx, _] = cpuid(words, leaf, subleaf, &context);
        match leaf {
            1 if context.max_basic >= 1 => prop_assert!(ecx >> 31 == 1 && ecx & 1 << 5 == 0),
            0x8000_0001 => prop_assert!(ecx & 4 == 0),
            0x4000_0001 => prop_assert_eq!(eax, 1 << 5),
            _ => {}
        }
    }

    #[test]
    fn any_register_is_answered(accesses in prop::collection::vec(
        (prop_oneof![any::<u32>(), 0_u32..0x400, 0xc001_0000_u32..0xc001_1100], any::<u64>(), any::<bool>()), 1..50)) {
        let mut msrs = Msrs::default();
        for (msr, value, write) in accesses {
            if write {
                let _ = msrs.write(msr, value);
            } else {
                let _ = msrs.read(msr);
            }
            prop_assert!(msrs.read(0xc001_1029).unwrap() & 2 != 0);
        }
    }
}
