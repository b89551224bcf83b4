//! Explains in a line why a source cannot be a task's, instead of in pages of compiler messages: it
//! is a program for a Linux process, or it uses what only Linux's kernel has.

use super::old_gnu;
use super::recipe::Recipe;
use crate::problem::problem;
use anyhow::Error;
use std::collections::BTreeSet;
use std::path::Path;

/// Where to find the replacements.
pub const TABLE: &str = "docs/rtlinux.md, section \"Left out\", says what to use instead";

/// What Linux's kernel has and tasks lack, and the prefixes of its names, separated by blanks.
const ABSENT: [(&str, &str); 7] = [
    ("tasklets and bottom halves", "tasklet_ DECLARE_TASKLET mark_bh init_bh queue_task schedule_task"),
    ("character devices", "register_chrdev unregister_chrdev file_operations misc_register"),
    ("files in /proc", "create_proc_ remove_proc_ proc_dir_entry"),
    ("kernel threads and timers", "kernel_thread timer_list add_timer del_timer mod_timer init_timer"),
    ("PCI functions", "pci_"),
    ("interrupts", "request_irq free_irq SA_INTERRUPT SA_SHIRQ"),
    ("network", "netdevice skbuff net_device sk_buff"),
];

/// Headers of RTLinux that do not exist here.
const NOT_THERE: [&str; 6] = ["constants.h", "psc.h", "reserve_cpu.h", "rt_com.h", "rtl_com.h", "rtl_tqueue.h"];
const NAMES: &str = "docs/rtlinux.md, section \"Names that are not there\", says what is in its place";

/// The error for a program that cannot become a task because it is one for Linux.
pub fn for_linux(recipe: &Recipe) -> Option<Error> {
    let texts: Vec<String> = recipe.sources.iter().filter_map(|source| std::fs::read_to_string(source).ok()).collect();
    let for_linux = texts.iter().any(|text| begins(text));
    let is_module = texts.iter().any(|text| text.contains("init_module") || text.contains("module_init"));
    let file = recipe.sources.first()?.display().to_string();
    (for_linux && !is_module).then(|| {
        let remedy =
            format!("`./x run --task NAME --file {file}` compiles it for Linux and puts it beside the task NAME");
        problem(format!("{} is no real-time program", recipe.name), "this has main(), and no init_module()", remedy)
    })
}

/// Whether a source defines `main`: at the start of a line, possibly after its type, or outside of
/// all braces.
pub fn begins(text: &str) -> bool {
    let before = |line: &str| Some(line.split_once('(')?.0.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
    let types = ["int", "void", "extern", "static"];
    text.lines().filter_map(before).any(|words| match words.split_last() {
        Some((last, rest)) => last == "main" && rest.iter().all(|word| types.contains(&word.as_str())),
        None => false,
    }) || old_gnu::defines(text, "main")
}

/// The error for compiler messages about something that only Linux's kernel has.
pub fn explain(source: &Path, said: &str) -> Option<Error> {
    if let Some((place, name)) = missing_header(said) {
        let remedy = match name {
            _ if NOT_THERE.contains(&name) => NAMES,
            _ if name.starts_with("linux/") || name.starts_with("asm/") => TABLE,
            _ => "name its folder with -I, if it is yours",
        };
        let why = format!("tasks have no header {name} ({place})");
        return Some(problem(format!("{} cannot be compiled as a task", source.display()), why, remedy));
    }
    // A file may have the same name as what it lacks.
    let plain = said.replace(&*source.to_string_lossy(), "");
    let words: BTreeSet<&str> = plain.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    let of = |starts: &str| {
        words.iter().filter(|word| starts.split(' ').any(|start| word.starts_with(start))).copied().collect::<Vec<_>>()
    };
    let found = ABSENT.iter().map(|(what, starts)| (what, of(starts)));
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

/// The place that includes a missing header, and the header's name, if that is what the compiler
/// complains about.
pub fn missing_header(said: &str) -> Option<(&str, &str)> {
    said.lines().find_map(|line| {
        let (place, rest) = line.split_once(": fatal error: ")?;
        Some((place, rest.strip_suffix(": No such file or directory")?))
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
            for_linux(&Recipe::of("monitor".into(), &[source]).unwrap()).map(|error| error.to_string())
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
    fn a_header_that_is_not_there_is_named_with_the_table() {
        let told = |name: &str| {
            let said =
                format!("/t/a.c:3:10: fatal error: {name}: No such file or directory\n    3 | #include <{name}>\n");
            explain(&PathBuf::from("/t/a.c"), &said).unwrap().to_string()
        };
        for (name, remedy) in
            [("rtl_com.h", "Names that are not there"), ("linux/miscdevice.h", "Left out"), ("mine.h", "with -I")]
        {
            let told = told(name);
            assert!(told.contains(&format!("no header {name} (/t/a.c:3:10)")) && told.contains(remedy), "{told}");
        }
    }

    #[test]
    fn what_a_task_has_is_no_reason() {
        let said = "a.c:2:3: warning: implicit declaration of function 'copy_to_user'\na.c:3:1: error: expected ';'";
        assert!(explain(&PathBuf::from("a.c"), said).is_none());
    }

    #[test]
    fn the_table_is_there() {
        let document = crate::repository::Repository::find().unwrap().path("docs/rtlinux.md");
        let document = fs::read_to_string(document).unwrap();
        let (_, table) = document.split_once("\n## Left out\n").unwrap();
        let (table, names) = table.split_once("\n## Names that are not there\n").unwrap();
        let words = ["tasklets", "register_chrdev", "kernel timers", "request_irq", "PCI", "/proc"];
        assert!(words.iter().all(|word| table.contains(word)));
        assert!(NOT_THERE.iter().all(|header| names.contains(header)));
    }

    #[test]
    fn a_main_of_any_type_begins() {
        for text in [
            "unsigned main(void)",
            "unsigned long\nmain(void)",
            "extern \"C\" int main(int argc)",
            "pid_t main()",
            "int MAIN; MAIN_TYPE main (void)\n{",
        ] {
            assert!(begins(&format!("{text} {{")), "{text}");
        }
        for text in
            ["return main(1);", "x = main(0);", "/* see main() */", "\treturn main ();", "else main();", "goto main;"]
        {
            assert!(!begins(text), "{text}");
        }
    }
}
