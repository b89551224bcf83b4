//! Linux's warnings, as the load `warnings` prints them on the console.

use std::collections::BTreeSet;

/// Warnings of one run that another run does not have; numbers in them are ignored.
pub fn added(known: &str, console: &str) -> Vec<String> {
    let known = warnings(known);
    let complaint = |text: &String| format!("Linux warns of something new: {text}");
    let mut wrong: Vec<String> = warnings(console).difference(&known).map(complaint).collect();
    if known.is_empty() {
        wrong.push("Linux alone said nothing: there is nothing to compare with".into());
    }
    wrong
}

fn warnings(console: &str) -> BTreeSet<String> {
    console.lines().filter_map(|line| line.trim().strip_prefix("warning: ")).map(without_numbers).collect()
}

/// A text with each number, decimal or hexadecimal, replaced by `#`.
fn without_numbers(text: &str) -> String {
    let words = text.split_inclusive(|c: char| !c.is_ascii_alphanumeric());
    words
        .map(|word| {
            let end = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric()).len();
            let (body, rest) = word.split_at(end);
            if body.contains(|c: char| c.is_ascii_digit()) { format!("#{rest}") } else { word.to_owned() }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_new_texts_count() {
        let direct = "warning: clock is 7 ppm off\r\nother\nwarning: old\n";
        assert_eq!(added(direct, "warning: clock is 0x1f ppm off\nx\n"), Vec::<String>::new());
        assert_eq!(added(direct, "warning: new\nwarning: old\n").len(), 1);
        assert_eq!(added("", "").len(), 1, "a run without any warning was not looked at");
    }
}
