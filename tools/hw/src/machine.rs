//! A machine, as far as the files tell.

use crate::cpuid::Cpuid;
use crate::files::{Files, name};
use crate::memory::{self, Stretch};
use crate::tables::Tables;
use std::collections::BTreeMap;

/// Something, or why it is not known.
pub type Known<T> = Result<T, String>;

/// Model-specific registers that are looked at.
pub mod register {
    #![allow(missing_docs, reason = "the names of the manuals")]
    pub const APIC_BASE: u32 = 0x1b;
    pub const FEATURE_CONTROL: u32 = 0x3a;
    pub const VMX_BASIC: u32 = 0x480;
    pub const VMX_PINBASED: u32 = 0x481;
    pub const VMX_PROCBASED: u32 = 0x482;
    pub const VMX_PROCBASED2: u32 = 0x48b;
    pub const VMX_EPT_VPID: u32 = 0x48c;
    pub const VMX_TRUE_PINBASED: u32 = 0x48d;
    pub const VMX_TRUE_PROCBASED: u32 = 0x48e;
    pub use pillion_core::x86_64::svm::VM_CR;
    pub const ALL: [u32; 10] = [
        APIC_BASE,
        FEATURE_CONTROL,
        VMX_BASIC,
        VMX_PINBASED,
        VMX_PROCBASED,
        VMX_PROCBASED2,
        VMX_EPT_VPID,
        VMX_TRUE_PINBASED,
        VMX_TRUE_PROCBASED,
        VM_CR,
    ];
}

/// A serial port at ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uart {
    /// First port.
    pub port: u64,
    /// Linux's number for the kind; 0 if there is none.
    pub kind: u32,
}

/// A PCI function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function {
    /// Manufacturer.
    pub vendor: u32,
    /// Class and subclass.
    pub class: u32,
    /// Kind of header, without the bit for several functions.
    pub header: u32,
}

/// How Linux was booted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Firmware {
    /// By UEFI, else by a BIOS, if known.
    pub uefi: Option<bool>,
    /// UEFI boots only what is signed.
    pub secure: bool,
    /// KVM has found virtualisation switched on.
    pub kvm: bool,
}

/// Stolen time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stolen {
    /// How long it was looked for without an interrupt.
    pub looked_us: u64,
    /// Gaps that no interrupt explains.
    pub gaps: u64,
    /// The longest.
    pub longest_ns: u64,
    /// System management interrupts meanwhile, if the processor counts them.
    pub counted: Option<u64>,
}

/// A machine.
#[derive(Clone, Debug)]
pub struct Machine {
    /// CPUID of one processor.
    pub cpuid: Known<Cpuid>,
    /// Model-specific registers.
    pub registers: Known<BTreeMap<u32, u64>>,
    /// ACPI tables.
    pub tables: Known<Tables>,
    /// Names of ACPI tables, which are known to more users than their contents.
    pub table_names: Vec<String>,
    /// The firmware's map of memory.
    pub memory: Known<Vec<Stretch>>,
    /// Serial ports.
    pub uarts: Known<Vec<Uart>>,
    /// PCI functions.
    pub functions: Known<Vec<Function>>,
    /// How Linux was booted.
    pub firmware: Firmware,
    /// Stolen time.
    pub stolen: Known<Stolen>,
}

impl Machine {
    /// Reads files; what makes no sense is left out.
    #[must_use]
    pub fn read(files: &Files) -> Machine {
        let cpuid = files.need(name::CPUID);
        let tables = Tables::place(&files.tables().map(|(_, bytes)| bytes).collect::<Vec<_>>());
        let has_tables = tables.count() != 0;
        let named = files.text(name::TABLE_NAMES).unwrap_or_default();
        let text = |name| files.need(name);
        Machine {
            cpuid: cpuid.and_then(|text| Cpuid::parse(&text).ok_or_else(|| "the file cpuid has no leaves".into())),
            registers: text(name::REGISTERS).map(|text| lines(&text, register_line)),
            tables: if has_tables { Ok(tables) } else { Err(files.why_not(name::TABLES)) },
            table_names: named.lines().map(str::to_owned).collect(),
            memory: text(name::MEMORY).map(|text| memory::parse(&text)),
            uarts: text(name::UARTS).map(|text| lines(&text, uart_line)),
            functions: text(name::FUNCTIONS).map(|text| lines(&text, function_line)),
            firmware: firmware(&files.text(name::FIRMWARE).unwrap_or_default()),
            stolen: text(name::STOLEN).and_then(|text| stolen(&text).ok_or_else(|| "the file smi is damaged".into())),
        }
    }

    /// Whether there is an ACPI table, by its signature, if that is known.
    #[must_use]
    pub fn has_table(&self, signature: [u8; 4]) -> bool {
        let name = |name: &String| name.as_bytes().starts_with(&signature);
        self.table_names.iter().any(name) || self.tables.as_ref().is_ok_and(|tables| tables.has(signature))
    }

    /// A model-specific register; `None` if the processor does not have it.
    pub fn register(&self, number: u32) -> Known<Option<u64>> {
        self.registers.as_ref().map(|all| all.get(&number).copied()).map_err(Clone::clone)
    }
}

fn lines<T, C: FromIterator<T>>(text: &str, read: impl Fn(&[&str]) -> Option<T>) -> C {
    text.lines().filter_map(|line| read(&line.split_whitespace().collect::<Vec<_>>())).collect()
}

/// A number, in hexadecimal after `0x`.
fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

fn small(text: &str) -> Option<u32> {
    number(text)?.try_into().ok()
}

fn register_line(words: &[&str]) -> Option<(u32, u64)> {
    let [register, value] = words else { return None };
    Some((small(register)?, number(value)?))
}

fn uart_line(words: &[&str]) -> Option<Uart> {
    let [port, kind] = words else { return None };
    Some(Uart { port: number(port)?, kind: small(kind)? })
}

fn function_line(words: &[&str]) -> Option<Function> {
    let [_, vendor, _, class, header] = words else { return None };
    Some(Function { vendor: small(vendor)?, class: small(class)? >> 8, header: small(header)? & 0x7f })
}

fn firmware(text: &str) -> Firmware {
    let says = |line: &str| text.lines().any(|other| other.trim() == line);
    let uefi = if says("boot uefi") { Some(true) } else { says("boot bios").then_some(false) };
    Firmware { uefi, secure: says("secure-boot on"), kvm: says("kvm yes") }
}

fn stolen(text: &str) -> Option<Stolen> {
    let value = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.and_then(|value| value.trim().parse().ok())
    };
    Some(Stolen {
        looked_us: value("looked_us")?,
        gaps: value("gaps")?,
        longest_ns: value("longest_ns")?,
        counted: value("counted"),
    })
}
