//! Every header of `rt/include` can be included by itself, first, and twice, in old and new C and in C++; and a module as they were written for Linux 2.4
//! compiles without a single warning.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

const LIBC_HEADERS: &str = "/usr/include/x86_64-linux-musl";
const LANGUAGES: [(&str, &str, &str); 4] =
    [("gcc", "c", "gnu89"), ("gcc", "c", "gnu11"), ("g++", "c++", "gnu++98"), ("g++", "c++", "gnu++17")];

fn include() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../include")
}

/// Compiles a text without making an object; gives what the compiler said.
fn compile(text: &str, (compiler, language, standard): (&str, &str, &str)) -> String {
    let own = Command::new("gcc").arg("-print-file-name=include").output().expect("gcc is there");
    let own = String::from_utf8(own.stdout).unwrap();
    let mut command = Command::new(compiler);
    command.args(["-fsyntax-only", "-Wall", "-Wno-unused", "-nostdinc", "-D__KERNEL__", "-DMODULE", "-D__RTL__"]);
    command.arg(format!("-std={standard}")).arg("-I").arg(include());
    command.args(["-isystem", LIBC_HEADERS, "-isystem", own.trim(), "-x", language, "-"]);
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { said } else { format!("failed\n{said}") }
}

fn headers(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            headers(&path, found);
        } else {
            found.push(path.strip_prefix(include()).unwrap().to_str().unwrap().to_owned());
        }
    }
}

#[test]
fn each_header_stands_alone() {
    let mut all = Vec::new();
    headers(&include(), &mut all);
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
    let module = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/old_module.c")).unwrap();
    for language in &LANGUAGES[..2] {
        assert_eq!(compile(&module, *language), "", "{}", language.2);
    }
}

#[test]
fn a_wrong_module_does_not() {
    assert!(
        compile("#include <linux/module.h>\nint x[2];\nMODULE_PARM(y, \"i\");\n", LANGUAGES[0]).starts_with("failed")
    );
}
