//! Structures of the interface.

use super::text::Header;
use pillion_abi::{boot, bundle, vcpu};
use std::mem::offset_of;

/// Writes a structure: for each field its C type, its name, and what follows the name.
macro_rules! structure {
    ($out:ident, $name:literal, $type:ty, $($field:ident: $c:literal $($array:literal)?,)+) => {
        $out.structure($name, size_of::<$type>(), &[
            $((concat!($c, " ", stringify!($field) $(, $array)?), stringify!($field), offset_of!($type, $field)),)+
        ]);
    };
}
pub(super) use structure;

/// All of them.
pub fn write(out: &mut Header) {
    out.group("Layouts.");
    bundles(out);
    structure!(out, "range", boot::Range, base: "uint64_t", size: "uint64_t", kind: "uint64_t",);
    structure!(out, "io_apic", boot::IoApic, address: "uint64_t", first: "uint32_t", lines: "uint32_t",);
    structure!(out, "module", boot::Module, range: "struct pillion_range", name: "uint8_t" "[PILLION_BOOT_MODULE_NAME]",);
    structure!(out, "power_off", boot::PowerOff, ports: "uint16_t" "[2]", types: "uint16_t" "[2]",);
    structure!(out, "screen", boot::Screen, base: "uint64_t", pitch: "uint32_t", width: "uint32_t", height: "uint32_t",
        kind: "uint16_t", bits: "uint16_t", colours: "uint8_t" "[4][2]",);
    structure!(out, "processor", boot::Processor, apic_id: "uint32_t", state: "uint32_t", number: "uint32_t",);
    structure!(out, "log_buffer", boot::LogBuffer, written: "uint64_t", text: "uint8_t" "[PILLION_BOOT_LOG_TEXT]",);
    structure!(out, "boot_info", boot::BootInfo,
        abi_version: "uint32_t", region_count: "uint32_t", tsc_hz: "uint64_t", features: "uint64_t", rsdp: "uint64_t",
        cpus: "uint64_t", bundle: "struct pillion_range",
        modules: "struct pillion_module" "[PILLION_BOOT_MODULES]",
        io_apics: "struct pillion_io_apic" "[PILLION_BOOT_IO_APICS]",
        root_pointer: "uint8_t" "[40]", regions: "struct pillion_range" "[PILLION_BOOT_REGIONS]",
        screen: "struct pillion_screen", power_off: "struct pillion_power_off",
        processors: "struct pillion_processor" "[PILLION_BOOT_PROCESSORS]", command_line: "uint8_t" "[256]",
        module_words: "uint8_t" "[PILLION_BOOT_MODULE_WORDS]",);
    vcpus(out);
}

fn bundles(out: &mut Header) {
    structure!(out, "bundle_header", bundle::Header, magic: "uint8_t" "[8]", count: "uint32_t", reserved: "uint32_t",);
    structure!(out, "bundle_entry", bundle::Entry, name: "char" "[48]", offset: "uint64_t", size: "uint64_t",);
    structure!(out, "task_segment", bundle::Segment,
        address: "uint64_t", offset: "uint64_t", file_size: "uint64_t", memory_size: "uint64_t", flags: "uint64_t",);
    structure!(out, "task_header", bundle::TaskHeader,
        magic: "uint8_t" "[8]", abi_version: "uint32_t", count: "uint32_t", entry: "uint64_t",
        segments: "struct pillion_task_segment" "[PILLION_TASK_SEGMENTS]",);
}

fn vcpus(out: &mut Header) {
    structure!(out, "segment", vcpu::Segment,
        selector: "uint16_t", attributes: "uint16_t", limit: "uint32_t", base: "uint64_t",);
    structure!(out, "io", vcpu::Io,
        port: "uint16_t", width: "uint8_t", is_in: "uint8_t", is_string: "uint8_t", is_repeated: "uint8_t",
        reserved: "uint8_t" "[2]", next_rip: "uint64_t",);
    structure!(out, "fault", vcpu::Fault, address: "uint64_t", info: "uint64_t",);
    structure!(out, "vcpu_state", vcpu::State,
        gpr: "uint64_t" "[16]", rip: "uint64_t", rflags: "uint64_t", cr0: "uint64_t", cr3: "uint64_t", cr4: "uint64_t",
        efer: "uint64_t", cs: "struct pillion_segment", ds: "struct pillion_segment", es: "struct pillion_segment",
        fs: "struct pillion_segment", gs: "struct pillion_segment", ss: "struct pillion_segment",
        tr: "struct pillion_segment", ldtr: "struct pillion_segment", gdtr: "struct pillion_segment",
        idtr: "struct pillion_segment", cr2: "uint64_t", pat: "uint64_t", dr6: "uint64_t", dr7: "uint64_t", xcr0: "uint64_t",
        dirty: "uint64_t", event: "uint64_t", io: "struct pillion_io", fault: "struct pillion_fault",
        timer_vector: "uint64_t", deadline: "uint64_t", tpr: "uint64_t", isr: "uint64_t" "[4]", irr: "uint64_t" "[4]",
        messages: "uint64_t", command: "uint64_t",
        counters: "uint64_t" "[PILLION_VCPU_COUNTERS]", tell_at: "uint64_t", stolen: "uint64_t",);
}
