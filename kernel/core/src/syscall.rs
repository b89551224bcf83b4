//! System calls: arguments are decoded and checked first, then the call is carried out.

use crate::{
    Cap, Id, Kernel, Machine, Slot,
    cap::CapSpace,
    context::Context,
    interrupt::Interrupt,
    notification::Notification,
    thread::{State, Thread, place},
};
use pillion_abi::{
    NEVER, RT_VECTOR_FIRST,
    call::{Call, IRQ_MSI, irq, thread},
    object::{Kind, right},
    status::{Error, Result},
    vcpu::route,
};

/// How a call went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Done, with values.
    Done([u64; 2]),
    /// The thread's registers hold the result already, or will when it is woken.
    Arranged,
    /// Interrupted: the thread is to make the call again.
    Restart,
    /// The thread goes into its guest.
    Guest,
}

/// Registers of a call: capability, then arguments.
pub type Arguments = [u64; 6];

const DONE: Result<Outcome> = Ok(Outcome::Done([0, 0]));

/// Most ports that one call opens for a guest.
const PORTS_AT_ONCE: u32 = 1024;

/// The thread that makes a call, and its capability space.
#[derive(Clone, Copy)]
struct Caller {
    thread: Id<Thread>,
    caps: Id<CapSpace>,
}

impl<M: Machine> Kernel<M> {
    /// Carries out a call of the current thread. Returns how it went; the result is in the thread's registers unless
    /// it is to restart.
    ///
    /// Work: as each call says; never more than one step of a long one beyond the first preemption point.
    #[inline]
    pub fn syscall(&mut self, number: u64, arguments: &Arguments) -> Outcome {
        let Some(thread) = self.cpu.current else { return Outcome::Arranged };
        let outcome = self.dispatch(thread, number, arguments);
        let (status, values) = match outcome {
            Ok(Outcome::Done(values)) => (0, values),
            Ok(other) => return other,
            Err(error) => (error.to_raw(), [0, 0]),
        };
        if self.m.get(thread).state == State::Ready {
            self.m.set_result(thread, status, values);
        }
        Outcome::Arranged
    }

    #[inline]
    fn dispatch(&mut self, thread: Id<Thread>, number: u64, a: &Arguments) -> Result<Outcome> {
        let call = Call::from_raw(number).ok_or(Error::BadCall)?;
        let caps = self.m.get(thread).caps().ok_or(Error::BadCap)?;
        let me = Caller { thread, caps };
        match call {
            Call::Call => {
                let slot = self.slot(caps, a[0])?;
                let Slot { cap: Cap::Endpoint(id), rights, badge, .. } = *self.m.get(slot) else {
                    return Err(self.wrong(slot));
                };
                allowed(rights, right::WRITE)?;
                self.call(thread, id, badge)?;
                Ok(Outcome::Arranged)
            }
            Call::ReplyReceive => self.reply_receive(thread).map(|()| Outcome::Arranged),
            Call::Receive => self.receive(thread, a[1]).map(|()| Outcome::Arranged),
            Call::Reply => self.reply(thread).map(|()| Outcome::Done([0, 0])),
            Call::Signal => {
                let (id, badge) = self.notification(me, a[0], right::WRITE)?;
                self.m.set_result(thread, 0, [0, 0]);
                self.signal(id, badge);
                Ok(Outcome::Arranged)
            }
            Call::Wait => {
                let (id, _) = self.notification(me, a[0], right::READ)?;
                Ok(match self.wait(thread, id, a[1])? {
                    Some(bits) => Outcome::Done([bits, 0]),
                    None => Outcome::Arranged,
                })
            }
            Call::Sleep => {
                self.m.set_result(thread, 0, [0, 0]);
                self.sleep(thread, a[1]);
                Ok(Outcome::Arranged)
            }
            _ => self.dispatch_rest(me, call, a),
        }
    }

