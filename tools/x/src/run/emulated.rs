//! The emulated machine, as arguments of the emulator, and the command lines of what it boots.

use crate::cli::{Clock, RunArguments};
use crate::debian::uefi::Uefi;
use std::path::{Path, PathBuf};

/// Serial number of the disk that the disk load may write to.
const SCRATCH_SERIAL: &str = "pillion-scratch";

/// Length of a turn in µs, where several processors take turns: as many thousand instructions. A
/// turn is part of latencies; but each costs the emulator some µs of this computer's, and five
/// times that in a paced run, in which somebody waits.
const fn turn_us(clock: Clock) -> u32 {
    match clock {
        Clock::Paced => 10,
        Clock::Counted | Clock::Wall => 1,
    }
}

/// What the machine boots.
pub enum Boot {
    /// Pillion and its bundle.
    Pillion { kernel: PathBuf, bundle: PathBuf, line: String },
    /// The same from a CD, by GRUB; by that firmware, if it is not the emulator's BIOS.
    Grub { image: PathBuf, uefi: Option<Uefi> },
    /// Linux alone, without Pillion.
    Direct { image: PathBuf, initrd: PathBuf, append: String },
}

/// The folder of a run: sockets, scratch disk, files for the network load.
pub struct Folder<'a>(pub &'a Path);

impl Folder<'_> {
    /// Socket of the first serial port, Linux's console.
    pub fn console(&self) -> PathBuf {
        self.0.join("com1")
    }
    /// Named pipe of the second serial port, Pillion's log; with Linux alone, of the debug console.
    pub fn log(&self) -> PathBuf {
        self.0.join("com2")
    }
    /// Socket of the emulator's monitor, for runs that send it commands.
    pub fn monitor(&self) -> PathBuf {
        self.0.join("monitor")
    }
    /// Socket of the channel that `requests.rs` writes to.
    pub fn requests(&self) -> PathBuf {
        self.0.join("requests")
    }
    /// Scratch disk.
    pub fn scratch(&self) -> PathBuf {
        self.0.join("scratch.img")
    }
    /// Files that the emulator's network serves by TFTP.
    pub fn served(&self) -> PathBuf {
        self.0.join("served")
    }
}

/// The emulator's arguments.
pub fn arguments(run: &RunArguments, boot: &Boot, folder: &Folder) -> Vec<String> {
    let mut list = Arguments::default();
    processor(&mut list, run);
    if run.takes_turns() {
        turns(&mut list, run.turn.unwrap_or(turn_us(run.clock())));
    }
    list.add("-m", run.memory);
    list.flag("-nodefaults").add("-display", "none");
    if run.when.is_empty() {
        list.add("-monitor", "none");
    } else {
        list.add("-monitor", format!("unix:{},server=on,wait=off", folder.monitor().display()));
    }
    serial(&mut list, run, boot, folder);
    devices(&mut list, run, folder);
    match boot {
        Boot::Pillion { kernel, bundle, line } => {
            list.add("-kernel", kernel.display()).add("-initrd", bundle.display()).add("-append", line);
        }
        Boot::Grub { image, uefi } => {
            list.add("-cdrom", image.display()).add("-boot", "d");
            uefi.iter().for_each(|uefi| firmware(&mut list, uefi));
        }
        Boot::Direct { image, initrd, append } => {
            list.add("-kernel", image.display()).add("-initrd", initrd.display()).add("-append", append);
            list.flag("-no-reboot");
        }
    }
    list.0.extend(run.qemu_args.iter().cloned());
    list.0
}

/// The kernel's own command line. With a paced clock the emulated processor must never be idle: the
/// emulator passes idle time by this computer's clock, and wakes up late. Without Linux, which
/// would run the loads, `--seconds` is the limit of the run.
pub fn kernel_line(run: &RunArguments, linux: bool) -> String {
    let poll = (run.clock() == Clock::Paced).then_some("idle=poll");
    let until = run.build.no_linux.then_some("until=ended");
    let trace = run.trace.is_some().then_some("trace=2");
    // Last, because the first word of a name counts: the user may have given another limit.
    let limit = run.seconds.filter(|_| !linux).map(|seconds| format!("seconds={seconds}"));
    let words = [poll, until, trace, run.kernel_append.as_deref(), limit.as_deref()];
    Vec::from_iter(words.into_iter().flatten()).join(" ")
}

/// Linux's command line: the parameters of init, and what the user adds. `size` is the rows and
/// columns of the terminal that Linux may use.
pub fn linux_line(run: &RunArguments, size: Option<(u16, u16)>) -> String {
    // The last one is where init writes.
    let screen = if run.uefi { "console=tty0 " } else { "" };
    let mut words = vec![format!("{screen}console=ttyS0"), "quiet".into()];
    if run.direct {
        // As Pillion's monitor has it.
        words.push("panic=-1".into());
    }
    if run.counted {
        words.push("nokaslr".into());
    }
    words.push(format!("ride.mode={}", if run.headless { "script" } else { "shell" }));
    // Passed only if the user gave it: it ends the user's own programs as well.
    words.extend(run.seconds.map(|seconds| format!("ride.seconds={seconds}")));
    if !run.load.is_empty() {
        words.push(format!("ride.load={}", run.load.join(",")));
    }
    if let Some((rows, columns)) = size {
        words.push(format!("ride.rows={rows} ride.cols={columns}"));
    }
    if run.disk.is_some() {
        words.push("ride.root=auto".into());
    }
    if let Some(fault) = &run.fault {
        words.push(format!("ride.fault={fault}"));
    }
    if run.direct {
        words.push("ride.direct".into());
    }
    words.extend(run.build.append.clone());
    words.join(" ")
}

