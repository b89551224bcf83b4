//! A CD that boots with GRUB, as a real machine would: the kernel by multiboot2; bundle, system
//! file and Linux as its modules.

use crate::build::{Built, Module};
use crate::doctor::install;
use crate::progress::step;
use crate::tool;
use anyhow::Result;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Programs that make the CD, and the packages that contain them.
const PROGRAMS: [(&str, &str); 3] = [("grub-mkrescue", "grub-common"), ("xorriso", "xorriso"), ("mformat", "mtools")];

/// GRUB for BIOS machines: a file, as the package contains no program to look for.
const BIOS: (&str, &str) = ("/usr/lib/grub/i386-pc/multiboot2.mod", "grub-pc-bin");
/// GRUB for machines with a UEFI, likewise.
const UEFI: (&str, &str) = ("/usr/lib/grub/x86_64-efi/multiboot2.mod", "grub-efi-amd64-bin");

/// Makes the CD in a folder, for that firmware at least.
pub fn image(folder: &Path, built: &Built, line: &str, uefi: bool) -> Result<PathBuf> {
    let (module, package) = if uefi { UEFI } else { BIOS };
    install::programs(&PROGRAMS, (!Path::new(module).exists()).then_some(package))?;
    let (root, image) = (folder.join("cd"), folder.join("pillion.iso"));
    fs::create_dir_all(root.join("boot/grub"))?;
    fs::copy(&built.kernel, root.join("boot/pillion"))?;
    fs::copy(&built.bundle, root.join("boot/bundle"))?;
    for module in &built.modules {
        fs::copy(&module.path, root.join("boot").join(module.name))?;
    }
    fs::write(root.join("boot/grub/grub.cfg"), menu(line, &built.modules))?;
    step("making a CD that GRUB boots", || {
        tool::quietly(Command::new("grub-mkrescue").arg("-o").arg(&image).arg(&root))
    })?;
    fs::remove_dir_all(&root)?;
    Ok(image)
}

/// GRUB's configuration. GRUB does not pass a file's name, only the words after it: so a module is
/// named once more. A UEFI has no text mode that the kernel could hand over: GRUB needs its drivers
/// for graphics.
fn menu(line: &str, modules: &[Module]) -> String {
    let modules = modules.iter().map(|Module { name, words, .. }| {
        let words = words.split_ascii_whitespace().map(|word| format!(" '{}'", word.replace('\'', "'\\''")));
        format!("    module2 /boot/{name} {name}{}\n", words.collect::<String>())
    });
    format!(
        "set timeout=0
set default=0
if [ \"$grub_platform\" = efi ]; then insmod efi_gop; fi
menuentry Pillion {{
    multiboot2 /boot/pillion {line}
    module2 /boot/bundle
{}}}
",
        modules.collect::<String>()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_menu_names_kernel_line_bundle_and_modules() {
        let linux = Module { name: "vmlinuz", path: PathBuf::new(), words: "quiet a=$b".into() };
        let text = menu("seconds=5", &[linux]);
        assert!(text.contains("multiboot2 /boot/pillion seconds=5\n    module2 /boot/bundle\n"), "{text}");
        assert!(text.contains("    module2 /boot/vmlinuz vmlinuz 'quiet' 'a=$b'\n}"), "{text}");
    }
}
