//! Numbers of the interface.

use super::signature::signature;
use super::text::Header;
use pillion_abi as abi;
use pillion_abi::call::Call;
use pillion_abi::object::Kind;
use pillion_abi::status::Error;
use pillion_abi::vcpu::Exit;

/// Defines a module's constants under their own names with a prefix.
macro_rules! define {
    ($out:ident, $about:literal, $prefix:literal, $($module:ident)::+, $($name:ident)+) => {
        $out.group($about);
        {
            use $($module)::+ as source;
            $($out.define(concat!($prefix, stringify!($name)), u64::try_from(source::$name).expect("not negative"));)+
        }
    };
}
pub(super) use define;

/// All of them.
pub fn write(out: &mut Header) {
    define!(out, "Memory, priorities, deadlines and vectors.", "", abi,
        VERSION PAGE LARGE_PAGE USER_END PRIORITIES NEVER RT_VECTOR_FIRST MESSAGE_VECTOR GUEST_VECTOR_FIRST);
    calls(out);
    objects(out);
    boot(out);
    vcpu(out);
}

fn calls(out: &mut Header) {
    let calls = Call::ALL.iter().map(|call| (call.name().into(), *call as u64));
    let signatures: Vec<String> = Call::ALL.iter().map(|call| signature(*call)).collect();
    let about = "System calls. The arguments are in rdi, rsi, rdx, r10, r8, r9, in this order:\n    ";
    let about = about.to_owned() + &signatures.join("\n    ");
    out.enumeration(&about, "CALL", calls);
    let errors = Error::ALL.iter().map(|error| (format!("{error:?}"), *error as u64));
    out.enumeration("Why a call was refused; rax holds the negative.", "ERROR", errors);
    define!(out, "Messages and flags of calls.", "", abi::call, MESSAGE_WORDS LABEL_NOTIFIED LABEL_FAULT IRQ_MSI);
    define!(out, "Flags of InterruptCreate.", "IRQ_", abi::call::irq, LEVEL LOW HOME_SHIFT);
    define!(out, "Flags of EndpointBind.", "ENDPOINT_", abi::call::endpoint, OWN_PRIORITY);
    define!(out, "Flags of ThreadConfigure.", "THREAD_", abi::call::thread, FPU);
}

fn objects(out: &mut Header) {
    let kinds = Kind::ALL.iter().map(|kind| (format!("{kind:?}"), *kind as u64));
    out.enumeration("Kinds of objects.", "KIND", kinds);
    define!(out, "Rights.", "RIGHT_", abi::object::right, READ WRITE EXECUTE CONTROL ALL);
    define!(out, "Flags of memory.", "MEMORY_", abi::object::memory, DEVICE);
    define!(out, "Flags of mappings.", "MAP_", abi::object::map, WRITE EXECUTE UNCACHED);
}

fn boot(out: &mut Header) {
    define!(out, "Slots of the first task.", "SLOT_", abi::boot::slot,
        CAP_SPACE ADDRESS_SPACE THREAD CONTEXT SCHED_CONTROL IRQ_CONTROL PORTS TRACE BUNDLE TRACE_BUFFER LOG_BUFFER MODULES REGIONS COUNT);
    define!(out, "Kinds of physical memory.", "RANGE_", abi::boot::range_kind, RAM DEVICE ACPI KERNEL BUNDLE HOLE WITHHELD);
    define!(out, "What the processor offers.", "FEATURE_", abi::boot::feature, SVM LOG_DEVICE);
    define!(out, "What the first task is told.", "BOOT_", abi::boot, BOOT_INFO_ADDRESS LOG_TEXT REGIONS MODULES MODULE_NAME MODULE_WORDS IO_APICS
        PROCESSORS);
    define!(out, "Kinds of screens.", "SCREEN_", abi::boot::screen_kind, NONE PIXELS TEXT);
    define!(out, "Whether a processor runs, or why it does not.", "PROCESSOR_", abi::boot::processor_state,
        NONE RUNS ABSENT DIFFERS STUCK NOT_TRIED TOO_MANY OUT_OF_REACH NO_MEMORY CLOCKS_DIFFER);
    out.group("Bundles.");
    out.define_text("BUNDLE_MAGIC", String::from_utf8_lossy(&abi::bundle::MAGIC));
    out.define_text("TASK_MAGIC", String::from_utf8_lossy(&abi::bundle::TASK_MAGIC));
    out.define("TASK_SEGMENTS", abi::bundle::SEGMENTS as u64);
}

fn vcpu(out: &mut Header) {
    let exits = Exit::ALL.iter().map(|exit| (exit.name().into(), *exit as u64));
    out.enumeration("Why a guest came out.", "EXIT", exits);
    define!(out, "What of the state was changed.", "DIRTY_", abi::vcpu::dirty, CORE SYSTEM EVENT);
    define!(out, "Routes of interrupt lines.", "ROUTE_", abi::vcpu::route, LEVEL LOW MASKED);
    define!(out, "Counters.", "COUNTER_", abi::vcpu::counter,
        EXITS INTERRUPTS END_OF_INTERRUPT DEADLINES HALTS INJECTED RETURNS MESSAGES);
    define!(out, "State of a virtual CPU.", "VCPU_", abi::vcpu, COUNTERS EVENT_HAS_CODE);
}
