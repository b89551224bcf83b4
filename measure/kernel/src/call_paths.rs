//! Calls: into the kernel and back, and to a server in another address space and back.

use crate::series::Series;
use crate::wake_path::{HIGH, LOW};
use core::arch::{asm, naked_asm};
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;
use pillion_abi::{NEVER, call::Call, object::Kind};
use pillion_runtime::{
    Cap, call, endpoint_bind, now, raw_call, receive, reply_receive, signal, thread_bind_context, wait,
};
use pillion_test_kit::{Checked, Kit, Setup, done, same, stop};

static NULL: Series = Series::new();
static EMPTY: Series = Series::new();
static FULL: Series = Series::new();
static ACTIVE: Series = Series::new();
static ENDPOINT: AtomicU64 = AtomicU64::new(0);
static END: AtomicU64 = AtomicU64::new(0);
static WRONG: AtomicU64 = AtomicU64::new(0);

/// A call with a number that does not exist.
pub fn null(kit: &mut Kit) -> Checked {
    loop {
        let before = now();
        let status = raw_call(u64::MAX, [0; 6]);
        let after = now();
        same!(status, pillion_abi::status::Error::BadCall.to_raw());
        if NULL.add(after - before) {
            break;
        }
    }
    NULL.print(kit, "null_call")
}

extern "C" fn server(_: u64) -> ! {
    let mut words = [0; 8];
    if let Ok(message) = receive(NEVER) {
        words = message.words;
    }
    loop {
        match reply_receive(7, words) {
            Ok(message) => words = message.words,
            Err(_) => stop(),
        }
    }
}

fn client(series: &Series, words: [u64; 8]) -> ! {
    let endpoint = ENDPOINT.load(Relaxed) as Cap;
    loop {
        let before = now();
        let answer = call(endpoint, 1, words);
        let after = now();
        if !answer.is_ok_and(|answer| answer.label == 7 && answer.words == words) {
            WRONG.fetch_add(1, Relaxed);
        }
        if series.add(after - before) {
            let _ = signal(END.load(Relaxed) as Cap);
            stop()
        }
    }
}

/// A call without a message: only the registers that the call itself needs are set.
#[inline(always)]
pub fn empty_call(endpoint: Cap) -> (u64, u64) {
    let (status, label);
    // SAFETY: the kernel changes the message's registers and what calls clobber, no memory.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") Call::Call as u64 => status,
            inlateout("rdi") u64::from(endpoint) => _,
            inlateout("rsi") 7u64 => label,
            lateout("rdx") _, lateout("r10") _, lateout("r8") _, lateout("r9") _,
            lateout("r12") _, lateout("r13") _, lateout("r14") _, lateout("r15") _,
            lateout("rcx") _, lateout("r11") _,
            options(nostack),
        );
    }
    (status, label)
}

/// # Safety
/// The argument is the address of one of the series above.
unsafe extern "C" fn empty_client(series: u64) -> ! {
    // SAFETY: the caller's promise.
    let series = unsafe { &*(series as *const Series) };
    let endpoint = ENDPOINT.load(Relaxed) as Cap;
    loop {
        let before = now();
        let (status, label) = empty_call(endpoint);
        let after = now();
        if (status, label) != (0, 7) {
            WRONG.fetch_add(1, Relaxed);
        }
        if series.add(after - before) {
            let _ = signal(END.load(Relaxed) as Cap);
            stop()
        }
    }
}

/// Replies with the message that came; it is already in the right registers.
#[unsafe(naked)]
pub extern "C" fn empty_server(_: u64) -> ! {
    naked_asm!(
        "mov eax, {receive}",
        "mov rsi, -1",
        "syscall",
        "2: mov eax, {reply_receive}",
        "syscall",
        "jmp 2b",
        receive = const Call::Receive as u64,
        reply_receive = const Call::ReplyReceive as u64,
    )
}

/// # Safety
/// The argument is the address of one of the series above.
unsafe extern "C" fn full_client(series: u64) -> ! {
    // SAFETY: the caller's promise.
    client(unsafe { &*(series as *const Series) }, [1, 2, 3, 4, 5, 6, 7, 8])
}

/// Entry point of a thread.
type Code = unsafe extern "C" fn(u64) -> !;

fn measure(kit: &mut Kit, name: &str, series: &'static Series, [server, client]: [Code; 2], passive: bool) -> Checked {
    let (there, here) = (done!(kit.space()), done!(kit.space()));
    let endpoint = done!(kit.make(Kind::Endpoint, 0));
    let end = done!(kit.make(Kind::Notification, 0));
    END.store(done!(kit.badged(end, 1)).into(), Relaxed);
    ENDPOINT.store(endpoint.into(), Relaxed);
    let served = done!(kit.prepare(Setup::new(HIGH, server).within(there)));
    done!(endpoint_bind(endpoint, served.thread));
    done!(pillion_runtime::thread_resume(served.thread));
    if passive {
        done!(thread_bind_context(served.thread, 0));
    }
    done!(kit.start(Setup::new(LOW, client).within(here).with(series as *const Series as u64)));
    done!(wait(end, NEVER));
    same!(WRONG.load(Relaxed), 0);
    series.print(kit, name)
}

/// A server that runs on its caller's scheduling context.
pub fn passive(kit: &mut Kit) -> Checked {
    measure(kit, "call_reply", &EMPTY, [empty_server, empty_client], true)
}

/// The same with eight words each way, which both sides keep in memory.
pub fn passive_full(kit: &mut Kit) -> Checked {
    measure(kit, "call_reply_8", &FULL, [server, full_client], true)
}

/// A server with a scheduling context of its own.
pub fn active(kit: &mut Kit) -> Checked {
    measure(kit, "call_reply_active", &ACTIVE, [empty_server, empty_client], false)
}
