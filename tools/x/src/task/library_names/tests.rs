use super::super::{compile, link, toolchain};
use super::*;
use crate::task::Recipe;
use std::collections::BTreeSet;
use std::process::Command;

const MAP: &str = "Cross Reference Table

Symbol                                            File
cos                                               /t/0.o
__divdc3                                          /t/libpillion_rt.a(rust.o)
malloc                                            /l/libc.a(malloc.lo)
memcpy                                            /l/libc.a(memcpy.lo)
rtf_put                                           /t/libpillion_rt.a(rust.o)
sem_wait                                          /t/libpillion_rt.a(rust.o)
sin                                               /t/libpillion_rt.a(compiler_builtins-1.o)
                                                  /t/0.o
";

fn names(list: &str) -> HashSet<String> {
    list.split(' ').map(str::to_owned).collect()
}

#[test]
fn each_name_has_one_origin() {
    let libraries = libraries([
        (
            Path::new("/t/libpillion_rt.a"),
            listed("# Remark about free.\nmalloc sem_wait\n").map(str::to_owned).collect(),
        ),
        (Path::new("/l/libc.a"), names("cos sin memcpy malloc sem_wait free")),
        (Path::new("/g/libgcc.a"), names("__divdc3")),
    ]);
    let found = strays(&libraries, &LinkMap::parse(&format!("\n{MAP}")));
    assert_eq!(
        found,
        [
            "__divdc3 from libpillion_rt.a(rust.o) instead of from the compiler's library",
            "malloc from libc.a(malloc.lo) instead of from the runtime",
            "sin from libpillion_rt.a(compiler_builtins-1.o) instead of from the C library",
        ]
    );
}

/// A folder with what the link step needs from the repository, and with a program and a runtime
/// compiled from these texts.
struct Place {
    folder: tempfile::TempDir,
    program: PathBuf,
    runtime: PathBuf,
}

impl Place {
    fn new(program: &str, runtime: &str) -> Place {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        fs::create_dir(at("rt")).unwrap();
        for file in [link::SCRIPT, LIST, OFFERED] {
            fs::copy(root.join(file), at(file)).unwrap();
        }
        for (name, text) in [("program", program), ("runtime", runtime)] {
            fs::write(at(name).with_extension("c"), text).unwrap();
            let mut compiler = Command::new("gcc");
            compiler.args(["-O1", "-fno-builtin", "-ffunction-sections", "-fno-pic", "-c"]).current_dir(folder.path());
            assert!(compiler.arg(format!("{name}.c")).status().unwrap().success());
        }
        let runtime = at("libpillion_rt.a");
        assert!(Command::new("ar").arg("rcs").arg(&runtime).arg(at("runtime.o")).status().unwrap().success());
        Place { program: at("program.o"), runtime, folder }
    }

    fn link(&self) -> Result<PathBuf> {
        let repository = Repository::at(self.folder.path());
        let recipe = Recipe { name: "motor".into(), ..Recipe::default() };
        link::link(&repository, &recipe, &self.runtime, std::slice::from_ref(&self.program), self.folder.path())
    }
}

const PROGRAM: &str = "double sin(double); volatile double x; int init_module(void) { x = sin(x); return 0; }";
const START: &str =
    "int init_module(void); int _start(void) { return init_module(); } void __stack_chk_fail(void) {}\n";

#[test]
fn a_program_that_would_get_another_sine_is_not_linked() {
    // As in Rust's support library: weak and hidden, and first.
    let sine = "__attribute__((weak, visibility(\"hidden\"))) double sin(double x) { return x; }";
    let said = Place::new(PROGRAM, &(START.to_owned() + sine)).link().unwrap_err().to_string();
    assert!(
        said.starts_with("motor would get sin from libpillion_rt.a(runtime.o) instead of from the C library\n"),
        "{said}"
    );
    assert!(said.contains("why:") && said.contains("do:") && said.contains(LIST), "{said}");
}

