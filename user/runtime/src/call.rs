//! The system calls as functions. Each does what its namesake in [`pillion_abi::call::Call`] says.

use core::arch::asm;
use pillion_abi::{
    call::{Call, MESSAGE_WORDS},
    object::Kind,
    status::{Error, Result},
};

/// Index of a capability in the task's own space.
pub type Cap = u32;

/// Two result values.
pub type Values = [u64; 2];

/// Makes a call; returns status and values.
#[inline(always)]
fn syscall(number: u64, a: [u64; 6]) -> (u64, Values) {
    let (status, first, second): (u64, u64, u64);
    // SAFETY: the kernel changes no register but those named here. What a call does to the address space (it maps, unmaps, starts a thread) is outside of
    // Rust's memory, as it is for a file under /proc: who makes a reference to memory by its address vouches for what is mapped there.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number => status,
            in("rdi") a[0],
            inlateout("rsi") a[1] => second,
            inlateout("rdx") a[2] => first,
            in("r10") a[3],
            in("r8") a[4],
            in("r9") a[5],
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    (status, [first, second])
}

#[inline(always)]
fn raw(call: Call, a: [u64; 6]) -> Result<Values> {
    let (status, values) = syscall(call as u64, a);
    match Error::from_raw(status) {
        None => Ok(values),
        Some(error) => Err(error),
    }
}

/// A system call by number, with unchecked arguments. For tests.
#[inline(always)]
pub fn raw_call(number: u64, a: [u64; 6]) -> u64 {
    syscall(number, a).0
}

macro_rules! simple {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*) = $call:ident;)*) => {$(
        $(#[$doc])*
        #[inline]
        pub fn $name($($argument: $type),*) -> Result<Values> {
            let given = [$($argument as u64),*];
            let mut a = [0; 6];
            a[..given.len()].copy_from_slice(&given);
            raw(Call::$call, a)
        }
    )*};
}

/// Adds the badge's bits to a notification. Real-time threads make no call more often: registers that it takes no argument from stay as they are.
#[inline]
pub fn signal(notification: Cap) -> Result<Values> {
    let (status, first, second): (u64, u64, u64);
    // SAFETY: as in `syscall`.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") Call::Signal as u64 => status,
            in("rdi") u64::from(notification),
            lateout("rsi") second,
            lateout("rdx") first,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    Error::from_raw(status).map_or(Ok([first, second]), Err)
}

simple! {
    /// Waits for bits, until a deadline.
    wait(notification: Cap, deadline: u64) = Wait;
    /// Runs a guest. First value: reason; second: its value.
    vcpu_run(vcpu: Cap) = VcpuRun;
    /// Arms a timer.
    timer_set(timer: Cap, deadline: u64) = TimerSet;
    /// Lets an interrupt come again.
    interrupt_ack(interrupt: Cap) = InterruptAck;
    /// Ends everything made of a region.
    region_reset(region: Cap) = RegionReset;
    /// Derives a capability for part of some memory.
    memory_part(memory: Cap, offset: u64, size: u64, to: Cap, rights: u8) = MemoryPart;
    /// Maps memory.
    memory_map(memory: Cap, space: Cap, address: u64, flags: u64) = MemoryMap;
    /// Takes a mapping away.
    memory_unmap(memory: Cap) = MemoryUnmap;
    /// Derives a capability into a space (0: one's own).
    cap_derive(space: Cap, to: Cap, from: Cap, rights: u8, badge: u64) = CapDerive;
    /// Moves a capability.
    cap_move(space: Cap, to: Cap, from: Cap) = CapMove;
    /// Deletes a capability and what was derived from it.
    cap_delete(space: Cap, slot: Cap) = CapDelete;
    /// Deletes what was derived from a capability.
    cap_revoke(space: Cap, slot: Cap) = CapRevoke;
    /// Tells what a slot holds.
    cap_identify(slot: Cap) = CapIdentify;
    /// Gives a thread its surroundings.
    thread_configure(thread: Cap, space: Cap, caps: Cap, fault: Cap, flags: u64) = ThreadConfigure;
    /// Sets the registers of a stopped thread.
    thread_set_registers(thread: Cap, entry: u64, stack: u64, argument: u64) = ThreadSetRegisters;
    /// Lets a thread run.
    thread_resume(thread: Cap) = ThreadResume;
    /// Stops a thread.
    thread_suspend(thread: Cap) = ThreadSuspend;
    /// Gives a thread time.
    thread_bind_context(thread: Cap, context: Cap) = ThreadBindContext;
    /// Binds a notification to a thread.
    thread_bind_notification(thread: Cap, notification: Cap) = ThreadBindNotification;
    /// Reads a pair of registers.
    thread_register(thread: Cap, index: u64) = ThreadRegister;
    /// Sets priority, budget and period of a context.
    context_configure(control: Cap, context: Cap, priority: u8, budget: u64, period: u64, ceiling: u8) = ContextConfigure;
    /// Sets a context's priority, up to its ceiling; the old one is the first value.
    context_set_priority(context: Cap, priority: u8) = ContextSetPriority;
    /// Ticks consumed, and how often the budget ran out.
    context_consumed(context: Cap) = ContextConsumed;
    /// Makes a thread the receiver of an endpoint.
    endpoint_bind(endpoint: Cap, thread: Cap) = EndpointBind;
    /// Makes a thread the receiver of an endpoint, with flags of [`pillion_abi::call::endpoint`] and the ticks that a caller must have left.
    endpoint_bind_with(endpoint: Cap, thread: Cap, flags: u64, need: u64) = EndpointBind;
    /// Says what a timer signals.
    timer_bind(timer: Cap, notification: Cap, bits: u64) = TimerBind;
    /// Makes an interrupt capability, out of memory of a region.
    interrupt_create(control: Cap, line: u64, flags: u64, to: Cap, region: Cap) = InterruptCreate;
    /// Says what an interrupt signals, and enables it.
    interrupt_bind(interrupt: Cap, notification: Cap, bits: u64) = InterruptBind;
    /// Derives a capability for some ports.
    ports_part(ports: Cap, first: u16, count: u32, to: Cap) = PortsPart;
    /// Prepares a vCPU.
    vcpu_configure(vcpu: Cap, space: Cap, state: Cap, flags: u64) = VcpuConfigure;
    /// Lets the guest use ports.
    vcpu_allow_ports(vcpu: Cap, ports: Cap) = VcpuAllowPorts;
    /// Makes an interrupt pending in the guest.
    vcpu_inject(vcpu: Cap, vector: u8) = VcpuInject;
    /// Routes a line to the guest.
    vcpu_route_line(vcpu: Cap, control: Cap, line: u64, word: u64) = VcpuRouteLine;
    /// Forgets the guest's interrupts.
    vcpu_reset(vcpu: Cap) = VcpuReset;
    /// Ends the guest's interrupt in service.
    vcpu_end_of_interrupt(vcpu: Cap) = VcpuEndOfInterrupt;
    /// Switches the trace buffer.
    trace_control(trace: Cap, on: bool) = TraceControl;
    /// Writes a byte to the kernel's log.
    log_put(trace: Cap, byte: u8) = LogPut;
}