    #[inline(never)]
    fn dispatch_rest(&mut self, me: Caller, call: Call, a: &Arguments) -> Result<Outcome> {
        match call {
            Call::Yield => {
                self.m.set_result(me.thread, 0, [0, 0]);
                self.yield_now();
                Ok(Outcome::Arranged)
            }
            Call::VcpuRun => self.vcpu_run(me, a),
            Call::TimerSet => {
                let Cap::Timer(id) = self.cap(me, a[0], right::WRITE)? else { return Err(Error::WrongKind) };
                self.timer_set(id, a[1]);
                DONE
            }
            Call::InterruptAck => {
                let Cap::Interrupt(id) = self.cap(me, a[0], right::WRITE)? else { return Err(Error::WrongKind) };
                self.interrupt_ack(id);
                DONE
            }
            Call::RegionCreate | Call::RegionReset | Call::MemoryPart | Call::MemoryMap | Call::MemoryUnmap => {
                self.memory_call(me, call, a)
            }
            Call::CapDerive | Call::CapMove | Call::CapDelete | Call::CapRevoke | Call::CapIdentify => {
                self.cap_call(me, call, a)
            }
            Call::ThreadConfigure
            | Call::ThreadSetRegisters
            | Call::ThreadResume
            | Call::ThreadSuspend
            | Call::ThreadBindContext
            | Call::ThreadBindNotification
            | Call::ThreadRegister => self.thread_call(me, call, a),
            Call::ContextConfigure | Call::ContextConsumed => self.context_call(me, call, a),
            Call::EndpointBind => {
                let Cap::Endpoint(id) = self.cap(me, a[0], right::CONTROL)? else { return Err(Error::WrongKind) };
                let slot = self.slot(me.caps, a[1])?;
                let Cap::Thread(thread) = self.cap(me, a[1], right::CONTROL)? else { return Err(Error::WrongKind) };
                self.endpoint_bind(id, slot, thread)?;
                DONE
            }
            Call::TimerBind => self.timer_bind(me, a),
            Call::InterruptCreate | Call::InterruptBind => self.interrupt_call(me, call, a),
            Call::PortIn | Call::PortOut | Call::PortsPart => self.port_call(me, call, a),
            Call::VcpuConfigure
            | Call::VcpuAllowPorts
            | Call::VcpuInject
            | Call::VcpuRouteLine
            | Call::VcpuReset
            | Call::VcpuEndOfInterrupt => self.vcpu_call(me, call, a),
            Call::TraceControl | Call::LogPut => self.trace_call(me, call, a),
            Call::Call | Call::ReplyReceive | Call::Receive | Call::Reply | Call::Signal | Call::Wait | Call::Sleep => {
                Err(Error::BadCall)
            }
        }
    }

    /// Why a slot does not hold what a call needs.
    #[cold]
    fn wrong(&mut self, slot: Id<Slot>) -> Error {
        if self.m.get(slot).cap == Cap::None { Error::BadCap } else { Error::WrongKind }
    }

    /// The capability with an index, if it has the rights.
    fn cap(&mut self, me: Caller, index: u64, rights: u8) -> Result<Cap> {
        let slot = self.slot(me.caps, index)?;
        let Slot { cap, rights: has, .. } = *self.m.get(slot);
        if cap == Cap::None {
            return Err(Error::BadCap);
        }
        allowed(has, rights)?;
        Ok(cap)
    }

    #[inline]
    fn notification(&mut self, me: Caller, index: u64, rights: u8) -> Result<(Id<Notification>, u64)> {
        let slot = self.slot(me.caps, index)?;
        let Slot { cap: Cap::Notification(id), rights: has, badge, .. } = *self.m.get(slot) else {
            return Err(self.wrong(slot));
        };
        allowed(has, rights)?;
        Ok((id, badge))
    }

