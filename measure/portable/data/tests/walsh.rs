//! The tasks' correlation, in C, gives the same results as that of this crate.

use pillion_measure_data::walsh::Correlation;
use std::path::Path;
use std::process::Command;

/// Period, and the delays of the answers in turn.
const WAVES: [(u64, u64, u64); 6] =
    [(50, 1, 24), (50, 0, 49), (51, 25, 25), (3_333, 7, 1_700), (31_747, 12_345, 12_345), (2_000_000, 900, 450_000)];
const EDGES: u64 = 1000;

/// Prints the correlations with no delay, with half a period, and with the mean delay.
const PROGRAM: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include "walsh.h"
static struct walsh walsh;
int main(int count, char **words)
{
	long long period = atoll(words[1]), late[2] = { atoll(words[2]), atoll(words[3]) };
	walsh_begin(&walsh, period);
	for (long long edge = 0; edge < 1000; edge++)
		walsh_toggle(&walsh, edge * period + late[edge % 2]);
	return printf("%lld %lld %lld\n", walsh_correlation(&walsh, 0), walsh_correlation(&walsh, period),
		      walsh_correlation(&walsh, late[0] + late[1])) < 0;
}
"#;

#[test]
fn both_reckon_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let [source, program] = ["a.c", "a"].map(|name| folder.path().join(name));
    std::fs::write(&source, PROGRAM).unwrap();
    let header = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/reliability");
    let built = Command::new("cc").arg("-I").arg(header).arg(source).arg("-o").arg(&program).status();
    assert!(built.unwrap().success());
    for (period, early, late) in WAVES {
        let mut correlation = Correlation::new(period);
        (0..EDGES).for_each(|edge| correlation.toggle(edge * period + [early, late][edge as usize % 2]));
        let response = correlation.end(EDGES * period, (early + late) as f64 / 2.0);
        let words = [period, early, late].map(|word| word.to_string());
        let said = String::from_utf8(Command::new(&program).args(words).output().unwrap().stdout).unwrap();
        let parts: Vec<f64> =
            said.split_whitespace().map(|word| word.parse::<f64>().unwrap() / (2 * EDGES * period) as f64).collect();
        assert_eq!(parts, [response.real, response.imaginary, response.reliability], "{period}, {early}, {late}");
    }
}
