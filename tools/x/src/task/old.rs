//! What GNU's compilers took before their versions 3.3 and 4.0, and refuse today: texts over several lines, `__FUNCTION__` beside a text as one, a function that was called
//! before it turned out to be `static`, functions of the program's own called `min` and `max`. A source that was refused for it is put right and compiled again.

use anyhow::Result;
use std::collections::BTreeSet;
use std::path::Path;

/// Keeps `min` and `max` out of `rt/include/linux/kernel.h`, which has them as macros since Linux 2.4.10.
pub const OWN_MIN_MAX: &str = "-DPILLION_OWN_MIN_MAX";

/// Whether the compiler may have refused a source only for a text over several lines.
pub fn texts_may_be_cause(said: &str) -> bool {
    said.contains("missing terminating \" character")
}

/// Whether it may have done so for one of the others.
pub fn may_be_cause(said: &str) -> bool {
    own_min_max(said)
        || said.contains("before string constant")
        || said.contains("__FUNCTION__")
        || !statics(said).is_empty()
}

/// Whether the compiler met a function that is called as one of the two macros.
pub fn own_min_max(said: &str) -> bool {
    let mut lines = said.lines();
    let met = |line: Option<&str>| line.is_some_and(|line| line.contains("min(") || line.contains("max("));
    while let Some(line) = lines.next() {
        if line.contains("error: expected identifier or '('") && met(lines.next()) {
            return true;
        }
    }
    false
}

/// Functions that are static, and were called before.
fn statics(said: &str) -> Vec<&str> {
    let names = said
        .lines()
        .filter_map(|line| line.split_once("error: static declaration of '")?.1.split_once("' follows non-static"));
    names.map(|(name, _)| name).collect()
}

/// What the compiler warned of calls of such functions, which it knows from then on.
pub fn called_before(said: &str) -> String {
    let warning = |name: &str| format!("warning: implicit declaration of function '{name}'");
    let line = |name| said.lines().find(|line| line.contains(&warning(name))).map(|line| format!("{line}\n"));
    statics(said).into_iter().collect::<BTreeSet<_>>().into_iter().filter_map(line).collect()
}