    /// The capability space that a call names: 0 is the caller's own.
    fn target_space(&mut self, me: Caller, index: u64) -> Result<Id<CapSpace>> {
        if index == 0 {
            return Ok(me.caps);
        }
        match self.cap(me, index, right::CONTROL)? {
            Cap::CapSpace(id) => Ok(id),
            _ => Err(Error::WrongKind),
        }
    }

    fn memory_call(&mut self, me: Caller, call: Call, a: &Arguments) -> Result<Outcome> {
        let slot = self.slot(me.caps, a[0])?;
        let cap = self.cap(me, a[0], 0)?;
        let done = match call {
            Call::RegionCreate => {
                let kind = Kind::from_raw(a[1]).ok_or(Error::BadArgument)?;
                self.create(slot, kind, a[2], me.caps, a[3])?
            }
            Call::RegionReset => {
                let Cap::Region { .. } = cap else { return Err(Error::WrongKind) };
                let done = self.delete(slot, false);
                if let (true, Cap::Region { used, cleared, .. }) = (done, &mut self.m.get(slot).cap) {
                    (*used, *cleared) = (0, 0);
                }
                done
            }
            Call::MemoryPart => {
                let Cap::Memory { device, base, size, .. } = cap else { return Err(Error::WrongKind) };
                let inside = a[1].checked_add(a[2]).is_some_and(|end| end <= size);
                if !inside || a[2] == 0 || !(a[1] | a[2]).is_multiple_of(pillion_abi::PAGE) {
                    return Err(Error::BadArgument);
                }
                let at = self.empty_slot(me.caps, a[3])?;
                self.derive(slot, at, a[4] as u8, 0)?;
                self.m.get(at).cap = Cap::unmapped(device, base + a[1], a[2]);
                true
            }
            Call::MemoryMap => {
                let (Cap::AddressSpace(space) | Cap::GuestSpace(space)) = self.cap(me, a[1], right::CONTROL)? else {
                    return Err(Error::WrongKind);
                };
                self.map(slot, space, a[2], a[3])?
            }
            _ => {
                let Cap::Memory { .. } = cap else { return Err(Error::WrongKind) };
                self.unmap(slot)
            }
        };
        Ok(if done { Outcome::Done([0, 0]) } else { Outcome::Restart })
    }

    fn unmap(&mut self, slot: Id<Slot>) -> bool {
        while !self.unmap_step(slot) {
            if self.m.interrupt_pending() {
                return false;
            }
        }
        true
    }

    fn cap_call(&mut self, me: Caller, call: Call, a: &Arguments) -> Result<Outcome> {
        if call == Call::CapIdentify {
            let slot = self.slot(me.caps, a[0])?;
            return Ok(Outcome::Done(identify(self.m.get(slot).cap)));
        }
        let space = self.target_space(me, a[0])?;
        match call {
            Call::CapDerive | Call::CapMove => {
                let source = self.slot(me.caps, a[2])?;
                let cap = self.cap(me, a[2], 0)?;
                self.may_stand_in(cap, space)?;
                let at = self.empty_slot(space, a[1])?;
                if call == Call::CapMove {
                    self.move_slot(source, at)?;
                } else {
                    self.derive(source, at, a[3] as u8, a[4])?;
                }
                DONE
            }
            _ => {
                let slot = self.slot(space, a[1])?;
                let done = self.delete(slot, call == Call::CapDelete);
                Ok(if done { Outcome::Done([0, 0]) } else { Outcome::Restart })
            }
        }
    }

