//! Pillion as it is installed: packages on a Debian with a disk of its own, GRUB's entry, and boots
//! by the machine's BIOS and by its UEFI.

use crate::deb;
use crate::debian::uefi::{self, Uefi};
use crate::debian::{Archive, kernel::Kernel, suite};
use crate::doctor::install;
use crate::file;
use crate::progress::step;
use crate::qemu;
use crate::repository::Repository;
use crate::run::own_process::tail;
use crate::tally::Tally;
use crate::tool;
use anyhow::{Context as _, Result, ensure};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The test's name.
pub const NAME: &str = "installed";

/// What the Debian has beside the smallest system.
const PACKAGES: &str = "systemd-sysv,udev,login,kmod,initramfs-tools,dkms,gcc,make,libc6-dev,dosfstools,grub-pc,\
    grub-efi-amd64-bin";
/// Programs that make the disk, and the packages that contain them.
const PROGRAMS: [(&str, &str); 3] = [("mmdebstrap", "mmdebstrap"), ("mke2fs", "e2fsprogs"), ("sfdisk", "fdisk")];
/// Where the file system lies on the disk, in bytes, and its size: GRUB's first part for a BIOS is
/// before it, and the partition that a UEFI reads is behind.
const START: u64 = 1 << 20;
const SIZE: u64 = 3 << 30;
const UEFI_SIZE: u64 = 64 << 20;
const UUID: &str = "11111111-2222-3333-4444-555555555555";

/// It names no hypervisor: nothing may depend on one, such as how the machine is switched off.
const CPU: &str = "EPYC,+svm,+npt,-hypervisor";

/// What runs once on the disk without Pillion, as the user's commands.
const INSTALL: &str = "[Unit]
ConditionKernelCommandLine=trial.install
[Service]
Type=oneshot
StandardOutput=journal+console
StandardError=journal+console
ExecStart=/bin/sh -c 'grub-install --target=i386-pc /dev/sda && mkfs.vfat /dev/sda2 && mount -m /dev/sda2 /boot/efi && \
 grub-install --target=x86_64-efi --removable --no-nvram && update-grub && echo trial: GRUB has entries; \
 systemctl poweroff --force'
[Install]
WantedBy=multi-user.target
";

/// What runs there with Pillion. A thread of a process sleeps in primary mode.
const TRIAL: &str = "[Unit]
ConditionKernelCommandLine=ride.boot
After=getty.target
[Service]
Type=oneshot
StandardOutput=journal+console
StandardError=journal+console
ExecStart=/bin/sh -c 'pillion exec --report chrt -f 50 sleep 0.1; echo trial: exec $?; pillion check; \
 echo trial: a login is $(systemctl is-active serial-getty@ttyS0); \
 echo trial: failed units: $(systemctl --failed --no-legend | wc -l); systemctl poweroff'
[Install]
WantedBy=multi-user.target
";

/// What the console and the log must say.
const SAID: [&str; 5] = [
    "trial: exec 0",
    "to Linux: call 1",
    "/etc/pillion/system.toml is good",
    "trial: failed units: 0",
    "trial: a login is active",
];
const LOGGED: [&str; 3] = ["[boot] module vmlinuz, ", "\"name\":\"dual\",\"event\":\"started\"", "\"status\":\"ok\""];

/// Makes the packages twice, installs them, and boots.
pub fn run(repository: &Repository) -> Result<Tally> {
    install::programs(&PROGRAMS, None)?;
    let mut tally = Tally::default();
    let work = tempfile::Builder::new().prefix(".installed-").tempdir_in(repository.build(""))?;
    let wrong = step(&format!("test {NAME}"), || test(repository, work.path()));
    tally.take(NAME, wrong.unwrap_or_else(|error| vec![format!("{error:#}")]));
    Ok(tally)
}

fn test(repository: &Repository, work: &Path) -> Result<Vec<String>> {
    let [packages, again] = ["packages", "again"].map(|name| work.join(name));
    let names: Vec<PathBuf> = deb::make(repository, &packages)?;
    deb::make(repository, &again)?;
    for name in names.iter().filter_map(|path| path.file_name()) {
        let same = file::read(&packages.join(name))? == file::read(&again.join(name))?;
        ensure!(same, "{} has other bytes when it is made again", name.display());
    }
    let disk = disk(repository, work, &packages)?;
    let said = machine(work, &disk, Boot::Direct("root=/dev/sda1 ro console=ttyS0 trial.install=1"))?;
    ensure!(said.console.contains("trial: GRUB has entries"), "GRUB was not installed:\n{}", said.console);
    let bios = tried("by a BIOS", &machine(work, &disk, Boot::Bios)?);
    let uefi = uefi::with_variables_in(work, repository.build("cache"))?;
    let uefi = tried("by a UEFI", &machine(work, &disk, Boot::Uefi(&uefi))?);
    Ok(bios.into_iter().chain(uefi).collect())
}

/// What a boot lacks, and what it said then.
fn tried(how: &str, said: &Said) -> Vec<String> {
    let missing = |what: &str, text: &str, wanted: &str| {
        (!text.contains(wanted)).then(|| format!("{how}, {what} lacks {wanted:?}"))
    };
    let console = SAID.iter().filter_map(|wanted| missing("the console", &said.console, wanted));
    let log = LOGGED.iter().filter_map(|wanted| missing("the log", &said.log, wanted));
    let wrong: Vec<String> = console.chain(log).collect();
    let seen = (!wrong.is_empty()).then(|| format!("{}\n{}", tail(&said.log, 20), tail(&said.console, 20)));
    wrong.into_iter().chain(seen).collect()
}

