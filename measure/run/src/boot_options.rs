//! A boot of the machine.

use serde::Deserialize;

/// The load for which the machine needs the network to this computer.
const OUTSIDE: &str = "net";

/// A boot: the options of the same names for `x run --headless --counted`. Paths are relative to
/// the repository; in a measure.toml, `{here}` is the experiment's folder.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct Boot {
    /// System file.
    pub system: Option<String>,
    /// The package of the first and only task.
    pub root: Option<String>,
    /// Number of the machine's processors.
    pub cpus: Option<u8>,
    /// Longest turn of one of several processors, in µs.
    pub turn: Option<u32>,
    /// RTLinux programs.
    pub task: Vec<String>,
    /// Without Linux.
    pub no_linux: bool,
    /// Linux without Pillion.
    pub direct: bool,
    /// Linux's kernel without its decompressor.
    pub unpacked: bool,
    /// The patch that makes a modified kernel.
    pub patch: Option<String>,
    /// The Linux kernel.
    pub linux: Option<String>,
    /// Addition to Linux's command line.
    pub append: Option<String>,
    /// Addition to Pillion's command line.
    pub kernel_append: Option<String>,
    /// Linux gets the module of linux/measure.
    pub measure_module: bool,
    /// Files for Linux.
    pub file: Vec<String>,
    /// Loads that Linux runs.
    pub load: Vec<String>,
    /// How long a load runs.
    pub seconds: Option<u32>,
    /// The fault injected into Linux.
    pub fault: Option<String>,
    /// Additional arguments of the emulator.
    pub qemu_arg: Vec<String>,
    /// The machine has no device that this computer serves, so that it repeats to the last
    /// instruction.
    #[serde(skip)]
    pub isolated: bool,
    /// Two network cards, which the emulator serves itself.
    #[serde(skip)]
    pub wire: bool,
    /// A memory card, which the emulator serves itself.
    #[serde(skip)]
    pub card: bool,
    /// Seconds of this computer's time after which the run is given up.
    #[serde(skip)]
    pub timeout: Option<u32>,
}

impl Boot {
    /// Replaces `{here}` in paths.
    pub fn set_here(&mut self, here: &str) {
        for path in self.system.iter_mut().chain(&mut self.patch).chain(&mut self.task).chain(&mut self.file) {
            *path = path.replace("{here}", here);
        }
    }

    /// Gives the machine the devices that its loads need, and, with `isolate` and if the loads
    /// allow it, none that this computer serves.
    pub fn set_devices(&mut self, isolate: bool) {
        let needs = |load: &str| self.load.iter().any(|name| name == load);
        let (outside, wire, card) = (needs(OUTSIDE), needs("packets"), needs("disk"));
        (self.isolated, self.wire, self.card) = (isolate && !outside, wire, card);
    }

    /// Adds words to Linux's command line.
    pub fn append(&mut self, words: &str) {
        let before = self.append.take().map_or(String::new(), |line| line + " ");
        self.append = Some(before + words);
    }

    /// The options of `x run`.
    pub fn options(&self) -> Vec<String> {
        let mut options = Vec::new();
        let mut add = |name: &str, value: &str| options.extend([format!("--{name}"), value.into()]);
        let seconds = self.seconds.map(|seconds| seconds.to_string());
        let timeout = self.timeout.map(|seconds| seconds.to_string());
        let cpus = self.cpus.map(|number| number.to_string());
        let turn = self.turn.map(|us| us.to_string());
        for (name, value) in [
            ("system", &self.system),
            ("root", &self.root),
            ("cpus", &cpus),
            ("turn", &turn),
            ("patch", &self.patch),
            ("linux", &self.linux),
            ("append", &self.append),
            ("kernel-append", &self.kernel_append),
            ("seconds", &seconds),
            ("fault", &self.fault),
            ("timeout", &timeout),
        ] {
            value.iter().for_each(|value| add(name, value));
        }
        self.task.iter().for_each(|task| add("task", task));
        self.file.iter().for_each(|file| add("file", file));
        if !self.load.is_empty() {
            add("load", &self.load.join(","));
        }
        let flags = [
            ("no-linux", self.no_linux),
            ("direct", self.direct),
            ("unpacked", self.unpacked),
            ("measure-module", self.measure_module),
            ("isolated", self.isolated),
            ("wire", self.wire),
            ("card", self.card),
        ];
        let set = flags.iter().filter(|(_, set)| *set);
        options.extend(set.map(|(name, _)| format!("--{name}")));
        options.extend(self.qemu_arg.iter().map(|argument| format!("--qemu-arg={argument}")));
        options
    }

    /// The command line that repeats the boot.
    pub fn command(&self) -> String {
        let quoted = |word: String| match word.contains([' ', '*', '&', ';']) {
            true => format!("'{word}'"),
            false => word,
        };
        let words: Vec<String> = self.options().into_iter().map(quoted).collect();
        format!("./x run --headless --counted {}", words.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(loads: &[&str]) -> Boot {
        let load = loads.iter().map(|load| (*load).to_owned()).collect();
        let mut boot = Boot { load, ..Boot::default() };
        boot.set_devices(true);
        boot
    }

    #[test]
    fn only_what_loads_need_is_given_to_the_machine() {
        let given = |loads: &[&str]| [with(loads).isolated, with(loads).wire, with(loads).card];
        assert_eq!(given(&["flood", "coverage", "measure"]), [true, false, false]);
        assert_eq!(given(&["measure", "net"]), [false, false, false]);
        let inside = ["packets", "measure", "disk"];
        assert_eq!(given(&inside), [true, true, true], "a wire and a card are inside");
        let mut boot = with(&inside);
        boot.set_devices(false);
        assert!(!boot.isolated && boot.wire && boot.card);
    }

    #[test]
    fn a_command_has_what_is_set_and_nothing_else() {
        let text = "task = [\"{here}/a\"]\nload = [\"disk\", \"net\"]\nqemu_arg = [\"-device\"]";
        let mut boot: Boot = toml::from_str(text).unwrap();
        boot.set_here("e");
        boot.append("quiet");
        boot.append("nokaslr");
        let expected = "./x run --headless --counted --append 'quiet nokaslr' --task e/a \
            --load disk,net --qemu-arg=-device";
        assert_eq!(boot.command(), expected);
        assert!(Boot::default().options().is_empty());
        assert!(toml::from_str::<Boot>("taks = [\"a\"]").is_err());
    }
}