    fn thread_call(&mut self, me: Caller, call: Call, a: &Arguments) -> Result<Outcome> {
        let Cap::Thread(id) = self.cap(me, a[0], right::CONTROL)? else { return Err(Error::WrongKind) };
        match call {
            Call::ThreadConfigure => self.thread_configure(me, id, a)?,
            Call::ThreadSetRegisters => {
                self.stopped(id)?;
                self.m.set_registers(id, a[1], a[2], a[3]);
            }
            Call::ThreadResume => {
                self.stopped(id)?;
                if self.m.get(id).space().is_none() {
                    return Err(Error::BadState);
                }
                self.restore_priority(id);
                self.make_ready(id);
            }
            Call::ThreadSuspend => {
                self.m.set_result(me.thread, 0, [0, 0]);
                self.leave_guest(id);
                let Thread { state, faulted, .. } = *self.m.get(id);
                self.stop_waiting(id);
                if matches!(state, State::Receiving | State::Waiting | State::Calling | State::Served) && !faulted {
                    self.m.set_result(id, Error::Gone.to_raw(), [0, 0]);
                }
                self.m.get(id).state = State::Stopped;
            }
            Call::ThreadBindContext => self.bind_context(me, id, a[1])?,
            Call::ThreadBindNotification => self.bind_notification(me, id, a[1])?,
            _ => {
                if a[1] > 8 {
                    return Err(Error::BadArgument);
                }
                return Ok(Outcome::Done(self.m.register_pair(id, a[1])));
            }
        }
        DONE
    }

    fn stopped(&mut self, id: Id<Thread>) -> Result<()> {
        if self.m.get(id).state == State::Stopped { Ok(()) } else { Err(Error::BadState) }
    }

    fn thread_configure(&mut self, me: Caller, id: Id<Thread>, a: &Arguments) -> Result<()> {
        self.stopped(id)?;
        let Cap::AddressSpace(_) = self.cap(me, a[1], right::CONTROL)? else { return Err(Error::WrongKind) };
        let Cap::CapSpace(_) = self.cap(me, a[2], right::CONTROL)? else { return Err(Error::WrongKind) };
        let given = [(place::SPACE, a[1]), (place::CAPS, a[2]), (place::FAULT, a[3])];
        if a[3] != 0 && !matches!(self.cap(me, a[3], right::WRITE)?, Cap::Endpoint(_)) {
            return Err(Error::WrongKind);
        }
        if a[4] & !thread::FPU != 0 {
            return Err(Error::BadArgument);
        }
        for (index, source) in given {
            if source != 0 {
                self.fill_place(me, id, index, source)?;
            } else if let Some(at) = crate::delete::thread_slot(id, index) {
                self.unlink(at);
            }
        }
        self.m.get(id).fpu = a[4] & thread::FPU != 0;
        Ok(())
    }

    /// Puts a copy of a capability into one of the slots of a thread.
    fn fill_place(&mut self, me: Caller, id: Id<Thread>, index: usize, source: u64) -> Result<()> {
        let source = self.slot(me.caps, source)?;
        let at = crate::delete::thread_slot(id, index).ok_or(Error::BadArgument)?;
        if self.m.get(source).depth >= crate::cap::DEPTH {
            return Err(Error::TooDeep);
        }
        self.unlink(at);
        self.derive_inner(source, at)
    }

    fn bind_context(&mut self, me: Caller, id: Id<Thread>, index: u64) -> Result<()> {
        if index == 0 {
            let Some(old) = self.m.get(id).own_context.take() else { return Ok(()) };
            self.m.get(old).owner = None;
            self.take_time(old);
            return Ok(());
        }
        let Cap::Context(context) = self.cap(me, index, right::CONTROL)? else { return Err(Error::WrongKind) };
        let thread = self.m.get(id);
        let busy = thread.own_context.is_some() || thread.context.is_some();
        let Context { priority, owner, user, .. } = *self.m.get(context);
        if busy || owner.is_some() || user.is_some() {
            return Err(Error::Busy);
        }
        if priority == 0 {
            return Err(Error::BadState);
        }
        self.m.get(context).owner = Some(id);
        self.m.get(id).own_context = Some(context);
        let runs = self.give_time(context, id);
        self.restore_chain(id);
        if let Some(runs) = runs {
            self.make_ready(runs);
        }
        self.wake_for_bits(id);
        Ok(())
    }

