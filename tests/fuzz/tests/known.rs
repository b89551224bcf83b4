//! Each target withstands the inputs found so far, and some random input.

use pillion_fuzz::mutate::{Random, mutate};
use pillion_fuzz::targets;
use std::path::Path;

#[test]
fn what_was_found_is_stood() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    for target in &targets::ALL {
        let known = target.known(folder);
        assert!(!known.is_empty(), "{} has no corpus", target.name);
        known.iter().for_each(|input| (target.run)(input));
    }
}

#[test]
fn any_input_is_stood() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut random = Random::new(7);
    for target in &targets::ALL {
        let known = target.known(folder);
        for _ in 0..2000 {
            let pick = |random: &mut Random| known.get(random.below(known.len())).cloned().unwrap_or_default();
            let (mut input, other) = (pick(&mut random), pick(&mut random));
            mutate(&mut input, &other, target.words, target.longest, &mut random);
            (target.run)(&input);
        }
    }
}
