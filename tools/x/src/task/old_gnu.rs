//! Code that GNU's compilers accepted before their versions 3.3 and 4.0 and reject today: string
//! literals over several lines, `__FUNCTION__` concatenated with a string literal, a function that
//! is called before it turns out to be `static`, and functions of the program's own called `min`
//! and `max`. A source rejected for one of these is mended and compiled again.

use anyhow::Result;
use std::collections::BTreeSet;
use std::path::Path;

/// Keeps `min` and `max` out of `rt/include/linux/kernel.h`, which has them as macros since Linux
/// 2.4.10.
pub const OWN_MIN_MAX: &str = "-DPILLION_OWN_MIN_MAX";

/// Whether a string literal over several lines may be the only reason why the compiler rejected a
/// source.
pub fn texts_may_be_cause(said: &str) -> bool {
    said.contains("missing terminating \" character")
}

/// Whether one of the other kinds may be the reason.
pub fn may_be_cause(said: &str) -> bool {
    own_min_max(said)
        || said.contains("before string constant")
        || said.contains("__FUNCTION__")
        || !statics(said).is_empty()
}

/// Whether the compiler met a function with the name of one of the two macros.
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

/// Functions that are static and were called before their declaration.
fn statics(said: &str) -> Vec<&str> {
    let names = said
        .lines()
        .filter_map(|line| line.split_once("error: static declaration of '")?.1.split_once("' follows non-static"));
    names.map(|(name, _)| name).collect()
}

/// The compiler's warnings about calls of such functions; it knows them from then on.
pub fn called_before(said: &str) -> String {
    let warning = |name: &str| format!("warning: implicit declaration of function '{name}'");
    let line = |name| said.lines().find(|line| line.contains(&warning(name))).map(|line| format!("{line}\n"));
    statics(said).into_iter().collect::<BTreeSet<_>>().into_iter().filter_map(line).collect()
}

