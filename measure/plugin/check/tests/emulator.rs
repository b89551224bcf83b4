//! The whole plug-in in the emulator: `sweep.c` runs as a task, alone, and what the model counts is known. Boots a machine, so it runs when asked for:
//! `cargo test -p pillion-model-check -- --ignored`.

use std::path::{Path, PathBuf};
use std::process::Command;

/// 8 lines in each of 64 sets, then 64 in as many: a set is chosen by the place within a page, so that it does not matter where pages lie.
const MACHINE: &str = "mhz=1000,instruction=1,line=64,memory=100,cache.l1i.size=32768,cache.l1i.ways=8,cache.l1d.size=32768,cache.l1d.ways=8,\
    cache.l2.size=262144,cache.l2.ways=64,tlb.code.entries=64,tlb.code.ways=64,tlb.data.entries=64,tlb.data.ways=64,walk.levels=4,\
    walk.entry=8,walk.remembered=16,tags=guest";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").canonicalize().unwrap()
}

fn build(plugin: &Path) {
    let sources = std::fs::read_dir(root().join("measure/plugin/model")).unwrap().map(|entry| entry.unwrap().path());
    let mut cc = Command::new("cc");
    cc.args(["-std=c11", "-O3", "-fPIC", "-shared", "-fvisibility=hidden", "-o"]).arg(plugin);
    cc.args(sources.filter(|path| path.extension().is_some_and(|extension| extension == "c"))).arg("-lm");
    assert!(cc.status().unwrap().success());
}

fn run(plugin: &Path, output: &Path) -> String {
    let argument = format!("--qemu-arg={},out={},begin=power-on,skip=0,{MACHINE}", plugin.display(), output.display());
    let mut x = Command::new(root().join("x"));
    x.args([
        "run",
        "--headless",
        "--counted",
        "--no-linux",
        "--task",
        "measure/plugin/check/sweep",
        "--qemu-arg=-plugin",
    ]);
    let result = x.arg(argument).current_dir(root()).output().unwrap();
    assert!(result.status.success(), "{}", String::from_utf8_lossy(&result.stderr));
    std::fs::read_to_string(output).unwrap()
}

/// Values of the points of that name, in their order.
fn points(text: &str, name: &str) -> Vec<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("points {name} 1 1 "))).unwrap();
    line.split(' ').map(|point| point.split_once(':').unwrap().1.parse().unwrap()).collect()
}

#[test]
#[ignore = "boots an emulated machine"]
fn sweeps_in_the_emulator_miss_as_they_must() {
    let folder = std::env::temp_dir().join(format!("pillion-model-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (plugin, output) = (folder.join("model.so"), folder.join("lines"));
    build(&plugin);
    let text = run(&plugin, &output);
    let lines = |kib: u64| kib * 1024 / 64;
    // 80 pages are more than the TLB holds; their entries lie in ten lines.
    let walked = lines(320) + 10;
    assert_eq!(points(&text, "work_l1d_misses"), [0, lines(36), lines(192), walked, 0, lines(36), walked]);
    assert_eq!(points(&text, "work_l2_misses"), [0, 0, 0, walked, 0, 0, walked]);
    assert_eq!(points(&text, "work_walks"), [0, 0, 0, 80, 0, 0, 80]);
    assert_eq!(points(&text, "work_write_backs"), [0, 0, 0, 0, 0, lines(36), 2 * lines(320)]);
    assert_eq!(text, run(&plugin, &output), "the same run, the same output");
    std::fs::remove_dir_all(folder).unwrap();
}
