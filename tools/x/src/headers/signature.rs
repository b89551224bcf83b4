//! System calls in the notation of the C header and the documents.

use pillion_abi::call::{Argument, Call, Class};
use pillion_abi::object::{Kind, right};

/// A call as the abi crate's table declares it:
/// `wait(notification: Notification(R), deadline: Deadline) -> bits`.
pub fn signature(call: Call) -> String {
    let arguments: Vec<String> = call.arguments().iter().map(argument).collect();
    let results = call.results().join(", ");
    let arrow = if results.is_empty() { "" } else { " -> " };
    format!("{}({}){arrow}{results}", call.stub(), arguments.join(", "))
}

fn argument(argument: &Argument) -> String {
    let class = match argument.class {
        Class::Value(name) => name.into(),
        Class::Cap { kind, rights, or } => {
            let letters = [(right::READ, "R"), (right::WRITE, "W"), (right::EXECUTE, "X"), (right::CONTROL, "C")];
            let needed: Vec<&str> =
                letters.iter().filter(|(bit, _)| rights & bit != 0).map(|(_, name)| *name).collect();
            let or = or.map(|kind| if kind == Kind::None { " or 0".into() } else { format!(" or {kind:?}") });
            format!("{kind:?}({}){}", needed.join(" "), or.unwrap_or_default())
        }
    };
    format!("{}: {class}", argument.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = include_str!("../../../../docs/syscalls.md");

    #[test]
    fn what_is_special_is_written() {
        assert_eq!(signature(Call::Yield), "yield_now()");
        assert_eq!(signature(Call::VcpuRun), "vcpu_run(vcpu: Vcpu(C)) -> reason, value");
        assert!(signature(Call::MemoryMap).contains("space: AddressSpace(C) or GuestSpace, "));
        assert!(signature(Call::ThreadConfigure).contains("fault: Endpoint(W) or 0, "));
        assert!(signature(Call::VcpuConfigure).contains("state: Memory(R W), "));
    }

    /// Each call has one section in the document: `### Name (number)`, with its signature in the
    /// first paragraph, errors and work.
    #[test]
    fn every_call_is_documented_as_the_table_says() {
        for call in Call::ALL {
            let heading = format!("\n### {} ({})\n", call.name(), *call as u64);
            let sections: Vec<&str> = DOCUMENT.split(&heading).skip(1).collect();
            let [section] = sections[..] else {
                panic!("docs/syscalls.md: {} sections with {heading}", sections.len())
            };
            let section = section.split("\n##").next().unwrap_or_default();
            let written = section.trim().split("\n\n").next().unwrap_or_default();
            let written = written.split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(written, format!("`{}`", signature(*call)), "docs/syscalls.md, below {heading}");
            for head in ["- *Errors*: ", "- *Worst-case work*: "] {
                assert!(section.contains(head), "docs/syscalls.md: {} has no {head}", call.name());
            }
        }
        let headings = DOCUMENT.lines().filter(|line| line.starts_with("### ")).count();
        assert_eq!(headings, Call::ALL.len(), "docs/syscalls.md has sections of no call");
    }
}