/// A disk with a Debian, and the packages.
fn disk(repository: &Repository, work: &Path, packages: &Path) -> Result<PathBuf> {
    let release = Kernel::choose("stock", || Archive::new(repository.build("cache")))?.release;
    for (name, text) in [("trial-install.service", INSTALL), ("trial.service", TRIAL)] {
        fs::write(work.join(name), text)?;
    }
    let archive = work.join("debian.tar");
    let mut debian = Command::new("mmdebstrap");
    debian.args(["--quiet", "--variant=minbase", "--include"]);
    debian.arg(format!("{PACKAGES},linux-image-{release},linux-headers-{release}"));
    let shell = |command: &str| format!("--customize-hook=chroot \"$1\" sh -c '{command}' >&2");
    debian.arg(format!("--customize-hook=copy-in {} /root", packages.display()));
    debian.arg(shell("apt-get install -y -q --no-install-recommends /root/packages/*.deb && rm -r /root/packages"));
    for unit in ["trial-install.service", "trial.service"] {
        debian.arg(format!("--customize-hook=copy-in {} /etc/systemd/system", work.join(unit).display()));
        debian.arg(shell(&format!("systemctl -q enable {unit}")));
    }
    debian.arg(shell(&format!("echo UUID={UUID} / ext4 defaults 0 1 >/etc/fstab; echo installed >/etc/hostname")));
    debian.arg(shell(
        "echo GRUB_TIMEOUT=0 >>/etc/default/grub; echo GRUB_CMDLINE_LINUX=console=ttyS0 >>/etc/default/grub",
    ));
    tool::quietly(debian.arg(suite()?).arg(&archive))?;
    let (tree, disk) = (work.join("root"), work.join("disk.img"));
    fs::create_dir(&tree)?;
    tool::quietly(Command::new("tar").arg("-xf").arg(&archive).arg("-C").arg(&tree).arg("--exclude=./dev/*"))?;
    fs::remove_file(archive)?;
    for (name, to) in [("vmlinuz", "vmlinuz"), ("initrd.img", "initrd")] {
        fs::copy(tree.join(format!("boot/{name}-{release}")), work.join(to))?;
    }
    fs::File::create(&disk)?.set_len(START + SIZE + UEFI_SIZE)?;
    let mut table = Command::new("sfdisk").arg("-q").arg(&disk).stdin(Stdio::piped()).spawn()?;
    let mut lines = table.stdin.take().context("sfdisk reads no table")?;
    write!(lines, "{},{},83,*\n,,ef\n", START / 512, SIZE / 512)?;
    drop(lines);
    ensure!(table.wait()?.success(), "the disk has no partition");
    let mut format = Command::new("mke2fs");
    format.args(["-q", "-t", "ext4", "-U", UUID, "-E"]).arg(format!("offset={START}"));
    tool::quietly(format.arg("-d").arg(&tree).arg(&disk).arg("3G"))?;
    fs::remove_dir_all(tree)?;
    Ok(disk)
}

/// What a machine wrote to its two serial ports.
struct Said {
    console: String,
    log: String,
}

/// What a machine boots.
enum Boot<'a> {
    /// Debian's kernel with that line, without Pillion.
    Direct(&'a str),
    /// Its disk, by GRUB for a BIOS or a UEFI.
    Bios,
    Uefi(&'a Uefi),
}

/// Switches a machine with that disk on, and waits until it switches itself off.
fn machine(work: &Path, disk: &Path, boot: Boot<'_>) -> Result<Said> {
    let [console, log] = ["console.txt", "log.txt"].map(|name| work.join(name));
    let mut machine = Command::new("timeout");
    machine.args(["600", qemu::DEFAULT, "-M", "q35", "-accel", "tcg", "-cpu", CPU, "-m", "1024"]);
    machine.args(["-nodefaults", "-display", "none", "-vga", "std", "-no-reboot"]);
    machine.arg("-serial").arg(format!("file:{}", console.display()));
    machine.arg("-serial").arg(format!("file:{}", log.display()));
    machine.arg("-drive").arg(format!("file={},format=raw,if=none,id=disk", disk.display()));
    machine.args(["-device", "ich9-ahci,id=ahci", "-device", "ide-hd,drive=disk,bus=ahci.0"]);
    match boot {
        Boot::Direct(line) => {
            machine.arg("-kernel").arg(work.join("vmlinuz")).arg("-initrd").arg(work.join("initrd"));
            machine.args(["-append", line]);
        }
        Boot::Bios => {}
        Boot::Uefi(uefi) => {
            uefi.drives().iter().for_each(|drive| _ = machine.arg("-drive").arg(drive));
        }
    }
    let done = tool::quietly(&mut machine);
    let said = Said { console: file::text(&console), log: file::text(&log) };
    done.with_context(|| format!("the machine does not end:\n{}\n{}", tail(&said.log, 20), tail(&said.console, 20)))?;
    Ok(said)
}
