//! What goes into a bundle: the system file, the system's own tasks, RTLinux programs.

use crate::cli::BuildArguments;
use crate::problem::problem;
use crate::repository::Repository;
use crate::system_file::{self, SystemFile};
use crate::task;
use crate::task::find::{self, Program};
use anyhow::Result;
use pillion_system::{BROKER, Kind, System, Task};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The default system file.
pub const DEFAULT_SYSTEM: &str = "systems/demo.toml";

/// The section of dual mode.
const DUAL: &str = "dual";

/// What is left out without Linux: dual mode is for its threads.
const WITH_LINUX: [&str; 2] = ["linux", DUAL];

/// What goes into a bundle.
pub struct Plan {
    /// Where the system file is, for messages.
    pub path: PathBuf,
    /// The system file.
    pub file: SystemFile,
    /// Tasks that are packages of this repository: pillion-NAME.
    pub packages: Vec<String>,
    /// RTLinux programs.
    pub programs: Vec<Program>,
}

impl Plan {
    /// What the arguments ask for, on a machine that runs so many processors.
    pub fn make(repository: &Repository, arguments: &BuildArguments, running: u32) -> Result<Plan> {
        let here = std::env::current_dir()?;
        let (mut programs, mut packages) = (Vec::new(), Vec::new());
        for name in &arguments.tasks {
            match find::program(repository, name, std::slice::from_ref(&here))? {
                Some(program) => programs.push(program),
                None if is_package(repository, name) => packages.push(name.clone()),
                None => return Err(unknown(repository, name, std::slice::from_ref(&here))),
            }
        }
        let (path, text) = system_text(repository, arguments, &programs)?;
        let text = if arguments.no_linux { without(&path, &text, &WITH_LINUX)? } else { text };
        let mut file = system_file::parse(&path, text)?;
        file.system.meet(running);
        require(&path, &file.system, &programs)?;
        let folders = [path.parent().map(Path::to_owned).unwrap_or_default(), here];
        let mut plan = Plan { path, file, packages, programs };
        plan.add_system(repository, &folders)?;
        Ok(plan)
    }

    /// What the user should know of Linux's processors on a machine that runs so many, where the
    /// system file does not name them.
    pub fn about_processors(&self, running: u32) -> Option<String> {
        let has = self.file.system.linux.as_ref().filter(|linux| !linux.is_placed)?.processors;
        let dual = match self.file.system.tasks.iter().find(|task| task.dual().is_some()) {
            Some(task) => format!("with dual mode (`pillion exec`) on {}", task.processors),
            None => "without dual mode and the command `pillion`: `--system systems/dual.toml` has both".into(),
        };
        (running > 1 && has.count() > 1).then(|| format!("Linux has processors {has}, {dual}"))
    }

    /// Adds what the system file names.
    fn add_system(&mut self, repository: &Repository, folders: &[PathBuf]) -> Result<()> {
        let system = &self.file.system;
        let own = [pillion_abi::bundle::ROOT_TASK].into_iter().chain(system.linux.iter().map(|_| "vmm"));
        let own = own.chain(system.skins().next().map(|_| BROKER));
        let mut packages: Vec<String> = own.map(str::to_owned).collect();
        for task in &system.tasks {
            if self.programs.iter().any(|program| program.name() == task.image) {
                continue;
            }
            let is_program = task.skin.as_ref().is_some_and(|skin| skin.kind == Kind::RtLinux);
            let program = if is_program { find::program(repository, &task.image, folders)? } else { None };
            match program {
                Some(program) => self.programs.push(program),
                None if is_package(repository, &task.image) => packages.push(task.image.clone()),
                None if task.skin.is_some() => return Err(unknown(repository, &task.image, folders)),
                None => return Err(no_package(&self.path, task)),
            }
        }
        packages.append(&mut self.packages);
        let mut seen = BTreeSet::new();
        packages.retain(|package| seen.insert(package.clone()));
        self.packages = packages;
        Ok(())
    }

    /// The tasks' files with symbols, by task name; those of packages are in `output`, cargo's
    /// folder.
    pub fn elves(&self, repository: &Repository, output: &Path) -> BTreeMap<String, PathBuf> {
        let elf = |image: &str| match self.programs.iter().any(|program| program.name() == image) {
            true => task::elf(repository, image),
            false => output.join(format!("pillion-{image}")),
        };
        let own = self.packages.iter().map(|package| (package.clone(), elf(package)));
        own.chain(self.file.system.tasks.iter().map(|task| (task.name.clone(), elf(&task.image)))).collect()
    }

