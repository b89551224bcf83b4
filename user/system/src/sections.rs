//! The sections and keys as they are written in the file.
use alloc::{string::String, vec::Vec};
use serde::Deserialize;
use toml::Spanned;

pub(crate) type Number = Option<Spanned<i64>>;
type Text = Option<Spanned<String>>;
pub(crate) type Numbers = Option<Spanned<Vec<Spanned<i64>>>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    pub system: Spanned<Header>,
    #[serde(default)]
    pub task: Vec<Spanned<Task>>,
    pub linux: Option<Spanned<Linux>>,
    pub dual: Option<Spanned<Dual>>,
    #[serde(default)]
    pub channels: Channels,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Header {
    pub name: Spanned<String>,
    pub cpus: Numbers,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Task {
    pub name: Spanned<String>,
    pub image: Text,
    pub skin: Text,
    pub threads: Number,
    pub fifo_kib: Number,
    pub start: Text,
    pub share: Option<Spanned<bool>>,
    pub mbuff_kib: Number,
    pub grace_ms: Number,
    pub priority: Number,
    pub cpu: Number,
    pub cpus: Numbers,
    pub period_us: Number,
    pub period_ns: Number,
    pub budget_us: Number,
    pub budget_ns: Number,
    pub budget: Text,
    pub memory_kib: Number,
    pub arguments: Text,
    #[serde(default)]
    pub fpu: bool,
    #[serde(default)]
    pub may_end_system: bool,
    #[serde(default)]
    pub may_start_linux: bool,
    #[serde(default)]
    pub interrupts: Vec<Spanned<Interrupt>>,
    #[serde(default)]
    pub ports: Vec<Spanned<Ports>>,
    #[serde(default)]
    pub devices: Vec<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Interrupt {
    pub line: Spanned<i64>,
    #[serde(default)]
    pub level: bool,
    #[serde(default)]
    pub low: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ports {
    pub first: i64,
    pub count: i64,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Channels {
    pub mbuff_kib: Number,
    #[serde(default)]
    pub shared_fifos: Vec<Spanned<i64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Linux {
    pub kernel: Text,
    pub initrd: Text,
    pub command_line: Text,
    pub memory_mib: Number,
    pub priority: Number,
    pub cpus: Numbers,
    pub period_us: Number,
    pub period_ns: Number,
    pub budget_us: Number,
    pub budget_ns: Number,
    pub restart_limit: Number,
    pub restart_backoff_ms: Number,
    pub after_poweroff: Text,
    pub after_crash: Text,
    pub after_limit: Text,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Dual {
    pub group: Option<Spanned<String>>,
    pub cpus: Numbers,
    pub threads: Number,
    pub linger_ms: Number,
    pub watchdog_ms: Number,
    pub priorities: Option<Spanned<[i64; 2]>>,
    pub ceiling: Number,
    pub boost_us: Number,
    pub shield_ms: Number,
    pub shield_lines: Option<Spanned<Vec<i64>>>,
    pub period_us: Number,
    pub period_ns: Number,
    pub budget_us: Number,
    pub budget_ns: Number,
    pub budget: Text,
}
