//! The counting plug-in's output for a Linux that does fixed amounts of work. Virtual time is not
//! suitable: it skips idle time.

use anyhow::{Context as _, Result, ensure};
use std::collections::BTreeMap;

/// Counts of one boot: all instructions, and those of Pillion's kernel.
#[derive(Debug, Default, PartialEq)]
pub struct Boot {
    /// From power-on to init.
    pub init: [f64; 2],
    /// Each round of each work.
    pub work: BTreeMap<String, Vec<[f64; 2]>>,
}

/// Reads the plug-in's lines: the first `Mark` is init's; between any two others are the `Step`s of
/// one work, in the order of `work`.
pub fn parse(text: &str, work: &str) -> Result<Boot> {
    let wanted: Vec<(&str, &str)> = work.split(',').filter_map(|item| item.split_once(':')).collect();
    let mut boot = Boot::default();
    let mut groups: Vec<Vec<[f64; 2]>> = Vec::new();
    let mut before: Option<[f64; 2]> = None;
    for line in text.lines() {
        let (event, counts) = read(line).with_context(|| format!("the plug-in wrote {line:?}"))?;
        match (event, before) {
            ("Mark", _) => {
                if boot.init[0] == 0.0 {
                    boot.init = counts;
                }
                before = None;
                continue;
            }
            ("Step", None) => groups.push(Vec::new()),
            ("Step", Some([total, kernel])) => {
                let round = [counts[0] - total, counts[1] - kernel];
                groups.last_mut().context("a round without a beginning")?.push(round);
            }
            _ => continue,
        }
        before = Some(counts);
    }
    ensure!(groups.len() == wanted.len(), "{} works were counted instead of {}", groups.len(), wanted.len());
    for ((name, rounds), group) in wanted.into_iter().zip(groups) {
        ensure!(rounds.parse() == Ok(group.len()), "{name} failed after {} of {rounds} rounds", group.len());
        boot.work.insert(name.to_owned(), group);
    }
    Ok(boot)
}

fn read(line: &str) -> Option<(&str, [f64; 2])> {
    let mut words = line.split(' ');
    let event = words.next()?;
    let mut number = || words.next()?.parse().ok();
    Some((event, [number()?, number()?]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_plug_ins_lines() {
        let text = "Mark 100 10\nMark 120 10\nStep 130 11\nStep 150 12\nStep 175 13\nMark 180 13\nMark 190 14\nStep 200 14\nStep 210 15\n\
            Mark 220 15\nend 230 15\n";
        let boot = parse(text, "disk:2,hackbench:1").unwrap();
        assert_eq!(boot.init, [100.0, 10.0]);
        assert_eq!(boot.work["disk"], [[20.0, 1.0], [25.0, 1.0]]);
        assert_eq!(boot.work["hackbench"], [[10.0, 1.0]]);
        assert!(parse(text, "disk:2").is_err());
        assert!(parse(text, "disk:3,hackbench:1").is_err());
        assert!(parse("Step x", "disk:2").is_err());
    }
}
