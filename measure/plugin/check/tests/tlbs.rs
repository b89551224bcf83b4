//! The reach of TLBs, what flushes them, and the loads of page walks.

use pillion_model_check::{Event, Level, Model, Walks};

const PAGE: u64 = 4096;
const LARGE: u64 = 2 << 20;
/// The kernel's half is global.
const KERNEL: u64 = 0xffff_8000_0000_0000;

/// 64 small and 8 large translations, fully associative; 4 levels of tables, 3 nested ones.
fn model(more: &str) -> Model {
    let text = format!(
        "mhz=1000,instruction=1,line=64,memory=100,cache.l1i.size=32768,cache.l1i.ways=8,cache.l1d.size=32768,cache.l1d.ways=8,\
         cache.l2.size=262144,cache.l2.ways=8,tlb.code.entries=64,tlb.code.ways=64,tlb.data.entries=64,tlb.data.ways=64,\
         tlb.data.large_entries=8,tlb.data.large_ways=8,walk.levels=4,walk.entry=8,walk.nested_levels=3,walk.cycles=7{more}"
    );
    Model::new(&text).unwrap()
}

/// Walks and their loads in one pass over pages.
fn pass(model: &mut Model, first: u64, count: u64, size: u64) -> Walks {
    let before = model.walks();
    for i in 0..count {
        model.data(first + i * size, i * size, size == LARGE, false);
    }
    let after = model.walks();
    Walks { walks: after.walks - before.walks, loads: after.loads - before.loads }
}

#[test]
fn what_fits_is_walked_once() {
    let mut model = model("");
    assert_eq!(pass(&mut model, 0, 64, PAGE), Walks { walks: 64, loads: 4 * 64 });
    assert_eq!(pass(&mut model, 0, 64, PAGE), Walks { walks: 0, loads: 0 });
    assert_eq!(pass(&mut model, 0, 65, PAGE).walks, 1);
    assert_eq!(pass(&mut model, 0, 65, PAGE).walks, 65, "one too much, and the least recently used goes always");
}

#[test]
fn large_pages_reach_further_and_have_one_level_less() {
    let mut model = model("");
    assert_eq!(pass(&mut model, 0, 8, LARGE), Walks { walks: 8, loads: 3 * 8 });
    assert_eq!(pass(&mut model, 0, 8, LARGE).walks, 0);
    assert_eq!(pass(&mut model, 0, 9, LARGE).walks, 1);
    assert_eq!(pass(&mut model, 0, 9, LARGE).walks, 9);
}

#[test]
fn sizes_have_translations_of_their_own() {
    let mut model = model("");
    pass(&mut model, 0, 64, PAGE);
    pass(&mut model, 1 << 30, 8, LARGE);
    assert_eq!(pass(&mut model, 0, 64, PAGE).walks, 0);
    assert_eq!(pass(&mut model, 1 << 30, 8, LARGE).walks, 0);
}

#[test]
fn a_second_level_answers_what_the_first_lost() {
    let mut model = model(",tlb.second.entries=1024,tlb.second.ways=4,tlb.second.hit=9");
    // All pages map the same memory, so that its line stays in the cache.
    let mut touch = |page: u64| model.data(page * PAGE, 0, false, false);
    for page in 0..512 {
        touch(page);
    }
    assert_eq!(touch(0), 900, "lost by the first level, known by the second");
    assert_eq!(touch(0), 0);
    assert_eq!(model.walks().walks, 512);
}

#[test]
fn remembered_upper_levels_leave_one_load() {
    let mut model = model(",walk.remembered=16");
    assert_eq!(pass(&mut model, 0, 64, PAGE), Walks { walks: 64, loads: 4 + 63 });
    let mut model = self::model(",walk.remembered=16");
    // Tables of 512 entries: each of these pages has a table of its own.
    assert_eq!(pass(&mut model, 0, 16, 512 * PAGE * 512), Walks { walks: 16, loads: 4 * 16 });
}

#[test]
fn thirty_two_bits_have_two_levels() {
    let mut model = model(",walk.levels=2,walk.entry=4");
    assert_eq!(pass(&mut model, 0, 10, PAGE), Walks { walks: 10, loads: 20 });
}

#[test]
fn walks_go_through_the_data_cache() {
    let mut model = model("");
    // Four loads from memory, the page itself, and the fixed part.
    assert_eq!(model.data(0, 0, false, false), (4 * 100 + 100 + 7) * 100);
    // The neighbour's entries are in the same four lines.
    assert_eq!(model.data(PAGE, PAGE, false, false), (100 + 7) * 100);
    assert_eq!(model.cache(Level::L1Data).misses, 6);
    // Eight entries of 8 bytes share a line.
    for i in 2..8 {
        model.data(i * PAGE, i * PAGE, false, false);
    }
    assert_eq!(model.data(8 * PAGE, 8 * PAGE, false, false), (100 + 100 + 7) * 100);
}

#[test]
fn a_guest_walks_in_two_dimensions() {
    let mut model = model("");
    model.event(Event::Vmrun);
    // For each of four levels a nested walk of three loads and the entry, and a nested walk of the
    // page's address.
    assert_eq!(pass(&mut model, 0, 1, PAGE), Walks { walks: 1, loads: 4 * (3 + 1) + 3 });
    let mut model = self::model(",walk.nested_levels=4");
    model.event(Event::Vmrun);
    assert_eq!(pass(&mut model, 0, 1, PAGE).loads, 24);
    let mut model = self::model(",walk.nested_levels=0");
    model.event(Event::Vmrun);
    assert_eq!(pass(&mut model, 0, 1, PAGE).loads, 4);
}

#[test]
fn nested_translations_are_remembered_by_2_mib() {
    let mut model = model(",walk.nested_remembered=64,walk.remembered=64");
    model.event(Event::Vmrun);
    pass(&mut model, 0, 1, PAGE);
    // The table and the page are where the first ones are.
    assert_eq!(pass(&mut model, PAGE, 1, PAGE).loads, 1);
}

/// Walks for 16 pages of a task and 16 of the kernel, after the events in between.
fn lost(tags: &str, events: &[Event]) -> (u64, u64) {
    let mut model = model(&format!(",tags={tags}"));
    pass(&mut model, 0, 16, PAGE);
    pass(&mut model, KERNEL, 16, PAGE);
    for event in events {
        model.event(*event);
    }
    (pass(&mut model, 0, 16, PAGE).walks, pass(&mut model, KERNEL, 16, PAGE).walks)
}

#[test]
fn what_drops_translations() {
    use Event::{Cr3, Cr4, Vmexit, Vmrun};
    for (tags, events, expected) in [
        ("none", &[Cr3][..], (16, 0)),
        ("guest", &[Cr3], (16, 0)),
        ("space", &[Cr3], (0, 0)),
        ("space", &[Cr4], (16, 16)),
        ("guest", &[Vmrun, Vmexit], (0, 0)),
        ("none", &[Vmrun, Vmexit], (16, 16)),
        // The guest's own loads of CR3 and CR4 do not affect the host's translations.
        ("guest", &[Vmrun, Cr3, Cr4, Vmexit], (0, 0)),
        ("guest", &[Vmrun], (16, 16)),
    ] {
        assert_eq!(lost(tags, events), expected, "{tags} {events:?}");
    }
}

#[test]
fn spaces_are_kept_apart_by_their_tags() {
    let mut model = model(",tags=space");
    pass(&mut model, 0, 16, PAGE);
    model.space(1);
    assert_eq!(pass(&mut model, 0, 16, PAGE).walks, 16);
    model.space(0);
    assert_eq!(pass(&mut model, 0, 16, PAGE).walks, 0);
}
