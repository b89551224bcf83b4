//! Abilities of a fault handler.

use crate::{
    Test, cells,
    fault::handler,
    mappings::{peek, poke},
    order,
};
use core::arch::naked_asm;
use pillion_abi::boot::slot;
use pillion_abi::call::LABEL_FAULT;
use pillion_abi::object::{Kind, map};
use pillion_abi::{NEVER, PAGE};
use pillion_runtime::{
    cap_delete, endpoint_bind, memory_map, now, receive, reply, reply_receive, thread_bind_context, thread_resume,
};
use pillion_test_kit::{Checked, Kit, Setup, check, done, same, stop};

pub const TESTS: &[Test] = &[
    ("fault-handler/resumes", resume),
    ("fault-handler/skips", skip),
    ("fault-handler/stops", stops),
    ("fault-handler/in-another-space-on-the-faulters-time", passive),
    ("fault-handler/ends", ends),
    ("fault-handler/resumes-at-a-bad-address", bad_address),
    ("fault-handler/can-be-taken-away", removed),
];

extern "C" fn toucher(address: u64) -> ! {
    poke(address, 17);
    cells::set(0, peek(address));
    stop()
}

fn resume(kit: &mut Kit) -> Checked {
    let (fault, space) = (handler(kit)?, done!(kit.space()));
    let (memory, there) = (done!(kit.make(Kind::Memory, PAGE)), kit.address());
    done!(kit.start(Setup { fault, ..Setup::new(50, toucher).within(space).with(there) }));
    let message = done!(receive(now() + 100_000));
    let [vector, code, address, ..] = message.words;
    same!([vector, code, address], [14, 6, there]);
    done!(memory_map(memory, space, there, map::WRITE));
    done!(reply(0, [0; 8]));
    kit.rest(10_000);
    same!(cells::get(0), 17);
    Ok(())
}

#[unsafe(naked)]
extern "C" fn counts(_: u64) -> ! {
    naked_asm!("mov rbx, rdi", "mov ebp, 5", "2: ud2", "dec ebp", "jnz 2b", "inc qword ptr [rbx]", "3: jmp 3b")
}

fn skip(kit: &mut Kit) -> Checked {
    let fault = handler(kit)?;
    let (_, there) = done!(kit.memory(PAGE, map::WRITE));
    poke(there, 41);
    done!(kit.start(Setup { fault, ..Setup::new(50, counts).with(there) }));
    for _ in 0..5 {
        let message = done!(receive(now() + 100_000));
        same!([message.label, message.words[0]], [LABEL_FAULT, 6]);
        let mut words = [0; 8];
        words[0] = message.words[3] + 2;
        done!(reply(1, words));
    }
    kit.rest(10_000);
    same!(peek(there), 42);
    Ok(())
}

fn stops(kit: &mut Kit) -> Checked {
    let fault = handler(kit)?;
    let (memory, there) = (done!(kit.make(Kind::Memory, PAGE)), kit.address());
    let t = done!(kit.start(Setup { fault, ..Setup::new(50, toucher).with(there) }));
    done!(receive(now() + 100_000));
    done!(reply(2, [0; 8]));
    done!(memory_map(memory, slot::ADDRESS_SPACE, there, map::WRITE));
    kit.rest(10_000);
    same!(cells::get(0), 0);
    done!(thread_resume(t.thread));
    kit.rest(10_000);
    same!(cells::get(0), 17);
    Ok(())
}

extern "C" fn skipper(_: u64) -> ! {
    let mut next = receive(NEVER);
    while let Ok(message) = next {
        cells::log(message.words[0]);
        let mut words = [0; 8];
        words[0] = message.words[3] + 2;
        next = reply_receive(1, words);
    }
    stop()
}

fn passive(kit: &mut Kit) -> Checked {
    let (endpoint, space) = (done!(kit.make(Kind::Endpoint, 0)), done!(kit.space()));
    let t = done!(kit.start(Setup::new(50, skipper).within(space)));
    done!(pillion_runtime::thread_suspend(t.thread));
    done!(endpoint_bind(endpoint, t.thread));
    done!(thread_resume(t.thread));
    kit.rest(10_000);
    done!(thread_bind_context(t.thread, 0));
    let (_, there) = done!(kit.memory(PAGE, map::WRITE));
    done!(kit.start(Setup { fault: endpoint, ..Setup::new(50, counts).with(there) }));
    kit.rest(50_000);
    order!(6, 6, 6, 6, 6);
    same!(peek(there), 1);
    Ok(())
}

fn ends(kit: &mut Kit) -> Checked {
    let fault = handler(kit)?;
    let there = kit.address();
    done!(kit.start(Setup { fault, ..Setup::new(50, toucher).with(there) }));
    done!(receive(now() + 100_000));
    let second = done!(kit.start(Setup { fault, ..Setup::new(50, toucher).with(there) }));
    kit.rest(10_000);
    done!(cap_delete(0, fault));
    kit.rest(10_000);
    check!(thread_resume(second.thread).is_ok(), "the thread in the queue was not stopped");
    kit.rest(10_000);
    same!(cells::get(0), 0);
    Ok(())
}

fn bad_address(kit: &mut Kit) -> Checked {
    let fault = handler(kit)?;
    done!(kit.start(Setup { fault, ..Setup::new(50, counts).with(0) }));
    for address in [u64::MAX, 1 << 47, 0x8000_0000_0000_0000] {
        done!(receive(now() + 100_000));
        done!(reply(1, [address; 8]));
    }
    same!(done!(receive(now() + 100_000)).label, LABEL_FAULT);
    Ok(())
}

fn removed(kit: &mut Kit) -> Checked {
    let fault = handler(kit)?;
    let there = kit.address();
    let t = done!(kit.prepare(Setup { fault, ..Setup::new(50, toucher).with(there) }));
    done!(pillion_runtime::thread_configure(t.thread, slot::ADDRESS_SPACE, kit.workers(), 0, 0));
    done!(thread_resume(t.thread));
    check!(receive(now() + 50_000).is_err(), "the handler was called all the same");
    Ok(())
}
