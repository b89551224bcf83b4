//! Programs that first run on this machine: the task must compute what they print there.

use super::Program;
use crate::file::write_whole;
use crate::repository::Repository;
use crate::tool;
use anyhow::{Context as _, Result};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Defined while a source is compiled for this machine.
const MACRO: &str = "-DNATIVE";
/// The compiler has built-in versions of many C library functions, but the library's own are to be
/// called.
const FLAGS: [&str; 4] = ["-std=gnu11", "-O2", "-w", "-fno-builtin"];

/// The file that keeps what a program prints on this machine.
pub fn file(repository: &Repository, program: &Program) -> PathBuf {
    repository.build("tasks").join("native").join(&program.name).join(format!("{}.native", program.name))
}

/// The folder with the file `NAME.native`, which holds what the program prints on this machine.
/// `None` if it is not to run here.
pub fn run(repository: &Repository, program: &Program) -> Result<Option<PathBuf>> {
    let Some(arguments) = &program.expectations.native else { return Ok(None) };
    let kept = file(repository, program);
    let folder = kept.with_file_name("");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let work = tempfile::tempdir_in(&folder)?;
    let built = work.path().join("program");
    let mut compiler = Command::new("cc");
    compiler.args(FLAGS).arg(MACRO).arg("-o").arg(&built).arg(&program.source).args(arguments);
    tool::quietly(&mut compiler).with_context(|| format!("{} is not for this machine", program.source.display()))?;
    let printed = tool::capture(&mut Command::new(&built))?;
    // An unchanged file is not rewritten, so that the task is not rebuilt.
    write_whole(&kept, printed.as_bytes())?;
    Ok(Some(folder))
}

#[cfg(test)]
mod tests {
    use super::super::expectations::Expectations;
    use super::*;

    #[test]
    fn what_it_prints_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let repository = Repository::at(folder.path());
        let source = folder.path().join("p.c");
        fs::write(&source, "#ifdef NATIVE\n#include <stdio.h>\nint main(void) { return puts(\"1,\") < 0; }\n#endif\n")
            .unwrap();
        let mut program = Program { name: "p".into(), source, expectations: Expectations::default() };
        assert_eq!(run(&repository, &program).unwrap(), None);
        program.expectations.native = Some(vec!["-lm".into()]);
        let folder = run(&repository, &program).unwrap().unwrap();
        assert_eq!(fs::read_to_string(folder.join("p.native")).unwrap(), "1,\n");
    }
}
