//! The table of the system calls: the only place that defines their numbers, arguments and results.

/// Hands the table of the system calls to a macro.
///
/// There are two groups: calls that real-time threads make frequently, with the shortest path
/// through the kernel, and the others. An entry is
/// `Name = number, stub(arguments) -> results;`. The arguments are in the registers of a call in
/// this order, the first in that of the capability that the call is made on; a message has
/// registers of its own. An argument is one of
///
/// - `thread: Thread(C)`: the index of a capability of that kind, in the caller's space, with the
///   rights that the call needs: R read, W write, X execute, C control. No rights are given if what
///   the call needs depends on other arguments.
/// - `space: AddressSpace(C) or GuestSpace`: of one of two kinds.
/// - `fault: Endpoint(W) or 0`: or the empty slot 0, for none.
/// - `deadline: Deadline`: a value of a type in [`crate::call::argument`].
#[macro_export]
macro_rules! calls {
    ($take:ident) => {
        $take! {
            Frequent {
                /// Sends a message and waits for the reply.
                Call = 0, call(endpoint: Endpoint(W), message: Message) -> message;
                /// Replies to the caller being served and waits for the next message or, with a
                /// notification bound to the thread, for its bits (label `LABEL_NOTIFIED`).
                ReplyReceive = 1, reply_receive(unused: Unused, message: Message) -> message;
                /// Waits for a message as `ReplyReceive` does, until the deadline.
                Receive = 2, receive(unused: Unused, deadline: Deadline) -> message;
                /// Replies and continues.
                Reply = 3, reply(unused: Unused, message: Message);
                /// Adds the badge of the capability to the notification's bits.
                Signal = 4, signal(notification: Notification(W));
                /// Waits until a bit is set; returns and clears the bits.
                Wait = 5, wait(notification: Notification(R), deadline: Deadline) -> bits;
                /// Sleeps until the deadline.
                Sleep = 6, sleep(unused: Unused, deadline: Deadline);
            }
            Other {
                /// Goes to the end of the queue of its priority.
                Yield = 7, yield_now();
                /// Runs the guest until there is something for the VM monitor to do; returns the
                /// reason, one of `abi::vcpu::Exit`, and a value that depends on it.
                VcpuRun = 8, vcpu_run(vcpu: Vcpu(C)) -> reason, value;
                /// Arms a timer; `NEVER` disarms it.
                TimerSet = 9, timer_set(timer: Timer(W), deadline: Deadline);
                /// Lets the interrupt come again once it was handled.
                InterruptAck = 10, interrupt_ack(interrupt: Interrupt(W));
                /// `Signal`, and then `Yield` in the same step: a thread that this wakes, and that
                /// is as urgent as the caller, runs before the caller goes on.
                SignalYield = 11, signal_yield(notification: Notification(W));

                /// Makes an object out of the region's memory. The size is in bytes for `Region`
                /// and `Memory`, a count of slots for `CapSpace`, a count of table pages for
                /// address spaces, and for other kinds the number of the processor that the
                /// object is to belong to.
                RegionCreate = 16, region_create(
                    region: Region(), kind: Kind, size: Size, to: Slot
                );
                /// Deletes everything made out of the region and makes its memory available again.
                RegionReset = 17, region_reset(region: Region());
                /// Derives a capability for a part of the memory.
                MemoryPart = 18, memory_part(
                    memory: Memory(), offset: Size, size: Size, to: Slot, rights: Rights
                );
                /// Maps all of the memory at the address; a guest space has guest-physical
                /// addresses.
                MemoryMap = 19, memory_map(
                    memory: Memory(), space: AddressSpace(C) or GuestSpace, address: Address,
                    flags: Flags
                );
                /// Removes the mapping.
                MemoryUnmap = 20, memory_unmap(memory: Memory());

                /// Derives a capability into a space (0: the caller's own). A badge can be given
                /// once.
                CapDerive = 24, cap_derive(
                    space: CapSpace(C) or 0, to: Slot, from: Slot, rights: Rights, badge: Bits
                );
                /// Moves a capability into a space (0: the caller's own).
                CapMove = 25, cap_move(space: CapSpace(C) or 0, to: Slot, from: Slot);
                /// Deletes a capability and everything derived from it.
                CapDelete = 26, cap_delete(space: CapSpace(C) or 0, slot: Slot);
                /// Deletes everything derived from a capability.
                CapRevoke = 27, cap_revoke(space: CapSpace(C) or 0, slot: Slot);
                /// Returns what a slot holds: the kind, and for `Region`, `Memory` and `Ports` base
                /// and size.
                CapIdentify = 28, cap_identify(slot: Slot) -> identity, size;

                /// Sets a thread's spaces, the endpoint for its faults, and flags of
                /// `abi::call::thread`.
                ThreadConfigure = 32, thread_configure(
                    thread: Thread(C), space: AddressSpace(C), caps: CapSpace(C),
                    fault: Endpoint(W) or 0, flags: Flags
                );
                /// Sets the registers of a stopped thread.
                ThreadSetRegisters = 33, thread_set_registers(
                    thread: Thread(C), entry: Address, stack: Address, argument: u64
                );
                /// Lets a stopped thread run.
                ThreadResume = 34, thread_resume(thread: Thread(C));
                /// Stops a thread, whatever it is doing.
                ThreadSuspend = 35, thread_suspend(thread: Thread(C));
                /// Binds a scheduling context to a thread, or takes the thread's away (0).
                ThreadBindContext = 36, thread_bind_context(
                    thread: Thread(C), context: SchedContext(C) or 0
                );
                /// Lets the notification wake the thread out of `Receive` and `VcpuRun`.
                ThreadBindNotification = 37, thread_bind_notification(
                    thread: Thread(C), notification: Notification(R) or 0
                );
                /// Reads a pair, 0 to 8, of the stopped or faulting thread's registers.
                ThreadRegister = 38, thread_register(thread: Thread(C), pair: u64) -> first, second;
                /// Sets priority, budget and period of a context, and its ceiling: the highest
                /// priority that `ContextSetPriority` may set. A ceiling below the priority counts
                /// as the priority.
                ContextConfigure = 39, context_configure(
                    control: SchedControl(C), context: SchedContext(C), priority: u8, budget: Ticks,
                    period: Ticks, ceiling: u8
                );
                /// Returns the ticks consumed so far, and how often the budget ran out.
                ContextConsumed = 40, context_consumed(
                    context: SchedContext(R)
                ) -> consumed, exhausted;
                /// Makes the thread the receiver of the endpoint, with flags of
                /// `abi::call::endpoint`. Need: ticks that a caller with a limited budget must have
                /// left. Visitors: the context that it serves callers of other processors on.
                EndpointBind = 41, endpoint_bind_with(
                    endpoint: Endpoint(C), thread: Thread(C), flags: Flags, need: Ticks,
                    visitors: SchedContext(C) or 0
                );
                /// Sets what the timer signals.
                TimerBind = 42, timer_bind(
                    timer: Timer(C), notification: Notification(W), bits: Bits
                );
                /// Sets the priority, up to the context's ceiling; budget and period stay as they
                /// are. Returns the old priority.
                ContextSetPriority = 43, context_set_priority(
                    context: SchedContext(C), priority: u8
                ) -> old;
                /// Sets a thread's restartable sequence, or none if it is empty. If the thread's
                /// budget ends, or it is suspended, while its next instruction is there, it
                /// continues at the first.
                ThreadSetSequence = 44, thread_set_sequence(
                    thread: Thread(C), first: Address, end: Address
                );
                /// Allows the context of a vCPU's thread to be boosted: used up to a ceiling, for a
                /// budget in each period, as the guest asks for (`abi::dual::URGENCY`). A ceiling
                /// of 0 forbids it, as at the beginning.
                ContextAllowBoost = 45, context_allow_boost(
                    control: SchedControl(C), context: SchedContext(C), ceiling: u8, budget: Ticks,
                    period: Ticks
                );

                /// Makes an interrupt capability out of memory of a region, for a line with flags
                /// of `abi::call::irq` and the number of a processor. For a message-signalled
                /// interrupt (line `IRQ_MSI`) returns the address and data that the device is to
                /// write.
                InterruptCreate = 48, interrupt_create(
                    control: IrqControl(C), line: u64, flags: Flags, to: Slot, region: Region()
                ) -> address, data;
                /// Sets what the interrupt signals, and enables it.
                InterruptBind = 49, interrupt_bind(
                    interrupt: Interrupt(C), notification: Notification(W), bits: Bits
                );
                /// Reads a port; the width is in bytes.
                PortIn = 50, port_in(ports: Ports(R), port: u16, width: u8) -> value;
                /// Writes a port; the width is in bytes.
                PortOut = 51, port_out(ports: Ports(W), port: u16, width: u8, value: u32);
                /// Derives a capability for some of the ports.
                PortsPart = 52, ports_part(ports: Ports(), first: u16, count: u32, to: Slot);

                /// Prepares a vCPU, with flags of `abi::vcpu::configure`, and makes it the
                /// passenger of the thread's CPU, or a user vCPU. The state is memory that kernel
                /// and monitor share.
                VcpuConfigure = 56, vcpu_configure(
                    vcpu: Vcpu(C), space: GuestSpace(C), state: Memory(R W), flags: Flags
                );
                /// Lets the guest use the ports, at most 1,024, without an exit.
                VcpuAllowPorts = 57, vcpu_allow_ports(vcpu: Vcpu(C), ports: Ports(R W));
                /// Makes an interrupt pending in the guest's local APIC.
                VcpuInject = 58, vcpu_inject(vcpu: Vcpu(W), vector: u8);
                /// Routes an interrupt line to the guest: a vector, and flags of
                /// `abi::vcpu::route`.
                VcpuRouteLine = 59, vcpu_route_line(
                    vcpu: Vcpu(C), control: IrqControl(C), line: u64, route: Flags
                );
                /// Forgets all interrupt state of the guest, as at reset, and sends every physical
                /// EOI that is owed.
                VcpuReset = 60, vcpu_reset(vcpu: Vcpu(C));
                /// Ends the guest's most urgent interrupt in service, as its own write to the
                /// EOI register would.
                VcpuEndOfInterrupt = 61, vcpu_end_of_interrupt(vcpu: Vcpu(C));
                /// Lets the guest's kernel signal the notifications in a space, with the hypercall
                /// `abi::dual::SIGNAL`, or none (0).
                VcpuBindSignals = 62, vcpu_bind_signals(vcpu: Vcpu(C), space: CapSpace(C) or 0);
                /// Ends the guest's wait by the hypercall `abi::dual::WAIT`, or makes an interrupt
                /// pending if it is in none, and has the guest, if it runs, be at least that urgent
                /// (`abi::dual::URGENCY`). Its timer, if it is due by then, waits for so many ticks
                /// from now on. Then waits as `Wait` does, without a deadline.
                VcpuNotify = 63, vcpu_notify(
                    vcpu: Vcpu(W), vector: u8, next: Notification(R), urgency: u16, spare: u32
                ) -> bits;

                /// Switches the trace buffer on or off.
                TraceControl = 64, trace_control(trace: Trace(W), on: bool);
                /// Gives a byte to the log's UART, if it can take it now; without a UART the byte
                /// goes nowhere (`LOG_DEVICE` of `abi::boot::feature`).
                LogPut = 65, log_put(trace: Trace(W), byte: u8);
            }
        }
    };
}
