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
use std::path::Path;

/// The list, in the repository, of the names that the runtime defines in place of the C library.
pub const LIST: &str = "rt/names.txt";

/// The list, in the repository, of the names that programs get from the C library.
pub const OFFERED: &str = "rt/c-library.txt";

/// The source of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Giver {
    Program,
    Runtime,
    CLibrary,
    Compiler,
}

impl Giver {
    fn name(self) -> &'static str {
        match self {
            Giver::Program => "the program",
            Giver::Runtime => "the runtime",
            Giver::CLibrary => "the C library",
            Giver::Compiler => "the compiler's library",
        }
    }
}

/// The archives that a program is linked with.
#[derive(Clone, Copy)]
pub struct Archives<'a> {
    /// The runtime.
    pub runtime: &'a Path,
    /// The C library.
    pub c_library: &'a Path,
    /// The compiler's helpers.
    pub compiler: &'a Path,
}

impl Archives<'_> {
    /// The library that a file of the linker's map belongs to.
    fn giver(&self, file: &str) -> Giver {
        let is_of = |archive: &Path| {
            file.strip_prefix(&*archive.to_string_lossy()).is_some_and(|rest| rest.is_empty() || rest.starts_with('('))
        };
        match () {
            () if is_of(self.runtime) => Giver::Runtime,
            () if is_of(self.c_library) => Giver::CLibrary,
            () if is_of(self.compiler) => Giver::Compiler,
            () => Giver::Program,
        }
    }
}

/// The promised library of each name.
struct Promise<'a> {
    runtime: HashSet<&'a str>,
    c_library: HashSet<String>,
    compiler: HashSet<String>,
}

impl Promise<'_> {
    fn of(&self, name: &str) -> Option<Giver> {
        match () {
            () if self.runtime.contains(name) => Some(Giver::Runtime),
            () if self.c_library.contains(name) => Some(Giver::CLibrary),
            () if self.compiler.contains(name) => Some(Giver::Compiler),
            () => None,
        }
    }
}

/// Refuses a linked program in which a name comes from another library than promised, or that uses
/// a name that is not offered.
pub fn check(repository: &Repository, name: &str, archives: Archives, map: &LinkMap) -> Result<()> {
    let list = fs::read_to_string(repository.path(LIST))?;
    let promise = Promise {
        runtime: listed(&list).collect(),
        c_library: defined(archives.c_library)?,
        compiler: defined(archives.compiler)?,
    };
    let offered = fs::read_to_string(repository.path(OFFERED))?;
    let refused = refused(&promise, &listed(&offered).collect(), archives, map);
    if !refused.is_empty() {
        let why = format!(
            "{OFFERED} lists what tasks get from it; the rest asks Linux, works on files, threads or memory as the C library \
             makes them, or was never tested"
        );
        let remedy = "use what RTLinux has for it: rtl_printf, rtf_put and rtf_get, clock_gettime, pthread_create, ..";
        return Err(problem(format!("{name} uses {} of the C library", refused.join(", ")), why, remedy));
    }
    let wrong = strays(&promise, archives, map);
    let Some(first) = wrong.first() else { return Ok(()) };
    let more = if wrong.len() > 1 { format!(", and {} more", wrong.len() - 1) } else { String::new() };
    let why = format!(
        "{LIST} says which library defines which name; another library's function of that name may take its arguments in \
         other registers"
    );
    let remedy = format!(
        "if something was added to the runtime: list the name in {LIST} if programs are to get the runtime's, else keep it local to \
         the runtime; if not, remove the runtime ({}) and build again",
        archives.runtime.display()
    );
    Err(problem(format!("{name} would get {first}{more}"), why, remedy))
}

/// Names in the list: the words of the lines that are not comments.
fn listed(list: &str) -> impl Iterator<Item = &str> {
    list.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace)
}

/// Names that the program itself uses from the C library and that are not offered, sorted.
fn refused<'a>(promise: &Promise, offered: &HashSet<&str>, archives: Archives, map: &'a LinkMap) -> Vec<&'a str> {
    let by_program = |name: &str| map.users(name).any(|file| archives.giver(file) == Giver::Program);
    let given = map.definitions().filter(|(_, file)| archives.giver(file) == Giver::CLibrary);
    let mut found: Vec<_> = given.map(|(name, _)| name).collect();
    found.retain(|name| !offered.contains(name) && !promise.runtime.contains(name) && by_program(name));
    found.sort_unstable();
    found
}

/// Names from a wrong library, sorted: `NAME from FILE instead of from ..`.
fn strays(promise: &Promise, archives: Archives, map: &LinkMap) -> Vec<String> {
    let mut strays = Vec::new();
    for (name, file) in map.definitions() {
        let (Some(promised), giver) = (promise.of(name), archives.giver(file)) else { continue };
        if giver != promised && giver != Giver::Program {
            strays.push(format!("{name} from {} instead of from {}", short(file), promised.name()));
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
