//! What every seed boots, built once.

use super::guest_image;
use super::scenario::Scenario;
use crate::build::bundle::Bundle;
use crate::build::{cargo, task_image};
use crate::file;
use crate::progress::step;
use crate::repository::Repository;
use anyhow::Result;
use pillion_campaign::Actor;
use std::path::PathBuf;

/// Packages whose programs are in each bundle.
const TASKS: [&str; 4] = [pillion_abi::bundle::ROOT_TASK, "vmm", "broker", "campaign-task"];
const GUEST: &str = "campaign-guest";

/// The kernel, the tasks and the guest.
pub struct Images {
    /// The microhypervisor.
    pub kernel: PathBuf,
    tasks: Vec<(&'static str, Vec<u8>)>,
    guest: Vec<u8>,
}

impl Images {
    /// Builds all of them.
    pub fn build(repository: &Repository) -> Result<Images> {
        let packages: Vec<String> = TASKS.into_iter().chain([GUEST]).map(str::to_owned).collect();
        let output = step("building the kernel, the tasks and the guest", || cargo::build(repository, &packages))?;
        let read = |name: &str| file::read(&output.join(format!("pillion-{name}")));
        let mut tasks = Vec::new();
        for name in TASKS {
            tasks.push((name, task_image::convert(&read(name)?)?));
        }
        let guest = guest_image::convert(&read(GUEST)?)?;
        Ok(Images { kernel: output.join("pillion-kernel"), tasks, guest })
    }

    /// The bundle of a scenario.
    pub fn bundle(&self, scenario: &Scenario) -> Result<Vec<u8>> {
        let mut bundle = Bundle::default();
        for (name, image) in &self.tasks {
            bundle.add(name, image.clone())?;
        }
        bundle.add(pillion_abi::bundle::SYSTEM_FILE, scenario.system().into_bytes())?;
        bundle.add("vmlinuz", self.guest.clone())?;
        bundle.add("initrd", vec![0])?;
        bundle.add("linux.append", scenario.orders(Actor::Guest).into_bytes())?;
        Ok(bundle.bytes())
    }
}
