//! `x new`: starts a program from a template.

use super::name;
use crate::cli::{Kind, NewArguments};
use crate::problem::problem;
use anyhow::{Context as _, Result};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// Files of a new program; `NAME` stands for its name, in file names as well.
const RTLINUX: [(&str, &str); 3] = [
    ("NAME.c", include_str!("template/task.c")),
    ("NAME.toml", include_str!("template/task.toml")),
    ("README.md", include_str!("template/README.md")),
];

/// Creates a folder with the program.
pub fn command(arguments: &NewArguments) -> Result<bool> {
    let Kind::Rtlinux = arguments.kind;
    let name = &arguments.name;
    write(Path::new("."), name, &RTLINUX)?;
    println!("The folder {name} now has {name}.c, {name}.toml and README.md. Next:\n");
    println!("    ./x build-task {name}.c\n    ./x run --task {name}");
    Ok(true)
}

/// Writes the files into a folder of that name; touches nothing that exists.
fn write(place: &Path, name: &str, files: &[(&str, &str)]) -> Result<()> {
    name::check(name)?;
    let folder = place.join(name);
    fs::create_dir(&folder).map_err(|error| {
        let what = format!("the folder {name} cannot be made");
        match error.kind() {
            ErrorKind::AlreadyExists => {
                problem(what, "something of that name is here", "choose another name, or remove what is here")
            }
            _ => problem(what, error, "go where you can create a folder"),
        }
    })?;
    for (file, text) in files {
        let path = folder.join(file.replace("NAME", name));
        fs::write(&path, text.replace("NAME", name)).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_program_bears_its_name() {
        let place = tempfile::tempdir().unwrap();
        write(place.path(), "my-task", &RTLINUX).unwrap();
        let folder = place.path().join("my-task");
        for file in ["my-task.c", "my-task.toml", "README.md"] {
            let text = fs::read_to_string(folder.join(file)).unwrap();
            assert!(text.contains("my-task") && !text.contains("NAME"), "{file}");
        }
        fs::write(folder.join("my-task.c"), "mine").unwrap();
        let again = write(place.path(), "my-task", &RTLINUX).unwrap_err().to_string();
        assert!(again.contains("something of that name is here") && !again.contains("os error"), "{again}");
        assert_eq!(fs::read_to_string(folder.join("my-task.c")).unwrap(), "mine");
        assert!(write(place.path(), "../x", &RTLINUX).is_err());
    }

    #[test]
    fn the_template_is_a_system() {
        let text = RTLINUX[1].1.replace("NAME", "my-task");
        let system = pillion_system::parse(&text).unwrap_or_else(|wrong| panic!("{wrong:?}"));
        assert!(system.tasks[0].skin.is_some());
    }
}
