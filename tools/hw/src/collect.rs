//! Gathers what a plain Linux shows of its machine.
//!
//! Nothing is written, no module loaded. What only root may see is left out for others, and the
//! file `not-read` says so.

use crate::cpuid::Cpuid;
use crate::files::{Files, name};
use crate::machine::register;
use pillion_stolen::{Counters, Piece, ROOM, smi, spin};
use rustix::process::geteuid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

/// ACPI tables that are kept: what Pillion looks at or withholds, and what says where serial ports
/// are. Others can hold keys of licences, or are code.
pub const TABLES: [&str; 15] = [
    "APIC", "FACP", "MCFG", "HPET", "IVRS", "DMAR", "VIOT", "SPCR", "DBG2", "WDAT", "WDRT", "EINJ", "PCCT", "SRAT",
    "SLIT",
];

/// How long stolen time is looked for, how long at a time, and how long others may run in between.
const LOOK: Duration = Duration::from_secs(1);
const PIECE_NS: u64 = 1_000_000;
const PAUSE: Duration = Duration::from_micros(500);
/// Shortest gap that counts.
const GAP_NS: u64 = 1_000;

/// Everything of this machine.
#[must_use]
pub fn this_machine() -> Files {
    let mut files = Files::default();
    let cpu = stay_on_one_processor();
    files.put(name::CPUID, Cpuid::of_this_processor().to_string());
    tables(&mut files);
    for (name, result) in [
        (name::REGISTERS, registers(cpu)),
        (name::MEMORY, memory(Path::new("/sys/firmware/memmap"))),
        (name::ADDRESSES, addresses()),
        (name::UARTS, uarts(Path::new("/sys/class/tty"))),
        (name::FUNCTIONS, functions(Path::new("/sys/bus/pci/devices"))),
        (name::STOLEN, stolen(cpu)),
    ] {
        match result {
            Ok(text) => files.put(name, text),
            Err(why) => files.say(name::NOT_READ, &format!("{name}: {why}")),
        }
    }
    files.put(name::FIRMWARE, firmware());
    files
}

/// Keeps this thread on the first processor that it may use, so that all answers are of one.
/// Returns its number.
fn stay_on_one_processor() -> usize {
    let cpu = sched_getaffinity(None).ok().and_then(|all| (0..CpuSet::MAX_CPU).find(|cpu| all.is_set(*cpu)));
    let cpu = cpu.unwrap_or(0);
    let mut one = CpuSet::new();
    one.set(cpu);
    // Where that is not allowed, the processors of a machine are nearly always alike.
    let _ = sched_setaffinity(None, &one);
    cpu
}

/// Why something could not be read, for the user.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "needs root".into(),
        io::ErrorKind::NotFound => "this Linux does not show it".into(),
        _ => error.to_string(),
    }
}

fn tables(files: &mut Files) {
    let folder = Path::new("/sys/firmware/acpi/tables");
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => return files.say(name::NOT_READ, &format!("{}: {}", name::TABLES, reason(&error))),
    };
    let files_only = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    let mut names: Vec<String> = files_only.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    let mut refused = None;
    for table in &names {
        files.say(name::TABLE_NAMES, table);
        if TABLES.iter().any(|kept| table.starts_with(kept)) {
            match fs::read(folder.join(table)) {
                Ok(bytes) => files.put(format!("{}/{table}", name::TABLES), bytes),
                Err(error) => refused = Some(reason(&error)),
            }
        }
    }
    if let Some(why) = refused.or(names.is_empty().then(|| "this Linux has no ACPI tables".into())) {
        files.say(name::NOT_READ, &format!("{}: {why}", name::TABLES));
    }
}

fn registers(cpu: usize) -> Result<String, String> {
    let path = format!("/dev/cpu/{cpu}/msr");
    let file = File::open(path).map_err(|error| match error.kind() {
        _ if !geteuid().is_root() => "needs root, and `modprobe msr`".into(),
        io::ErrorKind::NotFound => "`modprobe msr` as root, then again".into(),
        _ => reason(&error),
    })?;
    let mut text = String::new();
    for number in register::ALL {
        let mut value = [0; 8];
        // A processor has only some of them.
        if file.read_at(&mut value, number.into()).is_ok_and(|length| length == value.len()) {
            text += &format!("{number:#x} {:#x}\n", u64::from_le_bytes(value));
        }
    }
    Ok(text)
}

/// A line of a file of one line.
fn line(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map(|text| text.trim().to_owned()).map_err(|error| reason(&error))
}

