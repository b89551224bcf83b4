//! The archive that carries everything that boots: one file, handed to the boot loader as a module.
//!
//! Layout: a [`Header`], `count` [`Entry`]s, then the files, each on a page boundary. Numbers are
//! little-endian. Task images begin with a [`TaskHeader`] so that nothing at run time parses ELF.

/// First eight bytes of a bundle.
pub const MAGIC: [u8; 8] = *b"PILLION1";

/// First eight bytes of a task image.
pub const TASK_MAGIC: [u8; 8] = *b"PILLTASK";

/// Name of the entry that the kernel starts as the first task.
pub const ROOT_TASK: &str = "resmgr";

/// Name of the entry that holds the system file, as text.
pub const SYSTEM_FILE: &str = "system.toml";

/// Start of a bundle.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Header {
    /// [`MAGIC`].
    pub magic: [u8; 8],
    /// Number of entries that follow.
    pub count: u32,
    /// Zero.
    pub reserved: u32,
}

/// One file of a bundle.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Entry {
    /// Name, padded with zeros.
    pub name: [u8; 48],
    /// Distance in bytes from the start of the bundle, a multiple of the page size.
    pub offset: u64,
    /// Size in bytes.
    pub size: u64,
}

/// Maximum number of segments of a task image.
pub const SEGMENTS: usize = 6;

/// Start of a task image; the image's first page holds nothing else.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TaskHeader {
    /// [`TASK_MAGIC`].
    pub magic: [u8; 8],
    /// [`crate::VERSION`] that the task was built for.
    pub abi_version: u32,
    /// Number of segments in use.
    pub count: u32,
    /// Address of the first instruction.
    pub entry: u64,
    /// The segments.
    pub segments: [Segment; SEGMENTS],
}

/// A part of a task image: page-aligned in the file and in memory.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Segment {
    /// Address in the task's address space.
    pub address: u64,
    /// Distance in bytes from the start of the image.
    pub offset: u64,
    /// Bytes in the file.
    pub file_size: u64,
    /// Bytes in memory; those beyond the bytes of the file are zero.
    pub memory_size: u64,
    /// Flags as in [`crate::object::map`].
    pub flags: u64,
}

const _: () = assert!(size_of::<Header>() == 16);
const _: () = assert!(size_of::<Entry>() == 64);
const _: () = assert!(size_of::<TaskHeader>() <= 4096);
