//! The experiment's page of text: Markdown, rendered so that it contains nothing harmful.

use maud::{Markup, PreEscaped};
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd, html::push_html};

/// Renders Markdown as HTML. The first heading is left out, because the section has its own; the
/// others are two levels lower.
pub fn html(text: &str) -> Markup {
    let body = match text.trim_start().split_once('\n') {
        Some((first, rest)) if first.starts_with("# ") => rest,
        _ => text,
    };
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_SMART_PUNCTUATION;
    let mut html = String::new();
    let mut open = Vec::new();
    push_html(&mut html, Parser::new_ext(body, options).map(|event| harmless(event, &mut open)));
    PreEscaped(html)
}

/// Turns HTML into text, and pictures and links into emphasis, except links to the web. `open`
/// records, for the links that have not ended, whether they stay.
fn harmless<'a>(event: Event<'a>, open: &mut Vec<bool>) -> Event<'a> {
    match event {
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        Event::Start(Tag::Heading { level, classes, attrs, .. }) => {
            Event::Start(Tag::Heading { level: lower(level), id: None, classes, attrs })
        }
        Event::End(TagEnd::Heading(level)) => Event::End(TagEnd::Heading(lower(level))),
        Event::Start(Tag::Link { ref dest_url, .. }) => {
            open.push(is_web(dest_url));
            if is_web(dest_url) { event } else { Event::Start(Tag::Emphasis) }
        }
        Event::End(TagEnd::Link) if open.pop() == Some(false) => Event::End(TagEnd::Emphasis),
        Event::Start(Tag::Image { .. }) => Event::Start(Tag::Emphasis),
        Event::End(TagEnd::Image) => Event::End(TagEnd::Emphasis),
        other => other,
    }
}

fn is_web(address: &str) -> bool {
    ["https://", "http://"].iter().any(|scheme| address.starts_with(scheme))
}

fn lower(level: HeadingLevel) -> HeadingLevel {
    match level {
        HeadingLevel::H1 => HeadingLevel::H3,
        HeadingLevel::H2 => HeadingLevel::H4,
        HeadingLevel::H3 => HeadingLevel::H5,
        _ => HeadingLevel::H6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_text_is_html() {
        let html = html("# Title\n\n## Method <b>\n\n<script>alert(1)</script>\n\na & b [here](../x.md) [web](https://kernel.org) [bad](javascript:x) ![p](p.png)").0;
        assert!(!html.contains("Title") && html.contains("<h4>Method &lt;b&gt;</h4>"), "{html}");
        assert!(!html.contains("<script") && html.contains("&lt;script&gt;"), "{html}");
        assert!(
            html.contains("a &amp; b <em>here</em> <a href=\"https://kernel.org\">web</a> <em>bad</em> <em>p</em>"),
            "{html}"
        );
    }

    #[test]
    fn tables_are_tables() {
        assert!(html("| a | b |\n|---|---|\n| 1 | 2 |\n").0.contains("<td>2</td>"));
    }
}
