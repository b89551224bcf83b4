//! The loads to measure under.

mod compile_like;
mod coverage;
mod flood;
mod ping;

use crate::process::{Child, child};
use crate::realtime;
use anyhow::{Context, Result};
use clap::Args;
use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

/// Options of `pillion-measure load`.
#[derive(Args, Debug)]
pub struct Options {
    #[arg(value_parser = names(), help = ABOUT)]
    name: String,
    /// How long to run
    #[arg(long, default_value_t = 10, value_name = "N")]
    seconds: u64,
    /// ping: host to send requests to
    #[arg(long, default_value_t = Ipv4Addr::LOCALHOST, value_name = "ADDRESS")]
    host: Ipv4Addr,
}

const ABOUT: &str = "flood: every cache line dirty, every TLB entry replaced; coverage: many system calls, right and wrong; \
                     ping: echo requests; compile-like: short-lived processes";

/// A load: each call does a piece of its work and returns the amount.
type Piece = Box<dyn FnMut() -> Result<u64>>;

/// A load's name, and how to prepare it.
struct Load {
    name: &'static str,
    /// What it counts.
    unit: &'static str,
    prepare: fn(Ipv4Addr) -> Result<Piece>,
}

const ALL: &[Load] = &[
    Load { name: "flood", unit: "passes", prepare: |_| flood::prepare() },
    Load { name: "coverage", unit: "rounds", prepare: |_| coverage::prepare() },
    Load { name: "ping", unit: "answers", prepare: ping::prepare },
    Load { name: "compile-like", unit: "files", prepare: |_| compile_like::prepare() },
];

fn names() -> clap::builder::PossibleValuesParser {
    ALL.iter().map(|load| load.name).collect::<Vec<_>>().into()
}

fn find(name: &str) -> Result<&'static Load> {
    ALL.iter().find(|load| load.name == name).with_context(|| format!("there is no load {name}"))
}

/// Runs a load for some seconds and reports how much it did. Fails if it could not do its work.
pub fn run(options: &Options) -> Result<bool> {
    let load = find(&options.name)?;
    let mut piece = (load.prepare)(options.host)?;
    let end = Instant::now() + Duration::from_secs(options.seconds);
    let mut done = 0;
    while done == 0 || Instant::now() < end {
        done += piece()?;
    }
    println!("{done} {}", load.unit);
    Ok(true)
}

/// Loads that run beside an experiment until this value is dropped.
pub struct Beside(Vec<(String, Child)>);

impl Beside {
    /// Starts loads by name, and commands, on the measured processor. Fails if a load is unknown.
    pub fn begin(loads: &[String], commands: &[String], cpu: usize) -> Result<Beside> {
        let mut children = Vec::new();
        for name in loads {
            let load = find(name)?;
            children.push((name.clone(), child(move || forever(load, cpu))?));
        }
        for command in commands {
            children.push((command.clone(), child(|| again_and_again(command, cpu))?));
        }
        Ok(Beside(children))
    }

    /// The loads that have ended by themselves, which none should.
    pub fn ended(&mut self) -> Vec<String> {
        let ended = self.0.iter_mut().filter_map(|(name, child)| child.has_ended().then_some(name));
        ended.map(|name| format!("the load beside ended: {name}")).collect()
    }
}

fn forever(load: &Load, cpu: usize) -> Result<()> {
    realtime::pin(cpu)?;
    let mut piece = (load.prepare)(Ipv4Addr::LOCALHOST)?;
    loop {
        piece()?;
    }
}

fn again_and_again(command: &str, cpu: usize) -> Result<()> {
    realtime::pin(cpu)?;
    loop {
        let mut shell = std::process::Command::new("/bin/sh");
        let output = shell.args(["-c", command]).output().context("there is no shell")?;
        anyhow::ensure!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
}
