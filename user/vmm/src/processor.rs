//! One of Linux's processors, for the thread of the monitor that runs it. The first one runs from
//! Linux's start on, the others from a start-up message on.

use pillion_abi::vcpu::Exit;
use pillion_runtime::{call, info, info::monitor, now};
use pillion_vmm_devices::boot;
use pillion_vmm_devices::bus::Local;
use pillion_vmm_devices::cpuid::{Context, Topology};

use crate::{
    end::End,
    exits, host,
    linux_vcpu::{self, Vcpu},
    lock::Lock,
    virtual_machine::VirtualMachine,
    watchdog::{self, Watchdog},
};

/// Bytes of HLT.
const HLT: u64 = 1;

/// A processor.
pub struct Processor {
    /// Its vCPU.
    pub vcpu: Vcpu,
    /// Its local APIC and its registers.
    pub local: Local,
    /// What CPUID answers.
    pub cpuid: Context,
    watchdog: Watchdog,
    tsc_hz: u64,
    /// Whether it executes instructions; else it waits to be started.
    runs: bool,
}

impl Processor {
    /// A processor that waits.
    ///
    /// # Safety
    /// The caller's thread is the one for that processor, and calls this once.
    pub unsafe fn new(index: usize, machine: &VirtualMachine) -> Processor {
        let (tsc_hz, all) = (info::task().tsc_hz, machine.info.processors());
        let apic_id = all.get(index).copied().unwrap_or(0);
        let mut cpuid = Context::from_host(tsc_hz, Topology::new(apic_id, all), host::cpuid);
        cpuid.channels = machine.window;
        watchdog::connect(index);
        Processor {
            // SAFETY: as the caller says.
            vcpu: unsafe { Vcpu::of(index) },
            local: Local::new(index, apic_id),
            cpuid,
            watchdog: Watchdog::new(tsc_hz),
            tsc_hz,
            runs: false,
        }
    }

    /// Loads Linux for its `life`th time, for this processor to start it.
    pub fn boot(&mut self, machine: &mut VirtualMachine, life: u64) -> Result<(), boot::Error> {
        machine.load(life, self.vcpu.state)?;
        self.local.reset();
        self.start(machine);
        self.before_entry(machine);
        Ok(())
    }

    /// Runs the processor until Linux ends.
    pub fn run(&mut self, shared: &Lock<VirtualMachine>) {
        loop {
            let exit = if self.runs { self.vcpu.run() } else { self.vcpu.wait() };
            let mut machine = shared.lock();
            let machine = &mut *machine;
            if machine.ended.is_none()
                && let Some(end) = self.handle(machine, exit).or_else(|| self.hung())
            {
                machine.end(self.vcpu.index(), end);
            }
            if machine.ended.is_some() {
                self.stop(machine);
                return;
            }
            if self.runs {
                self.before_entry(machine);
            }
        }
    }

    /// Handles an exit, or what ended a wait. Returns how Linux ended, if it did.
    fn handle(&mut self, machine: &mut VirtualMachine, exit: Result<(Exit, u64), End>) -> Option<End> {
        match exit {
            Ok((reason, value)) => {
                if self.runs {
                    machine.exits.count(reason);
                }
                exits::handle(machine, self, reason, value)
            }
            Err(end) => Some(end),
        }
    }

    fn hung(&mut self) -> Option<End> {
        (self.runs && self.watchdog.hung(self.vcpu.state)).then_some(End::Hung)
    }

    /// Acts on what other processors have sent. Returns whether that ends HLT with interrupts off:
    /// the processor was reset, or gets an NMI.
    pub fn look(&mut self, machine: &mut VirtualMachine) -> bool {
        let index = self.vcpu.index();
        let news = machine.bus.processors.take(index);
        if news.init {
            self.stop(machine);
        }
        if let Some(page) = news.start {
            self.local.reset();
            boot::start_up(page, self.vcpu.state);
            self.start(machine);
        }
        if news.init || news.start.is_some() {
            linux_vcpu::reset(index);
        }
        self.vcpu.interrupt(news);
        if news.nmi && !self.runs {
            // It halts.
            self.start(machine);
        }
        news.init || news.nmi
    }

    /// The processor halts with interrupts off, so that only INIT and NMI bring it back. Returns
    /// how Linux ended, if none runs any more.
    pub fn halt(&mut self, machine: &mut VirtualMachine) -> Option<End> {
        self.vcpu.advance(HLT);
        // It may have been reset or interrupted since it halted.
        if self.look(machine) {
            return None;
        }
        self.stop(machine);
        machine.bus.processors.halt(self.vcpu.index()).then_some(End::Halted)
    }

    fn start(&mut self, machine: &mut VirtualMachine) {
        self.runs = true;
        self.local.steal_time.start();
        self.watchdog.start();
        machine.enter(self.vcpu.index());
    }

    fn stop(&mut self, machine: &mut VirtualMachine) {
        self.runs = false;
        machine.leave(&self.vcpu);
    }

    /// Work before each entry: says who sends messages and what tasks took, rearms a periodic timer
    /// and sets the monitor's own timer.
    fn before_entry(&mut self, machine: &mut VirtualMachine) {
        self.vcpu.state.messages.set(self.local.has_x2apic().into());
        let (steal_time, state) = (&mut self.local.steal_time, self.vcpu.state);
        steal_time.tell(state.stolen.take(), self.tsc_hz, &mut machine.memory);
        state.tell_at.set(steal_time.next(self.tsc_hz));
        let wake = machine.bus.rearm(&mut self.local, now(), self.vcpu.state).unwrap_or(u64::MAX);
        if let Some(at) = self.watchdog.timer(wake) {
            let _ = call::timer_set(monitor::timer(self.vcpu.index()), at);
        }
    }
}
