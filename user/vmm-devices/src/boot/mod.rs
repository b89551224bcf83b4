//! Starting a Linux kernel from its `bzImage` (Linux `Documentation/x86/boot.rst`).
//!
//! The kernel is entered at its 32-bit entry point, with flat segments and paging off. So no page
//! tables have to be made for it: the stock kernel builds its own on the way to 64-bit mode.

mod bzimage;
mod entry_state;
mod placement;
mod zero_page;

pub use bzimage::Header;
pub use entry_state::{entry, gdt, start_up};
pub use placement::{Plan, place};
pub use zero_page::zero_page;

use core::fmt;
use pillion_abi::boot::Screen;
use pillion_abi::vcpu::State;

use crate::{acpi, guest_memory::GuestMemory};

/// The kind of a range of guest-physical memory (`zero-page.rst`, E820 types).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// RAM for the guest.
    Ram,
    /// Not RAM, or not the guest's.
    Reserved,
    /// ACPI tables.
    Acpi,
    /// Memory that the firmware needs across sleep.
    AcpiNvs,
}

/// A range of guest-physical memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// First byte.
    pub base: u64,
    /// Bytes.
    pub size: u64,
    /// Its kind.
    pub kind: Kind,
}

/// Why a kernel cannot be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// It has no boot sector signature or no `HdrS`.
    NotBzImage,
    /// Its boot protocol is older than 2.10.
    TooOld(u16),
    /// The file is shorter than its header says.
    Truncated,
    /// It does not load at 1 MiB or above (a `zImage`).
    NotLoadedHigh,
    /// It is not relocatable.
    NotRelocatable,
    /// It is not a 64-bit kernel.
    NotSixtyFourBit,
    /// An alignment that is not a power of two, or a size of zero.
    BadHeader,
    /// No free RAM of that many bytes at or above the preferred address and below 4 GiB.
    KernelDoesNotFit(u64),
    /// No free RAM of that many bytes where the kernel looks for its initial ramdisk.
    InitrdDoesNotFit(u64),
    /// No free RAM for the parameters.
    ParametersDoNotFit,
    /// The command line is longer than this many bytes.
    CommandLineTooLong(u32),
    /// There are more ranges than the zero page holds.
    TooManyRanges,
    /// Guest memory that should be RAM could not be written.
    NotWritable(u64),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NotBzImage => f.write_str("not a Linux bzImage"),
            Error::TooOld(version) => {
                write!(f, "boot protocol {}.{:02} is older than 2.10", version >> 8, version & 0xff)
            }
            Error::Truncated => f.write_str("the kernel image is cut short"),
            Error::NotLoadedHigh => f.write_str("a zImage, which loads below 1 MiB"),
            Error::NotRelocatable => f.write_str("the kernel is not relocatable"),
            Error::NotSixtyFourBit => f.write_str("the kernel is not a 64-bit one"),
            Error::BadHeader => f.write_str("the kernel's header contradicts itself"),
            Error::KernelDoesNotFit(size) => write!(f, "no free memory of {size} bytes for the kernel"),
            Error::InitrdDoesNotFit(size) => write!(f, "no free memory of {size} bytes for the initial ramdisk"),
            Error::ParametersDoNotFit => f.write_str("no free memory for the kernel's parameters"),
            Error::CommandLineTooLong(most) => write!(f, "the command line is longer than {most} bytes"),
            Error::TooManyRanges => f.write_str("too many ranges of memory"),
            Error::NotWritable(address) => write!(f, "guest memory at {address:#x} cannot be written"),
        }
    }
}

/// What to start.
#[derive(Clone, Copy, Debug)]
pub struct Linux<'a> {
    /// The `bzImage`.
    pub image: &'a [u8],
    /// The initial ramdisk; empty for none.
    pub initrd: &'a [u8],
    /// The command line, without a final zero.
    pub command_line: &'a [u8],
    /// All of the guest's memory, for the kernel's memory map. Only `Ram` ranges are used.
    pub ranges: &'a [Range],
    /// The ACPI tables for the kernel to find, if there are any.
    pub tables: Option<&'a acpi::Copy>,
    /// The screen for the kernel to use; zeros for none.
    pub screen: Screen,
}

/// Places everything in the guest's memory and sets the entry state. Fails as [`Error`] says;
/// memory may have been written by then, the state not.
pub fn load(linux: &Linux<'_>, memory: &mut impl GuestMemory, state: &State) -> Result<(), Error> {
    let header = Header::parse(linux.image)?;
    let plan = place(&header, linux.ranges, linux.initrd.len() as u64, linux.command_line.len())?;
    let page = zero_page(linux, &header, &plan)?;
    let mut put = |address: u64, bytes: &[u8]| match bytes.is_empty() || memory.write(address, bytes) {
        true => Ok(()),
        false => Err(Error::NotWritable(address)),
    };
    put(plan.kernel, header.protected_mode(linux.image))?;
    put(plan.initrd, linux.initrd)?;
    put(plan.zero_page, &page)?;
    put(plan.gdt, &gdt())?;
    put(plan.command_line, linux.command_line)?;
    put(plan.command_line + linux.command_line.len() as u64, &[0])?;
    if let Some(tables) = linux.tables {
        put(plan.tables, &tables.at(plan.tables))?;
    }
    entry(&plan, state);
    Ok(())
}