#[test]
fn so_is_not_one_whose_c_library_takes_the_runtimes_place() {
    let program = "int pthread_equal(int, int); int init_module(void) { return pthread_equal(1, 2); }";
    let said = Place::new(program, START).link().unwrap_err().to_string();
    assert!(said.contains("get pthread_equal from libc.a(pthread_equal.lo) instead of from the runtime\n"), "{said}");
}

#[test]
fn nor_one_that_uses_what_is_not_offered() {
    // A function for the C library's own threads, one for its own streams that asks Linux for
    // nothing, and one for Linux's files.
    for name in ["pthread_attr_getstack", "fputs_unlocked", "fopen"] {
        let program = format!("int {name}(void *); int init_module(void) {{ return {name}(0); }}");
        let said = Place::new(&program, START).link().unwrap_err().to_string();
        assert!(said.starts_with(&format!("motor uses {name} of the C library\n")) && said.contains(OFFERED), "{said}");
        let own = format!("{program} int {name}(void *nothing) {{ return nothing != 0; }}");
        assert!(Place::new(&own, START).link().is_ok());
    }
}

#[test]
fn a_program_gets_the_c_librarys_sine_or_its_own() {
    let place = Place::new(PROGRAM, START);
    assert!(place.link().is_ok());
    let own = "double sin(double x) { return 2 * x; }";
    assert!(Place::new(&format!("{PROGRAM}\n{own}"), START).link().is_ok());
}

/// The sections of the list, each with the name of the program at the end of its heading:
/// `# What (PROGRAM).`
fn sections(list: &str) -> Vec<(&str, Vec<&str>)> {
    let parts = list.split("\n\n").filter_map(|part| {
        let (heading, names) = part.split_once('\n')?;
        let program = heading.strip_suffix(").")?.rsplit_once('(')?.1;
        Some((program, names.split_whitespace().collect()))
    });
    parts.collect()
}

/// The names that a test program takes from elsewhere, without the compiler's built-in versions.
fn called(program: &str) -> HashSet<String> {
    let repository = Repository::at(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    let folder = tempfile::tempdir().unwrap();
    let source = repository.path("rt/tests/programs").join(format!("{program}.c"));
    // The host's results are not needed here.
    fs::write(folder.path().join(format!("{program}.native")), "").unwrap();
    let mut recipe = Recipe::of(program.into(), std::slice::from_ref(&source)).unwrap();
    recipe.includes.push(folder.path().to_owned());
    recipe.extra.push("-fno-builtin".into());
    let compiled = compile::all(&repository, &recipe, folder.path()).unwrap();
    let data = fs::read(&compiled.objects[0]).unwrap();
    let object = object::File::parse(&*data).unwrap();
    let undefined = object.symbols().filter(|symbol| symbol.is_undefined());
    undefined.filter_map(|symbol| Some(symbol.name().ok()?.to_owned())).collect()
}

#[test]
fn each_name_that_is_offered_is_there_and_called_by_its_test_program() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let list = fs::read_to_string(root.join(OFFERED)).unwrap();
    let sections = sections(&list);
    assert_eq!(
        sections.iter().map(|(_, names)| names.len()).sum::<usize>(),
        listed(&list).count(),
        "a heading names no program"
    );
    let [c_library, _] = toolchain::archives().unwrap();
    let there = defined(&c_library).unwrap();
    let programs: BTreeSet<_> = sections.iter().map(|(program, _)| *program).collect();
    let mut missing = Vec::new();
    for program in programs {
        let called = called(program);
        let names = sections.iter().filter(|(by, _)| *by == program).flat_map(|(_, names)| names);
        missing.extend(
            names.filter(|name| !called.contains(**name)).map(|name| format!("{name} is not called by {program}.c")),
        );
    }
    missing.extend(
        listed(&list).filter(|name| !there.contains(*name)).map(|name| format!("{name} is not in the C library")),
    );
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}
