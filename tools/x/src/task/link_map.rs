//! The linker's map: where each member of an archive lies, why it was taken in, and what it
//! defines.

use std::collections::HashMap;

/// A piece of an archive member in the linked file.
#[derive(Debug, PartialEq, Eq)]
struct Piece {
    address: u64,
    size: u64,
    /// `ARCHIVE(MEMBER)`.
    file: String,
}

/// The contents of the map.
#[derive(Debug, Default)]
pub struct LinkMap {
    pieces: Vec<Piece>,
    /// For each member that was taken in: the file that needed it, and the symbol.
    reasons: HashMap<String, (String, String)>,
    /// For each name in the cross-reference table: the file that defines it, then those that use
    /// it.
    table: HashMap<String, Vec<String>>,
}

impl LinkMap {
    /// Reads a map as GNU ld writes it, with `--cref`.
    pub fn parse(text: &str) -> LinkMap {
        let (map, table) = text.split_once("\nCross Reference Table\n").unwrap_or((text, ""));
        LinkMap { pieces: pieces(map), reasons: reasons(map), table: cross_references(table) }
    }

    /// Names, each with the file that defines it.
    pub fn definitions(&self) -> impl Iterator<Item = (&str, &str)> {
        self.table.iter().filter_map(|(name, files)| Some((&**name, &**files.first()?)))
    }

    /// The files that use a name defined by another file.
    pub fn users(&self, name: &str) -> impl Iterator<Item = &str> {
        self.table.get(name).into_iter().flat_map(|files| &files[1..]).map(|file| &**file)
    }

    /// The file whose code or data is at an address.
    pub fn file_at(&self, address: u64) -> Option<&str> {
        let piece = self.pieces.iter().find(|piece| address.wrapping_sub(piece.address) < piece.size)?;
        Some(&piece.file)
    }

    /// The symbol through which the program, directly or by way of other members of the archive,
    /// came to need a member of it.
    pub fn wanted_for(&self, archive: &str, member: &str) -> Option<&str> {
        let mut file = member;
        for _ in 0..self.reasons.len() {
            let (by, symbol) = self.reasons.get(file)?;
            if !by.starts_with(archive) {
                return Some(symbol);
            }
            file = by;
        }
        None
    }
}

/// Lines ` .section ADDRESS SIZE FILE`; a long section name is on a line of its own.
fn pieces(text: &str) -> Vec<Piece> {
    let memory = text.split_once("Linker script and memory map").map_or("", |(_, rest)| rest);
    memory.lines().filter_map(piece).collect()
}

fn piece(line: &str) -> Option<Piece> {
    let start = line.find(" 0x")?;
    let mut words = line[start..].trim_start().splitn(2, ' ');
    let address = number(words.next()?)?;
    let mut words = words.next()?.trim_start().splitn(2, ' ');
    let size = number(words.next()?)?;
    let file = words.next()?.trim();
    (size > 0 && file.ends_with(')')).then(|| Piece { address, size, file: file.to_owned() })
}

fn number(word: &str) -> Option<u64> {
    u64::from_str_radix(word.strip_prefix("0x")?, 16).ok()
}

/// The list at the start of the map: a member, then, on the same line or the next, the file that
/// needed it and `(SYMBOL)`.
fn reasons(text: &str) -> HashMap<String, (String, String)> {
    let list = text.split_once("Archive member included").map_or("", |(_, rest)| rest);
    let list = list.split_once("\n\n").map_or("", |(_, rest)| rest);
    let list = list.split("\n\n").next().unwrap_or_default();
    let mut reasons = HashMap::new();
    let mut member: Option<String> = None;
    for line in list.lines() {
        let reason = if line.starts_with(' ') { Some(line) } else { line.find(") ").map(|at| &line[at + 1..]) };
        if !line.starts_with(' ') {
            member = line.find(')').map(|at| line[..=at].to_owned());
        }
        let parsed = reason.and_then(|reason| reason.trim().strip_suffix(')')?.rsplit_once(" ("));
        if let (Some((by, symbol)), Some(member)) = (parsed, &member) {
            reasons.insert(member.clone(), (by.to_owned(), symbol.to_owned()));
        }
    }
    reasons
}

/// Lines `NAME FILE`; the files that use the name follow, each on a line that begins with a space.
fn cross_references(table: &str) -> HashMap<String, Vec<String>> {
    let mut found: HashMap<String, Vec<String>> = HashMap::new();
    let mut name = "";
    for line in table.lines().filter(|line| !line.starts_with("Symbol ")) {
        let (word, file) = line.split_once(' ').unwrap_or((line, ""));
        if !word.is_empty() {
            name = word;
        }
        if !name.is_empty() && !file.is_empty() {
            found.entry(name.to_owned()).or_default().push(file.trim().to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAP: &str = "Archive member included to satisfy reference by file (symbol)

/lib/libc.a(fopen.o)          /tmp/a b/0.o (fopen)
/lib/libc.a(__fdopen_with_a_name.o)
                              /lib/libc.a(fopen.o) (__fdopen)

Discarded input sections

 .text          0x0000000000000000        0x0 /tmp/a b/0.o

Linker script and memory map

 .text.init_module
                0x0000000000400010       0x10 /tmp/a b/0.o
 .text.fopen    0x0000000000400020       0x90 /lib/libc.a(fopen.o)
                0x0000000000400020                fopen
 .text.__fdopen 0x00000000004000b0       0x20 /lib/libc.a(__fdopen_with_a_name.o)

Cross Reference Table

Symbol                                            File
fopen                                             /lib/libc.a(fopen.o)
                                                  /tmp/a b/0.o
a_function_whose_name_is_longer_than_the_first_column /tmp/a b/0.o
";

    #[test]
    fn knows_who_defines_what() {
        let map = LinkMap::parse(MAP);
        let mut definitions: Vec<_> = map.definitions().collect();
        definitions.sort();
        let long = "a_function_whose_name_is_longer_than_the_first_column";
        assert_eq!(definitions, [(long, "/tmp/a b/0.o"), ("fopen", "/lib/libc.a(fopen.o)")]);
        assert!(map.users("fopen").eq(["/tmp/a b/0.o"]));
        assert_eq!(map.users(long).count() + map.users("other").count(), 0);
    }

    #[test]
    fn knows_what_lies_where() {
        let map = LinkMap::parse(MAP);
        assert_eq!(map.file_at(0x40_0020), Some("/lib/libc.a(fopen.o)"));
        assert_eq!(map.file_at(0x40_00cf), Some("/lib/libc.a(__fdopen_with_a_name.o)"));
        assert_eq!(map.file_at(0x40_00d0), None);
        assert_eq!(map.file_at(0x40_0010), None);
    }

    #[test]
    fn knows_whose_wish_it_was() {
        let map = LinkMap::parse(MAP);
        assert_eq!(map.wanted_for("/lib/libc.a(", "/lib/libc.a(__fdopen_with_a_name.o)"), Some("fopen"));
        assert_eq!(map.wanted_for("/lib/libc.a(", "/lib/libc.a(other.o)"), None);
    }
}
