//! What the check has to know of the machine.

/// I/O ports that the kernel keeps, as first and last: the two interrupt controllers and the serial
/// port of the log.
pub const KERNEL_PORTS: [(u16, u16); 3] = [(0x20, 0x21), (0xa0, 0xa1), (0x2f8, 0x2ff)];

/// What is known of the machine that the system is to run on. What is `None` is not checked.
#[derive(Clone, Copy, Debug)]
pub struct Machine<'a> {
    /// RAM in bytes.
    pub memory_bytes: Option<u64>,
    /// What of the RAM the kernel, the bundle and the resource manager keep.
    pub reserved_bytes: u64,
    /// Whether the processor can have guests.
    pub virtualisation: Option<bool>,
    /// Names of the entries of the bundle.
    pub images: Option<&'a [&'a str]>,
    /// First lines of the I/O APICs, and how many each has.
    pub lines: Option<&'a [(u32, u32)]>,
    /// Bytes that are added to Linux's command line.
    pub appended: usize,
    /// What the kernel spends on each release of a task, in all: the interrupt, the switch to the
    /// task and the switch back.
    pub overhead_ns: u64,
    /// Longest stretch for which the kernel keeps interrupts off.
    pub blocking_ns: u64,
    /// What an interrupt takes after which the same task goes on.
    pub interrupt_ns: u64,
}

impl Machine<'_> {
    /// What the kernel spends on each release of a task. An interrupt of the timer that was to be
    /// for somebody less urgent, and was under way when the task was released, comes on top.
    #[must_use]
    pub fn release_ns(&self) -> u64 {
        self.overhead_ns.saturating_add(self.interrupt_ns)
    }
}

impl Default for Machine<'_> {
    /// Nothing known; for the kernel, the figures that its tests enforce: 700 ns to a task with
    /// Linux running and as much back, 1,200 ns with interrupts off, and 400 ns for an interrupt
    /// that leads to no switch.
    fn default() -> Self {
        Machine {
            memory_bytes: None,
            reserved_bytes: 0,
            virtualisation: None,
            images: None,
            lines: None,
            appended: 0,
            overhead_ns: 1_400,
            blocking_ns: 1_200,
            interrupt_ns: 400,
        }
    }
}
