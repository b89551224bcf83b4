//! Reports faults of tasks to people: what happened, and the calls that led to it, with functions
//! and source lines.

use super::log_line::Fault;
use addr2line::Loader;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The report of a fault; `elves` are the tasks' files with symbols, by task name.
pub fn text(fault: &Fault, elves: &BTreeMap<String, PathBuf>) -> String {
    let (name, address) = (&fault.name, &fault.address);
    let thread = fault.thread.map_or(String::new(), |thread| format!(" in thread {thread}"));
    let mut out = format!("\ntask {name} faulted{thread}: {}\n", reason(fault.vector, fault.error, address));
    let symbols = elves.get(name).and_then(|file| Loader::new(file).ok());
    let here = number(&fault.rip).map(|at| (at, at));
    // The call instruction precedes the return address.
    let calls = fault.calls.iter().filter_map(|call| number(call)).map(|back| (back, back.wrapping_sub(1)));
    for (depth, (shown, at)) in here.into_iter().chain(calls).enumerate() {
        let places = symbols.as_ref().map_or_else(Vec::new, |symbols| places(symbols, at));
        if places.is_empty() {
            let _ = writeln!(out, "  #{depth:<2} {shown:#x}");
        }
        for (inner, place) in places.iter().enumerate() {
            let head = if inner == 0 { format!("#{depth:<2} {shown:#x}") } else { format!("    {:w$}", "", w = 8) };
            let _ = writeln!(out, "  {head} {place}");
        }
    }
    out
}

/// The functions that contain an address, inlined ones first: `function at FILE:LINE`.
fn places(symbols: &Loader, address: u64) -> Vec<String> {
    let mut places = Vec::new();
    if let Ok(mut frames) = symbols.find_frames(address) {
        while let Ok(Some(frame)) = frames.next() {
            let function = frame.function.as_ref().and_then(|name| Some(name.demangle().ok()?.into_owned()));
            let line = frame.location.as_ref().and_then(|location| {
                let file = Path::new(location.file?);
                Some(format!(" at {}:{}", short(file).display(), location.line.unwrap_or(0)))
            });
            if function.is_some() || line.is_some() {
                places.push(format!("{}{}", function.unwrap_or_else(|| "?".into()), line.unwrap_or_default()));
            }
        }
    }
    if places.is_empty() {
        let name = |name| addr2line::demangle_auto(Cow::Borrowed(name), None).into_owned();
        places.extend(symbols.find_symbol(address).map(name));
    }
    places
}

/// A path relative to the current directory, if it is below it.
fn short(file: &Path) -> PathBuf {
    let here = std::env::current_dir().ok();
    here.and_then(|here| file.strip_prefix(here).ok()).unwrap_or(file).to_owned()
}

fn number(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

fn reason(vector: u64, error: u64, address: &str) -> String {
    match vector {
        0 => "division by zero, or its result is too large".into(),
        1 | 3 => "a breakpoint".into(),
        6 => "an instruction that does not exist".into(),
        12 | 13 => "an address that cannot be, or an instruction that it may not execute".into(),
        14 => format!("it may not {} address {address}", access(error)),
        16 | 19 => "a floating-point operation that has no result".into(),
        17 => "an address that is not aligned".into(),
        _ => format!("exception {vector}, error {error:#x}"),
    }
}

fn access(error: u64) -> &'static str {
    match error {
        error if error & 1 << 4 != 0 => "execute code at",
        error if error & 1 << 1 != 0 => "write to",
        _ => "read from",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    const SOURCE: &str =
        "int divide(int a, int b)\n{\n\treturn a / b;\n}\n\nint outer(int a)\n{\n\treturn divide(a, 0) + 1;\n}\n";

    fn symbol(elf: &Path, name: &str) -> u64 {
        let output = Command::new("nm").arg(elf).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let line = text.lines().find(|line| line.ends_with(&format!(" {name}"))).unwrap();
        u64::from_str_radix(line.split(' ').next().unwrap(), 16).unwrap()
    }

    #[test]
    fn calls_have_names_and_lines() {
        let folder = tempfile::tempdir().unwrap();
        let (source, elf) = (folder.path().join("divide.c"), folder.path().join("t.elf"));
        std::fs::write(&source, SOURCE).unwrap();
        let flags =
            ["-g", "-O0", "-static", "-nostdlib", "-no-pie", "-fno-pie", "-Wl,-e,outer", "-Wl,--build-id=none", "-o"];
        assert!(Command::new("cc").args(flags).arg(&elf).arg(&source).status().unwrap().success());
        let (inner, outer) = (symbol(&elf, "divide"), symbol(&elf, "outer"));
        let fault = Fault {
            name: "t".into(),
            thread: Some(2),
            vector: 0,
            error: 0,
            address: "0x0".into(),
            rip: format!("{:#x}", inner + 11),
            rsp: "0x0".into(),
            calls: vec![format!("{:#x}", outer + 24), "0x10".into()],
        };
        let text = text(&fault, &[("t".to_owned(), elf)].into());
        assert!(text.contains("task t faulted in thread 2: division by zero"), "{text}");
        assert!(text.contains("divide at ") && text.contains("divide.c:3\n"), "{text}");
        assert!(text.contains("outer at ") && text.contains("divide.c:8\n"), "{text}");
        assert!(text.contains("#2  0x10\n"), "{text}");
    }

    #[test]
    fn without_symbols_there_are_addresses() {
        let fault = Fault {
            name: "u".into(),
            thread: None,
            vector: 14,
            error: 2,
            address: "0x8".into(),
            rip: "0x400010".into(),
            rsp: "0x0".into(),
            calls: Vec::new(),
        };
        assert_eq!(
            text(&fault, &BTreeMap::new()),
            "\ntask u faulted: it may not write to address 0x8\n  #0  0x400010\n"
        );
    }
}
