//! Whether a program met its expectations.

use super::expectations::Ending;
use super::{Built, compare};
use crate::run::log_line::{Line, parse};
use crate::run::own_process::{Streams, tail};

/// Lines of the log that are shown for a run that failed for another reason.
const SHOWN: usize = 30;

/// What is wrong; empty if nothing is.
pub fn wrong(built: &[Built], streams: &Streams) -> Vec<String> {
    let mut wrong = Vec::new();
    for Built { program, warnings: said } in built {
        warnings(said, program.expectations.warns.as_deref(), &mut wrong);
        if let Some(difference) =
            compare::difference(&program.expectations, &compare::printed(&streams.log, &program.name))
        {
            wrong.push(format!("{} does not print what it must\n{difference}", program.name));
        }
        let texts = program.expectations.never.iter().filter(|text| streams.log.contains(text.as_str()));
        wrong.extend(texts.map(|text| format!("the log has {text:?}")));
        if !streams.skins().any(|skin| skin.name == program.name && skin.event == "started")
            && program.expectations.ends != Ending::Faulted
        {
            wrong.push(format!("{} did not start\n{}", program.name, tail(&streams.log, SHOWN)));
        }
        ending(&program.name, program.expectations.ends, streams, &mut wrong);
        if let Some(load) = &program.expectations.load {
            loaded(load, streams, &mut wrong);
        }
    }
    if !ended(streams) {
        wrong.push(format!(
            "the machine did not reach its end\n{}\n{}",
            streams.message.trim_end(),
            tail(&streams.log, SHOWN)
        ));
    }
    wrong
}

fn warnings(said: &str, expected: Option<&str>, wrong: &mut Vec<String>) {
    match expected {
        Some(text) if !said.contains(text) => {
            wrong.push(format!("the compiler does not warn of {text:?}\n{}", said.trim_end()))
        }
        None if !said.is_empty() => wrong.push(format!("the compiler warns\n{}", said.trim_end())),
        _ => {}
    }
}

fn ending(name: &str, expected: Ending, streams: &Streams, wrong: &mut Vec<String>) {
    let faulted = streams.faults().any(|task| task == name);
    if faulted != (expected == Ending::Faulted) {
        let what = if faulted { "faulted" } else { "did not fault" };
        wrong.push(format!("{name} {what}\n{}", tail(&streams.log, SHOWN)));
    }
    let refused = streams.skins().any(|skin| skin.name == name && skin.result.is_some_and(|result| result != 0));
    if refused != (expected == Ending::Refused) {
        let what = if refused { "failed" } else { "did not fail" };
        wrong.push(format!("{name}: its init_module {what}\n{}", tail(&streams.log, SHOWN)));
    }
}

fn loaded(load: &str, streams: &Streams, wrong: &mut Vec<String>) {
    let notes = |how: &str| format!("\"text\":\"load {load} {how}");
    if !streams.log.contains(&notes("ok")) || streams.log.contains(&notes("failed")) {
        wrong.push(format!("the load {load} did not end well\n{}", tail(&streams.log, SHOWN)));
    }
}

fn ended(streams: &Streams) -> bool {
    streams.log.lines().any(|line| matches!(parse(line), Some(Line::End { .. })))
}

#[cfg(test)]
mod tests {
    use super::super::expectations::Expectations;
    use super::super::{Built, Program};
    use super::*;

    const STARTED: &str = "{\"pillion\":\"skin\",\"name\":\"t\",\"event\":\"started\",\"result\":0}\n";
    const END: &str = "{\"pillion\":\"end\",\"t_ns\":1,\"status\":\"ok\"}\n";

    fn judge(comment: &str, warnings: &str, log: &str) -> usize {
        let expectations = Expectations::parse(&format!("/*\n{comment}\n*/")).unwrap();
        let program = Program { name: "t".into(), source: Default::default(), expectations };
        let streams = Streams { log: log.into(), ..Streams::default() };
        wrong(&[Built { program: &program, warnings: warnings.into() }], &streams).len()
    }

    #[test]
    fn all_has_to_be_as_told() {
        let good = format!("{STARTED}[t] a\n{END}");
        assert_eq!(judge("prints: a", "", &good), 0);
        assert_eq!(judge("prints: b", "", &good), 1);
        assert_eq!(judge("prints: a\nnever: [t]", "", &good), 1);
        assert_eq!(judge("prints: a", "w", &good), 1);
        assert_eq!(judge("prints: a\nwarns: w", "", &good), 1);
        assert_eq!(judge("prints: a\nwarns: w", "a w", &good), 0);
        assert_eq!(judge("prints: a", "", &format!("{STARTED}[t] a\n")), 1, "no end");
        assert_eq!(judge("", "", END), 1, "did not start");
        assert_eq!(judge("prints: a\nends: refused", "", &good), 1);
        assert_eq!(judge("ends: refused", "", &(STARTED.replace(":0}", ":-16}") + END)), 0);
        let fault = STARTED.replace("skin", "fault").replace(
            "\"event\":\"started\",\"result\":0",
            "\"vector\":14,\"error\":0,\"address\":\"0x0\",\"rip\":\"0x0\",\"rsp\":\"0x0\"",
        );
        assert_eq!(judge("ends: faulted", "", &format!("{fault}{END}")), 0);
        let note = |how: &str| format!("{{\"pillion\":\"linux\",\"event\":\"note\",\"text\":\"load l {how}\"}}\n");
        assert_eq!(judge("load: l", "", &format!("{STARTED}{}{END}", note("ok 1"))), 0);
        assert_eq!(judge("load: l", "", &format!("{STARTED}{}{END}", note("failed why"))), 1);
        assert_eq!(judge("load: l", "", &format!("{STARTED}{END}")), 1);
        assert_eq!(judge("", "", &format!("{STARTED}{fault}{END}")), 1);
    }
}