    /// Names of all files that are tasks.
    pub fn images(&self) -> impl Iterator<Item = &str> {
        self.packages.iter().map(String::as_str).chain(self.programs.iter().map(Program::name))
    }
}

/// The system file that the user names, else the one beside a program that has all the programs in
/// it, else one made for them.
fn system_text(repository: &Repository, arguments: &BuildArguments, programs: &[Program]) -> Result<(PathBuf, String)> {
    let read = |path: PathBuf| system_file::text(&path).map(|text| (path, text));
    if let Some(path) = &arguments.system {
        return read(repository.named(path));
    }
    let beside = |program: &Program| Some(program.folder()?.join(program.name()).with_extension("toml"));
    for path in programs.iter().filter_map(beside).filter(|path| path.is_file()) {
        let (path, text) = read(path)?;
        let system = system_file::parse(&path, text.clone())?.system;
        if programs.iter().all(|program| runs(&system, program.name())) {
            return Ok((path, text));
        }
    }
    let names: Vec<&str> = programs.iter().map(Program::name).collect();
    match names.first() {
        Some(first) => Ok((repository.build("tasks").join(format!("{first}.toml")), task::system::text(&names))),
        None => read(repository.path(DEFAULT_SYSTEM)),
    }
}

/// A system file's text without some sections.
fn without(path: &Path, text: &str, sections: &[&str]) -> Result<String> {
    let mut table: toml::Table = match text.parse() {
        Ok(table) => table,
        // The parser of system files reports the error better.
        Err(_) => return Ok(system_file::parse(path, text.to_owned())?.text),
    };
    for section in sections {
        table.remove(*section);
    }
    Ok(toml::to_string(&table)?)
}

fn runs(system: &System, program: &str) -> bool {
    system.tasks.iter().any(|task| task.image == program && task.skin.is_some())
}

fn require(path: &Path, system: &System, programs: &[Program]) -> Result<()> {
    let Some(lost) = programs.iter().find(|program| !runs(system, program.name())) else { return Ok(()) };
    let name = lost.name();
    let remedy = format!("add a [[task]] with name = \"{name}\" and skin = \"rtlinux\", or leave --system away");
    Err(problem(format!("{name} would not run"), format!("{} has no such task", path.display()), remedy))
}

/// Whether pillion-NAME is a package of this repository with a program in it.
pub fn is_package(repository: &Repository, name: &str) -> bool {
    let Ok(text) = std::fs::read_to_string(repository.path("Cargo.toml")) else { return false };
    let members =
        text.parse::<toml::Table>().ok().and_then(|table| table.get("workspace")?.get("members")?.as_array().cloned());
    let wanted = format!("pillion-{name}");
    members.unwrap_or_default().iter().filter_map(toml::Value::as_str).any(|member| {
        let manifest = std::fs::read_to_string(repository.path(member).join("Cargo.toml")).unwrap_or_default();
        let manifest = manifest.parse::<toml::Table>().unwrap_or_default();
        let named = manifest.get("package").and_then(|package| package.get("name")?.as_str()) == Some(&wanted);
        named && repository.path(member).join("src/main.rs").is_file()
    })
}

fn unknown(repository: &Repository, name: &str, folders: &[PathBuf]) -> anyhow::Error {
    let meant = find::nearest(repository, name, folders)
        .map_or(String::new(), |near| format!("`--task {near}`, if you mean that; otherwise "));
    problem(
        format!("there is no task {name}"),
        format!(
            "neither {name}.c nor {name}/{name}.c is here, none of that name was built, and there is no package pillion-{name}"
        ),
        format!(
            "{meant}go where its source is, or `./x build-task FILE.c -o {name}`; `./x new rtlinux {name}` makes one to start from"
        ),
    )
}

