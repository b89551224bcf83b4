use super::super::link;
use super::*;
use crate::repository::Repository;
use crate::task::Order;
use std::fs;
use std::path::PathBuf;
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
    let promise = Promise {
        nobody: Vec::new(),
        runtime: listed("# Remark about free.\nmalloc sem_wait\n").collect(),
        c_library: names("cos sin memcpy malloc sem_wait free"),
        compiler: names("__divdc3"),
    };
    let [runtime, c_library, compiler] = ["/t/libpillion_rt.a", "/l/libc.a", "/g/libgcc.a"].map(Path::new);
    let found = strays(&promise, Archives { runtime, c_library, compiler }, &LinkMap::parse(&format!("\n{MAP}")));
    assert_eq!(
        found,
        [
            "__divdc3 from libpillion_rt.a(rust.o) instead of from the compiler's library",
            "malloc from libc.a(malloc.lo) instead of from the runtime",
            "sin from libpillion_rt.a(compiler_builtins-1.o) instead of from the C library",
        ]
    );
}

/// A folder with what the link step needs of the repository, and with a program and a runtime out of these texts.
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
        for file in [link::SCRIPT, LIST] {
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
        let order = Order { name: "motor".into(), ..Order::default() };
        link::link(&repository, &order, &self.runtime, std::slice::from_ref(&self.program), self.folder.path())
    }
}

const PROGRAM: &str = "double sin(double); volatile double x; int init_module(void) { x = sin(x); return 0; }";
const START: &str =
    "int init_module(void); int _start(void) { return init_module(); } void __stack_chk_fail(void) {}\n";

#[test]
fn a_program_that_would_get_another_sine_is_not_linked() {
    // As Rust's support library has it: weak and hidden, and first.
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
fn nor_one_that_asks_the_c_library_of_its_threads() {
    let program = "int pthread_attr_getstack(void *, void *, void *); int init_module(void) { return pthread_attr_getstack(0, 0, 0); }";
    let said = Place::new(program, START).link().unwrap_err().to_string();
    assert!(said.starts_with("motor uses pthread_attr_getstack of the C library\n"), "{said}");
}

#[test]
fn a_program_gets_the_c_librarys_sine_or_its_own() {
    let place = Place::new(PROGRAM, START);
    assert!(place.link().is_ok());
    let own = "double sin(double x) { return 2 * x; }";
    assert!(Place::new(&format!("{PROGRAM}\n{own}"), START).link().is_ok());
}
