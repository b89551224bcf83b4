//! Runs one scenario in the emulator.

use super::images::Images;
use super::scenario::Scenario;
use crate::file::temporary;
use crate::qemu;
use crate::run::emulator::Emulator;
use crate::stop;
use anyhow::{Result, ensure};
use std::path::Path;
use std::time::{Duration, Instant};

/// The machine's memory: no more than Pillion and the guest need, because less memory boots sooner.
const MEMORY_MIB: u32 = 128;
/// How long a run may take by this computer's clock.
const LIMIT: Duration = Duration::from_secs(240);

/// The results of a run.
pub struct Ran {
    /// Pillion's log.
    pub log: String,
    /// The emulator's messages.
    pub messages: String,
    /// Why it was ended from outside, if it was.
    pub cut_short: Option<String>,
    /// The emulator itself failed, not what it emulates.
    pub emulator_died: bool,
}

/// Runs a scenario to its end.
pub fn run(images: &Images, scenario: &Scenario) -> Result<Ran> {
    let folder = temporary()?;
    let (bundle, log) = (folder.path().join("bundle"), folder.path().join("log"));
    std::fs::write(&bundle, images.bundle(scenario)?)?;
    let mut emulator = Emulator::start(Path::new(qemu::DEFAULT), &arguments(&images.kernel, &bundle, &log))?;
    let started = Instant::now();
    let mut cut_short = None;
    while !emulator.ended()? && cut_short.is_none() {
        ensure!(!stop::wanted(), "interrupted");
        if started.elapsed() > LIMIT {
            cut_short = Some(format!("the run was given up after {} s", LIMIT.as_secs()));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let emulator_died = cut_short.is_none() && !emulator.succeeded()?;
    let messages = emulator.said(cut_short.is_none())?;
    drop(emulator);
    let log = String::from_utf8_lossy(&std::fs::read(&log)?).into_owned();
    Ok(Ran { log, messages, cut_short, emulator_died })
}

fn arguments(kernel: &Path, bundle: &Path, log: &Path) -> Vec<String> {
    let words = format!(
        "-M q35 -smp 1 -accel tcg -icount shift=0,sleep=off -rtc base=2024-01-01,clock=vm -seed 1 \
         -cpu EPYC,+svm,+npt,-rdrand,-rdseed -m {MEMORY_MIB} -nodefaults -display none -monitor none -no-reboot \
         -serial null -serial file:{} -kernel {} -initrd {}",
        log.display(),
        kernel.display(),
        bundle.display()
    );
    let mut words: Vec<String> = words.split_ascii_whitespace().map(str::to_owned).collect();
    words.extend(Scenario::devices());
    words
}
