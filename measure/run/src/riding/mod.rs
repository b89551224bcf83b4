//! Experiments with `[riding_cost]`: how many more instructions Linux executes when it rides.

mod comparison;
mod count;

use super::job::{Finished, Job};
use super::plan::{Form, RidingCost};
use super::plugin::{self, Plugin};
use super::readings::SystemReadings;
use super::tool::Tool;
use anyhow::{Context as _, Result};
use comparison::{Comparison, Rounds, compare};
use count::{Boot, parse};

const SOURCE: &str = "measure/plugin/count.c";
const PLUGIN: &str = "build/count.so";
/// The same for an emulator of several processors.
const PLUGIN_OF_TOTALS: &str = "build/count-total.so";
/// Addresses of Pillion's kernel; Linux, booted with `nokaslr`, begins above them.
const KERNEL: &str = "ffffffff80200000-ffffffff80ffffff";
/// A disk that answers at once, without another thread's help, so that runs are alike.
const INSTANT_DISK: [[&str; 2]; 2] = [
    ["-drive", "if=none,id=instant,driver=null-co,size=256M,read-zeroes=on"],
    ["-device", "virtio-blk-pci,drive=instant,serial=pillion-instant,ioeventfd=off"],
];

impl RidingCost {
    fn works(&self, form: Form) -> &str {
        if form.quick { &self.quick_rounds } else { &self.rounds }
    }

    fn boots(&self, form: Form) -> usize {
        if form.quick { self.quick_boots } else { self.boots }
    }
}

/// The boots of a run, with the counting plug-in.
pub fn jobs(cost: &RidingCost, form: Form, tool: &dyn Tool, job: &Job) -> Result<Vec<Job>> {
    let mut boot = job.boot.clone();
    let several = boot.cpus.is_some_and(|number| number > 1);
    let file = if several { PLUGIN_OF_TOTALS } else { PLUGIN };
    if several {
        plugin::build_total(tool.repository(), &tool.emulator_of_several()?, SOURCE, file)?;
    } else {
        plugin::build(tool.repository(), &[SOURCE.into()], file)?;
    }
    boot.system = Some("systems/linux.toml".into());
    boot.append(&format!("ride.work={}", cost.works(form)));
    boot.qemu_arg.extend(INSTANT_DISK.iter().flatten().map(|&argument| argument.into()));
    let job = |_| Job {
        system: job.system.clone(),
        run: job.run,
        boot: boot.clone(),
        plugin: Some(Plugin { file: file.into(), arguments: format!("range={KERNEL}") }),
    };
    Ok((0..cost.boots(form)).map(job).collect())
}

/// Derives figures from the counts.
pub fn read(all: &mut [SystemReadings], cost: &RidingCost, form: Form, finished: &[Finished]) {
    let works = cost.works(form);
    for (riding, alone) in &cost.against {
        let Some(at) = all.iter().position(|one| one.system.name == *riding) else { continue };
        let Some(base) = all.iter().position(|one| one.system.name == *alone) else { continue };
        match both(finished, alone, riding, works) {
            Ok(compared) => {
                for (name, comparison) in compared {
                    all[at].compared(&name, &comparison);
                    all[base].figure(&format!("{name}_instructions"), comparison.alone, "instructions");
                }
            }
            Err(error) => all[at].readings.disturbed.push(format!("{error:#}")),
        }
    }
}

impl SystemReadings {
    /// Adds the figures of a riding system; the relative cost is named after the work.
    fn compared(&mut self, name: &str, comparison: &Comparison) {
        self.figure(name, rounded(comparison.more), "%");
        self.chance.insert(name.to_owned(), rounded(comparison.chance));
        self.figure(&format!("{name}_instructions"), comparison.riding, "instructions");
        self.figure(&format!("{name}_kernel"), rounded(comparison.kernel), "%");
    }

    fn figure(&mut self, name: &str, value: f64, unit: &str) {
        self.readings.figures.insert(name.to_owned(), (value, unit.to_owned()));
    }
}

/// Compares each work on both systems.
fn both(finished: &[Finished], alone: &str, riding: &str, works: &str) -> Result<Vec<(String, Comparison)>> {
    let (alone, riding) = (boots(finished, alone, works)?, boots(finished, riding, works)?);
    let init = |boots: &[Boot]| -> Vec<Rounds> { boots.iter().map(|boot| vec![boot.init]).collect() };
    let mut compared = vec![("boot".to_owned(), compare(&init(&alone), &init(&riding)).context("boot")?)];
    for name in works.split(',').filter_map(|item| item.split_once(':')).map(|(name, _)| name) {
        let rounds =
            |boots: &[Boot]| -> Vec<Rounds> { boots.iter().filter_map(|boot| boot.work.get(name)).cloned().collect() };
        let comparison = compare(&rounds(&alone), &rounds(&riding)).with_context(|| name.to_owned())?;
        compared.push((name.replace('-', "_"), comparison));
    }
    Ok(compared)
}

fn boots(finished: &[Finished], system: &str, works: &str) -> Result<Vec<Boot>> {
    let ours = finished.iter().filter(|one| one.job.system == system);
    let outputs = ours.filter_map(|one| one.output.as_ref().ok());
    outputs.map(|output| parse(&output.plugin, works)).collect()
}

fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}
