//! A hostile task: makes the steps that a seed determines.

use core::arch::asm;

use pillion_abi::call::MESSAGE_WORDS;
use pillion_campaign::task::{self, STEPS, Step};
use pillion_campaign::{Actor, Orders};
use pillion_runtime::call::call;
use pillion_runtime::info::broker::TRANSFER_SIZE;
use pillion_runtime::info::{self, TaskInfo, address, label, slot};
use pillion_runtime::{now, park};

/// Makes all steps and then sleeps.
pub fn run(actor: Actor, orders: Orders) -> ! {
    if actor == Actor::Skinned {
        let _ = call(slot::MANAGER, label::STARTED, [0; MESSAGE_WORDS]);
    }
    for number in 0..STEPS {
        let (class, step) = task::step(orders.seed, actor, number);
        if orders.wants(number) && class.bit() & orders.classes != 0 {
            make(&step, info::task());
        }
    }
    park()
}

fn make(step: &Step, info: &TaskInfo) {
    let ticks = |ns: u32| u64::from(ns) * info.tsc_hz / 1_000_000_000;
    match *step {
        Step::Call(number, cap, [a, b, c, d, e]) => system_call(number, [cap, a, b, c, d, e]),
        Step::Wait(number, cap, ns) => system_call(number as u64, [cap, now() + ticks(ns), 0, 0, 0, 0]),
        Step::Message(endpoint, label, words) => {
            let _ = call(endpoint as u32, label, words);
        }
        Step::Write(what, offset, value) => write(what, offset, value, info),
        Step::Spin(ns) => {
            let until = now() + ticks(ns);
            while now() < until {
                core::hint::spin_loop();
            }
        }
        Step::Touch(address, store) => touch(address, store),
    }
}

/// Makes any call; all registers that a call can change are declared.
fn system_call(number: u64, [a, b, c, d, e, f]: [u64; 6]) {
    // SAFETY: a call changes this task's memory only by mapping over it; the task then faults, as
    // it is meant to.
    unsafe {
        asm!("syscall", inout("rax") number => _, inout("rdi") a => _, inout("rsi") b => _, inout("rdx") c => _,
            inout("r10") d => _, inout("r8") e => _, inout("r9") f => _, out("rcx") _, out("r11") _,
            out("r12") _, out("r13") _, out("r14") _, out("r15") _)
    };
}

/// Writes a word into shared memory, if the task has it.
fn write(what: u8, offset: u32, value: u64, info: &TaskInfo) {
    const STATUS: u64 = 4096;
    let (base, size) = match what {
        0 => (address::SHARE, info.skin.share_size),
        1 => (address::POOL, info.skin.pool_size),
        2 => (address::TRANSFER, TRANSFER_SIZE),
        _ => (address::STATUS, STATUS),
    };
    if size >= 8 && info.skin.threads != 0 {
        let at = base + u64::from(offset) % (size / 8) * 8;
        // SAFETY: it is mapped for this task to write; its readers trust nothing in it.
        unsafe { (at as *mut u64).write_volatile(value) };
    }
}

fn touch(address: u64, store: bool) {
    // SAFETY: only this task faults.
    unsafe {
        if store { asm!("mov [{0}], {0}", in(reg) address) } else { asm!("mov {0}, [{0}]", inout(reg) address => _) }
    };
}
