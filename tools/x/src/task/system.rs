//! The system file for programs without one: the programs, dual mode and Linux, with the defaults
//! that tasks get.

/// Threads of Linux processes may run beside programs.
const DUAL: &str = "\n[dual]\n";

/// Linux beside programs; the system ends with it.
pub const LINUX: &str =
    "\n[linux]\ncommand_line = \"console=ttyS0\"\nafter_poweroff = \"end\"\nafter_limit = \"end\"\n";

/// The file's text.
pub fn text(programs: &[&str]) -> String {
    let programs: Vec<_> = programs.iter().map(|name| (*name, String::new())).collect();
    tasks(&programs) + DUAL + LINUX
}

/// The sections of programs, each with further lines.
pub fn tasks(programs: &[(&str, String)]) -> String {
    let mut text = format!("[system]\nname = \"{}\"\n", programs.first().map_or("tasks", |(name, _)| *name));
    for (name, lines) in programs {
        text += &format!("\n[[task]]\nname = \"{name}\"\nskin = \"rtlinux\"\n");
        if programs.len() > 1 && !lines.lines().any(|line| line.starts_with("share")) {
            text += "share = true\n";
        }
        text += lines;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_a_system() {
        let system = pillion_system::parse(&text(&["a", "b"])).unwrap_or_else(|wrong| panic!("{wrong:?}"));
        let names: Vec<&str> = system.skins().map(|(task, _)| task.name.as_str()).collect();
        assert_eq!(names, ["a", "b", "dual"]);
        assert!(system.linux.is_some() && system.skins().all(|(_, skin)| skin.share));
    }
}
