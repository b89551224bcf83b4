//! Instructions with extra costs or meanings.

use pillion_model_check::{Event, event_of};

#[test]
fn instructions_are_recognised() {
    use Event::*;
    let cases: [(&[u8], Event); 35] = [
        (&[0x0f, 0x22, 0xd8], Cr3),       // mov cr3, rax
        (&[0x41, 0x0f, 0x22, 0xdc], Cr3), // mov cr3, r12
        (&[0x0f, 0x22, 0xe0], Cr4),       // mov cr4, rax
        (&[0x0f, 0x22, 0xc0], None),      // mov cr0, rax
        (&[0x0f, 0x20, 0xd8], None),      // mov rax, cr3
        (&[0x0f, 0x01, 0xd8], Vmrun),
        (&[0x0f, 0x01, 0xda], Vmstate),
        (&[0x0f, 0x01, 0xdb], Vmstate),
        (&[0x0f, 0x01, 0xd9], None), // vmmcall
        (&[0x0f, 0x01, 0xdc], Stgi),
        (&[0x0f, 0x01, 0xdd], Clgi),
        (&[0x0f, 0x01, 0x3f], Invlpg), // invlpg [rdi]
        (&[0x0f, 0x01, 0xf8], None),   // swapgs
        (&[0x0f, 0x01, 0xdf], Invlpg), // invlpga
        (&[0x0f, 0x01, 0x1f], None),   // lidt [rdi]
        (&[0x0f, 0x05], Syscall),
        (&[0x48, 0x0f, 0x07], Sysret),
        (&[0x48, 0xcf], Iret),
        (&[0x0f, 0x30], Msr),
        (&[0x0f, 0x32], Msr),
        (&[0x0f, 0xa2], Cpuid),
        (&[0xee], Port),
        (&[0x66, 0xed], Port),
        (&[0xe4, 0x60], Port),
        (&[0xf3, 0x6c], Port), // rep insb
        (&[0xf4], Hlt),
        (&[0xfa], Cli),
        (&[0xfb], Sti),
        (&[0x48, 0x0f, 0xae, 0x27], Fpu),  // xsave64 [rdi]
        (&[0x0f, 0xae, 0x2f], Fpu),        // xrstor [rdi]
        (&[0x0f, 0xae, 0xf0], None),       // mfence
        (&[0x48, 0x0f, 0xc7, 0x27], Fpu),  // xsavec64 [rdi]
        (&[0x48, 0x0f, 0xc7, 0x0f], None), // cmpxchg16b [rdi]
        (&[0x48, 0x89, 0xd8], None),
        (&[0x66], None),
    ];
    for (bytes, event) in cases {
        assert_eq!(event_of(bytes), event as u32, "{bytes:02x?}");
    }
}

#[test]
fn markers_are_recognised() {
    let marker = |name: &[u8]| event_of(&[&[0x0f, 0x1f, 0x80], name].concat());
    assert_eq!(marker(b"Resp"), Event::Response as u32);
    assert_eq!(marker(b"From"), Event::From as u32);
    assert_eq!(marker(b"Upto"), Event::Upto as u32);
    assert_eq!(marker(b"Begn"), Event::Begin as u32);
    assert_eq!(marker(b"Done"), Event::Done as u32);
    assert_eq!(marker(b"Woke"), Event::Woke as u32);
    assert_eq!(marker(b"Bit0"), Event::Zero as u32);
    assert_eq!(marker(b"Bit1"), Event::One as u32);
    assert_eq!(marker(b"Entr"), Event::Entry as u32);
    assert_eq!(marker(b"Late"), Event::Late as u32);
    assert_eq!(marker(&[0, 0, 0, 0]), Event::None as u32);
}
