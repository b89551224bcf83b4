//! A description of the machine.

use crate::time_source::is_tsc_invariant;
use std::arch::x86_64::__cpuid;
use std::collections::BTreeMap;
use std::fs::read_to_string;

/// What is known of this machine: kernel, processor, governor, clock source, hypervisor.
pub fn describe(cpu: usize) -> BTreeMap<String, String> {
    let system = rustix::system::uname();
    let text = |bytes: &std::ffi::CStr| bytes.to_string_lossy().into_owned();
    let governor = format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor");
    [
        ("kernel", text(system.release())),
        ("kernel version", text(system.version())),
        ("preemption", (if is_preempt_rt() { "PREEMPT_RT" } else { "not PREEMPT_RT" }).into()),
        ("processor", processor()),
        ("invariant TSC", yes(is_tsc_invariant())),
        ("hypervisor", hypervisor().unwrap_or_else(|| "none".into())),
        ("governor", file(&governor).unwrap_or_else(|| "none".into())),
        ("clock source", clock_source()),
        ("command line of the kernel", file("/proc/cmdline").unwrap_or_default()),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect()
}

/// Whether the kernel is a PREEMPT_RT one.
pub fn is_preempt_rt() -> bool {
    let version = rustix::system::uname().version().to_string_lossy().into_owned();
    file("/sys/kernel/realtime").is_some_and(|text| text == "1") || says_preempt_rt(&version)
}

fn says_preempt_rt(version: &str) -> bool {
    version.split_whitespace().any(|word| word == "PREEMPT_RT")
}

/// Linux's current clock source.
pub fn clock_source() -> String {
    file("/sys/devices/system/clocksource/clocksource0/current_clocksource").unwrap_or_else(|| "unknown".into())
}

/// The hypervisor's name for itself, if there is one (CPUID 1, ECX bit 31).
pub fn hypervisor() -> Option<String> {
    let is_guest = __cpuid(1).ecx & 1 << 31 != 0;
    let leaf = __cpuid(0x4000_0000);
    let letters: Vec<u8> = [leaf.ebx, leaf.ecx, leaf.edx].iter().flat_map(|word| word.to_le_bytes()).collect();
    is_guest.then(|| String::from_utf8_lossy(&letters).trim_matches(|letter: char| !letter.is_alphanumeric()).into())
}

fn processor() -> String {
    let information = read_to_string("/proc/cpuinfo").unwrap_or_default();
    model_name(&information).unwrap_or("unknown").into()
}

fn model_name(cpuinfo: &str) -> Option<&str> {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"))?;
    line.split_once(':').map(|(_, name)| name.trim())
}

fn file(path: &str) -> Option<String> {
    read_to_string(path).ok().map(|text| text.trim().to_owned())
}

fn yes(is_so: bool) -> String {
    (if is_so { "yes" } else { "no" }).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preempt_rt_is_told_by_the_version() {
        assert!(says_preempt_rt("#1 SMP PREEMPT_RT Debian 6.1.170-1"));
        assert!(!says_preempt_rt("#1 SMP PREEMPT_DYNAMIC Debian 6.1.170-1"));
    }

    #[test]
    fn the_model_is_found() {
        assert_eq!(model_name("processor\t: 0\nmodel name\t: Some CPU @ 3 GHz\n"), Some("Some CPU @ 3 GHz"));
        assert_eq!(model_name("processor\t: 0\n"), None);
    }
}
