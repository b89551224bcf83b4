//! What happens when Linux ends: it restarts, after a pause and not too often; or it stays off
//! until something starts it; or the system ends with it.

use pillion_abi::NEVER;
use pillion_runtime::info::{self, LinuxInfo, gone, label, monitor_bit, slot, then};
use pillion_runtime::{call, now, park};
use pillion_vmm_devices::life::{Lives, Next, Rules, Then};

use crate::{end::End, linux_log, lock::Lock, virtual_machine::VirtualMachine};

/// How often a second the monitor asks whether threads that outlive Linux run on.
const LOOKS: u64 = 100;

pub struct Lifecycle(Lives);

impl Lifecycle {
    /// Lives that follow the system file's rules.
    pub fn new(info: &LinuxInfo) -> Lifecycle {
        let [poweroff, crash, limit] = info.after.map(|after| match after {
            then::RESTART => Then::Restart,
            then::END => Then::End,
            _ => Then::Off,
        });
        let (restarts, pause) = (info.restart_limit, info.restart_backoff);
        Lifecycle(Lives::new(Rules { poweroff, crash, limit, restarts, pause }))
    }

    /// Number of the next life, counted from 1.
    pub fn next(&self) -> u64 {
        self.0.begun() + 1
    }

    /// Records that Linux starts.
    pub fn started(&mut self) {
        self.0.begin();
        linux_log::event("start", self.0.begun());
    }

    /// Handles an end of Linux, which no processor runs any more: takes its devices and interrupts
    /// from it, and returns when it is time to start Linux again.
    pub fn after(&mut self, end: End, machine: &Lock<VirtualMachine>) {
        let (boot, died) = (self.0.begun(), now());
        linux_log::ended(&end, boot);
        let next = self.0.after(end.death());
        if matches!(next, Next::Off { gave_up: true } | Next::End { gave_up: true }) {
            linux_log::event("gave-up", boot);
        }
        // Whatever follows, Linux's devices must not go on writing to memory.
        machine.lock().reset();
        while machine.lock().channels.lingers() {
            let _ = call::sleep(now().saturating_add(info::task().tsc_hz / LOOKS));
        }
        match next {
            Next::Start { pause } => {
                let _ = call::sleep(died.saturating_add(pause));
                machine.lock().channels.gone(gone::RESTARTS);
            }
            Next::Off { gave_up } => {
                linux_log::exits(&machine.lock().exits);
                linux_log::event("off", boot);
                machine.lock().channels.gone(if gave_up { gone::GIVEN_UP } else { gone::OFF });
                wait_for_start();
                self.0.asked_for();
            }
            Next::End { gave_up } => {
                linux_log::exits(&machine.lock().exits);
                let _ = call::call(slot::MANAGER, label::END, [gave_up.into(), 0, 0, 0, 0, 0, 0, 0]);
                park()
            }
        }
    }
}

/// Waits until Linux is to be started. Ignores what tasks signal meanwhile.
fn wait_for_start() {
    loop {
        match call::wait(slot::NOTIFICATION, NEVER) {
            Ok([bits, _]) if bits & monitor_bit::START != 0 => return,
            Ok(_) => {}
            Err(_) => park(),
        }
    }
}