/// A source as text with one character for each byte, whatever its author's character set was.
pub fn text_of(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

/// The bytes of such a text.
pub fn bytes_of(text: &str) -> Vec<u8> {
    text.chars().map(|character| character as u8).collect()
}

/// A copy of the source in which each string literal ends on its line; line numbers match the
/// source's. `None` if no literal spans several lines.
pub fn copy_with_texts_joined(source: &Path) -> Result<Option<Vec<u8>>> {
    let text = texts_joined(&text_of(&std::fs::read(source)?));
    let begin = format!("#line 1 \"{}\"\n", source.display());
    Ok(text.map(|text| [begin.into_bytes(), bytes_of(&text)].concat()))
}

/// The source with `\n\` at the end of each line that a string literal continues after, so that the
/// number of lines stays. `None` if there is no such literal.
fn texts_joined(source: &str) -> Option<String> {
    let source = plain_lines(source);
    let mut out = String::with_capacity(source.len());
    let (mut rest, mut joined) = (&source[..], false);
    while !rest.is_empty() {
        let (mut kind, mut length) = token(rest, true);
        let cut = rest[..length].lines().skip(1).any(|line| directive(line).is_some_and(|name| ENDS.contains(&name)));
        if kind == Kind::Text && cut {
            (kind, length) = token(rest, false);
        } else if begins_line(&out) && directive(rest).is_some_and(|name| MESSAGES.contains(&name)) {
            (kind, length) = (Kind::Other, line(rest));
        }
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

/// Directives that no string literal continues over: if one seems to, a stray quote began it, as
/// skipped parts may contain anything.
const ENDS: [&str; 5] = ["else", "elif", "elifdef", "elifndef", "endif"];
/// Directives whose line is a message, which may contain apostrophes.
const MESSAGES: [&str; 2] = ["error", "warning"];

/// The source with `\n` as line ends, and with backslashes as the last characters of their lines,
/// as compilers read it.
fn plain_lines(source: &str) -> String {
    let plain = |line: &str| {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let bare = line.trim_end_matches([' ', '\t', '\x0b', '\x0c']);
        if bare.ends_with('\\') { bare.to_owned() } else { line.to_owned() }
    };
    source.split('\n').map(plain).collect::<Vec<_>>().join("\n")
}

/// The name of the directive that the text begins with.
fn directive(text: &str) -> Option<&str> {
    let blank = [' ', '\t'];
    let name = text.trim_start_matches(blank).strip_prefix('#')?.trim_start_matches(blank);
    name.split(|byte: char| !byte.is_ascii_alphabetic()).next()
}

/// Whether the text after this one is the first on its line.
fn begins_line(text: &str) -> bool {
    text.rsplit('\n').next().unwrap_or_default().trim().is_empty()
}

/// The length of the first line, with its continuation lines after backslashes.
fn line(text: &str) -> usize {
    let mut ends = text.match_indices('\n').map(|(at, _)| at);
    ends.find(|at| !text[..*at].ends_with('\\')).map_or(text.len(), |at| at + 1)
}

/// The preprocessed source as compilers of the time took it, mended according to the messages of
/// today's. `None` if nothing changes.
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

/// The first token of a text that is not empty, and its length. If `lines`, a string literal may
/// span several lines.
fn token(source: &str, lines: bool) -> (Kind, usize) {
    let bytes = source.as_bytes();
    let until = |test: &dyn Fn(u8) -> bool| bytes.iter().position(|byte| test(*byte)).unwrap_or(bytes.len());
    let comment = |end: &str| source[2..].find(end).map_or(source.len(), |at| 2 + at + end.len());
    match bytes[0] {
        b'/' if source.starts_with("/*") => (Kind::Space, comment("*/")),
        b'/' if source.starts_with("//") => (Kind::Space, line(source)),
        quote @ (b'"' | b'\'') => {
            let mut at = 1;
            while at < bytes.len() && bytes[at] != quote && (bytes[at] != b'\n' || (lines && quote == b'"')) {
                at += if bytes[at] == b'\\' { 2 } else { 1 };
            }
            let ended = bytes.get(at).is_none_or(|byte| *byte != b'\n');
            (if quote == b'"' { Kind::Text } else { Kind::Other }, whole(source, at + usize::from(ended)))
        }
        byte if byte.is_ascii_whitespace() => (Kind::Space, until(&|byte| !byte.is_ascii_whitespace())),
        byte if is_of_word(byte) => (Kind::Word, until(&|byte| !is_of_word(byte))),
        _ => (Kind::Other, whole(source, 1)),
    }
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// A length that does not cut a character.
fn whole(source: &str, length: usize) -> usize {
    (length..source.len()).find(|at| source.is_char_boundary(*at)).unwrap_or(source.len())
}

/// All tokens of a preprocessed source. The preprocessor's own lines are not tokens.
fn tokens(source: &str) -> Vec<(Kind, &str)> {
    let (mut rest, mut all) = (source, Vec::new());
    while !rest.is_empty() {
        let own = rest.starts_with('#') && begins_line(&source[..source.len() - rest.len()]);
        let (kind, length) = if own { (Kind::Space, line(rest)) } else { token(rest, false) };
        all.push((kind, &rest[..length]));
        rest = &rest[length..];
    }
    all
}

/// Whether a function of this name seems to be defined: the name precedes parentheses outside of
/// all braces, and something other than a semicolon follows them.
pub fn defines(source: &str, name: &str) -> bool {
    let words: Vec<&str> =
        tokens(source).into_iter().filter(|(kind, _)| *kind != Kind::Space).map(|(_, text)| text).collect();
    let (mut depth, mut language) = (0, 0);
    for (at, word) in words.iter().enumerate() {
        match *word {
            "{" if at > 1 && words[at - 2] == "extern" => language += 1,
            "{" | "(" => depth += 1,
            "}" if depth == 0 && language > 0 => language -= 1,
            "}" | ")" => depth -= 1,
            _ => {}
        }
        let called = depth == 0 && *word == name && words.get(at + 1) == Some(&"(");
        let after = || words[at..].iter().skip_while(|word| **word != ")").nth(1);
        if called && after().is_some_and(|after| *after != ";") {
            return true;
        }
    }
    false
}

/// Words that precede a parenthesis outside of all braces and are not functions.
const NO_FUNCTIONS: &str = "__attribute__ __attribute __asm__ __asm asm __typeof__ __typeof \
    typeof __extension__ __declspec __alignof__ _Alignas alignas decltype explicit noexcept \
    throw void char short int long float double signed unsigned const volatile bool _Bool static \
    inline";
/// Words that may stand between a function's parentheses and its brace. Any other word begins the
/// declarations of parameters.
const AFTER_FUNCTIONS: &str = "__attribute__ __attribute __asm__ __asm asm __extension__ const \
    volatile noexcept throw override final";

/// Whether a word is in a list of words separated by blanks.
fn is_in(words: &str, word: &str) -> bool {
    words.split(' ').any(|one| one == word)
}

/// Words whose parentheses are followed by a block.
const BLOCKS: [&str; 5] = ["if", "for", "while", "switch", "catch"];

/// Words that precede the name of a type that may have member functions.
const TYPES: [&str; 3] = ["class", "struct", "union"];

/// What is known of the current declaration outside of all braces.
#[derive(Clone, Copy, PartialEq)]
enum Declared<'a> {
    Nothing,
    Function(&'a str),
    /// A function whose name cannot be determined.
    Unknown,
}

/// Tracks the current function of a preprocessed source, token by token, without spaces.
struct Reader<'a> {
    /// For each open brace: the function in it, and whether it still counts as outside of
    /// functions.
    braces: Vec<(Option<&'a str>, bool)>,
    /// The token before each open parenthesis.
    parentheses: Vec<&'a str>,
    declared: Declared<'a>,
    /// Parameters are declared after the parentheses.
    old_style: bool,
    /// The token before the last parenthesis that was closed.
    closed: &'a str,
}

impl<'a> Reader<'a> {
    /// The function that contains the current token.
    fn function(&self) -> Option<&'a str> {
        self.braces.last().and_then(|(function, _)| *function)
    }

    /// Whether the current token is outside of all functions and parentheses.
    fn is_outside(&self) -> bool {
        self.parentheses.is_empty() && self.braces.iter().all(|(_, outside)| *outside)
    }

    /// Takes a token, with up to three tokens before it and two after it.
    fn read(&mut self, before: [(Kind, &'a str); 3], token: &'a str, after: [(Kind, &'a str); 2]) {
        let outside = self.is_outside();
        match token {
            "{" => {
                let in_language = before[0].0 == Kind::Text && before[1].1 == "extern";
                let in_namespace =
                    before[0].1 == "namespace" || (before[0].0 == Kind::Word && before[1].1 == "namespace");
                let nested = before[0].1 == ")" && !BLOCKS.contains(&self.closed) || TYPES.contains(&before[1].1);
                self.braces.push(match self.declared {
                    _ if outside && (in_language || in_namespace) => (None, true),
                    Declared::Function(name) if outside => (Some(name), false),
                    _ if outside || nested => (None, false),
                    _ => (self.function(), false),
                });
            }
            "}" => {
                self.braces.pop();
                if self.is_outside() {
                    (self.declared, self.old_style) = (Declared::Nothing, false);
                }
            }
            ";" if outside && !self.old_style => self.declared = Declared::Nothing,
            "(" => {
                if outside {
                    self.declare(before, after);
                }
                self.parentheses.push(before[0].1);
            }
            ")" => {
                self.closed = self.parentheses.pop().unwrap_or_default();
                if self.is_outside() {
                    let word = after[0].0 == Kind::Word && !is_in(AFTER_FUNCTIONS, after[0].1);
                    if after[0].1 == "(" && !is_in(NO_FUNCTIONS, self.closed) && !self.old_style {
                        self.declared = Declared::Unknown;
                    }
                    self.old_style |= word && !is_in(NO_FUNCTIONS, self.closed);
                }
            }
            _ => {}
        }
    }

    /// Handles a parenthesis that opens outside of braces and parentheses.
    fn declare(&mut self, before: [(Kind, &'a str); 3], after: [(Kind, &'a str); 2]) {
        let (kind, name) = before[0];
        let pointer = ["*", "^", "&"].contains(&after[0].1);
        let no_name =
            kind != Kind::Word || pointer || before[1].1 == "~" || before[1].1 == "operator" || name == "operator";
        self.declared = match self.declared {
            // It belongs to a parameter, or to what precedes the parenthesis.
            Declared::Function(_) if self.old_style && (pointer || kind != Kind::Word) => return,
            Declared::Function(_) if self.old_style => Declared::Unknown,
            Declared::Nothing if kind == Kind::Word && is_in(NO_FUNCTIONS, name) && !no_name => {
                // This includes `int (f)(void)`, but not `__attribute__((x))`.
                if name.starts_with('_') || after[1].1 != ")" { return } else { Declared::Unknown }
            }
            Declared::Nothing if no_name => Declared::Unknown,
            Declared::Nothing => Declared::Function(name),
            known => known,
        };
    }
}

/// Replaces `__FUNCTION__` beside a string literal with the literal that it was: the function's
/// name, where that is certain.
fn functions_named(source: &str) -> String {
    let all = tokens(source);
    let words: Vec<usize> = (0..all.len()).filter(|at| all[*at].0 != Kind::Space).collect();
    let word =
        |number: Option<usize>| number.and_then(|number| words.get(number)).map_or((Kind::Space, ""), |at| all[*at]);
    let mut reader = Reader {
        braces: Vec::new(),
        parentheses: Vec::new(),
        declared: Declared::Nothing,
        old_style: false,
        closed: "",
    };
    let mut told: Vec<String> = all.iter().map(|(_, text)| (*text).to_owned()).collect();
    for (number, at) in words.iter().enumerate() {
        let before = [1, 2, 3].map(|back| word(number.checked_sub(back)));
        let after = [1, 2].map(|on| word(Some(number + on)));
        reader.read(before, all[*at].1, after);
        let beside_text = before[0].0 == Kind::Text || after[0].0 == Kind::Text;
        if let ("__FUNCTION__", true, Some(name)) = (all[*at].1, beside_text, reader.function()) {
            told[*at] = format!("\"{name}\"");
        }
    }
    told.concat()
}

/// The source with the function of this name `static` from its first declaration on; `implicit` if
/// a call was its first declaration.
fn private(source: &str, name: &str, implicit: bool) -> String {
    let mut all = tokens(source);
    let words: Vec<usize> = (0..all.len()).filter(|at| all[*at].0 != Kind::Space).collect();
    let (mut depth, mut begin) = (0, 0);
    for (number, at) in words.iter().enumerate() {
        let declared =
            depth == 0 && all[*at].1 == name && words.get(number + 1).is_some_and(|next| all[*next].1 == "(");
        let words = &words[begin..number];
        if declared && implicit {
            // The call implied `int`, but compilers accepted `void` for it as well.
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

    #[test]
    fn a_function_is_named_only_for_sure() {
        let named = |source: &str| mended(source, "").unwrap_or_else(|| source.to_owned());
        let say = "{ say(__FUNCTION__ \": x\"); }";
        for (head, name) in [
            ("int other(void);\nstatic int __start(int a)", "__start"),
            ("__attribute__((noinline)) int f(int a) __attribute__((x))", "f"),
            ("extern \"C\" {\nint f(int a)", "f"),
            ("extern \"C\"\n# 3 \"a.c\"\n{ int x; int f(int a)", "f"),
            ("static int old(a, b) int a; int (*b)(void);", "old"),
            ("int a[] = { 1 }; struct s { int (*x)(int); } s = { 0 }; int f(int a)", "f"),
            ("__typeof__(int) f(int a)", "f"),
            ("X::X(int a) : b(a), c(1)", "X"),
            ("int before(void) noexcept; int after(int a)", "after"),
        ] {
            let told = named(&format!("{head} {say}"));
            assert!(told.contains(&format!("say(\"{name}\" \": x\")")), "{told}");
        }
        for head in [
            "int before(void) { } void (*get(int a))(int)",
            "int before(void); void (*get(int a))(int)",
            "int before(void); int (get)(int a)",
            "int before(void); X operator+(X a, X b)",
            "int f(void) strange; int after(int a)",
            "int outer(void) { struct s { int inner(int a) const",
            "class X { void f(int a)",
            "int outer(void) { int inner(int a)",
        ] {
            let source = format!("{head} {say}");
            assert_eq!(named(&source), source);
        }
        // File names in the preprocessor's lines are not string literals beside it.
        assert_eq!(mended("int f(void) { tell(\n# 1 \"a.c\"\n__FUNCTION__\n# 2 \"a.c\"\n); }", ""), None);
    }

    #[test]
    fn texts_end_with_their_lines_where_they_must() {
        let joined = |source: &str| texts_joined(source).unwrap();
        assert_eq!(joined("puts(\"one\r\ntwo\");\r\n"), "puts(\"one\\n\\\ntwo\");\n");
        assert_eq!(joined("puts(\"x\\\r\ny\nz\");"), "puts(\"x\\\ny\\n\\\nz\");");
        assert_eq!(joined("puts(\"x\\ \t\ny\nz\");"), "puts(\"x\\\ny\\n\\\nz\");");
        assert_eq!(joined("// it's \\\n \"\nputs(\"a\nb\");"), "// it's \\\n \"\nputs(\"a\\n\\\nb\");");
        for rest in [
            "#if 0\nsay \"it\n#endif\n",
            "#ifdef X\n#error say \"it\n#endif\n",
            " #\twarning say \"it \\\n \" and \"\n",
            "#if 0\ndon't \"\n # else\n#endif\n",
        ] {
            assert_eq!(texts_joined(rest), None, "{rest}");
            assert_eq!(joined(&format!("{rest}puts(\"a\nb\");")), format!("{rest}puts(\"a\\n\\\nb\");"));
        }
        assert_eq!(joined("puts(\"a\n# b\n#c\");"), "puts(\"a\\n\\\n# b\\n\\\n#c\");");
    }
}
