//! The report for people, 80 columns wide.

use crate::judge::{Judgement, Verdict};
use crate::losses::Loss;

const WIDTH: usize = 80;
const GAP: &str = "  ";
/// Widths of the columns; with the gaps between they fill the line.
const ROWS: [usize; 4] = [15, 30, 20, 9];
const LOSSES: [usize; 2] = [38, 40];

/// A judgement, and what Linux loses, as text.
#[must_use]
pub fn text(judgement: &Judgement, losses: &[Loss]) -> String {
    let mut text = line(&ROWS, &["requirement", "this machine", "needed for", "verdict"]);
    text += &rule();
    for row in &judgement.rows {
        text += &line(&ROWS, &[row.what, &row.here, row.needed_for, row.verdict.word()]);
    }
    let noted: Vec<_> = judgement.rows.iter().filter_map(|row| Some((row, row.note.as_ref()?))).collect();
    if !noted.is_empty() {
        text += "\nNotes\n";
        text += &rule();
        for (row, note) in noted {
            text += &paragraph(&format!("{}: {note}.", row.what), "  ");
        }
    }
    if !losses.is_empty() {
        text += &format!("\n{}", line(&LOSSES, &["withheld from Linux", "what it costs"]));
        text += &rule();
        for loss in losses {
            text += &line(&LOSSES, &[&loss.what, loss.costs]);
        }
    }
    text += &format!("\n{}", paragraph(&judgement.verdict, ""));
    if judgement.runs() {
        text += "No real machine has been tried yet: a report is welcome (--dump FOLDER).\n";
    }
    if judgement.rows.iter().any(|row| row.verdict == Verdict::Unknown && row.here.contains("needs root")) {
        text += "Root would see more.\n";
    }
    text
}

fn rule() -> String {
    "-".repeat(WIDTH) + "\n"
}

/// A line of a table, with as many lines of text as its longest cell needs.
fn line(widths: &[usize], cells: &[&str]) -> String {
    let cells: Vec<Vec<String>> = cells.iter().zip(widths).map(|(cell, width)| wrap(cell, *width)).collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or(0);
    let mut text = String::new();
    for i in 0..height {
        let parts = cells.iter().zip(widths).map(|(cell, width)| {
            let part = cell.get(i).map_or("", String::as_str);
            format!("{part}{}", " ".repeat(width.saturating_sub(part.chars().count())))
        });
        text += parts.collect::<Vec<_>>().join(GAP).trim_end();
        text.push('\n');
    }
    text
}

fn paragraph(words: &str, indent: &str) -> String {
    let lines = wrap(words, WIDTH - indent.len());
    let lines = lines.iter().enumerate().map(|(i, line)| format!("{}{line}\n", if i == 0 { "" } else { indent }));
    lines.collect()
}

/// Breaks a text into lines; a word that is too long is broken as well. What could control a
/// terminal becomes a question mark, because tables and names are not ours.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let (mut lines, mut last) = (Vec::new(), String::new());
    let plain: String = text.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    for word in plain.split_whitespace() {
        let mut word: Vec<char> = word.chars().collect();
        if !last.is_empty() && last.chars().count() + 1 + word.len() > width {
            lines.push(std::mem::take(&mut last));
        }
        while word.len() > width {
            lines.push(word.drain(..width).collect());
        }
        if !last.is_empty() {
            last.push(' ');
        }
        last.extend(word);
    }
    lines.push(last);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_fill_the_line() {
        for widths in [&ROWS[..], &LOSSES] {
            assert_eq!(widths.iter().sum::<usize>() + GAP.len() * (widths.len() - 1), WIDTH);
        }
        assert_eq!(line(&[4, 5], &["ab cde f", "x"]), "ab    x\ncde\nf\n");
    }

    #[test]
    fn words_are_broken_only_if_they_must() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefgh i", 3), ["abc", "def", "gh", "i"]);
        assert_eq!(wrap("a\u{1b}[2J", 9), ["a?[2J"]);
        assert_eq!(wrap("", 9), [""]);
    }
}
