//! Sources that are none of a task, told in a line and not by pages of the compiler's: programs of Linux processes, and what is in Linux's kernel alone.

use super::order::Order;
use crate::problem::problem;
use anyhow::Error;
use std::collections::BTreeSet;
use std::path::Path;

/// What tasks have in place of it.
pub const TABLE: &str = "docs/rtlinux.md, section \"Left out\", says what to use instead";

/// What of Linux's kernel no task has, and how the names of it begin.
const ABSENT: [(&str, &[&str]); 5] = [
    (
        "tasklets and bottom halves",
        &["tasklet_", "DECLARE_TASKLET", "mark_bh", "init_bh", "queue_task", "schedule_task"],
    ),
    (
        "character devices",
        &["register_chrdev", "unregister_chrdev", "file_operations", "misc_register", "copy_to_user", "copy_from_user"],
    ),
    ("files in /proc", &["create_proc_", "remove_proc_", "proc_dir_entry"]),
    (
        "kernel threads and timers",
        &["kernel_thread", "timer_list", "add_timer", "del_timer", "mod_timer", "init_timer"],
    ),
    ("PCI functions", &["pci_"]),
];

/// A program that failed to become a task because it is one for Linux.
pub fn for_linux(order: &Order) -> Option<Error> {
    let texts: Vec<String> = order.sources.iter().filter_map(|source| std::fs::read_to_string(source).ok()).collect();
    let begins = texts.iter().any(|text| has_main(text));
    let is_module = texts.iter().any(|text| text.contains("init_module") || text.contains("module_init"));
    let file = order.sources.first()?.display().to_string();
    (begins && !is_module).then(|| {
        let remedy =
            format!("`./x run --task NAME --file {file}` compiles it for Linux and puts it beside the task NAME");
        problem(format!("{} is no real-time program", order.name), "this has main(), and no init_module()", remedy)
    })
}

/// Whether `main` begins in a line, after its type if that stands there.
fn has_main(text: &str) -> bool {
    let before = |line: &str| Some(line.split_once('(')?.0.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
    let types = ["int", "void", "extern", "static"];
    text.lines().filter_map(before).any(|words| match words.split_last() {
        Some((last, rest)) => last == "main" && rest.iter().all(|word| types.contains(&word.as_str())),
        None => false,
    })
}

/// What the compiler said, if it is that something of Linux's kernel is not there.
pub fn explain(source: &Path, said: &str) -> Option<Error> {
    // A file may be called as what it misses.
    let plain = said.replace(&*source.to_string_lossy(), "");
    let words: BTreeSet<&str> = plain.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    let of = |beginnings: &[&str]| {
        words.iter().filter(|word| beginnings.iter().any(|start| word.starts_with(start))).copied().collect::<Vec<_>>()
    };
    let found = ABSENT.iter().map(|(what, beginnings)| (what, of(beginnings)));
    let found: Vec<String> = found
        .filter(|(_, names)| !names.is_empty())
        .map(|(what, names)| format!("{what} ({})", names.join(", ")))
        .collect();
    let first = said.lines().find(|line| line.contains("error:")).unwrap_or_default();
    (!found.is_empty()).then(|| {
        let why = format!("a task has no {} of Linux's kernel\n        {first}", found.join(", no "));
        problem(format!("{} cannot be compiled as a task", source.display()), why, TABLE)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::PathBuf;

    #[test]
    fn a_program_for_linux_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let told = |text: &str| {
            let source = folder.path().join("monitor.c");
            fs::write(&source, text).unwrap();
            for_linux(&Order::of("monitor".into(), &[source]).unwrap()).map(|error| error.to_string())
        };
        for text in
            ["int main(void) {}", "int\nmain (int argc, char **argv)", "main()\n{", "static int x;\nvoid main() {"]
        {
            let told = told(text).unwrap();
            assert!(told.contains("this has main()") && told.contains("--file"), "{told}");
        }
        for text in
            ["int init_module(void) {}\nint main(void) {}", "void go(void) { remain(); }", "/* see main() */\n", ""]
        {
            assert_eq!(told(text), None, "{text}");
        }
    }

    #[test]
    fn what_linux_alone_has_is_named_in_a_line() {
        let said = "a.c:6:25: warning: implicit declaration of function 'tasklet_init'\na.c:7:1: warning: 'register_chrdev'\n\
            a.c:4:30: error: storage size of 'tl' isn't known\n";
        let told = explain(&PathBuf::from("a.c"), said).unwrap().to_string();
        for part in [
            "tasklets and bottom halves (tasklet_init), no character devices (register_chrdev)",
            "a.c:4:30: error",
            "Left out",
        ] {
            assert!(told.contains(part), "{part} not in {told}");
        }
        assert!(explain(&PathBuf::from("pci_card.c"), "pci_card.c:1:2: error: expected ';'").is_none());
    }

    #[test]
    fn the_table_is_there() {
        let document = crate::repository::Repository::find().unwrap().path("docs/rtlinux.md");
        let document = fs::read_to_string(document).unwrap();
        let (_, table) = document.split_once("\n## Left out\n").unwrap();
        assert!(["tasklets", "register_chrdev", "kernel timers"].iter().all(|word| table.contains(word)));
    }
}
