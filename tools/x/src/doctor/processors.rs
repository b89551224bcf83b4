//! The processors of this machine: how many Pillion would find, if it ran here, and which.

use pillion_system::Processors;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Where Linux lists them.
const LISTED: &str = "/sys/devices/system/cpu";

/// A sentence on this machine's processors.
pub fn here() -> String {
    in_folder(Path::new(LISTED))
}

fn in_folder(folder: &Path) -> String {
    let read = |name: &str| list(&fs::read_to_string(folder.join(name)).unwrap_or_default());
    let (present, online) = (read("present"), read("online"));
    if present.is_empty() {
        return "Linux does not list them".into();
    }
    let mut text = format!("{} found, {} used by this Linux", present.len(), online.len());
    let off: Vec<String> = present.difference(&online).map(u32::to_string).collect();
    if !off.is_empty() {
        text += &format!(", {} off", off.join(", "));
    }
    let siblings = |number: &u32| list(&read_text(folder, *number));
    let shared = online.iter().filter(|number| siblings(number).len() > 1).count();
    if shared != 0 {
        text += &format!(", {shared} of them share a core with another");
    }
    let most = Processors::ALL.count();
    text + &format!("; Pillion runs up to {most}, and `./x run --cpus N` emulates N, however many there are")
}

fn read_text(folder: &Path, number: u32) -> String {
    fs::read_to_string(folder.join(format!("cpu{number}/topology/thread_siblings_list"))).unwrap_or_default()
}

/// The numbers in a list like `0-3,6`.
fn list(text: &str) -> BTreeSet<u32> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse().ok()?..=last.parse().ok()?)
    };
    text.trim().split(',').filter_map(range).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_which_are_there_and_used() {
        let folder = tempfile::tempdir().unwrap();
        let said = || in_folder(folder.path());
        assert_eq!(said(), "Linux does not list them");
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("present", "0-3\n");
        write("online", "0-1,3\n");
        assert!(said().starts_with("4 found, 3 used by this Linux, 2 off; Pillion runs up to 8"), "{}", said());
        write("cpu0/topology/thread_siblings_list", "0-1\n");
        write("cpu1/topology/thread_siblings_list", "0,1\n");
        write("cpu3/topology/thread_siblings_list", "3\n");
        assert!(said().contains("2 off, 2 of them share a core with another;"), "{}", said());
    }
}
