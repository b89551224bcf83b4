//! What is wrong with a system file, where, and what to do about it.
use alloc::string::String;
use core::fmt;

/// Something wrong with a system file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Line of the file, from 1.
    pub line: u32,
    /// What is wrong.
    pub message: String,
    /// What to do about it; one of [`remedy`].
    pub remedy: String,
}

impl Problem {
    /// A problem with one of the remedies.
    #[must_use]
    pub fn new(line: u32, message: String, remedy: &str) -> Problem {
        Problem { line, message, remedy: remedy.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}; {}", self.line, self.message, self.remedy)
    }
}

macro_rules! remedies {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)*) => {
        /// The remedies; `docs/system-file.md` lists the same texts.
        pub mod remedy {
            $($(#[$doc])* pub const $name: &str = $text;)*
            /// All of them.
            pub const ALL: &[&str] = &[$($name),*];
        }
    };
}

remedies! {
    /// Not TOML, an unknown or missing key, or a value of the wrong type.
    FORMAT = "docs/system-file.md lists the keys and their types";
    /// More text than the resource manager can read.
    FILE = "leave out what need not be there, such as defaults and comments";
    /// A number outside its limits.
    RANGE = "give a number within the limits";
    /// A size that is not whole pages.
    PAGES = "round it up";
    /// Both `_us` and `_ns` of one duration.
    ONE_UNIT = "keep one of the two";
    /// A budget without a period or the other way round.
    BOTH = "give both budget and period, or neither; 0 is none";
    /// A budget above its period.
    BUDGET = "lower the budget or lengthen the period";
    /// `budget` with another value, or beside a budget.
    UNLIMITED = "write budget_us = N and period_us = N for a budget, or budget = \"unlimited\" for none";
    /// A budget too small to call the broker with.
    SHARE_BUDGET = "give it a budget of at least 32 us, or remove share";
    /// A name with other characters, or too long.
    NAME = "use 1 to 31 letters, digits, '-' and '_'";
    /// The name of an entry of the bundle.
    IMAGE = "use 1 to 47 printable ASCII characters without spaces";
    /// Text that is too long or has control characters.
    TEXT = "shorten it, and use no control characters";
    /// Not the address of a PCI function.
    DEVICE = "write bus:device.function in hexadecimal, such as \"00:04.0\"";
    /// A range of ports that is empty or ends beyond 0xffff.
    PORTS = "ports are 0x0 to 0xffff; count is at least 1";
    /// A system that starts nothing.
    NOTHING = "add a [[task]] or a [linux] section";
    /// Too many tasks, interrupts or the like.
    FEWER = "use fewer";
    /// Two tasks with one name.
    RENAME = "rename one of them";
    /// Something named twice.
    ONCE = "name it once";
    /// A line that no I/O APIC of the machine has.
    LINE = "use a line that the machine has; its log at boot names the lines of its I/O APICs";
    /// A line that Linux could use.
    HIDDEN_LINE = "use a line of at most 63, or remove the [linux] section";
    /// More than Linux's monitor takes.
    COMMAND_LINE = "shorten it, or add less";
    /// A resource given twice.
    TAKE_AWAY = "give it to one task only, or start both from Linux";
    /// Ports that the kernel keeps.
    KERNEL_PORTS = "use other ports; the kernel keeps 0x20-0x21, 0xa0-0xa1 (PIC) and 0x2f8-0x2ff (log)";
    /// `cpus` that is empty.
    PROCESSORS = "name at least one, or leave cpus out";
    /// `cpus` of `[system]` without the first one.
    FIRST_PROCESSOR = "add 0: the resource manager, the broker and the log are there";
    /// A processor that does not run.
    ABSENT_PROCESSOR = "use one that runs: the log at boot says which do, and why others do not; an emulated machine gets more with --cpus N";
    /// A processor that the system does not use.
    UNUSED_PROCESSOR = "add it to cpus of [system], or use one of those";
    /// A task that starts where it may not be.
    OWN_PROCESSORS = "add it to the task's cpus, or leave cpu out";
    /// A task that runs code of Linux's processes where Linux is not.
    BESIDE_LINUX = "use processors of [linux] only";
    /// A task with the skin "psc" beside a Linux with several processors.
    ALONE_IN_LINUX = "name one processor in cpus of [linux], or remove the task";
    /// A task that Linux could hold up.
    ABOVE_LINUX = "give the task a higher priority, or Linux a lower one";
    /// A task without a budget that could hold up a periodic one.
    UNBOUNDED = "give it a period and a budget, or a lower priority than every periodic task";
    /// More than the processor's time.
    OVERLOAD = "lower budgets or lengthen periods";
    /// A skin that there is not.
    SKIN = "the skins are \"rtlinux\" and \"psc\"";
    /// A task with the skin "psc" that does not meet the requirements.
    PSC = "with skin = \"psc\" write name = \"psc\", a period and a budget, at most 17 threads, no start; and add a [linux] section";
    /// A task with the skin "dual".
    DUAL_SECTION = "remove the task and add a [dual] section";
    /// A section `[dual]` without Linux.
    DUAL_LINUX = "remove [dual], or add a [linux] section";
    /// Budgets in `[dual]` that leave Linux no time.
    DUAL_TIME = "lower budget_us or threads: together they may use nine tenths of the period";
    /// `boost_us` in `[dual]` without a ceiling.
    CEILING = "add ceiling, the level up to which Linux is boosted, or remove boost_us";
    /// A key of tasks with a skin in another one.
    SKIN_KEY = "add skin = \"rtlinux\", or remove the key";
    /// `start` with another value.
    START = "write \"boot\" or \"linux\"";
    /// A task that Linux is to start, without Linux.
    START_LINUX = "write start = \"boot\", or add a [linux] section";
    /// `after_poweroff`, `after_crash` or `after_limit` with another value.
    AFTER = "write \"restart\" (not for after_limit), \"off\" or \"end\"";
    /// A task that may start Linux, without Linux.
    MAY_START = "remove may_start_linux, or add a [linux] section";
    /// A priority of Linux that reaches into those of tasks with a skin.
    SKIN_ROOM = "give Linux a priority of at most 13";
    /// A response later than the period.
    LATE = "lower the budgets at this priority and above, lengthen the periods, or raise the task's priority";
    /// More than the machine's memory.
    MEMORY = "ask for less, or give the machine more";
    /// A file that is not in the bundle.
    MISSING = "add the file to the bundle, have it loaded as a module, or correct the name";
    /// The same for Linux's kernel or its initial RAM disk.
    LINUX_FILES = "leave out kernel and initrd; `./x` names both as these keys' defaults do, and takes another kernel with --linux";
    /// Linux on a processor that cannot have guests.
    VIRTUALISATION = "use a processor with SVM and nested paging (in QEMU: -cpu with +svm,+npt), or remove the [linux] section";
}