    fn bind_notification(&mut self, me: Caller, id: Id<Thread>, index: u64) -> Result<()> {
        let at = crate::delete::thread_slot(id, place::NOTIFICATION).ok_or(Error::BadArgument)?;
        let new = if index == 0 { None } else { Some(self.notification(me, index, right::READ)?.0) };
        if let Some(n) = new
            && self.m.get(n).bound.is_some_and(|bound| bound != id)
        {
            return Err(Error::Busy);
        }
        if let Some(old) = self.m.get(id).notification() {
            self.m.get(old).bound = None;
            self.unlink(at);
        }
        let Some(n) = new else { return Ok(()) };
        let source = self.slot(me.caps, index)?;
        self.derive_inner(source, at)?;
        self.m.get(n).bound = Some(id);
        self.wake_for_bits(id);
        Ok(())
    }

    fn context_call(&mut self, me: Caller, call: Call, a: &Arguments) -> Result<Outcome> {
        if call == Call::ContextConsumed {
            let Cap::Context(id) = self.cap(me, a[0], right::READ)? else { return Err(Error::WrongKind) };
            let c = self.m.get(id);
            return Ok(Outcome::Done([c.consumed, c.exhausted]));
        }
        let Cap::SchedControl = self.cap(me, a[0], right::CONTROL)? else { return Err(Error::WrongKind) };
        let Cap::Context(id) = self.cap(me, a[1], right::CONTROL)? else { return Err(Error::WrongKind) };
        let (priority, budget, period) = (a[2], a[3], a[4]);
        let valid = (1..pillion_abi::PRIORITIES as u64).contains(&priority)
            && budget != 0
            && (budget == NEVER || (budget <= period && period < NEVER / 4));
        if !valid {
            return Err(Error::BadArgument);
        }
        self.configure_context(id, priority as u8, budget, period);
        DONE
    }

    fn timer_bind(&mut self, me: Caller, a: &Arguments) -> Result<Outcome> {
        let Cap::Timer(id) = self.cap(me, a[0], right::CONTROL)? else { return Err(Error::WrongKind) };
        self.notification(me, a[1], right::WRITE)?;
        if self.m.get(id).slot.cap != Cap::None {
            return Err(Error::Busy);
        }
        let source = self.slot(me.caps, a[1])?;
        let at = crate::cap::inner(id, core::mem::offset_of!(crate::timer::Timer, slot))?;
        self.derive_inner(source, at)?;
        self.m.get(id).bits = a[2];
        DONE
    }

    fn interrupt_call(&mut self, me: Caller, call: Call, a: &Arguments) -> Result<Outcome> {
        if call == Call::InterruptBind {
            let Cap::Interrupt(id) = self.cap(me, a[0], right::CONTROL)? else { return Err(Error::WrongKind) };
            self.notification(me, a[1], right::WRITE)?;
            let source = self.slot(me.caps, a[1])?;
            self.interrupt_bind(id, source, a[2])?;
            return DONE;
        }
        let Cap::IrqControl = self.cap(me, a[0], right::CONTROL)? else { return Err(Error::WrongKind) };
        if a[2] & !(irq::LEVEL | irq::LOW) != 0 {
            return Err(Error::BadArgument);
        }
        let region = self.slot(me.caps, a[4])?;
        let vector = self.free_vector()?;
        let line = match a[1] {
            IRQ_MSI => None,
            line => Some(self.checked_line(line)?),
        };
        let flags =
            if a[2] & irq::LEVEL != 0 { route::LEVEL } else { 0 } | if a[2] & irq::LOW != 0 { route::LOW } else { 0 };
        let interrupt = Interrupt { line, flags, vector, ..Interrupt::default() };
        self.create_interrupt(region, me.caps, a[3], interrupt)?;
        Ok(Outcome::Done(if line.is_none() { self.m.msi(vector) } else { [0, 0] }))
    }

