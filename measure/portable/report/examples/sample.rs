//! Writes a report of invented measurements:
//! `cargo run -p pillion-measure-report --example sample -- FOLDER`.

#[allow(dead_code, reason = "the tests use more of it")]
#[path = "../tests/data/mod.rs"]
mod data;

fn main() -> anyhow::Result<()> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "report".into());
    let page = pillion_measure_report::write(&data::measurements(200_000), folder.as_ref())?;
    println!("{}", page.display());
    Ok(())
}
