//! The expectations in a program's first comment: see rt/tests/README.md.

use anyhow::{Context as _, Result, bail};

/// How a program ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ending {
    /// Successfully, without a fault.
    #[default]
    Well,
    /// `init_module` fails.
    Refused,
    /// It faults.
    Faulted,
}

/// What is expected of a program, and what it needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expectations {
    /// Lines that it prints, in order.
    pub prints: Vec<String>,
    /// Lines that it prints anywhere in its output.
    pub anywhere: Vec<String>,
    /// Lines that it may print.
    pub may: Vec<String>,
    /// Texts that the log must not contain.
    pub never: Vec<String>,
    /// Parameters of the module.
    pub parameters: String,
    /// Lines for its section of the system file.
    pub task: Vec<String>,
    /// Lines for the system file's section of channels.
    pub channels: Vec<String>,
    /// Programs that run beside it.
    pub with: Vec<String>,
    /// How it ends.
    pub ends: Ending,
    /// A text in the compiler's warnings.
    pub warns: Option<String>,
    /// A load that Linux runs.
    pub load: Option<String>,
    /// A program for Linux.
    pub partner: Option<String>,
    /// Arguments of `x run`.
    pub run: Vec<String>,
    /// It first runs on this machine, compiled with these arguments.
    pub native: Option<Vec<String>>,
    /// Time limit in seconds.
    pub limit: u64,
}

impl Expectations {
    /// Reads the comment at the beginning of a source.
    pub fn parse(source: &str) -> Result<Expectations> {
        let comment = source.trim_start().strip_prefix("/*").and_then(|rest| rest.split_once("*/"));
        let (comment, _) = comment.context("it does not begin with a comment that says what it prints")?;
        let mut expectations = Expectations { limit: 60, ..Expectations::default() };
        for line in comment.lines() {
            let line = line.trim_start().trim_start_matches('*');
            if let Some((key, value)) = line.split_once(':') {
                expectations.take(key.trim(), value.strip_prefix(' ').unwrap_or(value).trim_end())?;
            }
        }
        Ok(expectations)
    }

    fn take(&mut self, key: &str, value: &str) -> Result<()> {
        let text = value.to_owned();
        match key {
            "prints" => self.prints.push(text),
            "prints anywhere" => self.anywhere.push(text),
            "may print" => self.may.push(text),
            "never" => self.never.push(text),
            "parameters" => self.parameters = text,
            "task" => self.task.push(text),
            "channels" => self.channels.push(text),
            "with" => self.with.push(text),
            "warns" => self.warns = Some(text),
            "load" => self.load = Some(text),
            "partner" => (self.load, self.partner) = (Some(text.clone()), Some(text)),
            "run" => self.run.extend(value.split_whitespace().map(str::to_owned)),
            "native" => self.native = Some(value.split_whitespace().map(str::to_owned).collect()),
            "limit" => self.limit = value.parse().with_context(|| format!("limit: {value} is no number"))?,
            "ends" => self.ends = ending(value)?,
            // A line for people, who use colons too.
            _ => {}
        }
        Ok(())
    }
}

fn ending(value: &str) -> Result<Ending> {
    Ok(match value {
        "well" => Ending::Well,
        "refused" => Ending::Refused,
        "faulted" => Ending::Faulted,
        _ => bail!("ends: {value} is none of well, refused, faulted"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_comment() {
        let source = "/*\n * Shows: this.\n *\n * prints: a: b\n * prints:\n * prints:  indented\n * ends: faulted\n * run: --x=1 --y\n * limit: 9\n * native: -lm\n */\n/* prints: no */";
        let expectations = Expectations::parse(source).unwrap();
        assert_eq!(expectations.prints, ["a: b", "", " indented"]);
        assert_eq!((expectations.ends, expectations.limit, expectations.run.len()), (Ending::Faulted, 9, 2));
        assert_eq!(expectations.native.as_deref(), Some(&["-lm".to_owned()][..]));
        assert!(Expectations::parse("int x;").is_err());
        assert!(Expectations::parse("/* ends: somehow */").is_err());
    }
}
