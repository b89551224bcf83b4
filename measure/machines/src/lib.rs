//! Machines of the cache and TLB model. A machine is a file `NAME.toml`; the plug-in
//! (`measure/plugin/model`) takes its numbers and words as arguments `table.key=value`, and defines
//! which keys exist.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// What is wrong with a machine's file.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It cannot be read.
    #[error("cannot read {0}: {1}")]
    Unreadable(PathBuf, std::io::Error),
    /// It is not TOML.
    #[error("{0}: {1}")]
    NotToml(PathBuf, toml::de::Error),
    /// The title for people is missing.
    #[error("{0}: `title` is missing or no string")]
    NoTitle(PathBuf),
    /// No parameter has a value of this kind.
    #[error("{0}: `{1}` is neither a number nor a word nor true or false")]
    Kind(PathBuf, String),
}

/// A machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// For people: processor, clock, caches.
    pub title: String,
    /// Keys with their values.
    parameters: Vec<(String, String)>,
}

impl Machine {
    /// Reads a machine's file.
    pub fn read(path: &Path) -> Result<Machine, Error> {
        let text = std::fs::read_to_string(path).map_err(|error| Error::Unreadable(path.into(), error))?;
        let mut table: Table = text.parse().map_err(|error| Error::NotToml(path.into(), error))?;
        let Some(Value::String(title)) = table.remove("title") else { return Err(Error::NoTitle(path.into())) };
        let mut parameters = Vec::new();
        flatten("", &table, &mut parameters).map_err(|key| Error::Kind(path.into(), key))?;
        Ok(Machine { title, parameters })
    }

    /// The plug-in's arguments for this machine, to append to its file name and a comma.
    pub fn arguments(&self) -> String {
        let list: Vec<String> = self.parameters.iter().map(|(key, value)| format!("{key}={value}")).collect();
        list.join(",")
    }
}

/// Appends a table's keys, each prefixed with the tables' names; an error names a key that is not a
/// parameter.
fn flatten(prefix: &str, table: &Table, into: &mut Vec<(String, String)>) -> Result<(), String> {
    for (name, value) in table {
        let key = format!("{prefix}{name}");
        match value {
            Value::Table(inner) => flatten(&format!("{key}."), inner, into)?,
            Value::Integer(number) => into.push((key, number.to_string())),
            Value::Float(number) => into.push((key, number.to_string())),
            Value::Boolean(flag) => into.push((key, flag.to_string())),
            Value::String(word) if word.chars().all(|c| c.is_ascii_lowercase()) => into.push((key, word.clone())),
            _ => return Err(key),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(text: &str) -> Result<Machine, Error> {
        let file = std::env::temp_dir().join(format!("machine-{}-{}.toml", std::process::id(), text.len()));
        std::fs::write(&file, text).unwrap();
        let machine = Machine::read(&file);
        std::fs::remove_file(&file).unwrap();
        machine
    }

    #[test]
    fn tables_become_dotted_keys() {
        let read =
            machine("title = \"A, b\"\nmhz = 200\ntags = \"none\"\n[cache.l2]\nhit = 1.5\ninclusive = true\n").unwrap();
        assert_eq!(read.title, "A, b");
        let arguments = read.arguments();
        let mut list: Vec<&str> = arguments.split(',').collect();
        list.sort_unstable();
        assert_eq!(list, ["cache.l2.hit=1.5", "cache.l2.inclusive=true", "mhz=200", "tags=none"]);
    }

    #[test]
    fn what_would_break_the_arguments_is_refused() {
        assert!(matches!(machine("mhz = 200"), Err(Error::NoTitle(_))));
        assert!(
            matches!(machine("title = \"a\"\n[tlb.code]\nways = [1, 2]"), Err(Error::Kind(_, key)) if key == "tlb.code.ways")
        );
        assert!(matches!(machine("title = \"a\"\ntags = \"a,b\""), Err(Error::Kind(_, key)) if key == "tags"));
        assert!(matches!(machine("title ="), Err(Error::NotToml(..))));
        assert!(matches!(Machine::read(Path::new("/nowhere.toml")), Err(Error::Unreadable(..))));
    }
}