/// Makes an object.
#[inline]
pub fn region_create(region: Cap, kind: Kind, size: u64, to: Cap) -> Result<Values> {
    raw(Call::RegionCreate, [u64::from(region), kind as u64, size, u64::from(to), 0, 0])
}

/// Sleeps until a deadline.
#[inline(always)]
pub fn sleep(deadline: u64) -> Result<Values> {
    raw(Call::Sleep, [0, deadline, 0, 0, 0, 0])
}

/// Lets others of the same priority go first.
pub fn yield_now() {
    let _ = raw(Call::Yield, [0; 6]);
}

/// Reads a port.
#[inline]
pub fn port_in(ports: Cap, port: u16, width: u8) -> Result<u32> {
    raw(Call::PortIn, [u64::from(ports), u64::from(port), u64::from(width), 0, 0, 0]).map(|[value, _]| value as u32)
}

/// Writes a port.
#[inline]
pub fn port_out(ports: Cap, port: u16, width: u8, value: u32) -> Result<Values> {
    raw(Call::PortOut, [u64::from(ports), u64::from(port), u64::from(width), u64::from(value), 0, 0])
}

/// A message with the badge that it came with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// Badge of the capability that the sender used; 0 in replies.
    pub badge: u64,
    /// Label.
    pub label: u64,
    /// Words.
    pub words: [u64; MESSAGE_WORDS],
}

#[inline(always)]
fn exchange(call: Call, first: u64, mut label: u64, mut w: [u64; MESSAGE_WORDS]) -> Result<Message> {
    let (mut status, mut badge) = (call as u64, first);
    // SAFETY: as in `syscall`; all registers that carry the message are named.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") status,
            inlateout("rdi") badge,
            inlateout("rsi") label,
            inlateout("rdx") w[0],
            inlateout("r10") w[1],
            inlateout("r8") w[2],
            inlateout("r9") w[3],
            inlateout("r12") w[4],
            inlateout("r13") w[5],
            inlateout("r14") w[6],
            inlateout("r15") w[7],
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    match Error::from_raw(status) {
        None => Ok(Message { badge, label, words: w }),
        Some(error) => Err(error),
    }
}

/// Calls an endpoint and waits for the reply.
#[inline(always)]
pub fn call(endpoint: Cap, label: u64, words: [u64; MESSAGE_WORDS]) -> Result<Message> {
    exchange(Call::Call, u64::from(endpoint), label, words)
}

/// Replies and receives the next message.
#[inline(always)]
pub fn reply_receive(label: u64, words: [u64; MESSAGE_WORDS]) -> Result<Message> {
    exchange(Call::ReplyReceive, 0, label, words)
}

/// Receives, until a deadline.
#[inline(always)]
pub fn receive(deadline: u64) -> Result<Message> {
    exchange(Call::Receive, 0, deadline, [0; MESSAGE_WORDS])
}

/// Replies and goes on.
#[inline]
pub fn reply(label: u64, words: [u64; MESSAGE_WORDS]) -> Result<()> {
    exchange(Call::Reply, 0, label, words).map(|_| ())
}
