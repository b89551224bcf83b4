//! `x test campaign`: runs a hostile guest and hostile tasks, drawn from seeds, beside a watched
//! task.
//!
//! `tests/campaign/draw`, which the guest, the tasks and this tool share, draws what a seed does.

mod guest_image;
mod images;
mod judge;
mod play;
mod scenario;
mod seeds;
mod shrink;
mod totals;

use crate::cli::CampaignArguments;
use crate::parallel::{Work, each, processors};
use crate::problem::problem;
use crate::qemu;
use crate::repository::Repository;
use crate::run::check_output;
use crate::tally::Tally;
use anyhow::Result;
use images::Images;
use judge::Judged;
use pillion_measure_data::plain;
use scenario::Scenario;
use std::path::Path;
use std::time::Instant;
use totals::Totals;

/// The test's name.
pub const NAME: &str = "campaign";

/// Runs the seeds that the arguments select: given ones, or the known ones and as many fresh ones
/// as each CI run has.
pub fn run(repository: &Repository, arguments: &CampaignArguments) -> Result<Tally> {
    qemu::version(Path::new(qemu::DEFAULT))?;
    let scenarios = scenarios(repository, arguments)?;
    if arguments.tell {
        scenarios.iter().flat_map(shrink::steps).for_each(|step| println!("{step}"));
        return Ok(Tally { passed: scenarios.len() as u64, failed: Vec::new() });
    }
    arguments.json.iter().try_for_each(|file| check_output(file))?;
    let images = Images::build(repository)?;
    let workers = arguments.jobs.unwrap_or_else(processors);
    let (started, mut totals) = (Instant::now(), Totals::default());
    if let Some(folder) = &arguments.logs {
        std::fs::create_dir_all(folder)?;
    }
    let logs = arguments.logs.as_deref();
    let pieces = scenarios.iter().map(|scenario| piece(&images, scenario, logs)).collect();
    each(pieces, workers, |at, judged: Result<Judged>| {
        let judged = judged?;
        totals.take(&scenarios[at], &judged);
        Ok(())
    })?;
    for (scenario, emulator_died) in &totals.failed {
        if !arguments.no_shrink {
            println!("{}", plain(&shrink::text(&images, scenario, *emulator_died)?));
        }
    }
    print!("{}", plain(&totals.text(started.elapsed())));
    if let Some(file) = &arguments.json {
        std::fs::write(file, serde_json::to_vec_pretty(&totals.json())?)?;
    }
    Ok(totals.tally())
}

fn piece<'a>(images: &'a Images, scenario: &'a Scenario, logs: Option<&'a Path>) -> Work<'a, Judged> {
    let work = move || {
        let ran = play::run(images, scenario)?;
        if let Some(folder) = logs {
            std::fs::write(folder.join(format!("{}.log", scenario.seed)), &ran.log)?;
        }
        Ok(judge::judge(scenario, &ran))
    };
    Work { name: format!("seed {}", scenario.seed), work: Box::new(work) }
}

fn scenarios(repository: &Repository, arguments: &CampaignArguments) -> Result<Vec<Scenario>> {
    let replay = [&arguments.guest, &arguments.task, &arguments.skinned].into_iter().any(Option::is_some);
    let Some(range) = &arguments.seeds else {
        if replay {
            return Err(problem(
                "no seed is given",
                "--guest, --task and --skinned restrict what one seed does",
                "add --seeds N",
            ));
        }
        return seeds::usual(repository);
    };
    let mut scenarios: Vec<Scenario> = seeds::range(range)?.map(Scenario::new).collect();
    for scenario in &mut scenarios {
        scenario.restrict(arguments);
    }
    Ok(scenarios)
}
