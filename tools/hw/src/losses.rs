//! What of this machine is withheld from Linux, and what Linux loses by it.
//!
//! What is withheld is `pillion_vmm_devices::withheld`; the costs are here, each for the line whose
//! reason begins with the same words. A test finds lines without a cost.

use crate::judge::LINES;
use crate::machine::Machine;
use pillion_vmm_devices::withheld::{LEAVES, TABLES, Then, is_read_only};

/// Something withheld that this machine has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// What.
    pub what: String,
    /// Why it is withheld.
    pub why: &'static str,
    /// What Linux loses.
    pub costs: &'static str,
}

/// What Linux loses without an ACPI table.
const OF_TABLES: [([u8; 4], &str); 9] = [
    (*b"IVRS", "no IOMMU: no isolation of devices, none handed to virtual machines"),
    (*b"DMAR", "no IOMMU: no isolation of devices, none handed to virtual machines"),
    (*b"VIOT", "no IOMMU: no isolation of devices, none handed to virtual machines"),
    (*b"HPET", "no HPET: Linux's clock is the time-stamp counter, its timer the local APIC's"),
    (*b"MCFG", "no registers from 256 on: no SR-IOV, AER, resizable BARs, LTR"),
    (*b"WDAT", "no watchdog of the board"),
    (*b"WDRT", "no watchdog of the board"),
    (*b"EINJ", "no injected errors"),
    (*b"PCCT", "no frequency control by CPPC"),
];

/// Nobody misses it.
const NOTHING: &str = "";

/// What Linux loses without features of CPUID: the first words of the reason, and the cost.
const OF_LEAVES: [(&str, &str); 13] = [
    ("VMX, SMX, SVM", "no KVM, no other hypervisor"),
    ("MONITOR, MWAIT", "idle by HLT only: no deeper sleep states, more power while idle"),
    ("counters, IBS", "no performance counters: perf has software events only"),
    ("frequency control", "no frequency control, no temperature of the processor"),
    ("L1 contexts", "no cache allocation"),
    ("TSC_ADJUST", NOTHING),
    ("SGX", "no enclaves, no memory encryption"),
    ("protection keys", "no protection keys, no CET, no AMX, no five-level page tables"),
    ("transactions", "no transactional memory"),
    ("speculation control", "no mitigations that need it: Linux says that it is vulnerable"),
    ("OSVW", NOTHING),
    ("threads, cores", "does not see which processors are threads of one core"),
    ("new features", "features newer than Pillion"),
];

const NAMED: &str = "chipset registers for sleep, throttling, SMI enable and watchdog";

/// All losses on a machine, for all that is known of it.
#[must_use]
pub fn of(machine: &Machine) -> Vec<Loss> {
    let mut losses = tables(machine);
    losses.extend(ports(machine));
    losses.extend(io_apics(machine));
    losses.extend(functions(machine));
    losses.extend(leaves(machine));
    losses
}

fn tables(machine: &Machine) -> Vec<Loss> {
    let there = TABLES.iter().filter(|line| machine.has_table(line.what));
    let cost = |name| OF_TABLES.iter().find(|(of, _)| *of == name).map_or("", |(_, costs)| *costs);
    there
        .map(|line| Loss {
            what: format!("ACPI table {}", String::from_utf8_lossy(&line.what)),
            why: line.why,
            costs: cost(line.what),
        })
        .collect()
}

/// The ports that the FADT leads to, and the log's.
fn ports(machine: &Machine) -> Vec<Loss> {
    let mut losses = Vec::new();
    if let Some(fadt) = machine.tables.as_ref().ok().and_then(|tables| tables.fadt()) {
        let mut lose = |what: String, why, costs| losses.push(Loss { what, why, costs });
        if let Some(port) = fadt.command {
            let why = "a system management interrupt can take arbitrarily long";
            lose(format!("port {port:#x}, commands to the firmware"), why, "what the firmware does on command");
        }
        if let Some((port, _)) = fadt.reset {
            lose(format!("port {port:#x}, reset"), "resets the machine", "a reset restarts Linux alone");
        }
        if let Some(port) = fadt.pm1a_control {
            let why = "the machine sleeps, or the firmware gets a system management interrupt";
            lose(format!("port {port:#x}, sleep (PM1 control)"), why, "no suspend: every sleep state is a power-off");
        }
        if let Some(port) = fadt.pm1a_event.filter(|port| *port >= 0x100) {
            let first = port & !127;
            let what = format!("ports {first:#x} to {:#x} that the FADT does not name", first + 127);
            lose(what, NAMED, "no sleep states by ports (P_LVLx), no watchdog of the chipset, no throttling");
        }
    }
    if machine.uarts.as_ref().is_ok_and(|uarts| uarts.iter().any(|uart| uart.port == 0x2f8 && uart.kind != 0)) {
        losses.push(Loss { what: "COM2".into(), why: "the log goes there", costs: "one serial port" });
    }
    losses
}

fn io_apics(machine: &Machine) -> Option<Loss> {
    let tables = machine.tables.as_ref().ok()?.as_the_kernel();
    let high = tables.io_apics.as_slice().iter().filter(|one| one.first_line >= LINES).count();
    (high != 0).then(|| Loss {
        what: format!("{high} I/O APICs, from line {LINES} on"),
        why: "only lines below that are modelled",
        costs: "devices on their lines that cannot send messages (MSI)",
    })
}

fn functions(machine: &Machine) -> Option<Loss> {
    let all = machine.functions.as_ref().ok()?;
    let count = all.iter().filter(|one| is_read_only(one.header, one.vendor, one.class)).count();
    (count != 0).then(|| Loss {
        what: format!("{count} of {} PCI functions are read-only", all.len()),
        why: "bridges of processor, memory and board, and AMD's SMBus: they can move windows and reach the whole chip",
        costs: "sensors and other drivers of the chipset",
    })
}

fn leaves(machine: &Machine) -> Vec<Loss> {
    let Ok(cpuid) = &machine.cpuid else { return Vec::new() };
    let has = |leaf, bits: [u32; 4]| cpuid.leaf(leaf, 0).iter().zip(bits).any(|(value, bit)| value & bit != 0);
    let withheld = LEAVES.iter().filter(|line| line.then == Then::Zero);
    let there = withheld.filter(|line| line.what.iter().any(|one| has(one.leaf, one.bits)));
    let loss = |why: &'static str| {
        let (what, costs) = OF_LEAVES.iter().find(|(begin, _)| why.starts_with(begin))?;
        (*costs != NOTHING).then(|| Loss { what: format!("CPUID: {what}"), why, costs })
    };
    there.filter_map(|line| loss(line.why)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pillion_vmm_devices::withheld::PORTS;

    #[test]
    fn every_withheld_line_has_a_cost() {
        for line in TABLES {
            assert!(OF_TABLES.iter().any(|(name, _)| *name == line.what), "{}", line.why);
        }
        for line in LEAVES.iter().filter(|line| line.then == Then::Zero) {
            let costs = OF_LEAVES.iter().filter(|(begin, _)| line.why.starts_with(begin)).count();
            assert_eq!(costs, 1, "{}", line.why);
        }
    }

    /// What this file says of ports is what the table says.
    #[test]
    fn reasons_of_ports_are_those_of_the_table() {
        for why in [NAMED, "a system management interrupt can take", "resets the machine", "the machine sleeps, or"] {
            assert!(PORTS.iter().any(|line| line.why.starts_with(why)), "{why}");
        }
    }
}
