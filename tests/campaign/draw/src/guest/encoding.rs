//! Instructions that run one at a time.

use super::{Behind, Instruction, Place, Step, places};
use crate::Rng;

const LONGEST: usize = 15;

/// INT3, which stops code that should not have continued.
const FILLER: u8 = 0xcc;

/// Instructions for kernels only, and rare ones.
const RARE: [&[u8]; 40] = [
    &[0x0f, 0x01, 0xd8],             // vmrun
    &[0x0f, 0x01, 0xd9],             // vmmcall
    &[0x0f, 0x01, 0xda],             // vmload
    &[0x0f, 0x01, 0xdb],             // vmsave
    &[0x0f, 0x01, 0xdc],             // stgi
    &[0x0f, 0x01, 0xdd],             // clgi
    &[0x0f, 0x01, 0xde],             // skinit
    &[0x0f, 0x01, 0xdf],             // invlpga
    &[0x0f, 0x01, 0xc1],             // vmcall
    &[0x0f, 0x01, 0xc8],             // monitor
    &[0x0f, 0x01, 0xc9],             // mwait
    &[0x0f, 0x01, 0xd0],             // xgetbv
    &[0x0f, 0x01, 0xd1],             // xsetbv
    &[0x0f, 0x01, 0xf8],             // swapgs
    &[0x0f, 0x01, 0xf9],             // rdtscp
    &[0x0f, 0x01, 0x38],             // invlpg [rax]
    &[0x0f, 0x01, 0x10],             // lgdt [rax]
    &[0x0f, 0x01, 0x18],             // lidt [rax]
    &[0x0f, 0x01, 0xf0],             // lmsw ax
    &[0x0f, 0x06],                   // clts
    &[0x0f, 0x08],                   // invd
    &[0x0f, 0x09],                   // wbinvd
    &[0x0f, 0x0b],                   // ud2
    &[0x0f, 0x33],                   // rdpmc
    &[0x0f, 0x05],                   // syscall
    &[0x0f, 0x34],                   // sysenter
    &[0x48, 0x0f, 0x07],             // sysret
    &[0x0f, 0x00, 0xc8],             // str ax
    &[0x0f, 0x00, 0xd0],             // lldt ax
    &[0x0f, 0xae, 0x38],             // clflush [rax]
    &[0x66, 0x0f, 0x38, 0x82, 0x08], // invpcid
    &[0xf1],                         // icebp
    &[0xcd, 0x80],                   // int 0x80
    &[0xce],                         // no instruction
    &[0x48, 0xcf],                   // iretq
    &[0xfb, 0xf4],                   // sti; hlt: the trap flag lets one of them through
    &[0xf3, 0x90],                   // pause
    &[0x0f, 0x31],                   // rdtsc
    &[0x17],                         // no instruction
    &[0x8e, 0xd0],                   // mov ss, ax
];

