//! What a seed sets up: which tasks run beside the guest, with which priorities and rights.

use crate::cli::CampaignArguments;
use pillion_campaign::{Actor, HIDDEN_DEVICE, Rng, WATCHED_PORT};
use std::fmt::Write as _;

/// Priority of the watched task, and of a hostile one that is more or less urgent.
const WATCHED: u8 = 200;
const MORE: u8 = 210;
const LESS: u8 = 150;
/// Execution time of the hostile task in each period, in µs.
const HOSTILE_BUDGET_US: u64 = 10;
const HOSTILE_PERIOD_US: u64 = 1000;

/// The longest latency without a more urgent task: the limit of all isolation tests.
const BOUND_NS: u64 = 1500;
/// The cost of a release, there and back: the 1,800 ns of `docs/system-file.md` without the
/// interrupt that may be in progress for a less urgent task.
const OVERHEAD_NS: u64 = 1400;

/// Milliseconds of the machine's time after which a run is ended if the guest has not ended it. A
/// guest that reaches its end needs some 50.
pub const LEASH_MS: u64 = 250;

/// Orders that leave an actor without a step.
pub const NOTHING: &str = "to=0";

/// The hostile tasks' names in the system file.
pub const TASK: &str = "hostile";
pub const SKINNED: &str = "skinned";

/// A seed, and which of its steps are taken.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The seed.
    pub seed: u64,
    /// Orders of the guest, as it finds them on its command line.
    pub guest: String,
    /// Orders of the task without a skin; `None` if there is no such task.
    pub task: Option<String>,
    /// Orders of the task with a skin; `None` if there is no such task.
    pub skinned: Option<String>,
    /// Whether the task without a skin is more urgent than the watched one.
    pub more_urgent: bool,
}

impl Scenario {
    /// A seed with all its steps.
    pub fn new(seed: u64) -> Scenario {
        let mut rng = Rng::new(seed, u64::MAX - 2);
        let more_urgent = rng.one_in(2);
        let task = (!rng.one_in(4)).then(String::new);
        let skinned = rng.one_in(2).then(String::new);
        Scenario { seed, guest: String::new(), task, skinned, more_urgent }
    }

    /// Keeps only the steps that the user wants.
    pub fn restrict(&mut self, arguments: &CampaignArguments) {
        if let Some(orders) = &arguments.guest {
            self.guest.clone_from(orders);
        }
        for (mine, orders) in [(&mut self.task, &arguments.task), (&mut self.skinned, &arguments.skinned)] {
            if let (Some(mine), Some(orders)) = (mine, orders) {
                mine.clone_from(orders);
            }
        }
    }

    /// The command that repeats it.
    pub fn command(&self) -> String {
        let mut command = format!("./x test campaign --seeds {}", self.seed);
        let orders = [("guest", Some(&self.guest)), ("task", self.task.as_ref()), ("skinned", self.skinned.as_ref())];
        for (name, orders) in orders {
            if let Some(orders) = orders.filter(|orders| !orders.is_empty()) {
                let _ = write!(command, " --{name} \"{orders}\"");
            }
        }
        command
    }

    /// The orders of an actor, with the seed.
    pub fn orders(&self, actor: Actor) -> String {
        let orders = match actor {
            Actor::Guest => Some(&self.guest),
            Actor::Task => self.task.as_ref(),
            Actor::Skinned => self.skinned.as_ref(),
        };
        format!("seed={} {}", self.seed, orders.map_or(NOTHING, String::as_str))
    }

    /// The longest latency that the watched task may have.
    pub fn bound_ns(&self) -> u64 {
        let hostile = self.task.is_some() && self.more_urgent;
        // Two budgets can fall into any window.
        BOUND_NS + if hostile { 2 * (HOSTILE_BUDGET_US * 1000 + OVERHEAD_NS) } else { 0 }
    }

    /// The system file.
    pub fn system(&self) -> String {
        let mut text = format!(
            "[system]\nname = \"campaign\"\n\n\
             [[task]]\nname = \"watched\"\nimage = \"campaign-task\"\npriority = {WATCHED}\nperiod_us = 100\nbudget_us = 20\n\
             memory_kib = 64\nports = [{{ first = {:#x}, count = 1 }}]\ndevices = [\"01:01.0\"]\n",
            WATCHED_PORT.0
        );
        if self.task.is_some() {
            let priority = if self.more_urgent { MORE } else { LESS };
            let _ = write!(
                text,
                "\n[[task]]\nname = \"{TASK}\"\nimage = \"campaign-task\"\npriority = {priority}\nperiod_us = {HOSTILE_PERIOD_US}\n\
                 budget_us = {HOSTILE_BUDGET_US}\narguments = \"part=task {}\"\n",
                self.orders(Actor::Task)
            );
        }
        if self.skinned.is_some() {
            let _ = write!(
                text,
                "\n[[task]]\nname = \"{SKINNED}\"\nimage = \"campaign-task\"\nskin = \"rtlinux\"\npriority = 100\nthreads = 4\n\
                 memory_kib = 64\nfifo_kib = 16\nshare = true\nperiod_us = 1000\nbudget_us = 50\narguments = \"part=skinned {}\"\n\
                 \n[channels]\nmbuff_kib = 64\nshared_fifos = [9]\n",
                self.orders(Actor::Skinned)
            );
        }
        let _ = write!(
            text,
            "\n[[task]]\nname = \"leash\"\nimage = \"campaign-task\"\npriority = 20\nmay_end_system = true\n\
             arguments = \"part=leash ms={LEASH_MS}\"\n"
        );
        text + "\n[linux]\nrestart_limit = 20\nrestart_backoff_ms = 1\nafter_poweroff = \"end\"\nafter_limit = \"end\"\n"
    }

    /// The emulated machine's devices.
    pub fn devices() -> Vec<String> {
        let words = format!(
            "-device pci-bridge,id=bridge,chassis_nr=1,addr=2 -device edu,bus=bridge,addr=1 \
             -device isa-debugcon,iobase={:#x},chardev=nowhere -chardev null,id=nowhere \
             -device virtio-rng-pci,addr=3 -drive if=none,id=disk,driver=null-co,size=16M -device virtio-blk-pci,drive=disk,addr=4 \
             -netdev hubport,id=wire,hubid=0 -device e1000e,netdev=wire,romfile=,addr=5 -global hpet.msi=on",
            WATCHED_PORT.0
        );
        debug_assert_eq!(HIDDEN_DEVICE, 0x11e8_1234, "that is what edu says it is");
        words.split_ascii_whitespace().map(str::to_owned).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_system_file_is_one_that_is_accepted() {
        for seed in 0..64 {
            let system = pillion_system::parse(&Scenario::new(seed).system());
            let system = system.unwrap_or_else(|problems| panic!("{problems:?}"));
            let machine = pillion_system::Target::default();
            assert_eq!(OVERHEAD_NS, machine.overhead_ns);
            pillion_system::check(&system, &machine).unwrap();
        }
    }

    #[test]
    fn a_command_names_only_what_differs() {
        let mut scenario = Scenario::new(3);
        assert_eq!(scenario.command(), "./x test campaign --seeds 3");
        scenario.guest = "from=1003 to=1004".into();
        assert_eq!(scenario.command(), "./x test campaign --seeds 3 --guest \"from=1003 to=1004\"");
    }
}
