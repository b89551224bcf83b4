//! Keeps Linux's system calls out of tasks: in a task, the instruction makes a call of Pillion.

use super::link_map::LinkMap;
use super::undefined::BEGIN_AND_END;
use crate::doctor::LIBC;
use crate::problem::problem;
use crate::repository::Repository;
use crate::tool;
use anyhow::Result;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Members of the C library that may stay although they contain such instructions, with the reason
/// why none is ever reached.
const TOLERATED: &str = "rt/libc-tolerated.txt";

/// Refuses a linked program that took a function with system calls from the C library.
pub fn check(repository: &Repository, name: &str, linked: &Path, map: &LinkMap) -> Result<()> {
    let text =
        tool::capture(Command::new("objdump").env("LC_ALL", "C").args(["-d", "--no-show-raw-insn"]).arg(linked))?;
    let tolerated = std::fs::read_to_string(repository.path(TOLERATED)).unwrap_or_default();
    let found = offenders(&addresses(&text), map, &members(&tolerated));
    if found.is_empty() {
        return Ok(());
    }
    if found.iter().any(|user| user.starts_with("init_module")) {
        // Without the module's own function, the linker takes the C library's of that name, which
        // loads a module into Linux.
        let what = format!("{name} has no init_module, where a module begins");
        return Err(problem(what, "none of its sources has a function of this name", BEGIN_AND_END));
    }
    let list: Vec<&str> = found.iter().map(String::as_str).collect();
    let why = "it would ask Linux for something, by a system call, and there is no Linux beneath a real-time task";
    let remedy = "use what RTLinux has for it: rtl_printf, rtf_put and rtf_get, clock_gettime, pthread_create, ...";
    Err(problem(format!("{name} uses {} of the C library", list.join(", ")), why, remedy))
}

/// Addresses of system calls in a disassembly.
fn addresses(text: &str) -> Vec<u64> {
    let calls = text.lines().filter_map(|line| line.trim().split_once(":\t"));
    let calls =
        calls.filter(|(_, instruction)| matches!(instruction.split(' ').next(), Some("syscall" | "sysenter" | "int")));
    calls.filter_map(|(address, _)| u64::from_str_radix(address, 16).ok()).collect()
}

/// Members, without their extensions: the first word of each line that is not a comment.
fn members(text: &str) -> BTreeSet<&str> {
    text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_whitespace().next()).collect()
}

/// The functions that the program called and that brought in a member of the C library with such an
/// instruction.
fn offenders(addresses: &[u64], map: &LinkMap, tolerated: &BTreeSet<&str>) -> BTreeSet<String> {
    let archive = format!("{LIBC}(");
    let mut found = BTreeSet::new();
    for file in addresses.iter().filter_map(|address| map.file_at(*address)) {
        let Some(member) = file.strip_prefix(&archive).and_then(|rest| rest.split('.').next()) else { continue };
        if !tolerated.contains(member) {
            let wanted = map.wanted_for(&archive, file);
            found.insert(match wanted {
                Some(symbol) if symbol != member => format!("{symbol} (by way of {member})"),
                _ => member.to_owned(),
            });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAP: &str = "Archive member included to satisfy reference by file (symbol)

/usr/lib/x86_64-linux-musl/libc.a(fopen.lo)
                              /tmp/0.o (fopen)
/usr/lib/x86_64-linux-musl/libc.a(futex.lo)
                              /usr/lib/x86_64-linux-musl/libc.a(fopen.lo) (__wait)

Linker script and memory map

 .text.a        0x0000000000400020       0x90 /usr/lib/x86_64-linux-musl/libc.a(fopen.lo)
 .text.b        0x0000000000400100       0x20 /usr/lib/x86_64-linux-musl/libc.a(futex.lo)
 .text.c        0x0000000000400200       0x20 /t/libpillion_rt.a(rt.o)
";
    const CODE: &str = "0000000000400020 <fopen>:\n  400020:\tsyscall\n  400100:\tsyscall \n  400104:\tsyscall\n  400200:\tsyscall\n  400204:\tret\n";

    #[test]
    fn the_runtime_may_and_the_c_library_may_not() {
        let map = LinkMap::parse(MAP);
        let found = offenders(&addresses(CODE), &map, &BTreeSet::new());
        assert_eq!(found, ["fopen".to_owned(), "fopen (by way of futex)".to_owned()].into());
        let tolerated = members("# never reached:\nfutex  because\nfopen\n");
        assert!(offenders(&addresses(CODE), &map, &tolerated).is_empty());
    }
}
