//! Names that the linker did not find, reported so that the program's author can act on it.

use crate::problem::problems;
use std::collections::BTreeMap;

/// What to do if one of the two is missing.
pub const BEGIN_AND_END: &str =
    "write `int init_module(void)` and `void cleanup_module(void)`; `./x new rtlinux NAME` shows them";

/// Kinds of names, by prefixes separated by blanks, and what to do about them.
const KINDS: [(&str, &str, &str); 5] = [
    ("init_module cleanup_module", "where a module begins and ends", BEGIN_AND_END),
    (
        "_ZTI _ZTV __cxa_ __dynamic_cast _Unwind_ __gxx_ _ZSt _ZNSt _ZNKSt",
        "part of C++'s own library",
        "do without exceptions, run-time types, streams and strings; header templates, new and delete are available",
    ),
    (
        "__tls_get_addr __emutls _dl_ dlopen dlsym",
        "for programs that are linked at run time",
        "do without thread-local variables and libraries; pthread_setspecific keeps a value for each thread",
    ),
    (
        "pthread_ sem_ rtl_ rtf_ rt_ mq_ mbuff_ timer_ clock_",
        "named like a function of RTLinux, but there is none of this name",
        "compare the spelling with the headers in rt/include",
    ),
    (
        "printk kmalloc kfree vmalloc schedule wake_up request_ free_ register_ proc_ create_proc remove_proc tasklet_ \
         mark_bh queue_task unregister_ copy_to_user copy_from_user kernel_thread add_timer del_timer mod_timer \
         init_timer pci_ virt_to_ phys_to_ bus_to_ interruptible_ wait_event daemonize xtime __",
        KERNEL.0,
        KERNEL.1,
    ),
];
const KERNEL: (&str, &str) = (
    "a function of Linux's kernel, which a program in an address space of its own cannot call",
    "move what needs it to a Linux process or module, and talk to it through a FIFO or mbuff; docs/rtlinux.md, section \"Left out\", has the table",
);
/// More names of the kernel's, in full: programs have functions of their own with such prefixes.
const OF_THE_KERNEL: &str = "kill_proc kill_proc_info kill_pg kill_pg_info kill_sl kill_sl_info kill_fasync \
    misc_register misc_deregister sleep_on sleep_on_timeout isa_readb isa_readw isa_readl isa_writeb isa_writew \
    isa_writel isa_memset_io isa_memcpy_fromio isa_memcpy_toio";
const UNKNOWN: (&str, &str) = (
    "in none of the sources, and neither in the runtime nor in the C library",
    "name the source that defines it too, or use a function that the headers in rt/include declare",
);

/// The error for linker messages that say that names were not found.
pub fn explain(task: &str, said: &str) -> Option<anyhow::Error> {
    let missing = missing(said);
    if missing.is_empty() {
        return None;
    }
    let names: Vec<String> = missing.iter().map(|(name, place)| format!("{name} ({place})")).collect();
    let mut reasons: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for name in missing.keys() {
        reasons.entry(kind(name)).or_default().push(name);
    }
    let reasons = reasons.iter().map(|((what, remedy), names)| (format!("{}: {what}", names.join(", ")), remedy));
    Some(problems(format!("{task} uses names that are not defined: {}", names.join(", ")), reasons))
}

fn kind(name: &str) -> (&'static str, &'static str) {
    if OF_THE_KERNEL.split(' ').any(|known| known == name) {
        return KERNEL;
    }
    let kind = KINDS.iter().find(|(starts, ..)| starts.split(' ').any(|start| name.starts_with(start)));
    kind.map_or(UNKNOWN, |(_, what, remedy)| (what, remedy))
}

/// Names that were not found, each with the place where it is first used.
fn missing(said: &str) -> BTreeMap<String, String> {
    let mut missing = BTreeMap::new();
    for line in said.lines() {
        let Some((place, name)) = line.split_once(": undefined reference to `") else { continue };
        let name = name.trim_end_matches(['\'', ' ']);
        missing.entry(name.to_owned()).or_insert_with(|| short(place));
    }
    missing
}

/// `FILE:LINE` without folders, or the function if the linker knows no line.
fn short(place: &str) -> String {
    let place = place.trim_start_matches("/usr/bin/ld: ");
    let last = place.rsplit('/').next().unwrap_or(place);
    if last.contains(".o") || last.contains(":(") { "the runtime".into() } else { last.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "/usr/bin/ld: build/0.o: in function `init_module':
/home/a b/my-task.c:12: undefined reference to `rtl_foo'
/usr/bin/ld: /home/a b/my-task.c:14: undefined reference to `rtl_foo'
/usr/bin/ld: /home/a b/my-task.c:20: undefined reference to `helper'
/usr/bin/ld: /t/libpillion_rt.a(rt.o): in function `start':
rt.c:(.text+0x1): undefined reference to `init_module'
collect2: error: ld returned 1 exit status
";

    #[test]
    fn names_are_told_once_with_their_place() {
        let missing = missing(SAID);
        assert_eq!(missing.len(), 3);
        assert_eq!(missing["rtl_foo"], "my-task.c:12");
        assert_eq!(missing["helper"], "my-task.c:20");
    }

    #[test]
    fn each_kind_has_its_remedy() {
        let text = explain("t", SAID).unwrap().to_string();
        for part in
            ["rtl_foo (my-task.c:12)", "named like a function of RTLinux", "helper: in none", "where a module begins"]
        {
            assert!(text.contains(part), "{part} not in {text}");
        }
        assert!(explain("t", "ld: cannot find -lm").is_none());
    }

    #[test]
    fn names_of_the_program_are_not_taken_for_the_kernels() {
        for own in ["kill_motor", "isa_card_reset", "misc_flags", "sleep_onward"] {
            assert_eq!(kind(own), UNKNOWN, "{own}");
        }
        for absent in [
            "kill_proc",
            "kill_fasync",
            "isa_readb",
            "misc_register",
            "sleep_on",
            "sleep_on_timeout",
            "pci_find_device",
        ] {
            assert!(kind(absent).0.contains("Linux's kernel"), "{absent}");
        }
    }
}