/// A UEFI in flash memory, and the graphics card that it needs to have a screen.
fn firmware(list: &mut Arguments, uefi: &Uefi) {
    uefi.drives().iter().for_each(|drive| _ = list.add("-drive", drive));
    list.add("-device", "VGA,romfile=");
}

#[derive(Default)]
struct Arguments(Vec<String>);

impl Arguments {
    fn flag(&mut self, name: &str) -> &mut Self {
        self.0.push(name.into());
        self
    }
    fn add(&mut self, name: &str, value: impl ToString) -> &mut Self {
        self.0.extend([name.into(), value.to_string()]);
        self
    }
}

fn processor(list: &mut Arguments, run: &RunArguments) {
    list.add("-M", "q35").add("-smp", run.cpus).add("-accel", "tcg");
    match run.clock() {
        Clock::Counted => {
            list.add("-icount", "shift=0,sleep=off").add("-rtc", "base=2024-01-01,clock=vm").add("-seed", "1");
            list.add("-cpu", format!("{},-rdrand,-rdseed", run.cpu));
        }
        Clock::Paced => {
            list.add("-icount", "shift=0,sleep=on").add("-rtc", "clock=vm").add("-cpu", &run.cpu);
        }
        Clock::Wall => {
            list.add("-cpu", &run.cpu);
        }
    }
}

/// A turn ends at the machine's next timer. A filter that hands on, so often, what arrived at a
/// port of a hub with nobody on it, has one, and does nothing else.
fn turns(list: &mut Arguments, us: u32) {
    list.add("-netdev", "hubport,id=turns,hubid=99");
    list.add("-object", format!("filter-buffer,id=turn,netdev=turns,interval={us}"));
}

fn serial(list: &mut Arguments, run: &RunArguments, boot: &Boot, folder: &Folder) {
    list.add("-chardev", format!("socket,id=com1,path={}", folder.console().display()));
    list.add("-chardev", format!("file,id=com2,path={}", folder.log().display()));
    list.add("-serial", "chardev:com1");
    match boot {
        _ if run.build.no_uart => list,
        Boot::Pillion { .. } | Boot::Grub { .. } => list.add("-serial", "chardev:com2"),
        Boot::Direct { .. } => list.add("-serial", "null").add("-device", "isa-debugcon,iobase=0xe9,chardev=com2"),
    };
}

fn devices(list: &mut Arguments, run: &RunArguments, folder: &Folder) {
    if run.build.wire {
        wire(list);
    }
    let scratch = format!("{},format=raw,cache=unsafe", folder.scratch().display());
    if run.build.card {
        card(list, &scratch);
    }
    if !run.isolated {
        host(list, run, folder, &scratch);
    }
    // Like the console, it sends nothing until the user does something.
    if !run.headless {
        list.add("-chardev", format!("socket,id=requests,server=on,wait=off,path={}", folder.requests().display()));
        list.add("-device", "virtio-serial-pci").add("-device", "virtserialport,chardev=requests,name=requests");
    }
}

/// Devices that this computer serves from its own threads: disks, network, random numbers.
fn host(list: &mut Arguments, run: &RunArguments, folder: &Folder, scratch: &str) {
    if let Some(disk) = &run.disk {
        let format = if disk.extension().is_some_and(|name| name == "qcow2") { "qcow2" } else { "raw" };
        drive(list, "root", &format!("{},format={format}", disk.display()), "pillion-root");
    }
    if !run.build.card {
        drive(list, "scratch", scratch, SCRATCH_SERIAL);
    }
    let mut network = format!("user,id=net,tftp={}", folder.served().display());
    for (here, linux) in run.forward.iter().filter_map(|pair| pair.split_once(':')) {
        network.push_str(&format!(",hostfwd=tcp:127.0.0.1:{here}-:{linux}"));
    }
    list.add("-netdev", network).add("-device", "virtio-net-pci,netdev=net,romfile=");
    list.add("-device", "virtio-rng-pci");
}

/// Two network cards, and nothing else, on one wire. What one sends has reached the other when the
/// write to the sender's register completes; both moderate their interrupts by timers of the
/// machine's clock.
fn wire(list: &mut Arguments) {
    for end in ["wire0", "wire1"] {
        list.add("-netdev", format!("hubport,id={end},hubid=0"));
        list.add("-device", format!("e1000e,netdev={end},romfile="));
    }
}

/// A memory card behind a host controller, which has read or written the card by the time the
/// access to its register completes.
fn card(list: &mut Arguments, file: &str) {
    list.add("-drive", format!("if=none,id=card,file={file}"));
    list.add("-device", "sdhci-pci").add("-device", "sd-card,drive=card");
}

fn drive(list: &mut Arguments, id: &str, file: &str, serial: &str) {
    list.add("-drive", format!("if=none,id={id},file={file}"));
    list.add("-device", format!("virtio-blk-pci,drive={id},serial={serial}"));
}
