//! Tests what is written into the folder.

#[allow(dead_code, reason = "the unit tests and the example use more of it")]
mod data;

use data::{measurement, points};
use pillion_measure_data::{Chart, Instrument, Kind, Measurement};
use std::fs;

#[test]
fn a_report_is_a_page_its_charts_and_its_data() {
    let mut made = measurement("cloud", "A cloud", Instrument::Measured, &["linux"]);
    made.series = vec![points("linux", "a", ("ns", "ns"), vec![(1.0, 2.0), (2.0, 3.0)])];
    made.charts = vec![Chart::new(Kind::Scatter, "Cloud", &["a"])];
    let all = [made];
    let folder = tempfile::tempdir().unwrap();
    let page = pillion_measure_report::write(&all, &folder.path().join("new")).unwrap();
    assert_eq!(page, folder.path().join("new/report.html"));
    let html = fs::read_to_string(&page).unwrap();
    assert!(html.contains("figures/cloud-1.svg"));
    let read = |name: &str| fs::read(folder.path().join("new").join(name)).unwrap();
    assert!(roxmltree::Document::parse(&String::from_utf8(read("figures/cloud-1.svg")).unwrap()).is_ok());
    assert_eq!(serde_json::from_slice::<Vec<Measurement>>(&read("data.json")).unwrap(), all);
    if cfg!(feature = "png") {
        assert!(read("figures/cloud-1.png").starts_with(b"\x89PNG"));
    }
}

#[test]
fn a_report_of_nothing_is_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let page = pillion_measure_report::write(&[], folder.path()).unwrap();
    assert!(fs::read_to_string(page).unwrap().contains("0 experiments"));
}
