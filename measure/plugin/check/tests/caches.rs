//! Sweeps through memory with predictable misses and write-backs.

use pillion_model_check::{Level, Model};

const LINE: u64 = 64;
const L1: u64 = 32 * 1024;
const L1_WAYS: u64 = 8;
const L2: u64 = 256 * 1024;

/// One cycle per instruction, L1 free, L2 10 cycles, memory 100; write-backs 3 from L1 and 50 from
/// L2. TLBs that cost nothing.
fn model(more: &str) -> Model {
    let text = format!(
        "mhz=1000,instruction=1,line={LINE},memory=100,memory_write_back=50,cache.l1i.size={L1},cache.l1i.ways={L1_WAYS},\
         cache.l1d.size={L1},cache.l1d.ways={L1_WAYS},cache.l1d.write_back=3,cache.l2.size={L2},cache.l2.ways=16,cache.l2.hit=10,\
         tlb.code.entries=1024,tlb.code.ways=4,tlb.data.entries=65536,tlb.data.ways=4,walk.levels=2,walk.entry=8{more}"
    );
    let mut model = Model::new(&text).unwrap();
    // All translations are loaded first, so that no walk disturbs the caches.
    for page in 0..2048 {
        model.touch(page << 12, false);
    }
    model.flush_cache(Level::L1Data);
    model.flush_cache(Level::L2);
    model
}

/// Misses of L1 and L2, and the cost of one pass.
fn sweep(model: &mut Model, addresses: impl Iterator<Item = u64>, write: bool) -> (u64, u64, u64) {
    let before = (model.cache(Level::L1Data).misses, model.cache(Level::L2).misses);
    let cost: u64 = addresses.map(|address| model.touch(address, write)).sum();
    (model.cache(Level::L1Data).misses - before.0, model.cache(Level::L2).misses - before.1, cost / 100)
}

fn lines(bytes: u64) -> impl Iterator<Item = u64> {
    (0..bytes).step_by(LINE as usize)
}

#[test]
fn what_fits_is_missed_once() {
    let mut model = model("");
    assert_eq!(sweep(&mut model, lines(L1), false), (512, 512, 512 * 100));
    assert_eq!(sweep(&mut model, lines(L1), false), (0, 0, 0));
}

#[test]
fn one_way_too_much_misses_always() {
    let mut model = model("");
    let bytes = L1 + L1 / L1_WAYS;
    sweep(&mut model, lines(bytes), false);
    let n = bytes / LINE;
    assert_eq!(sweep(&mut model, lines(bytes), false), (n, 0, n * 10));
}

#[test]
fn one_line_too_much_misses_in_one_set() {
    let mut model = model("");
    sweep(&mut model, lines(L1 + LINE), false);
    assert_eq!(sweep(&mut model, lines(L1 + LINE), false), (L1_WAYS + 1, 0, (L1_WAYS + 1) * 10));
}

#[test]
fn more_than_the_second_level_comes_from_memory() {
    let mut model = model("");
    let bytes = 2 * L2;
    sweep(&mut model, lines(bytes), false);
    let n = bytes / LINE;
    assert_eq!(sweep(&mut model, lines(bytes), false), (n, n, n * 100));
}

#[test]
fn strides_use_the_sets_that_they_reach() {
    // Addresses L1 / ways apart share a set: eight of them fit, nine do not.
    let stride = L1 / L1_WAYS;
    for (count, misses) in [(8, 0), (9, 9)] {
        let mut model = model("");
        let walk = || (0..count).map(|i| i * stride);
        sweep(&mut model, walk(), false);
        assert_eq!(sweep(&mut model, walk(), false).0, misses, "{count} lines");
    }
    // Half that stride reaches two sets, so twice as many fit.
    let mut model = model("");
    let walk = || (0..16).map(|i| i * stride / 2);
    sweep(&mut model, walk(), false);
    assert_eq!(sweep(&mut model, walk(), false).0, 0);
}

#[test]
fn the_least_recently_used_line_goes() {
    let mut model = model("");
    let line = |i: u64| i * L1 / L1_WAYS;
    for i in 0..8 {
        model.touch(line(i), false);
    }
    model.touch(line(0), false);
    model.touch(line(8), false);
    assert!(model.holds(Level::L1Data, line(0)) && !model.holds(Level::L1Data, line(1)));
}

#[test]
fn a_dirty_cache_costs_its_write_backs() {
    let mut model = model("");
    sweep(&mut model, lines(2 * L2), true);
    let before = (model.cache(Level::L1Data).write_backs, model.cache(Level::L2).write_backs);
    // A read evicts a dirty line in both levels. The one from L1 is still in L2, and has been dirty
    // there since its eviction.
    let n = 512;
    let (_, _, cost) = sweep(&mut model, (0..n).map(|i| 2 * L2 + i * LINE), false);
    assert_eq!(model.cache(Level::L1Data).write_backs - before.0, n);
    assert_eq!(model.cache(Level::L2).write_backs - before.1, n);
    assert_eq!(cost, n * (100 + 3 + 50));
    // Lines that were only read are clean: nothing more is written when they are evicted.
    let written = model.cache(Level::L1Data).write_backs;
    sweep(&mut model, (n..2 * n).map(|i| 2 * L2 + i * LINE), false);
    assert_eq!(model.cache(Level::L1Data).write_backs, written);
}

#[test]
fn a_clean_cache_costs_none() {
    let mut model = model("");
    sweep(&mut model, lines(2 * L2), false);
    let (_, _, cost) = sweep(&mut model, (0..512).map(|i| 2 * L2 + i * LINE), false);
    assert_eq!(cost, 512 * 100);
    assert_eq!(model.cache(Level::L2).write_backs, 0);
}

#[test]
fn an_inclusive_level_takes_lines_with_it() {
    for (more, kept) in [(",cache.l2.inclusive=true", false), ("", true)] {
        let mut model = model(more);
        model.touch(0, true);
        // Sixteen more lines of its set of L2; none of them stays in its set of L1, because it is
        // used in between.
        for i in 1..=16 {
            model.touch(i * L2 / 16, false);
            if i < 16 {
                model.touch(0, false);
            }
        }
        assert_eq!(model.holds(Level::L1Data, 0), kept, "{more}");
        assert!(!model.holds(Level::L2, 0));
        // Inclusive: its contents, dirty only in L1, went to memory.
        assert_eq!(model.cache(Level::L2).write_backs, u64::from(!kept), "{more}");
    }
}

#[test]
fn code_and_data_share_the_second_level() {
    let mut model = model("");
    model.touch(0x1000, false);
    // Another line of the page, so that its translation is loaded.
    model.fetch(0x1040, 0x1040, 1);
    assert_eq!(model.fetch(0x1000, 0x1000, 4), (4 + 10) * 100);
    assert_eq!(model.fetch(0x1000, 0x1000, 4), 4 * 100);
}

#[test]
fn a_third_level_is_asked_before_memory() {
    let mut model = model(",cache.l3.size=1048576,cache.l3.ways=16,cache.l3.hit=30");
    let bytes = 2 * L2;
    sweep(&mut model, lines(bytes), false);
    let n = bytes / LINE;
    assert_eq!(sweep(&mut model, lines(bytes), false), (n, n, n * 30));
    assert_eq!(model.cache(Level::L3).misses, model.cache(Level::L3).accesses - n);
}