/// A source's text with a character for each byte, whatever its author's alphabet was.
pub fn text_of(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

/// The bytes that such a text is of.
pub fn bytes_of(text: &str) -> Vec<u8> {
    text.chars().map(|character| character as u8).collect()
}

/// What a copy of the source gets whose texts end with their lines; its lines count as the source's. `None` if no text goes over several.
pub fn copy_with_texts_joined(source: &Path) -> Result<Option<Vec<u8>>> {
    let text = texts_joined(&text_of(&std::fs::read(source)?));
    let begin = format!("#line 1 \"{}\"\n", source.display());
    Ok(text.map(|text| [begin.into_bytes(), bytes_of(&text)].concat()))
}

/// The source with `\n\` at the end of each line that a text goes on after: as many lines as before. `None` if there is no such text.
fn texts_joined(source: &str) -> Option<String> {
    let mut out = String::with_capacity(source.len());
    let (mut rest, mut joined) = (source, false);
    while !rest.is_empty() {
        let (kind, length) = token(rest, true);
        let (now, after) = rest.split_at(length);
        if kind == Kind::Text {
            let lines = now.replace("\\\n", "\0").replace('\n', "\\n\\\n").replace('\0', "\\\n");
            joined |= lines != now;
            out += &lines;
        } else {
            out += now;
        }
        rest = after;
    }
    joined.then_some(out)
}

/// The preprocessed source as compilers of the time took it, after what one of today said of it. `None` if nothing changes.
pub fn mended(source: &str, said: &str) -> Option<String> {
    let named = functions_named(source);
    let mut text = named.clone();
    for name in statics(said) {
        text = private(&text, name, said.contains(&format!("previous implicit declaration of '{name}'")));
    }
    (text != source).then_some(text)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Space,
    Word,
    Text,
    Other,
}

/// The first token of a text that is not empty, and its length. A text may go over several lines if `lines`.
fn token(source: &str, lines: bool) -> (Kind, usize) {
    let bytes = source.as_bytes();
    let until = |test: &dyn Fn(u8) -> bool| bytes.iter().position(|byte| test(*byte)).unwrap_or(bytes.len());
    let comment = |end: &str| source[2..].find(end).map_or(source.len(), |at| 2 + at + end.len());
    match bytes[0] {
        b'/' if source.starts_with("/*") => (Kind::Space, comment("*/")),
        b'/' if source.starts_with("//") => (Kind::Space, comment("\n")),
        quote @ (b'"' | b'\'') => {
            let mut at = 1;
            while at < bytes.len() && bytes[at] != quote && (bytes[at] != b'\n' || (lines && quote == b'"')) {
                at += if bytes[at] == b'\\' { 2 } else { 1 };
            }
            (if quote == b'"' { Kind::Text } else { Kind::Other }, whole(source, at + 1))
        }
        byte if byte.is_ascii_whitespace() => (Kind::Space, until(&|byte| !byte.is_ascii_whitespace())),
        byte if is_of_word(byte) => (Kind::Word, until(&|byte| !is_of_word(byte))),
        _ => (Kind::Other, whole(source, 1)),
    }
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// A length at which no character is cut.
fn whole(source: &str, length: usize) -> usize {
    (length..source.len()).find(|at| source.is_char_boundary(*at)).unwrap_or(source.len())
}

/// All tokens of a preprocessed source.
fn tokens(source: &str) -> Vec<(Kind, &str)> {
    let (mut rest, mut all) = (source, Vec::new());
    while !rest.is_empty() {
        let (kind, length) = token(rest, false);
        all.push((kind, &rest[..length]));
        rest = &rest[length..];
    }
    all
}

/// `__FUNCTION__` beside a text as the text that it was: the name of the function, which is the last name before a parenthesis outside of all braces.
fn functions_named(source: &str) -> String {
    let tokens = tokens(source);
    let neighbours: Vec<usize> = (0..tokens.len()).filter(|at| tokens[*at].0 != Kind::Space).collect();
    let (mut out, mut function) = (String::with_capacity(source.len()), "");
    let (mut braces, mut parentheses, mut next) = (0, 0, 0);
    for (at, (_, text)) in tokens.iter().enumerate() {
        let mut told = (*text).to_owned();
        if neighbours.get(next) == Some(&at) {
            let beside = |at: Option<&usize>| at.is_some_and(|at| tokens[*at].0 == Kind::Text);
            let before = next.checked_sub(1).and_then(|before| neighbours.get(before));
            match *text {
                "{" => braces += 1,
                "}" => braces -= 1,
                "(" => {
                    let (kind, name) = before.map_or((Kind::Space, ""), |before| tokens[*before]);
                    if braces == 0 && parentheses == 0 && kind == Kind::Word && !name.starts_with("__") {
                        function = name;
                    }
                    parentheses += 1;
                }
                ")" => parentheses -= 1,
                "__FUNCTION__" if beside(before) || beside(neighbours.get(next + 1)) => {
                    told = format!("\"{function}\"")
                }
                _ => {}
            }
            next += 1;
        }
        out += &told;
    }
    out
}

/// The source with a function of this name `static` from its first declaration on; `implicit` if that was its first call.
fn private(source: &str, name: &str, implicit: bool) -> String {
    let mut all = tokens(source);
    let words: Vec<usize> = (0..all.len()).filter(|at| all[*at].0 != Kind::Space).collect();
    let (mut depth, mut begin) = (0, 0);
    for (number, at) in words.iter().enumerate() {
        let declared =
            depth == 0 && all[*at].1 == name && words.get(number + 1).is_some_and(|next| all[*next].1 == "(");
        let words = &words[begin..number];
        if declared && implicit {
            // The call said `int`, and had compilers take `void` for it, too.
            let void = words.iter().any(|at| all[*at].1 == "void") && words.iter().all(|at| all[*at].1 != "*");
            return format!("static {} {name}();\n{source}", if void { "void" } else { "int" });
        }
        if declared {
            let Some(first) = words.first().copied() else { break };
            for at in words {
                if all[*at].1 == "extern" {
                    all[*at].1 = "";
                }
            }
            let is_static = words.iter().any(|at| all[*at].1 == "static");
            let (head, tail) = all.split_at(first);
            let text = |part: &[(Kind, &str)]| part.iter().map(|(_, text)| *text).collect::<String>();
            return if is_static { source.to_owned() } else { text(head) + "static " + &text(tail) };
        }
        match all[*at].1 {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 && [";", "}"].contains(&all[*at].1) {
            begin = number + 1;
        }
    }
    source.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_over_lines_become_texts() {
        let source = "/* \" */ char c = '\"'; // it's \"\nputs(\"one\ntwo \\\"x\\\"\n\" \"a\\\nb\");\n";
        let joined = texts_joined(source).unwrap();
        assert_eq!(
            joined,
            "/* \" */ char c = '\"'; // it's \"\nputs(\"one\\n\\\ntwo \\\"x\\\"\\n\\\n\" \"a\\\nb\");\n"
        );
        assert_eq!(texts_joined(&joined), None);
        assert_eq!(texts_joined("\"ends nowhere \\"), None);
    }

    #[test]
    fn a_function_is_named_beside_a_text() {
        let source = "int f(void) __attribute__((x));\nstatic int old(a, b) int a; { if (a) { say(__FUNCTION__ \": x\"); } tell(__FUNCTION__); }\nvoid g(int x) { say(\"<6>\" __FUNCTION__); }";
        let named = mended(source, "").unwrap();
        assert!(named.contains("say(\"old\" \": x\")") && named.contains("say(\"<6>\" \"g\")"), "{named}");
        assert!(named.contains("tell(__FUNCTION__)"), "{named}");
        assert_eq!(mended("int f(void) { tell(__FUNCTION__); }", ""), None);
    }

    #[test]
    fn a_static_function_that_was_called_before_is_static_from_there_on() {
        let said = "a.c:5:12: error: static declaration of 'foo' follows non-static declaration";
        let implicit = format!("{said}\na.c:1:2: note: previous implicit declaration of 'foo' with type 'int()'");
        assert!(may_be_cause(said));
        for (kind, told) in [("void", "void"), ("unsigned", "int"), ("void *", "int")] {
            let source = format!(
                "static int x; int g(void) {{ foo(1); }}\nstatic {kind} foo(int a) {{ }} static int bar(void);"
            );
            assert_eq!(called_before(&implicit), "");
            assert_eq!(mended(&source, &implicit).unwrap(), format!("static {told} foo();\n{source}"));
        }
        let source =
            "static int x; extern char *foo(int a);\nint g(void) { foo(1); } static char *foo(int a) { return 0; }";
        assert_eq!(mended(source, said).unwrap(), source.replace("extern", "static "));
        assert_eq!(mended("int g(void) { int foo(int); foo(1); } static int foo(int a) { }", said), None);
        let warned = "a.c:1:2: warning: implicit declaration of function 'foo' [-Wimplicit]\n";
        assert_eq!(called_before(&format!("{warned}{implicit}")), warned);
    }

    #[test]
    fn own_functions_are_told_from_uses() {
        let said = "a.c:2:19: error: expected identifier or '(' before '{' token\n    2 | static inline int max(int a, int b) { return a; }\n";
        assert!(own_min_max(said) && may_be_cause(said));
        assert!(!may_be_cause("a.c:2:19: error: expected ';' before 'max'\n    2 | x = max(1, 2)\n"));
        assert!(texts_may_be_cause("a.c:3:32: error: missing terminating \" character"));
    }
}
