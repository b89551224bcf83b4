//! Every header of `rt/include` and `rt/shared` can be included by itself, first, and twice, in old
//! and new C and in C++; and a module in the style of Linux 2.4 compiles without a single warning.

mod compiler;

use compiler::{LIBC_HEADERS, Language, OLD_C, rt, run, run_as_is};
use std::{collections::BTreeSet, fs, path::Path};

const LANGUAGES: [Language; 4] = [OLD_C, ("gcc", "c", "gnu11"), ("g++", "c++", "gnu++98"), ("g++", "c++", "gnu++17")];

/// The compiler's messages for a text.
fn compile(text: &str, language: Language) -> String {
    let output = run(text, language, &["-fsyntax-only", "-Wall", "-Wno-unused"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { said } else { format!("failed\n{said}") }
}

/// All headers, by the names that programs include.
fn all() -> Vec<String> {
    let mut found = Vec::new();
    for folder in compiler::headers() {
        list(folder, folder, &mut found);
    }
    found.retain(|file| file.ends_with(".h"));
    found
}

fn list(folder: &Path, of: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            list(&path, of, found);
        } else {
            found.push(path.strip_prefix(of).unwrap().to_str().unwrap().to_owned());
        }
    }
}

#[test]
fn each_header_stands_alone() {
    let mut all = all();
    all.retain(|header| !header.starts_with("bits/"));
    assert!(all.len() > 100, "{all:?}");
    for header in all {
        for language in LANGUAGES {
            let said = compile(&format!("#include <{header}>\n#include <{header}>\nint only;\n"), language);
            assert_eq!(said, "", "<{header}> in {}", language.2);
        }
    }
}

#[test]
fn types_are_the_same_whichever_header_comes_first() {
    let headers = [
        "rtl.h",
        "sys/types.h",
        "stdlib.h",
        "sys/select.h",
        "setjmp.h",
        "pthread.h",
        "signal.h",
        "time.h",
        "math.h",
        "string.h",
    ];
    for first in headers {
        let rest: String = headers.iter().map(|header| format!("#include <{header}>\n")).collect();
        let text = format!("#include <{first}>\n{rest}pthread_t t; clockid_t c; sigset_t s; pthread_mutex_t m;\n");
        for language in LANGUAGES {
            assert_eq!(compile(&text, language), "", "<{first}> first in {}", language.2);
        }
    }
}

#[test]
fn a_module_of_old_compiles() {
    let module = fs::read_to_string(rt("core/tests/old_module.c")).unwrap();
    for language in &LANGUAGES[..2] {
        assert_eq!(compile(&module, *language), "", "{}", language.2);
    }
}

/// In the style of the time: they must compile, whatever the compiler warns about.
#[test]
fn modules_in_the_style_of_the_time_compile() {
    for entry in fs::read_dir(rt("core/tests/modules")).unwrap() {
        let path = entry.unwrap().path();
        let said = compile(&fs::read_to_string(&path).unwrap(), OLD_C);
        assert!(!said.starts_with("failed"), "{}: {said}", path.display());
    }
}

#[test]
fn a_wrong_module_does_not() {
    assert!(
        compile("#include <linux/module.h>\nint x[2];\nMODULE_PARM(y, \"i\");\n", LANGUAGES[0]).starts_with("failed")
    );
}

/// The functions that the C library's headers declare.
fn functions_of_c() -> BTreeSet<String> {
    let all: String = fs::read_dir(LIBC_HEADERS)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".h"))
        .map(|name| format!("#include <{LIBC_HEADERS}/{name}>\n"))
        .collect();
    let output = run_as_is(&all, OLD_C, &["-E", "-P", "-D_GNU_SOURCE", "-nostdinc", "-isystem", LIBC_HEADERS]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let declarations = text.lines().filter(|line| line.ends_with(");") && !line.starts_with([' ', '\t', '}']));
    let names =
        declarations.filter_map(|line| line.split_once('(')?.0.trim_end().rsplit([' ', '*']).next().map(str::to_owned));
    names.filter(|name| !["", "int", "void"].contains(&name.as_str()) && !name.ends_with("_t")).collect()
}

/// A program may have a variable of any name that RTLinux's own headers and those of the Linux
/// kernel did not declare.
#[test]
fn a_program_may_use_the_names_of_the_c_library() {
    let functions = functions_of_c();
    assert!(
        functions.len() > 1000 && ["clock", "y1", "clock_gettime", "open"].iter().all(|name| functions.contains(*name))
    );
    let listed = fs::read_to_string(rt("rtlinux-names.txt")).unwrap();
    let listed: BTreeSet<&str> = listed.split_whitespace().map(|word| word.split('/').next().unwrap()).collect();
    // From the C library, the kernel's headers had memory, strings and formats; RTLinux's own
    // headers had its calls, but not those in POSIX's headers.
    let kernel = ["str", "mem", "is", "to", "sprintf", "snprintf", "vsprintf", "vsnprintf", "sscanf"];
    let own = ["pthread_", "sched_", "sem_", "sig", "rtl_", "usleep", "nanosleep", "clock_nanosleep", "malloc", "free"];
    let posix = ["sigprocmask", "signal", "sigemptyset"];
    let may =
        |name: &str, starts: &[&str]| starts.iter().any(|start| name.starts_with(start)) && !posix.contains(&name);
    let mut all = all();
    all.retain(|header| {
        let (of_kernel, of_rtlinux) =
            (header.starts_with("linux/") || header.starts_with("asm/"), header.starts_with("rtl"));
        (of_kernel || of_rtlinux || ["pthread.h", "mbuff.h"].contains(&header.as_str()))
            && !header.ends_with("unistd.h")
    });
    all.push("time.h".to_owned());
    for header in all {
        let mut text = format!("#include <{header}>\nstruct a_type_of_its_own {{ int number; }};\n");
        let mine = |name: &&String| {
            let kept = if header == "time.h" {
                listed.contains(name.as_str()) || !name.starts_with("clock")
            } else {
                may(name, &kernel) || may(name, &own)
            };
            !kept && !name.starts_with('_')
        };
        for name in functions.iter().filter(mine) {
            text += &format!("#ifndef {name}\nstruct a_type_of_its_own {name};\n#endif\n");
        }
        let output = run(&text, OLD_C, &["-fsyntax-only", "-w", "-fno-builtin"]);
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "<{header}>");
    }
}

#[test]
fn what_the_kernels_headers_brought_along_is_there() {
    let text = "#include <rtl.h>\n#include <rtl_sched.h>\nunsigned long low, high, flags; long long both; struct list_head list; atomic_t atomic;\n\
        spinlock_t spin; cycles_t cycles; int numbers[] = { SIGALRM, SIGCONT, SIGHUP, SIGIO, SIGUSR1, SIGTERM, MAP_FILE, MAP_SHARED, PROT_READ,\n\
        O_NONBLOCK, HZ, EAGAIN, NR_CPUS, LINUX_VERSION_CODE, KERNEL_VERSION(2, 4, 18) };\n\
        int all(void) { rdtscl(low); rdtscll(both); rdtsc(low, high); cycles = get_cycles(); cli(); sti(); save_flags(flags); restore_flags(flags);\n\
        set_bit(1, &flags); atomic_inc(&atomic); list_empty(&list); outb(inb(0x61), 0x80); mb(); spin_lock(&spin); printk(KERN_ERR \"text\");\n\
        memset(kmalloc(4, GFP_KERNEL), 0, 4); return smp_processor_id() + min(1, 2) + jiffies; }\n";
    for language in &LANGUAGES[..2] {
        assert_eq!(compile(text, *language), "", "{}", language.2);
    }
}
