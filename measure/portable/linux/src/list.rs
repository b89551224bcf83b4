//! `pillion-measure list`.

use crate::experiments::{ALL, Entry};
use serde_json::{Value, json};

/// Prints the experiments. It cannot fail: the result has the type of the other commands.
pub fn list(as_json: bool) -> anyhow::Result<bool> {
    if as_json {
        println!("{:#}", Value::Array(ALL.iter().map(document).collect()));
    } else {
        ALL.iter().for_each(|entry| println!("{:<18} {}", entry.name, entry.title));
    }
    Ok(true)
}

fn document(entry: &Entry) -> Value {
    json!({ "name": entry.name, "title": entry.title, "about": entry.about, "paper": entry.paper, "all": entry.in_all })
}