/// The error for a task without a skin that no package provides.
fn no_package(path: &Path, task: &Task) -> anyhow::Error {
    let Task { name, image, lines, .. } = task;
    problem(
        format!("{} is refused", path.display()),
        format!(
            "line {}: task {name} has no skin, and there is no package pillion-{image} in this repository",
            lines.image
        ),
        "add skin = \"rtlinux\" if it is an RTLinux program, correct the name or image, or make the package: docs/system-file.md says how",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::Recipe;
    use std::fs;

    const LINUX: &str = "[linux]\ncommand_line = \"quiet\"\n";

    fn arguments(system: Option<&Path>) -> BuildArguments {
        BuildArguments { system: system.map(Path::to_owned), ..crate::cli::run_arguments(&[""; 0]).build }
    }

    fn program(folder: &Path, name: &str) -> Program {
        let source = folder.join(name).with_extension("c");
        fs::write(&source, "").unwrap();
        Program::Sources(Recipe::of(name.into(), &[source]).unwrap())
    }

    fn text(tasks: &[&str]) -> String {
        let tasks = tasks.iter().map(|name| format!("[[task]]\nname = \"{name}\"\nskin = \"rtlinux\"\n"));
        format!("[system]\nname = \"beside\"\n{}{LINUX}", tasks.collect::<String>())
    }

    #[test]
    fn the_file_beside_a_program_counts_if_it_has_all() {
        let folder = tempfile::tempdir().unwrap();
        let repository = Repository::at(folder.path());
        let (a, b) = (program(folder.path(), "a"), program(folder.path(), "b"));
        let name = |programs: &[Program]| {
            let (path, text) = system_text(&repository, &arguments(None), programs).unwrap();
            system_file::parse(&path, text).unwrap().system.name
        };
        assert_eq!(name(std::slice::from_ref(&a)), "a");
        fs::write(folder.path().join("a.toml"), text(&["a"])).unwrap();
        assert_eq!(name(std::slice::from_ref(&a)), "beside");
        assert_eq!(name(&[a.clone(), b.clone()]), "a");
        fs::write(folder.path().join("b.toml"), text(&["a", "b"])).unwrap();
        assert_eq!(name(&[a, b]), "beside");
    }

    #[test]
    fn a_named_file_must_have_the_program() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("s.toml");
        fs::write(&file, text(&["a"])).unwrap();
        let (a, b) = (program(folder.path(), "a"), program(folder.path(), "b"));
        let repository = Repository::at(folder.path());
        let (path, text) = system_text(&repository, &arguments(Some(&file)), std::slice::from_ref(&b)).unwrap();
        let system = system_file::parse(&path, text).unwrap().system;
        assert!(require(&path, &system, &[a]).is_ok() && require(&path, &system, &[b]).is_err());
    }

    #[test]
    fn linux_can_be_left_out() {
        let without = without(Path::new("s"), &text(&["a"]), &WITH_LINUX).unwrap();
        let system = system_file::parse(Path::new("s"), without).unwrap().system;
        assert!(system.linux.is_none() && system.skins().count() == 1);
    }

    /// As `./x run --cpus N` does: the demonstration, or a program.
    #[test]
    fn linux_and_dual_mode_have_all_processors_of_a_run() {
        let folder = tempfile::tempdir().unwrap();
        let repository = Repository::find().unwrap();
        let of = |programs: &[Program], running| {
            let (path, text) = system_text(&repository, &arguments(None), programs).unwrap();
            let mut system = system_file::parse(&path, text).unwrap().system;
            system.meet(running);
            let dual = system.tasks.iter().find(|task| task.dual().is_some()).unwrap();
            (system.linux.unwrap().processors.count(), dual.processors.count())
        };
        let program = program(folder.path(), "a");
        for programs in [&[][..], std::slice::from_ref(&program)] {
            assert_eq!((of(programs, 1), of(programs, 4)), ((1, 1), (4, 4)));
        }
    }

    #[test]
    fn packages_are_known_by_their_names() {
        let repository = Repository::find().unwrap();
        assert!(is_package(&repository, "demo") && !is_package(&repository, "nothing"));
        assert!(!is_package(&repository, "abi"), "a library is no program");
    }

    #[test]
    fn a_task_without_a_skin_needs_a_package() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("s.toml");
        fs::write(&file, "[system]\nname = \"s\"\n[[task]]\nname = \"a\"\npriority = 9\nimage = \"nothing\"\n")
            .unwrap();
        let Err(error) = Plan::make(&Repository::find().unwrap(), &arguments(Some(&file)), 1) else {
            panic!("it is good")
        };
        let error = error.to_string();
        assert!(error.contains("line 6: task a has no skin, and there is no package pillion-nothing"), "{error}");
        assert!(error.contains("skin = \"rtlinux\""), "{error}");
    }

    /// The document's examples can be built, and fit the machine of `x run`.
    #[test]
    fn the_document_s_examples_can_be_run() {
        let repository = Repository::find().unwrap();
        let document = fs::read_to_string(repository.path("docs/system-file.md")).unwrap();
        let examples: Vec<&str> =
            document.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
        assert!(!examples.is_empty());
        let on = system_file::Emulated { memory_mib: 1024, processors: 1 };
        for example in examples {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("example.toml");
            fs::write(&file, example).unwrap();
            let plan = Plan::make(&repository, &arguments(Some(&file)), 1).unwrap_or_else(|error| panic!("{error:#}"));
            let images: Vec<&str> = plan.images().chain(["vmlinuz", "initrd"]).collect();
            system_file::check(&plan.path, &plan.file.system, Some(on), &images, "").unwrap();
        }
    }
}
