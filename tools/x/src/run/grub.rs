//! A CD that boots with GRUB, as a real machine would: the kernel by multiboot2, the bundle as its
//! module.

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
pub fn image(folder: &Path, kernel: &Path, bundle: &Path, line: &str, uefi: bool) -> Result<PathBuf> {
    let (module, package) = if uefi { UEFI } else { BIOS };
    install::programs(&PROGRAMS, (!Path::new(module).exists()).then_some(package))?;
    let (root, image) = (folder.join("cd"), folder.join("pillion.iso"));
    fs::create_dir_all(root.join("boot/grub"))?;
    fs::copy(kernel, root.join("boot/pillion"))?;
    fs::copy(bundle, root.join("boot/bundle"))?;
    fs::write(root.join("boot/grub/grub.cfg"), menu(line))?;
    step("making a CD that GRUB boots", || {
        tool::quietly(Command::new("grub-mkrescue").arg("-o").arg(&image).arg(&root))
    })?;
    fs::remove_dir_all(&root)?;
    Ok(image)
}

/// GRUB's configuration. GRUB does not pass the kernel the file's name, only the words after it. A
/// UEFI has no text mode that the kernel could hand over: GRUB needs its drivers for graphics.
fn menu(line: &str) -> String {
    format!(
        "set timeout=0
set default=0
if [ \"$grub_platform\" = efi ]; then insmod efi_gop; fi
menuentry Pillion {{
    multiboot2 /boot/pillion {line}
    module2 /boot/bundle
}}
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_menu_names_kernel_line_and_bundle() {
        let text = menu("seconds=5");
        assert!(text.contains("multiboot2 /boot/pillion seconds=5\n") && text.contains("module2 /boot/bundle\n"));
    }
}
