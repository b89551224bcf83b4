//! Compares what a program printed with what it must print.

use super::expectations::Expectations;

/// Stands for any text in an expected line.
const ANY: &str = "...";

/// The lines that a task printed, as the log has them.
pub fn printed<'a>(log: &'a str, task: &str) -> Vec<&'a str> {
    let prefix = format!("[{task}] ");
    log.lines().filter_map(|line| line.strip_prefix(&prefix)).map(str::trim_end).collect()
}

/// The difference, line by line; `None` when there is none.
pub fn difference(expectations: &Expectations, printed: &[&str]) -> Option<String> {
    let mut lines: Vec<&str> = printed.to_vec();
    lines.retain(|line| !expectations.may.iter().any(|pattern| fits(pattern, line)));
    let mut lost = Vec::new();
    for pattern in &expectations.anywhere {
        match lines.iter().position(|line| fits(pattern, line)) {
            Some(at) => drop(lines.remove(at)),
            None => lost.push(format!("- {pattern} (anywhere)")),
        }
    }
    let compared = align(&expectations.prints, &lines);
    let differs = !lost.is_empty() || compared.iter().any(|line| !line.starts_with(' '));
    differs.then(|| compared.into_iter().chain(lost).collect::<Vec<_>>().join("\n"))
}

/// Whether a line matches a pattern.
fn fits(pattern: &str, line: &str) -> bool {
    let mut parts = pattern.split(ANY);
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = line.strip_prefix(first) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    true
}

/// Aligns both lists by a longest common subsequence: ` ` precedes what is in both, `- ` and `+ `
/// what is in only one.
fn align(wanted: &[String], lines: &[&str]) -> Vec<String> {
    let mut longest = vec![vec![0u32; lines.len() + 1]; wanted.len() + 1];
    for i in (0..wanted.len()).rev() {
        for j in (0..lines.len()).rev() {
            longest[i][j] = if fits(&wanted[i], lines[j]) {
                longest[i + 1][j + 1] + 1
            } else {
                longest[i + 1][j].max(longest[i][j + 1])
            };
        }
    }
    let (mut i, mut j, mut out) = (0, 0, Vec::new());
    while i < wanted.len() || j < lines.len() {
        if i < wanted.len() && j < lines.len() && fits(&wanted[i], lines[j]) {
            out.push(format!("  {}", lines[j]));
            (i, j) = (i + 1, j + 1);
        } else if j == lines.len() || i < wanted.len() && longest[i + 1][j] >= longest[i][j + 1] {
            out.push(format!("- {}", wanted[i]));
            i += 1;
        } else {
            out.push(format!("+ {}", lines[j]));
            j += 1;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expectations(prints: &[&str]) -> Expectations {
        Expectations { prints: prints.iter().map(|line| (*line).to_owned()).collect(), ..Expectations::default() }
    }

    #[test]
    fn dots_stand_for_anything() {
        assert!(fits("a ... c", "a b c") && fits("...", "") && fits("x", "x") && fits("... ns ...", "5 ns x"));
        assert!(!fits("a ... c", "a b d") && !fits("x", "xy") && !fits("a...a", "a"));
    }

    #[test]
    fn every_line_counts() {
        assert_eq!(difference(&expectations(&["a", "b ..."]), &["a", "b 1"]), None);
        assert_eq!(difference(&expectations(&["a", "b"]), &["b", "a"]).unwrap(), "- a\n  b\n+ a");
        assert_eq!(difference(&expectations(&["a"]), &["a", "b"]).unwrap(), "  a\n+ b");
        assert_eq!(difference(&expectations(&["a"]), &[]).unwrap(), "- a");
    }

    #[test]
    fn some_lines_may_be_anywhere_or_absent() {
        let mut expectations = expectations(&["a", "b"]);
        expectations.anywhere = vec!["x".into()];
        expectations.may = vec!["noise ...".into()];
        assert_eq!(difference(&expectations, &["a", "noise 1", "x", "b"]), None);
        assert_eq!(difference(&expectations, &["a", "b"]).unwrap(), "  a\n  b\n- x (anywhere)");
    }

    #[test]
    fn finds_the_lines_of_a_task() {
        assert_eq!(printed("[a] x\r\n[ab] y\n[a] z\nkernel", "a"), ["x", "z"]);
    }
}
