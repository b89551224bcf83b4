//! Prints a machine's arguments for the plug-in.

use pillion_machines::Machine;
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args().nth(1).ok_or("arguments FILE.toml")?;
    println!("{}", Machine::read(Path::new(&file))?.arguments());
    Ok(())
}