/// Memory accesses by `[rax]`: those that the monitor decodes, and similar ones.
const ACCESSES: [&[u8]; 34] = [
    &[0x8b, 0x08],                                     // mov ecx, [rax]
    &[0x89, 0x08],                                     // mov [rax], ecx
    &[0x8a, 0x28],                                     // mov ch, [rax]
    &[0x88, 0x20],                                     // mov [rax], ah
    &[0xc6, 0x00, 0x5a],                               // mov byte [rax], 0x5a
    &[0xc7, 0x00, 0x78, 0x56, 0x34, 0x12],             // mov dword [rax], 0x12345678
    &[0x48, 0xc7, 0x40, 0x10, 0xff, 0xff, 0xff, 0xff], // mov qword [rax+0x10], -1
    &[0x0f, 0xb6, 0x08],                               // movzx ecx, byte [rax]
    &[0x0f, 0xbf, 0x08],                               // movsx ecx, word [rax]
    &[0x48, 0x63, 0x08],                               // movsxd rcx, dword [rax]
    &[0x8b, 0x48, 0x20],                               // mov ecx, [rax+0x20]
    &[0x8b, 0x88, 0xf0, 0x03, 0x00, 0x00],             // mov ecx, [rax+0x3f0]
    &[0x42, 0x8b, 0x0c, 0x20],                         // mov ecx, [rax+r12]
    &[0x01, 0x08],                                     // add [rax], ecx
    &[0x03, 0x08],                                     // add ecx, [rax]
    &[0x87, 0x08],                                     // xchg [rax], ecx
    &[0x0f, 0xb1, 0x08],                               // cmpxchg [rax], ecx
    &[0x0f, 0xc7, 0x08],                               // cmpxchg8b [rax]
    &[0x0f, 0xc1, 0x08],                               // xadd [rax], ecx
    &[0xff, 0x00],                                     // inc dword [rax]
    &[0xff, 0x30],                                     // push [rax]
    &[0x8f, 0x00],                                     // pop [rax]
    &[0xff, 0x20],                                     // jmp [rax]
    &[0xff, 0x10],                                     // call [rax]
    &[0xa4],                                           // movsb
    &[0xa5],                                           // movsd
    &[0xab],                                           // stosd
    &[0xad],                                           // lodsd
    &[0x85, 0x08],                                     // test [rax], ecx
    &[0x8e, 0x08],                                     // no register: mov cs, [rax]
    &[0x8c, 0x08],                                     // mov [rax], cs
    &[0x0f, 0xe7, 0x08],                               // movntq [rax], mm1
    &[0x0f, 0x11, 0x08],                               // movups [rax], xmm1
    &[0x0f, 0xc3, 0x08],                               // movnti [rax], ecx
];

const PREFIXES: [u8; 22] = [
    0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf0, 0xf2, 0xf3, 0x40, 0x41, 0x42, 0x44, 0x45, 0x48, 0x49, 0x4c,
    0x4d, 0x4f, 0x66,
];

fn run(rng: &mut Rng, bytes: [u8; LONGEST], place: Place) -> Step {
    let split = if rng.one_in(4) { 1 + rng.below(LONGEST as u64 - 1) as u8 } else { 0 };
    Step::Run(Instruction {
        bytes,
        place,
        registers: rng.next(),
        split,
        behind: rng.pick(&[Behind::Rest, Behind::Rest, Behind::Nothing, Behind::Foreign]),
        open: rng.one_in(4),
        narrow: rng.one_in(8),
    })
}

fn filled(code: &[u8], prefixes: &[u8]) -> [u8; LONGEST] {
    let mut bytes = [FILLER; LONGEST];
    for (to, from) in bytes.iter_mut().zip(prefixes.iter().chain(code)) {
        *to = *from;
    }
    bytes
}

pub fn instruction(rng: &mut Rng) -> Step {
    let code = rng.pick(&RARE);
    let place = if rng.one_in(2) { Place::Own(0xfff & rng.next() as u16) } else { places::place(rng) };
    let prefix = if rng.one_in(5) { &[rng.pick(&PREFIXES)][..] } else { &[] };
    let bytes = filled(code, prefix);
    run(rng, bytes, place)
}

pub fn access(rng: &mut Rng) -> Step {
    let place = places::place(rng);
    let bytes = if rng.one_in(5) { anything(rng) } else { prefixed(rng) };
    run(rng, bytes, place)
}

fn anything(rng: &mut Rng) -> [u8; LONGEST] {
    let mut bytes = core::array::from_fn(|_| rng.next() as u8);
    // A random first byte is seldom an instruction with a memory operand.
    if rng.one_in(2) {
        bytes[0] = rng.pick(&[0x0f, 0x66, 0x8b, 0x89, 0xc7, 0xf3, 0x48]);
    }
    bytes
}

fn prefixed(rng: &mut Rng) -> [u8; LONGEST] {
    let prefixes: [u8; 12] = core::array::from_fn(|_| rng.pick(&PREFIXES));
    let most = if rng.one_in(6) { 13 } else { 4 };
    let count = rng.below(most) as usize;
    let code = rng.pick(&ACCESSES);
    filled(code, prefixes.get(..count).unwrap_or(&prefixes))
}