/// The folders in a folder, sorted by name.
fn folders(folder: &Path) -> Result<Vec<std::path::PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|error| reason(&error))?;
    let mut all: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    all.sort();
    Ok(all)
}

fn memory(folder: &Path) -> Result<String, String> {
    let mut ranges = Vec::new();
    for entry in folders(folder)? {
        let [start, end, kind] = ["start", "end", "type"].map(|name| line(&entry.join(name)));
        let (start, end) = (start?, end?);
        let order = u64::from_str_radix(start.trim_start_matches("0x"), 16).unwrap_or(0);
        ranges.push((order, format!("{start} {end} {}\n", kind?)));
    }
    ranges.sort();
    Ok(ranges.into_iter().map(|(_, text)| text).collect())
}

fn addresses() -> Result<String, String> {
    if !geteuid().is_root() {
        return Err("needs root".into());
    }
    let text = fs::read_to_string("/proc/iomem").map_err(|error| reason(&error))?;
    // Where Linux's kernel lies is chosen at random, as a secret.
    Ok(text.lines().filter(|line| !line.contains(": Kernel ")).map(|line| format!("{line}\n")).collect())
}

/// Serial ports that Linux found at ports, or by a table: first port and kind.
fn uarts(folder: &Path) -> Result<String, String> {
    let mut text = String::new();
    for terminal in folders(folder)? {
        let is_serial = terminal.file_name().is_some_and(|name| name.to_string_lossy().starts_with("ttyS"));
        if let (true, Ok(port), Ok(kind)) = (is_serial, line(&terminal.join("port")), line(&terminal.join("type"))) {
            text += &format!("{port} {kind}\n");
        }
    }
    Ok(text)
}

fn functions(folder: &Path) -> Result<String, String> {
    let mut text = String::new();
    for function in folders(folder)? {
        let [vendor, device, class] = ["vendor", "device", "class"].map(|name| line(&function.join(name)));
        let header = File::open(function.join("config")).and_then(|file| {
            let mut byte = [0];
            file.read_exact_at(&mut byte, 14)?;
            Ok(byte[0])
        });
        let place = function.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let header = header.map_err(|error| reason(&error))?;
        text += &format!("{place} {} {} {} {header:#x}\n", vendor?, device?, class?);
    }
    Ok(text)
}

/// How Linux was booted, and whether KVM found virtualisation switched on.
fn firmware() -> String {
    let uefi = Path::new("/sys/firmware/efi");
    let secure = uefi.join("efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c");
    // Four bytes of attributes come before the variable.
    let secure = fs::read(secure).ok().and_then(|bytes| bytes.get(4).copied());
    let mut text = format!("boot {}\n", if uefi.exists() { "uefi" } else { "bios" });
    if let Some(on) = secure {
        text += &format!("secure-boot {}\n", if on == 1 { "on" } else { "off" });
    }
    // The device exists only once KVM has switched virtualisation on.
    text + if Path::new("/sys/class/misc/kvm").exists() { "kvm yes\n" } else { "kvm no\n" }
}

fn now_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Looks for stolen time, as `pillion-measure run smi` does, but for a second and without asking
/// for an urgent thread: what preempts this one comes by an interrupt, and such pieces do not
/// count.
fn stolen(cpu: usize) -> Result<String, String> {
    let (mut pieces, mut room, begin) = (Vec::new(), vec![0; ROOM], Instant::now());
    let counted = smi(cpu);
    while begin.elapsed() < LOOK {
        let before = Counters::read(cpu).map_err(|error| format!("{error:#}"))?;
        let gaps = spin(now_ns, GAP_NS, PIECE_NS, &mut room);
        let interrupts = Counters::read(cpu).map_err(|error| format!("{error:#}"))?.since(&before);
        pieces.push(Piece { gaps_ns: room[..gaps].to_vec(), interrupts });
        std::thread::sleep(PAUSE);
    }
    let quiet: Vec<&Piece> = pieces.iter().filter(|piece| piece.is_quiet()).collect();
    let gaps = || quiet.iter().flat_map(|piece| piece.gaps_ns.iter());
    let mut text = format!("looked_us {}\n", quiet.len() as u64 * (PIECE_NS / 1000));
    text += &format!("gaps {}\nlongest_ns {}\n", gaps().count(), gaps().max().unwrap_or(&0));
    if let (Some(before), Some(after)) = (counted, smi(cpu)) {
        text += &format!("counted {}\n", after.saturating_sub(before));
    }
    Ok(text)
}
