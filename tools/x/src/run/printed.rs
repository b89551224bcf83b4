//! What tasks printed, shown at a run's end to a user who keeps no log.

use pillion_measure_data::plain;
use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;

/// Lines kept for each task.
const KEPT: usize = 20;

/// Lines of the log that begin with a name: `[NAME] text`.
#[derive(Default)]
pub struct Printed(BTreeMap<String, Lines>);

#[derive(Default)]
struct Lines {
    count: usize,
    last: VecDeque<String>,
}

impl Printed {
    /// Takes a line, if it is one.
    pub fn take(&mut self, line: &str) {
        let Some((name, text)) = line.strip_prefix('[').and_then(|rest| rest.split_once("] ")) else { return };
        let lines = self.0.entry(name.to_owned()).or_default();
        lines.count += 1;
        if lines.last.len() == KEPT {
            lines.last.pop_front();
        }
        lines.last.push_back(plain(text));
    }

    /// The last line that a task printed.
    pub fn last(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.last.back().map(String::as_str)
    }

    /// What these tasks printed. The system's own components prefix their lines with their names,
    /// too, but those are left to the log.
    pub fn text<'a>(&self, tasks: impl Iterator<Item = &'a str>) -> String {
        let mut out = String::new();
        for (name, Lines { count, last }) in tasks.filter_map(|name| Some((name, self.0.get(name)?))) {
            let of = if *count > KEPT {
                format!(" (the last {KEPT} of {count} lines; --log FILE keeps all)")
            } else {
                String::new()
            };
            let _ = writeln!(out, "\nwhat {name} printed{of}");
            out.extend(last.iter().map(|line| format!("    {line}\n")));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_what_tasks_printed_is_kept() {
        let mut printed = Printed::default();
        for line in ["[boot] virtualisation", "[motor] turns\x1b[2J", "no line of a task", "[other] is there"] {
            printed.take(line);
        }
        assert_eq!(printed.text(["motor", "silent"].into_iter()), "\nwhat motor printed\n    turns[2J\n");
        (0..30).for_each(|n| printed.take(&format!("[other] line {n}")));
        let text = printed.text(["other"].into_iter());
        assert!(text.contains("the last 20 of 31 lines; --log FILE"), "{text}");
        assert!(
            text.contains("    line 29\n") && text.contains("    line 10\n") && !text.contains("line 9\n"),
            "{text}"
        );
    }
}
