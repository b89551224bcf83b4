//! The trial of a program: the run in which it is tested.

use super::expectations::Expectations;
use super::{Built, Program, native};
use crate::build::cargo;
use crate::file::temporary;
use crate::progress::step;
use crate::repository::Repository;
use crate::run::own_process::{self, Streams};
use crate::task::system;
use anyhow::Result;
use std::ffi::OsString;

/// Builds what all programs need, before several of them need it at the same time.
pub fn prepare(repository: &Repository) -> Result<()> {
    let packages = [pillion_abi::bundle::ROOT_TASK, pillion_system::BROKER].map(str::to_owned);
    step("building the kernel and the system's tasks", || cargo::build(repository, &packages)).map(drop)
}

/// Runs the programs together, in counted time.
pub fn run(repository: &Repository, built: &[Built]) -> Result<Streams> {
    let folder = temporary()?;
    let program = built[0].program;
    let Program { name, expectations, .. } = program;
    // The bundle gets the file's name, so concurrent tests must use different ones.
    let system = folder.path().join(name).with_extension("toml");
    std::fs::write(&system, text(built))?;
    let mut arguments =
        ["--counted", "--timeout", &expectations.limit.to_string(), "--system"].map(OsString::from).to_vec();
    arguments.push(system.into());
    match &expectations.load {
        Some(load) => arguments.extend(["--unpacked".into(), "--load".into(), load.into()]),
        None => arguments.push("--no-linux".into()),
    };
    if let Some(partner) = &expectations.partner {
        arguments.extend(["--file".into(), program.beside(partner, &["c"]).into()]);
    }
    if expectations.load.is_some() && expectations.native.is_some() {
        arguments.extend(["--file".into(), native::file(repository, program).into()]);
    }
    arguments.extend(expectations.run.iter().map(OsString::from));
    own_process::run(repository, folder.path(), arguments)
}

/// The system file.
fn text(built: &[Built]) -> String {
    let lines = |expectations: &Expectations| {
        let parameters = Some(&expectations.parameters).filter(|text| !text.is_empty());
        let parameters = parameters.map(|text| format!("arguments = {}", toml::Value::from(text.as_str())));
        parameters.iter().chain(&expectations.task).map(|line| format!("{line}\n")).collect()
    };
    let programs: Vec<_> = built.iter().map(|one| (&*one.program.name, lines(&one.program.expectations))).collect();
    let (mut text, expectations) = (system::tasks(&programs), &built[0].program.expectations);
    if !expectations.channels.is_empty() {
        text += &format!("\n[channels]\n{}\n", expectations.channels.join("\n"));
    }
    if expectations.load.is_some() {
        text += system::LINUX;
        // Of a counted run, Linux on several processors gets nearly all of the time.
        text += "cpus = [0]\n";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(name: &str, comment: &str) -> Program {
        let expectations = Expectations::parse(&format!("/*\n{comment}\n*/")).unwrap();
        Program { name: name.into(), source: Default::default(), expectations }
    }

    fn built(program: &Program) -> Built<'_> {
        Built { program, warnings: String::new() }
    }

    #[test]
    fn a_sheet_becomes_a_system_file() {
        let first = program("a", "parameters: x=1 s=\"b\"\ntask: threads = 40\nchannels: shared_fifos = [3]");
        let second = program("b", "task: share = false");
        let system =
            pillion_system::parse(&text(&[built(&first), built(&second)])).unwrap_or_else(|wrong| panic!("{wrong:?}"));
        let skins: Vec<_> =
            system.skins().map(|(task, skin)| (task.arguments.as_str(), skin.threads, skin.share)).collect();
        assert_eq!(skins, [("x=1 s=\"b\"", 40, true), ("", 16, false)]);
        assert_eq!((system.channels.shared_fifos, &system.linux), (1 << 3, &None));
        let system = pillion_system::parse(&text(&[built(&program("a", "load: x"))])).unwrap();
        assert!(
            system.linux.as_ref().is_some_and(|linux| linux.is_placed) && system.skins().all(|(_, skin)| !skin.share)
        );
    }
}
