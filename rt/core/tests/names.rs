//! Every name that RTLinux's headers declare (`rt/rtlinux-names.txt`) is declared by the header
//! that had it, or stands in the table of missing names (`docs/rtlinux.md`).

mod compiler;

use compiler::{LIBC_HEADERS, OLD_C, headers, rt, run, run_as_is};
use std::{collections::BTreeSet, fs};

/// A name: its header, its kind, and its structure or number of arguments.
#[derive(Debug)]
struct Name {
    header: String,
    kind: String,
    of: String,
    text: String,
}

fn names() -> Vec<Name> {
    let text = fs::read_to_string(rt("rtlinux-names.txt")).unwrap().replace("\n    ", " ");
    let (mut header, mut found) = (String::new(), Vec::new());
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let Some((kind, list)) = line.split_once(": ") else {
            header = line.trim_matches(['<', '>']).to_owned();
            continue;
        };
        let (kind, structure) = kind.split_once(' ').unwrap_or((kind, ""));
        for word in list.split_whitespace() {
            let (text, arguments) = word.split_once('/').unwrap_or((word, structure));
            let [header, kind, of, text] = [&header, kind, arguments, text].map(str::to_owned);
            found.push(Name { header, kind, of, text });
        }
    }
    found
}

impl Name {
    /// The name in the table's form.
    fn shown(&self) -> String {
        if self.kind == "members" { format!("{}.{}", self.of, self.text) } else { self.text.clone() }
    }

    /// Returns whether the table has this name. A header stands for all that is in it,
    /// `structure.*` for all its members.
    fn is_among(&self, table: &BTreeSet<String>) -> bool {
        [self.shown(), format!("<{}>", self.header), format!("{}.*", self.of)].iter().any(|text| table.contains(text))
    }

    /// Three lines that compile only if the name has the right kind; a macro may replace anything.
    fn probe(&self, number: usize) -> String {
        let Name { kind, of, text, .. } = self;
        let declaration = match kind.as_str() {
            "calls" => {
                let arguments = vec!["0"; of.parse().unwrap()].join(", ");
                format!("void probe{number}(void) {{ (void)sizeof(({text}({arguments}), 0)); }}")
            }
            "types" => format!("typedef {text} probe{number};"),
            "structs" => format!("char probe{number}[sizeof(struct {text})];"),
            "enums" => format!("enum {text} probe{number};"),
            "members" if of.ends_with("_t") => format!("typedef __typeof__((({of} *)0)->{text}) probe{number};"),
            "members" => format!("typedef __typeof__(((struct {of} *)0)->{text}) probe{number};"),
            "macros" | "macros()" | "values" => format!("typedef __typeof__({text}) probe{number};"),
            _ => panic!("{self:?}"),
        };
        format!("#ifndef {text}\n{declaration}\n#endif\n")
    }
}

/// The header for Linux processes.
const FOR_PROCESSES: &str = "rtlinux_signal.h";

/// The names of a header that it does not declare.
fn missing<'a>(header: &str, names: &[&'a Name]) -> Vec<&'a Name> {
    let process = rt("../linux/lib/include");
    let folders = [headers(), &[LIBC_HEADERS.into(), process.clone()]].concat();
    if folders.iter().all(|folder| !folder.join(header).is_file()) {
        return names.to_vec();
    }
    let probes = names.iter().enumerate().map(|(number, name)| name.probe(number));
    let text = format!("#include <{header}>\n") + &probes.collect::<String>();
    let arguments = ["-fsyntax-only", "-Werror=implicit-function-declaration", "-fmax-errors=0"];
    let output = if header == FOR_PROCESSES {
        run_as_is(&text, OLD_C, &[&["-I", process.to_str().unwrap()], &arguments[..]].concat())
    } else {
        run(&text, OLD_C, &arguments)
    };
    let said = String::from_utf8_lossy(&output.stderr);
    let lines: BTreeSet<usize> = said
        .lines()
        .filter(|line| line.contains("error:"))
        .map(|line| {
            let number = line.strip_prefix("<stdin>:").and_then(|rest| rest.split(':').next());
            number.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("<{header}>: {line}"))
        })
        .collect();
    lines.into_iter().map(|line| names[(line - 2) / 3]).collect()
}

/// What stands between backticks in the first column of the table.
fn table() -> BTreeSet<String> {
    let text = fs::read_to_string(rt("../docs/rtlinux.md")).unwrap();
    let (_, section) = text.split_once("\n## Names that are not there\n").expect("docs/rtlinux.md has the table");
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    rows.flat_map(|cell| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>()).collect()
}

#[test]
fn each_name_is_there_or_in_the_table() {
    let (names, table) = (names(), table());
    assert_eq!(names.len(), 623);
    let mut absent = Vec::new();
    let headers: BTreeSet<&str> = names.iter().map(|name| name.header.as_str()).collect();
    for header in headers {
        let of_it: Vec<&Name> = names.iter().filter(|name| name.header == header).collect();
        absent.extend(missing(header, &of_it));
    }
    let unexplained: Vec<String> = absent
        .iter()
        .filter(|name| !name.is_among(&table))
        .map(|name| format!("<{}> {} {}", name.header, name.kind, name.shown()))
        .collect();
    assert!(unexplained.is_empty(), "neither declared nor in the table:\n{}", unexplained.join("\n"));
    let absent: BTreeSet<String> =
        absent.iter().flat_map(|name| [name.shown(), format!("<{}>", name.header)]).collect();
    let wrong: Vec<&String> = table.iter().filter(|text| !text.ends_with(".*") && !absent.contains(*text)).collect();
    assert!(wrong.is_empty(), "in the table, and there: {wrong:?}");
}
