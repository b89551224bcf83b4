//! Compiles sources the way kernel modules are compiled.

use super::recipe::{Recipe, is_cpp};
use super::{foreign, late_parameters, old_gnu, toolchain};
use crate::repository::Repository;
use crate::tool;
use anyhow::{Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Flags for both languages. Reports of faults follow the frame pointers.
const COMMON: &str = "-O2 -g -pipe -fno-pic -fno-pie -fno-omit-frame-pointer \
    -mno-omit-leaf-frame-pointer -fno-stack-protector -fno-delete-null-pointer-checks \
    -fno-asynchronous-unwind-tables -fno-strict-aliasing -ffunction-sections -fdata-sections \
    -nostdinc -fdiagnostics-color=never -fcf-protection=none";
/// Macros for modules, as RTLinux's makefiles define them.
const MODULE: &str = "-D__KERNEL__ -DMODULE -D__RTL__";
/// C as it was written for RTLinux, with a warning for each function that is called without a
/// declaration: its result is then taken for `int`.
const C: &str = "-std=gnu89 -Wimplicit -fcommon";
/// C that needs a newer standard, with inline functions and declarations as before.
const NEWER_C: &str = "-std=gnu11 -fgnu89-inline -Wimplicit -fcommon";
/// C++ without the features that need a runtime of its own. Where compilers of RTLinux's time only
/// warned, as about `(unsigned)pointer`, so does this one. The compiler's headers use the macro,
/// which the C library's headers do not define.
const CPP: &str = "-fpermissive -Wno-error=narrowing -nostdinc++ -fno-exceptions -fno-rtti \
    -fno-threadsafe-statics -fno-use-cxa-atexit -D__GLIBC_PREREQ(a,b)=0";
/// From this version on, the compiler rejects what it only warned about before.
const STRICT_SINCE: u32 = 14;

/// How many kinds of code that today's compilers reject one source may have.
const FAULTS: usize = 4;

/// The result of compiling.
#[derive(Default)]
pub struct Compiled {
    /// The objects, in the order of the sources.
    pub objects: Vec<PathBuf>,
    /// The compiler's warnings.
    pub warnings: String,
    /// Every file that it read.
    pub inputs: Vec<PathBuf>,
}

/// Compiles every source into the folder.
pub fn all(repository: &Repository, recipe: &Recipe, folder: &Path) -> Result<Compiled> {
    let mut compiled = Compiled::default();
    for (number, source) in recipe.sources.iter().enumerate() {
        let object = folder.join(format!("{number}.o"));
        compiled.warnings += &one(repository, recipe, source, &object)?;
        let read = inputs(&std::fs::read_to_string(object.with_extension("d"))?);
        // A mended copy lies in `folder`, and is no input.
        compiled.inputs.extend(read.into_iter().filter(|file| !file.starts_with(folder)).chain([source.clone()]));
        compiled.objects.push(object);
    }
    Ok(compiled)
}

/// The files in a make rule: `OBJECT: FILE FILE ..`, with backslashes at the ends of lines and
/// before spaces in names.
fn inputs(rule: &str) -> Vec<PathBuf> {
    let files = rule.split_once(": ").map_or("", |(_, files)| files).replace("\\\n", " ").replace("\\ ", "\0");
    files.split_whitespace().map(|file| PathBuf::from(file.replace('\0', " "))).collect()
}

fn one(repository: &Repository, recipe: &Recipe, source: &Path, object: &Path) -> Result<String> {
    let cpp = is_cpp(source);
    let headers = toolchain::headers(repository, cpp)?;
    let strict = !cpp && toolchain::version(cpp)? >= STRICT_SINCE;
    let compiler = |standard: &str| {
        let mut command = Command::new(toolchain::compiler(cpp));
        command.env("LC_ALL", "C").args([COMMON, MODULE, standard].join(" ").split(' '));
        // Two clones must count the same, and `__FILE__` ends up in the image.
        command.arg(format!("-fmacro-prefix-map={}=.", repository.root().display()));
        if strict {
            command.arg("-fpermissive");
        }
        for folder in &recipe.includes {
            command.arg("-I").arg(folder);
        }
        for folder in &headers {
            command.arg("-isystem").arg(folder);
        }
        command.args(recipe.definitions.iter().map(|definition| format!("-D{definition}"))).args(&recipe.extra);
        command
    };
    let inputs = object.with_extension("d");
    let compile = |standard: &str, given: &Path| {
        let mut command = compiler(standard);
        command.args(beside(source, given)).args(["-MD", "-MF"]).arg(&inputs);
        tool::judged(command.arg("-c").arg(given).arg("-o").arg(object))
    };
    let run = |standard: &str| -> Result<(bool, String)> {
        let (mut given, mut first) = (source.to_owned(), compile(standard, source)?);
        if !first.0 && old_gnu::texts_may_be_cause(&first.1) {
            let Some(text) = old_gnu::copy_with_texts_joined(source)? else { return Ok(first) };
            given = object.with_file_name(source.file_name().unwrap_or_default());
            std::fs::write(&given, text)?;
            first = compile(standard, &given)?;
        }
        // One error may hide another.
        let (mut done, mut all) = (first, String::new());
        for _ in 0..FAULTS {
            if done.0 || !(late_parameters::may_be_cause(&done.1) || old_gnu::may_be_cause(&done.1)) {
                break;
            }
            all += &done.1;
            let moved = late_parameters::may_be_cause(&all);
            let mut preprocess = compiler(standard);
            preprocess.args(beside(source, &given)).args(["-E", "-MD", "-MF"]).arg(&inputs).arg(&given);
            preprocess
                .args(moved.then_some(late_parameters::MARKED))
                .args(old_gnu::own_min_max(&all).then_some(old_gnu::OWN_MIN_MAX));
            let plain = tool::output(&mut preprocess)?;
            // For a source that it rejects, as for an `#error`, it writes only a part.
            if !plain.status.success() {
                break;
            }
            let text = old_gnu::text_of(&plain.stdout);
            let text = late_parameters::at_the_end(&text).unwrap_or(text);
            let text = old_gnu::mended(&text, &all).unwrap_or(text);
            let preprocessed = object.with_extension(if cpp { "ii" } else { "i" });
            std::fs::write(&preprocessed, old_gnu::bytes_of(&text))?;
            done = tool::judged(compiler(standard).arg("-c").arg(&preprocessed).arg("-o").arg(object))?;
        }
        if done.0 {
            done.1 = old_gnu::called_before(&all) + &done.1;
        }
        Ok(done)
    };
    let named = recipe.std.as_ref().map(|name| format!("-std={name}"));
    let (mut done, mut said) = match (&named, cpp) {
        (Some(named), true) => run(&format!("{CPP} {named}"))?,
        (Some(named), false) => run(named)?,
        (None, true) => run(CPP)?,
        (None, false) => run(C)?,
    };
    if !done && !cpp && named.is_none() && wants_newer(&said) {
        (done, said) = run(NEWER_C)?;
    }
    if !done {
        if let Some(problem) = foreign::explain(source, &said) {
            return Err(problem);
        }
        bail!("{} cannot be compiled:\n{}", source.display(), said.trim_end());
    }
    Ok(said)
}

/// Arguments with which a mended copy that lies elsewhere finds the files beside its original.
fn beside(source: &Path, given: &Path) -> Vec<PathBuf> {
    let folder = (given != source).then(|| source.parent().unwrap_or(source));
    folder.map_or_else(Vec::new, |folder| vec!["-iquote".into(), folder.to_owned()])
}

/// Whether the compiler rejects a source only because the standard is too old.
fn wants_newer(said: &str) -> bool {
    said.lines().any(|line| line.contains("error:") && line.contains("C99"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_compiler_read() {
        let rule = "/t/0.o: /a\\ b/x.c /rt/include/rtl.h \\\n /rt/include/y.h\n";
        assert_eq!(inputs(rule), ["/a b/x.c", "/rt/include/rtl.h", "/rt/include/y.h"].map(PathBuf::from));
    }

    #[test]
    fn tells_new_c_from_wrong_c() {
        let new = "a.c:1:2: error: ‘for’ loop initial declarations are only allowed in C99 or C11 mode";
        assert!(wants_newer(new));
        assert!(!wants_newer("a.c:1:2: error: expected ‘;’ before ‘}’ token"));
        assert!(!wants_newer("a.c:1:2: warning: in C99 mode\na.c:2: error: no"));
    }

    /// Compiles the first of these files, which lie in one folder; `Ok` holds the object.
    fn compiled(files: &[(&str, &[u8])]) -> Result<Vec<u8>> {
        let (folder, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for (name, text) in files {
            let file = folder.path().join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        let mut recipe = Recipe::of("a".into(), &[folder.path().join(files[0].0)]).unwrap();
        recipe.includes = vec![folder.path().join("include")];
        let compiled = all(&Repository::find().unwrap(), &recipe, work.path())?;
        Ok(std::fs::read(&compiled.objects[0]).unwrap())
    }

    fn has(object: &[u8], text: &[u8]) -> bool {
        object.windows(text.len()).any(|part| part == text)
    }

    /// A source that uses its function's name the way compilers of the time accepted, so that it is
    /// mended.
    const OLD: &str = "int printk(const char *, ...); int f(void) { return printk(__FUNCTION__ \": hi\"); }\n";

    #[test]
    fn what_the_preprocessor_refuses_is_not_built() {
        assert!(has(&compiled(&[("a.c", OLD.as_bytes())]).unwrap(), b"f: hi"));
        for (line, said) in [("#error not this way", "not this way"), ("#include \"nowhere.h\"", "nowhere.h")] {
            let refused = compiled(&[("a.c", format!("{OLD}{line}\n").as_bytes())]).unwrap_err().to_string();
            assert!(refused.contains(said), "{refused}");
        }
    }

    #[test]
    fn only_a_copy_searches_the_folder_of_its_source_first() {
        let header = |text: &'static [u8]| {
            [
                ("include/sub/inner.h", &b"#include \"b.h\"\n"[..]),
                ("b.h", &b"#error the wrong one\n"[..]),
                ("include/b.h", text),
            ]
        };
        let all = |source: &'static [u8]| [&[("a.c", source)][..], &header(b"#define B 1\n")].concat();
        assert!(compiled(&all(b"#include <sub/inner.h>\nint b = B;\n")).is_ok());
    }

    #[test]
    fn bytes_of_texts_stay_as_they_are() {
        let joined = compiled(&[("a.c", b"const char *a = \"gr\xfc\xdf\xe4\nb\";\n")]).unwrap();
        assert!(has(&joined, b"gr\xfc\xdf\xe4\nb"));
        let named = compiled(&[(
            "a.c",
            &[OLD.as_bytes(), b"const char *a = \"gr\xfc\xdf\xe4\", *b = \"\xc3\xa4\";\n"].concat(),
        )])
        .unwrap();
        assert!(has(&named, b"gr\xfc\xdf\xe4\0") && has(&named, b"\xc3\xa4\0"));
    }

    #[test]
    fn a_static_function_that_was_called_before_stays_of_its_file() {
        let text = "int g(void) { send(1); return schedule(2); }\nstatic void send(int a) { g(); }\nstatic int schedule(int a) { return a; }\nvoid peek(int); static void peek(int a) { }\nint h(void) { peek(1); return g(); }\n";
        let folder = tempfile::tempdir().unwrap();
        let object = folder.path().join("a.o");
        std::fs::write(&object, compiled(&[("a.c", text.as_bytes())]).unwrap()).unwrap();
        let names = tool::capture(Command::new("nm").arg("-g").arg(&object)).unwrap();
        let names: Vec<&str> = names.lines().filter_map(|line| line.split_whitespace().last()).collect();
        assert_eq!(names, ["g", "h"]);
    }
}
