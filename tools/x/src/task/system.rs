//! The system file for programs without one: the programs and Linux, with the defaults that tasks
//! get.

/// The file's text.
pub fn text(programs: &[&str]) -> String {
    let mut text = format!("[system]\nname = \"{}\"\n", programs.first().unwrap_or(&"tasks"));
    for program in programs {
        text += &format!("\n[[task]]\nname = \"{program}\"\nskin = \"rtlinux\"\n");
        if programs.len() > 1 {
            text += "share = true\n";
        }
    }
    text + "\n[linux]\ncommand_line = \"console=ttyS0\"\nafter_poweroff = \"end\"\nafter_limit = \"end\"\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_a_system() {
        let system = pillion_system::parse(&text(&["a", "b"])).unwrap_or_else(|wrong| panic!("{wrong:?}"));
        let names: Vec<&str> = system.skins().map(|(task, _)| task.name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        assert!(system.linux.is_some() && system.skins().all(|(_, skin)| skin.share));
    }
}