    fn checked_line(&mut self, line: u64) -> Result<u32> {
        let line = u32::try_from(line).map_err(|_| Error::BadArgument)?;
        if !self.m.line_exists(line) {
            return Err(Error::BadArgument);
        }
        let taken = self.cpu.vectors.into_iter().flatten().any(|i| self.m.get(i).line == Some(line));
        if taken { Err(Error::Busy) } else { Ok(line) }
    }

    fn port_call(&mut self, me: Caller, call: Call, a: &Arguments) -> Result<Outcome> {
        let slot = self.slot(me.caps, a[0])?;
        let Cap::Ports { first, count } = self.cap(me, a[0], 0)? else { return Err(Error::WrongKind) };
        let inside = |port: u64, n: u64| {
            n != 0 && port >= u64::from(first) && port.saturating_add(n) <= u64::from(first) + u64::from(count)
        };
        let rights = self.m.get(slot).rights;
        if call == Call::PortsPart {
            if !inside(a[1], a[2]) {
                return Err(Error::BadArgument);
            }
            let at = self.empty_slot(me.caps, a[3])?;
            self.derive(slot, at, right::ALL, 0)?;
            self.m.get(at).cap = Cap::Ports { first: a[1] as u16, count: a[2] as u32 };
            return DONE;
        }
        if !matches!(a[2], 1 | 2 | 4) || !inside(a[1], a[2]) {
            return Err(Error::BadArgument);
        }
        if call == Call::PortIn {
            allowed(rights, right::READ)?;
            return Ok(Outcome::Done([u64::from(self.m.port_in(a[1] as u16, a[2] as u8)), 0]));
        }
        allowed(rights, right::WRITE)?;
        self.m.port_out(a[1] as u16, a[2] as u8, a[3] as u32);
        DONE
    }

    fn vcpu_run(&mut self, me: Caller, a: &Arguments) -> Result<Outcome> {
        let Cap::Vcpu(id) = self.cap(me, a[0], right::CONTROL)? else { return Err(Error::WrongKind) };
        let v = self.m.get(id);
        if v.space.cap == Cap::None || v.state.cap == Cap::None {
            return Err(Error::BadState);
        }
        if v.thread.is_some() {
            return Err(Error::Busy);
        }
        v.thread = Some(me.thread);
        self.m.get(me.thread).guest = Some(id);
        Ok(Outcome::Guest)
    }

    /// The thread comes back out of its guest, with a reason and a value.
    pub fn leave_guest_with(&mut self, id: Id<Thread>, reason: u64, value: u64) {
        if let Some(vcpu) = self.m.get(id).guest.take() {
            let v = self.m.get(vcpu);
            v.thread = None;
            let (apic, shared) = (v.apic, v.state.cap != Cap::None);
            if shared {
                self.m.vcpu_show(vcpu, &apic);
            }
        }
        self.m.set_result(id, 0, [reason, value]);
    }

    fn vcpu_call(&mut self, me: Caller, call: Call, a: &Arguments) -> Result<Outcome> {
        let Cap::Vcpu(id) = self.cap(me, a[0], right::CONTROL)? else { return Err(Error::WrongKind) };
        match call {
            Call::VcpuConfigure => {
                if !self.vcpu_configure(me, id, a)? {
                    return Ok(Outcome::Restart);
                }
            }
            Call::VcpuAllowPorts => {
                let Cap::Ports { first, count } = self.cap(me, a[1], right::READ | right::WRITE)? else {
                    return Err(Error::WrongKind);
                };
                if count > PORTS_AT_ONCE {
                    return Err(Error::BadArgument);
                }
                if self.m.get(id).space.cap == Cap::None {
                    return Err(Error::BadState);
                }
                self.m.vcpu_allow_ports(id, first, count);
            }
            Call::VcpuInject => {
                let vector = u8::try_from(a[1]).ok().filter(|v| *v >= 16).ok_or(Error::BadArgument)?;
                self.m.set_result(me.thread, 0, [0, 0]);
                self.guest_interrupt(id, vector);
                return Ok(Outcome::Arranged);
            }
            Call::VcpuRouteLine => {
                let Cap::IrqControl = self.cap(me, a[1], right::CONTROL)? else { return Err(Error::WrongKind) };
                let line = self.checked_line(a[2])?;
                let vector = a[3] as u8;
                let masked = a[3] & route::MASKED != 0;
                if !masked && !(pillion_abi::GUEST_VECTOR_FIRST..RT_VECTOR_FIRST).contains(&vector) {
                    return Err(Error::BadArgument);
                }
                if masked {
                    self.m.mask_line(line, true);
                } else {
                    self.m.get(id).apic.set_level(vector, a[3] & route::LEVEL != 0);
                    self.m.route_line(line, vector, a[3] & (route::LEVEL | route::LOW));
                }
            }
            Call::VcpuEndOfInterrupt => self.guest_end_of_interrupt(id),
            _ => {
                self.guest_deadline(id, 0);
                self.reset_guest_interrupts(id);
            }
        }
        DONE
    }

