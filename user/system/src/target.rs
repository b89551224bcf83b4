//! What the check must know about the machine.

/// I/O ports that the kernel keeps, as first and last: the two interrupt controllers and the log's
/// serial port.
pub const KERNEL_PORTS: [(u16, u16); 3] = [(0x20, 0x21), (0xa0, 0xa1), (0x2f8, 0x2ff)];

/// What is known about the machine that the system will run on. `None` is not checked.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// RAM in bytes.
    pub memory_bytes: Option<u64>,
    /// RAM that the kernel, the bundle and the resource manager keep.
    pub reserved_bytes: u64,
    /// Number of processors that run, from 0 on.
    pub processors: Option<u32>,
    /// Whether the processor can run guests.
    pub virtualisation: Option<bool>,
    /// Names of the entries of the bundle.
    pub images: Option<&'a [&'a str]>,
    /// First line of each I/O APIC, and its number of lines.
    pub lines: Option<&'a [(u32, u32)]>,
    /// Bytes that are added to Linux's command line.
    pub appended: usize,
    /// The kernel's total cost of a release of a task: the interrupt, the switch to the task and
    /// the switch back.
    pub overhead_ns: u64,
    /// Longest stretch for which the kernel keeps interrupts off.
    pub blocking_ns: u64,
    /// Cost of an interrupt after which the same task continues.
    pub interrupt_ns: u64,
}

impl Target<'_> {
    /// The kernel's cost of a release of a task, plus that of a timer interrupt for a less urgent
    /// thread that was under way when the task was released.
    #[must_use]
    pub fn release_ns(&self) -> u64 {
        self.overhead_ns.saturating_add(self.interrupt_ns)
    }
}

impl Default for Target<'_> {
    /// A machine of which nothing is known. The kernel's costs are the figures that its tests
    /// enforce: 700 ns to a task while Linux runs and the same back, 1,200 ns with interrupts off,
    /// and 400 ns for an interrupt without a switch.
    fn default() -> Self {
        Target {
            memory_bytes: None,
            reserved_bytes: 0,
            processors: None,
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
