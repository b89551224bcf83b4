//! What the task that runs Linux processes' handlers finds beside what each task with a skin finds.

/// Slots that only this task has.
pub mod slot {
    /// First of the user vCPUs, one for each thread but the main thread.
    pub const VCPUS: u32 = 256;
    /// First of the timers for them, which are bound to nothing.
    pub const TIMERS: u32 = 272;
    /// Number of slots.
    pub const COUNT: u32 = 288;
}