    fn vcpu_configure(&mut self, me: Caller, id: Id<crate::vcpu::Vcpu>, a: &Arguments) -> Result<bool> {
        let Cap::GuestSpace(space) = self.cap(me, a[1], right::CONTROL)? else { return Err(Error::WrongKind) };
        let Cap::Memory { device: false, base, .. } = self.cap(me, a[2], right::READ | right::WRITE)? else {
            return Err(Error::WrongKind);
        };
        let v = self.m.get(id);
        if v.space.cap != Cap::None || v.state.cap != Cap::None || self.cpu.passenger.is_some() {
            return Err(Error::Busy);
        }
        while !self.vcpu_prepare(id) {
            if self.m.interrupt_pending() {
                return Ok(false);
            }
        }
        let root = self.m.get(space).root;
        self.m.vcpu_init(id, root, base)?;
        let (from_space, from_state) = (self.slot(me.caps, a[1])?, self.slot(me.caps, a[2])?);
        let to_space = crate::cap::inner(id, core::mem::offset_of!(crate::vcpu::Vcpu, space))?;
        let to_state = crate::cap::inner(id, core::mem::offset_of!(crate::vcpu::Vcpu, state))?;
        self.derive_inner(from_space, to_space)?;
        if let Err(error) = self.derive_inner(from_state, to_state) {
            self.unlink(to_space);
            return Err(error);
        }
        self.cpu.passenger = Some(id);
        Ok(true)
    }

    /// One step of preparing a vCPU's pages. Returns whether they are ready.
    fn vcpu_prepare(&mut self, id: Id<crate::vcpu::Vcpu>) -> bool {
        let step = self.m.get(id).prepared;
        if step == u32::MAX {
            return true;
        }
        let last = self.m.vcpu_prepare(id, step);
        self.m.get(id).prepared = if last { u32::MAX } else { step + 1 };
        last
    }

    fn trace_call(&mut self, me: Caller, call: Call, a: &Arguments) -> Result<Outcome> {
        let Cap::Trace = self.cap(me, a[0], right::WRITE)? else { return Err(Error::WrongKind) };
        if call == Call::TraceControl {
            self.m.trace(a[1] != 0);
        } else if !self.m.log_byte(a[1] as u8) {
            return Err(Error::Busy);
        }
        DONE
    }
}

#[inline]
fn allowed(has: u8, needed: u8) -> Result<()> {
    if has & needed == needed { Ok(()) } else { Err(Error::NoRight) }
}

/// What `CapIdentify` tells: the kind in bits 0..=7 of the first value, the base in the rest of it for memory and ports (bases are
/// page-aligned, so that the two do not meet), the size in the second.
fn identify(cap: Cap) -> [u64; 2] {
    let kind = cap.kind() as u64;
    match cap {
        Cap::Region { base, size, .. } | Cap::Memory { base, size, .. } => [kind | base, size],
        Cap::Ports { first, count } => [kind | u64::from(first) << 16, u64::from(count)],
        _ => [kind, 0],
    }
}
