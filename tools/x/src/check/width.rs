//! The width of prose: comments in Rust and C, and text of documents.

use std::path::Path;

/// Maximum width, in columns.
const WIDTH: usize = 100;
/// Columns of a tab.
const TAB: usize = 8;

/// Lines of prose that are too wide, except tables, examples, and the lines of a test program that
/// say what it prints or how it runs.
pub fn wide(name: &Path, text: &str) -> Vec<String> {
    let end = name.extension().unwrap_or_default();
    let is_c = end == "c" || end == "h";
    let (mut fenced, mut commented) = (false, false);
    let mut wrong = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let start = line.trim_start();
        fenced ^= start.trim_start_matches(['/', '!', ' ']).starts_with("```");
        let (prose, body) = if is_c {
            let began = commented;
            commented = is_open(line, began);
            let body = line.strip_prefix(" *").filter(|_| began).unwrap_or(line);
            let is_example = began && body.starts_with("    ");
            (!is_example && (began || start.contains("/*") || start.contains("//")), body.trim_start())
        } else {
            match start.split_once(' ') {
                Some(("//" | "///" | "//!", body)) => (true, body),
                _ => (end == "md" && !line.starts_with("    "), start),
            }
        };
        // Lines that cannot be broken: table rows, headings, single words, expectations.
        let whole = body.starts_with(['|', '#', '<'])
            || body.starts_with("prints: ")
            || body.starts_with("run: ")
            || !body.trim_start_matches(['-', '*', ' ']).contains(' ');
        if prose && !fenced && !whole && columns(line) > WIDTH {
            wrong.push(format!("{}:{}: wider than {WIDTH} columns", name.display(), number + 1));
        }
    }
    wrong
}

/// Whether a comment of C is open after a line.
fn is_open(line: &str, began: bool) -> bool {
    let mut rest = line;
    let mut open = began;
    while let Some((_, after)) = rest.split_once(if open { "*/" } else { "/*" }) {
        (rest, open) = (after, !open);
    }
    open
}

fn columns(line: &str) -> usize {
    line.chars().fold(0, |at, character| if character == '\t' { (at / TAB + 1) * TAB } else { at + 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_has_one_width() {
        let (long, word) = ("word ".repeat(25), "w".repeat(110));
        let tabs = format!("\t\t\t\t\t\t\t/* {} */", "word ".repeat(9));
        let code = format!("```\n{long}\n```");
        let is_wide = |name: &str, line: &str| !wide(Path::new(name), line).is_empty();
        for (name, line) in [
            ("a.md", long.clone()),
            ("a.md", format!("- {long}")),
            ("a.rs", format!("    /// {long}")),
            ("a.c", tabs.clone()),
            ("a.c", format!("a = 1; /* {long} */")),
            ("a.h", format!("\t/* a */ /*\n\t * {long}\n\t */")),
        ] {
            assert!(is_wide(name, &line), "{name}: {line}");
        }
        for (name, line) in [
            ("a.md", format!("| {long} |")),
            ("a.md", code.clone()),
            ("a.md", format!("    {long}")),
            ("a.md", word.clone()),
            ("a.rs", format!("let a = {long}")),
            ("a.rs", format!("//! {word}")),
            ("a.c", tabs.replace('\t', " ")),
            ("a.c", format!("/* a */\na = {long}")),
            ("a.c", format!("/*\n *     {long}\n */")),
            ("a.c", format!("/*\n * prints: {long}\n */")),
        ] {
            assert!(!is_wide(name, &line), "{name}: {line}");
        }
    }
}
