//! The model accepts the machines of `measure/machines`, and refuses a wrong one.

use pillion_machines::Machine;
use pillion_model_check::Model;
use std::path::Path;

#[test]
fn the_model_takes_every_machine() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../machines");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let machines: Vec<_> =
        files.filter(|path| path.extension().is_some_and(|e| e == "toml") && !path.ends_with("Cargo.toml")).collect();
    assert!(machines.len() >= 4);
    for file in machines {
        let machine = Machine::read(&file).unwrap();
        assert!(Model::new(&machine.arguments()).is_some(), "{}", file.display());
    }
}

#[test]
fn what_is_wrong_is_refused() {
    let good = "mhz=1,instruction=1,line=64,cache.l1i.size=1024,cache.l1i.ways=4,cache.l1d.size=1024,cache.l1d.ways=4,cache.l2.size=4096,\
        cache.l2.ways=4,tlb.code.entries=4,tlb.code.ways=4,tlb.data.entries=4,tlb.data.ways=4,walk.levels=4,walk.entry=8";
    assert!(Model::new(good).is_some());
    for wrong in [
        "cache.l4.size=1024",
        "cache.l2.colour=1",
        "event.vmcall.cycles=1",
        "event.cli.cycles=1",
        "mhz=fast",
        "mhz=-1",
        "mhz=",
        "mhz",
        "cache.l2.ways=3",
        "line=48",
        "tlb.data.ways=3",
        "tlb.second.entries=48,tlb.second.ways=8",
        "walk.levels=1",
        "walk.entry=6",
        "instruction=0",
    ] {
        assert!(Model::new(&format!("{good},{wrong}")).is_none(), "{wrong}");
    }
}
