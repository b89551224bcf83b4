//! Checks that each name in a linked task comes from the library that is promised for it
//! (`rt/names.txt`), and that a program takes from the C library only functions that were compared
//! with those of another one (`rt/c-library.txt`).
//!
//! A linker silently takes the first definition that it meets. A function of the same name from
//! another library may be wrong in a way that no message shows: compiled for other registers, or
//! for another system's threads.

use super::link_map::LinkMap;
use crate::problem::problem;
use crate::repository::Repository;
use anyhow::{Context as _, Result};
use object::read::archive::ArchiveFile;
use object::{Object as _, ObjectSymbol as _};
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The list, in the repository, of the names that the runtime defines in place of the C library.
pub const LIST: &str = "rt/names.txt";

/// The list, in the repository, of the names that programs get from the C library.
pub const OFFERED: &str = "rt/c-library.txt";

/// A library that a program is linked with, and the names that are promised to come from it.
struct Library<'a> {
    name: &'static str,
    archive: &'a Path,
    promised: HashSet<String>,
}

impl Library<'_> {
    /// Whether a file of the linker's map belongs to it.
    fn holds(&self, file: &str) -> bool {
        let rest = file.strip_prefix(&*self.archive.to_string_lossy());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('('))
    }
}

/// The runtime, the C library and the compiler's helpers. A name that several have is promised from
/// the first of them.
type Libraries<'a> = [Library<'a>; 3];

/// Refuses a linked program in which a name comes from another library than promised, or that uses
/// a name that is not offered.
pub fn check(
    repository: &Repository,
    name: &str,
    runtime: &Path,
    [c_library, compiler]: &[PathBuf; 2],
    map: &LinkMap,
) -> Result<()> {
    let list = fs::read_to_string(repository.path(LIST))?;
    let libraries = libraries([
        (runtime, listed(&list).map(str::to_owned).collect()),
        (c_library, defined(c_library)?),
        (compiler, defined(compiler)?),
    ]);
    let offered = fs::read_to_string(repository.path(OFFERED))?;
    let refused = refused(&libraries, &listed(&offered).collect(), map);
    if !refused.is_empty() {
        let why = format!(
            "{OFFERED} lists what tasks get from it; the rest asks Linux, works on files, threads or memory as the C library \
             makes them, or was never tested"
        );
        let remedy = "use what RTLinux has for it: rtl_printf, rtf_put and rtf_get, clock_gettime, pthread_create, ..";
        return Err(problem(format!("{name} uses {} of the C library", refused.join(", ")), why, remedy));
    }
    let wrong = strays(&libraries, map);
    let Some(first) = wrong.first() else { return Ok(()) };
    let more = if wrong.len() > 1 { format!(", and {} more", wrong.len() - 1) } else { String::new() };
    let why = format!(
        "{LIST} says which library defines which name; another library's function of that name may take its arguments in \
         other registers"
    );
    let remedy = format!(
        "if something was added to the runtime: list the name in {LIST} if programs are to get the runtime's, else keep it local to \
         the runtime; if not, remove the runtime ({}) and build again",
        runtime.display()
    );
    Err(problem(format!("{name} would get {first}{more}"), why, remedy))
}

/// Names in the list: the words of the lines that are not comments.
fn listed(list: &str) -> impl Iterator<Item = &str> {
    list.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace)
}

/// Their archives and the promised names, in that order.
fn libraries(of: [(&Path, HashSet<String>); 3]) -> Libraries<'_> {
    let mut names = ["the runtime", "the C library", "the compiler's library"].into_iter();
    of.map(|(archive, promised)| Library { name: names.next().unwrap_or_default(), archive, promised })
}

/// Names that the program itself uses from the C library and that are not offered, sorted.
fn refused<'a>(libraries: &Libraries, offered: &HashSet<&str>, map: &'a LinkMap) -> Vec<&'a str> {
    let [runtime, c_library, _] = libraries;
    let by_program = |name: &str| map.users(name).any(|file| !libraries.iter().any(|library| library.holds(file)));
    let given = map.definitions().filter(|(_, file)| c_library.holds(file));
    let mut found: Vec<_> = given.map(|(name, _)| name).collect();
    found.retain(|name| !offered.contains(name) && !runtime.promised.contains(*name) && by_program(name));
    found.sort_unstable();
    found
}

/// Names from a wrong library, sorted: `NAME from FILE instead of from ..`.
fn strays(libraries: &Libraries, map: &LinkMap) -> Vec<String> {
    let mut strays = Vec::new();
    for (name, file) in map.definitions() {
        let promised = libraries.iter().find(|library| library.promised.contains(name));
        let Some(promised) = promised.filter(|library| !library.holds(file)) else { continue };
        if libraries.iter().any(|library| library.holds(file)) {
            strays.push(format!("{name} from {} instead of from {}", short(file), promised.name));
        }
    }
    strays.sort();
    strays
}

/// `ARCHIVE(MEMBER)` without folders.
fn short(file: &str) -> &str {
    let end = file.find('(').unwrap_or(file.len());
    file[..end].rfind('/').map_or(file, |at| &file[at + 1..])
}

/// All names that an archive of objects defines.
fn defined(archive: &Path) -> Result<HashSet<String>> {
    let wrong = || format!("{} cannot be read", archive.display());
    let data = fs::read(archive).with_context(wrong)?;
    let file = ArchiveFile::parse(&*data).with_context(wrong)?;
    let mut names = HashSet::new();
    for member in file.members() {
        let object = object::File::parse(member.and_then(|member| member.data(&*data)).with_context(wrong)?);
        let object = object.with_context(wrong)?;
        let offered = object.symbols().filter(|symbol| symbol.is_global() && !symbol.is_undefined());
        names.extend(offered.filter_map(|symbol| Some(symbol.name().ok()?.to_owned())));
    }
    Ok(names)
}

#[cfg(test)]
mod tests;
