//! The kind "riding-cost": how many more instructions Linux takes when it rides.

mod compare;
mod count;

use super::experiment::Experiment;
use super::heard::{Done, Heard};
use super::job::{Form, Job};
use super::model::Plugin;
use super::plan::{Plan, RidingCost};
use anyhow::{Context as _, Result};
use compare::{Comparison, Rounds, compare};
use count::{Boot, parse};
use pillion_host::repository::Repository;

const SOURCE: &str = "measure/plugin/count.c";
const PLUGIN: &str = "build/count.so";
/// Addresses of Pillion's kernel; Linux, which is booted with `nokaslr`, begins above.
const KERNEL: &str = "ffffffff80200000-ffffffff80ffffff";
/// A disk that answers at once, and without help of another thread, so that runs are alike.
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
pub fn jobs(experiment: &Experiment, form: Form, repository: &Repository, job: &Job) -> Result<Vec<Job>> {
    let cost = experiment.plan.riding_cost.as_ref().context("[riding_cost] is missing")?;
    super::model::build(repository, &[SOURCE.into()], PLUGIN)?;
    let mut boot = job.boot.clone();
    boot.system = Some("systems/linux.toml".into());
    boot.append(&format!("ride.work={}", cost.works(form)));
    boot.qemu_arg.extend(INSTANT_DISK.iter().flatten().map(|&argument| argument.into()));
    let job = |_| Job {
        system: job.system.clone(),
        run: job.run,
        boot: boot.clone(),
        plugin: Some(Plugin { file: PLUGIN.into(), arguments: format!("range={KERNEL}") }),
    };
    Ok((0..cost.boots(form)).map(job).collect())
}

/// Makes figures of what was counted.
pub fn listen(heard: &mut [Heard], plan: &Plan, form: Form, done: &[Done]) {
    let Some(cost) = &plan.riding_cost else { return };
    let works = cost.works(form);
    for (riding, alone) in &cost.against {
        let Some(at) = heard.iter().position(|heard| heard.system.name == *riding) else { continue };
        let Some(base) = heard.iter().position(|heard| heard.system.name == *alone) else { continue };
        match both(done, alone, riding, works) {
            Ok(compared) => {
                for (name, comparison) in compared {
                    heard[at].say(&name, &comparison);
                    heard[base].figure(&format!("{name}_instructions"), comparison.alone, "instructions");
                }
            }
            Err(error) => heard[at].said.disturbed.push(format!("{error:#}")),
        }
    }
}

impl Heard {
    /// Figures of a riding system: how much more it takes is called as the work is.
    fn say(&mut self, name: &str, comparison: &Comparison) {
        self.figure(name, rounded(comparison.more), "%");
        self.chance.insert(name.to_owned(), rounded(comparison.chance));
        self.figure(&format!("{name}_instructions"), comparison.riding, "instructions");
        self.figure(&format!("{name}_kernel"), rounded(comparison.kernel), "%");
    }

    fn figure(&mut self, name: &str, value: f64, unit: &str) {
        self.said.figures.insert(name.to_owned(), (value, unit.to_owned()));
    }
}

/// Each work on both systems.
fn both(done: &[Done], alone: &str, riding: &str, works: &str) -> Result<Vec<(String, Comparison)>> {
    let (alone, riding) = (boots(done, alone, works)?, boots(done, riding, works)?);
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

fn boots(done: &[Done], system: &str, works: &str) -> Result<Vec<Boot>> {
    let ours = done.iter().filter(|(job, _)| job.system == system).filter_map(|(_, streams)| streams.as_ref().ok());
    ours.map(|streams| parse(&streams.plugin, works)).collect()
}

fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}
