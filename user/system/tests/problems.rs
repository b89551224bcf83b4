//! Each problem: the input that causes it, the line it names and the remedy it gives.
use pillion_system::{
    After, Budget, Channels, Dual, Interrupt, Kind, PortRange, Problem, Skin, Start, Target, Then, check, parse, remedy,
};
use std::collections::BTreeSet;

const DEMO: &str = include_str!("../../../systems/demo.toml");
const DOCUMENT: &str = include_str!("../../../docs/system-file.md");

/// `A` is a valid task; what follows may add keys or sections.
const A: &str = "[system]\nname='s'\n[[task]]\nname='a'\npriority=100\n";
const LINUX: &str = "[system]\nname='s'\n[linux]\n";
/// `S` has a skin.
const S: &str = "[system]\nname='s'\n[[task]]\nname='a'\nskin='rtlinux'\n";
const PERIODIC: &str = "period_us=100\nbudget_us=10\n";

const LONG: &str = {
    static BYTES: [u8; 32 << 10] = [b'#'; 32 << 10];
    match core::str::from_utf8(&BYTES) {
        Ok(text) => text,
        Err(_) => unreachable!(),
    }
};

/// The text after the beginning, line, part of the message, remedy.
const ALONE: &[(&str, &str, u32, &str, &str)] = &[
    ("", "a = ", 1, "", remedy::FORMAT),
    ("", "", 1, "missing field `system`", remedy::FORMAT),
    ("", "[system]\nname='s'\n[linus]", 3, "unknown field `linus`", remedy::FORMAT),
    ("", "[system]\nname='s'\n[[task]]\npriority=2", 3, "missing field `name`", remedy::FORMAT),
    (A, "colour=1", 6, "unknown field `colour`", remedy::FORMAT),
    (A, "period_us='x'", 6, "period_us: invalid type: string \"x\", expected i64", remedy::FORMAT),
    (A, "cpus=\"0-3\"", 6, "cpus: invalid type: string \"0-3\", expected a list", remedy::FORMAT),
    (A, "interrupts=[{line=1},{line = true}]", 6, "line: invalid type: boolean", remedy::FORMAT),
    (A, "cpus=[0,\n'1']", 7, "invalid type: string", remedy::FORMAT),
    (A, "interrupts=[{line=1},\n{lime=2}]", 7, "unknown field `lime`", remedy::FORMAT),
    ("", "[system]\nname='s'", 1, "neither a task nor Linux", remedy::NOTHING),
    ("", "[system]\nname='s'\n[[task]]\nname='a'\npriority=255", 5, "priority is 255, outside 2 to 254", remedy::RANGE),
    (S, LONG, 1, "bytes, more than 32768", remedy::FILE),
    (A, "period_us=-1\nbudget_us=1", 6, "outside", remedy::RANGE),
    (A, "period_us=9223372036854775807\nbudget_us=1", 6, "outside", remedy::RANGE),
    (A, "memory_kib=0", 6, "memory_kib is 0, outside", remedy::RANGE),
    (A, "interrupts=[{line=1},\n{line=256}]", 7, "line is 256", remedy::RANGE),
    (A, "memory_kib=21", 6, "not a multiple of 4", remedy::PAGES),
    (LINUX, "memory_mib=65", 4, "not a multiple of 2", remedy::PAGES),
    (A, "period_us=100\nperiod_ns=1000\nbudget_us=1", 6, "both given", remedy::ONE_UNIT),
    (A, "\nperiod_us=100", 7, "task a has a period without a budget", remedy::BOTH),
    (A, "period_us=100\nbudget_us=0", 6, "task a has a period without a budget", remedy::BOTH),
    (LINUX, "budget_us=100", 4, "Linux has a budget without a period", remedy::BOTH),
    (A, "budget='all'", 6, "budget is \"all\"", remedy::UNLIMITED),
    (A, "period_us=100\nbudget_us=1\nbudget='unlimited'", 8, "both a budget and budget", remedy::UNLIMITED),
    (A, "budget=100", 6, "invalid type", remedy::FORMAT),
    ("", "[system]\nname='s s'\n[linux]", 2, "\"s s\"", remedy::NAME),
    (A, "image='a b'", 6, "\"a b\"", remedy::IMAGE),
    (A, "arguments=\"a\\n\"", 6, "control characters", remedy::TEXT),
    (A, "devices=['00:04.0',\n'00:20.0']", 7, "\"00:20.0\" is not a PCI function", remedy::DEVICE),
    (A, "ports=[{first=0xffff,count=2}]", 6, "2 ports from 0xffff on", remedy::PORTS),
    (A, "ports=[{first=1,count=0}]", 6, "0 ports", remedy::PORTS),
    ("", "[system]\nname='s'\n[[task]]\nname='a'", 3, "missing field `priority`", remedy::FORMAT),
    (A, "skin='posix'", 6, "no skin \"posix\"", remedy::SKIN),
    (A, "share=true", 6, "share is for tasks with a skin", remedy::SKIN_KEY),
    (A, "\nthreads=2", 7, "threads is for tasks with a skin", remedy::SKIN_KEY),
    (LINUX, "\nafter_poweroff='on'", 5, "after_poweroff is \"on\"", remedy::AFTER),
    (LINUX, "after_crash='stop'", 4, "after_crash is \"stop\"", remedy::AFTER),
    (LINUX, "after_limit='restart'", 4, "after_limit is \"restart\"", remedy::AFTER),
    (S, "start='soon'", 6, "start is \"soon\"", remedy::START),
    (S, "threads=65", 6, "threads is 65, outside 2 to 64", remedy::RANGE),
    (S, "fifo_kib=5", 6, "not a multiple of 4", remedy::PAGES),
    (S, "[channels]\nshared_fifos=[0,\n64]", 8, "a shared FIFO is 64, outside 0 to 63", remedy::RANGE),
    (S, "[channels]\nshared_fifos=[3,\n5,\n3]", 9, "FIFO 3 is shared twice", remedy::ONCE),
    (S, "[channels]\nmbuff_kib=0", 7, "mbuff_kib is 0, outside", remedy::RANGE),
    (S, "[channels]\nmbuff_kib=524292", 7, "mbuff_kib is 524292, outside", remedy::RANGE),
    (A, "ports=[{first=9223372036854775807,count=9223372036854775807}]", 6, "do not exist", remedy::PORTS),
    ("", "[system]\nname='s'\n[[task]]\nname='dual'\nskin='dual'", 5, "skin is \"dual\"", remedy::DUAL_SECTION),
    (LINUX, "[dual]\ncpus=[]", 5, "cpus names no processor", remedy::PROCESSORS),
    (LINUX, "[dual]\ncolour=1", 5, "unknown field `colour`", remedy::FORMAT),
    (LINUX, "[dual]\nthreads=33", 5, "threads is 33, outside 1 to 32", remedy::RANGE),
    (LINUX, "[dual]\npriorities=[15,\n99]", 5, "[15, 99], not two levels from 16 to 254", remedy::RANGE),
    (LINUX, "[dual]\npriorities=[99,98]", 5, "[99, 98], not two levels", remedy::RANGE),
    (LINUX, "[dual]\nceiling=15", 5, "ceiling is 15, outside 16 to 254", remedy::RANGE),
    (LINUX, "[dual]\nboost_us=10", 5, "boost_us is given without a ceiling", remedy::CEILING),
    (LINUX, "[dual]\nceiling=20\nboost_us=0", 6, "boost_us is 0, outside 1 to", remedy::RANGE),
    (LINUX, "[dual]\nceiling=20\nboost_us=1001", 6, "boost_us is 1001 in a period of 1000 µs", remedy::BUDGET),
    (LINUX, "[dual]\nshield_ms=1001", 5, "shield_ms is 1001, outside 0 to 1000", remedy::RANGE),
    (LINUX, "[dual]\nshield_lines=[1,\n64]", 5, "a line of shield_lines is 64, outside 0 to 63", remedy::RANGE),
    (A, "cpu=8", 6, "cpu is 8, outside 0 to 7", remedy::RANGE),
    (A, "cpus=[0,\n1]", 6, "cpus is for tasks with a skin", remedy::SKIN_KEY),
    (S, "cpus=[]", 6, "cpus names no processor", remedy::PROCESSORS),
    (S, "cpus=[1,\n2,\n1]", 8, "cpus names processor 1 twice", remedy::ONCE),
    (S, "cpus=[1,\n-1]", 7, "a processor of cpus is -1, outside 0 to 7", remedy::RANGE),
    (S, "cpus=[9]", 6, "a processor of cpus is 9, outside 0 to 7", remedy::RANGE),
    (S, "cpus=[-1,\n0]", 6, "a processor of cpus is -1, outside 0 to 7", remedy::RANGE),
    (S, "cpus=[1,3]\ncpu=2", 7, "cpu is 2, which is not one of the task's cpus, 1, 3", remedy::OWN_PROCESSORS),
    (LINUX, "cpus=[8]", 4, "a processor of cpus is 8", remedy::RANGE),
    ("", "[system]\nname='s'\ncpus=[]\n[linux]", 3, "cpus names no processor", remedy::PROCESSORS),
    (LINUX, "[dual]\npriorities=[99]", 5, "invalid length", remedy::FORMAT),
    (LINUX, "[dual]\nperiod_us=0", 4, "[dual] has a budget without a period", remedy::BOTH),
    (LINUX, "[dual]\nperiod_us=1\nbudget='unlimited'", 5, "[dual] has a period without a budget", remedy::BOTH),
];

const TOGETHER: &[(&str, &str, u32, &str, &str)] = &[
    (A, "[[task]]\npriority=9\nname='a'", 8, "already a task a", remedy::RENAME),
    (
        A,
        "interrupts=[{line=5}]\n[[task]]\nname='b'\npriority=9\ninterrupts=[{line=5}]",
        10,
        "line 5",
        remedy::TAKE_AWAY,
    ),
    (A, "ports=[{first=768,count=8},\n{first=775,count=1}]", 7, "0x307-0x307", remedy::TAKE_AWAY),
    (A, "devices=['00:04.0']\n[[task]]\nname='b'\npriority=9\ndevices=['00:04.0']", 10, "00:04.0", remedy::TAKE_AWAY),
    (A, "ports=[{first=0x2f0,count=16}]", 6, "ports 0x2f0-0x2ff for task a", remedy::KERNEL_PORTS),
    (A, "[linux]\npriority=100", 5, "not above Linux's 100", remedy::ABOVE_LINUX),
    (
        A,
        "[[task]]\nname='b'\npriority=100\nperiod_us=100\nbudget_us=1",
        5,
        "hold up the periodic task b",
        remedy::UNBOUNDED,
    ),
    (S, "share=true\nperiod_us=100\nbudget_us=31", 8, "a thread needs 32000 ns", remedy::SHARE_BUDGET),
    (A, "period_us=10\nbudget_us=11", 7, "11000 ns in 10000 ns", remedy::BUDGET),
    (A, "period_us=100\nbudget_us=99", 7, "100.8 %", remedy::OVERLOAD),
    (
        A,
        "period_us=100\nbudget_us=98",
        6,
        ": 98000 ns for its budget, 1800 ns for a release, 1200 ns for interrupts off",
        remedy::LATE,
    ),
    (
        A,
        "period_us=10\nbudget_ns=6000\n[[task]]\nname='b'\npriority=9\ninterrupts=[{line=1},{line=2},{line=3}]",
        6,
        "1200 ns for interrupts of less urgent tasks",
        remedy::LATE,
    ),
    (A, "memory_kib=1048576", 6, "a needs 1048576 KiB, but 1044480 KiB of the machine's 1048576 KiB", remedy::MEMORY),
    (S, "priority=15", 6, "has a skin and priority 15, outside 16 to 254", remedy::RANGE),
    (A, "may_start_linux=true", 3, "but there is no [linux] section", remedy::MAY_START),
    (S, "[linux]\npriority=14", 7, "leaves no room", remedy::SKIN_ROOM),
    (S, "start='linux'", 3, "Linux is to start task a", remedy::START_LINUX),
    (
        A,
        "[[task]]\nname='psc'\nimage='a'\nskin='psc'\nperiod_us=100\nbudget_us=1",
        6,
        "task psc cannot run handlers",
        remedy::PSC,
    ),
    (LINUX, "[[task]]\nname='psc'\nimage='a'\nskin='psc'", 4, "task psc cannot run handlers", remedy::PSC),
    (A, "[dual]", 6, "but there is no [linux] section", remedy::DUAL_LINUX),
    (LINUX, "cpus=[0]\n[dual]\ncpus=[0,\n1]", 6, "runs code of Linux's processes on processor 1", remedy::BESIDE_LINUX),
    (LINUX, "[dual]\nthreads=4\nbudget_us=226", 6, "[dual] gives 4 threads 226 µs each in 1000 µs", remedy::DUAL_TIME),
    (
        LINUX,
        "[dual]\nperiod_us=0\nbudget_us=0",
        6,
        "[dual] gives 8 threads 9000 µs each in 10000 µs",
        remedy::DUAL_TIME,
    ),
    (LINUX, "[dual]\nbudget_us=1001", 5, "dual has a budget of 1001000 ns in 1000000 ns", remedy::BUDGET),
    (LINUX, "[[task]]\nname='dual'\nimage='a'\npriority=9\n[dual]", 8, "already a task dual", remedy::RENAME),
    (
        LINUX,
        "[[task]]\nname='b'\npriority=198\nperiod_us=1000\nbudget_us=1\n[dual]\nthreads=2\nbudget_us=330",
        7,
        "task b can finish after its period",
        remedy::LATE,
    ),
    (
        LINUX,
        "[[task]]\nname='b'\npriority=20\nperiod_us=1000\nbudget_us=500\n[dual]\nthreads=1\nbudget_us=1\nceiling=20\nboost_us=300",
        7,
        "task b can finish after its period",
        remedy::LATE,
    ),
    (
        LINUX,
        "[[task]]\nname='b'\npriority=198\nperiod_us=1000\nbudget_us=1\n[dual]\nbudget='unlimited'",
        9,
        "task dual (priority 199) has no budget",
        remedy::UNBOUNDED,
    ),
    (S, "[[task]]\nname='b'\npriority=212\nperiod_us=100\nbudget_us=1", 3, "periodic task b", remedy::UNBOUNDED),
    (
        S,
        "period_us=1000\nbudget_us=30\nthreads=32\n[[task]]\nname='b'\npriority=20\nperiod_us=1000\nbudget_us=1",
        12,
        "task b can finish after its period",
        remedy::LATE,
    ),
    (S, "fifo_kib=1048576", 3, "a needs 1049600 KiB", remedy::MEMORY),
    (S, "memory_kib=600000\n[channels]\nmbuff_kib=524272", 3, "mbuff_kib needs", remedy::MEMORY),
    (LINUX, "memory_mib=1024", 4, "linux needs", remedy::MEMORY),
    (A, "image='c'", 6, "no file c", remedy::MISSING),
    (LINUX, "kernel='/boot/vmlinuz'", 4, "no file /boot/vmlinuz", remedy::LINUX_FILES),
    (LINUX, "\ninitrd='initrd.img'", 5, "no file initrd.img", remedy::LINUX_FILES),
    (
        A,
        "interrupts=[{line=63},\n{line=64}]\n[linux]",
        7,
        "line 64 of task a cannot be kept from Linux",
        remedy::HIDDEN_LINE,
    ),
    (A, "interrupts=[{line=99},\n{line=100}]", 7, "the machine has no interrupt line 100 for task a", remedy::LINE),
    (
        LINUX,
        "\ncommand_line=' 12345678901234567890123 '",
        5,
        "command_line has 1984 bytes with the 1960 that are added",
        remedy::COMMAND_LINE,
    ),
    (LINUX, "", 3, "needs a processor", remedy::VIRTUALISATION),
    (
        "",
        "[system]\nname='s'\ncpus=[1,2]\n[[task]]\nname='a'\npriority=9\ncpu=1",
        3,
        "cpus of [system] is 1, 2, without processor 0",
        remedy::FIRST_PROCESSOR,
    ),
    (
        "",
        "[system]\nname='s'\ncpus=[0,2]\n[[task]]\nname='a'\npriority=9\ncpu=1",
        7,
        "task a is to run on processor 1, but cpus of [system] is 0, 2",
        remedy::UNUSED_PROCESSOR,
    ),
    (A, "cpu=4", 6, "task a is to run on processor 4, but the machine runs 4, from 0 on", remedy::ABSENT_PROCESSOR),
    (S, "cpus=[3,4]", 6, "task a is to run on processor 4", remedy::ABSENT_PROCESSOR),
    (LINUX, "cpus=[0,5,7]", 4, "Linux is to run on processors 5, 7, but the machine runs 4", remedy::ABSENT_PROCESSOR),
    (
        "",
        "[system]\nname='s'\ncpus=[0,4]\n[linux]",
        3,
        "the system is to run on processor 4, but the machine runs 4",
        remedy::ABSENT_PROCESSOR,
    ),
    (
        LINUX,
        "cpus=[0,1]\n[[task]]\nname='psc'\nimage='a'\nskin='psc'\npriority=20\nperiod_us=1000\nbudget_us=10",
        5,
        "task psc runs code of Linux's processes, which several",
        remedy::ALONE_IN_LINUX,
    ),
    (LINUX, "cpus=[1]\n[dual]", 5, "task dual runs code of Linux's processes on processor 0", remedy::BESIDE_LINUX),
    (A, "cpu=1\nperiod_us=100\nbudget_us=99", 8, "add up to 100.8 % of processor 1", remedy::OVERLOAD),
];

fn machine() -> Target<'static> {
    Target {
        memory_bytes: Some(1 << 30),
        reserved_bytes: 4 << 20,
        processors: Some(4),
        virtualisation: Some(true),
        images: Some(&["a", "b", "broker", "demo", "dual", "vmlinuz", "initrd"]),
        lines: Some(&[(0, 24), (24, 76)]),
        appended: 1960,
        ..Target::default()
    }
}

fn assert_told(problems: &[Problem], line: u32, message: &str, remedy: &str) {
    let found = problems.iter().any(|p| p.line == line && p.message.contains(message) && p.remedy == remedy);
    assert!(found, "line {line}, {message:?}, {remedy:?} not in {problems:#?}");
}

#[test]
fn values_by_themselves() {
    for &(start, rest, line, message, remedy) in ALONE {
        assert_told(&parse(&format!("{start}{rest}")).unwrap_err(), line, message, remedy);
    }
}

/// A message names the key of its value, and no other one.
#[test]
fn keys_are_those_of_their_values() {
    for (rest, whole) in [
        ("cpus=\"0-3\"", "cpus: invalid type: string \"0-3\", expected a list"),
        ("cpus=[0,'1']", "cpus: invalid type: string \"1\", expected i64"),
        ("colour=1", "unknown field `colour`"),
        ("interrupts=[{line=1},{lime=2}]", "unknown field `lime`"),
        ("interrupts=[{}]", "interrupts: missing field `line`"),
        ("[[task]]\npriority=2", "missing field `name`"),
    ] {
        let problems = parse(&format!("{A}{rest}")).unwrap_err();
        let [problem] = &problems[..] else { panic!("{problems:?}") };
        let told = problem.message.split(", expected one of").next().unwrap_or_default();
        assert_eq!(told, whole, "{rest}");
    }
}

#[test]
fn all_shared_buffers_have_an_end() {
    let told = |rest: &str| check(&parse(&format!("{S}{rest}")).unwrap(), &Target::default());
    assert!(told("mbuff_kib=8\n[channels]\nmbuff_kib=524280").is_ok());
    let problems = told("mbuff_kib=12\n[channels]\nmbuff_kib=524280").unwrap_err();
    assert_told(&problems, 3, "shared buffers take 524292 KiB, more than 524288", remedy::FEWER);
}

/// The priority that a more urgent task with a skin can lend to other tasks' requests is in the
/// response times of the tasks below it, and of no others.
#[test]
fn the_broker_and_the_warden_are_in_the_response_times() {
    let response = |skin: &str| {
        let system = parse(&format!("{A}period_us=1000000\nbudget_us=10\n{skin}")).unwrap();
        pillion_system::responses(&system, &Target::default())[0].response_ns.unwrap()
    };
    let skin = |priority: u8| {
        format!("[[task]]\nname='s'\nskin='rtlinux'\nthreads=2\npriority={priority}\nperiod_us=1000000\nbudget_ns=1\n")
    };
    let (alone, below, above) = (response(""), response(&skin(16)), response(&skin(254)));
    // Whatever is more urgent counts twice: it can use its budget late in a period, and again early
    // in the next.
    let warden = pillion_system::WARDEN_NS + Target::default().release_ns();
    assert_eq!(below, alone + 2 * warden);
    let threads = 2 * (1 + Target::default().release_ns());
    assert_eq!(above, alone + 2 * warden + pillion_system::BROKER_NS + 2 * threads);
}

/// A thread in primary mode that wakes at the beginning of its period, and works at its end, has
/// the next budget right behind: eight did so for 1.4 ms. So has any task.
#[test]
fn a_less_urgent_task_can_meet_two_budgets_of_each_thread() {
    let told = |budget_us: u32| {
        let task = "[[task]]\nname='a'\npriority=50\nperiod_us=1000\nbudget_us=60\n";
        let dual = format!("[dual]\nthreads=8\nperiod_us=1000\nbudget_us={budget_us}\n[linux]\n");
        check(&parse(&format!("[system]\nname='n'\n{task}{dual}")).unwrap(), &machine())
    };
    assert_eq!(told(45), Ok(()));
    assert_told(&told(90).unwrap_err(), 6, "task a can finish after its period", remedy::LATE);
    let beside = |budget_us: u32| {
        let task = |name, priority, budget_us: u32| {
            format!("[[task]]\nname='{name}'\npriority={priority}\nperiod_us=1000\nbudget_us={budget_us}\n")
        };
        let tasks = task("a", 50, 60) + &task("b", 51, budget_us);
        check(&parse(&format!("[system]\nname='n'\n{tasks}")).unwrap(), &machine())
    };
    assert_eq!(beside(450), Ok(()));
    assert_told(&beside(480).unwrap_err(), 6, "task a can finish after its period", remedy::LATE);
}

/// Above the manager's priority a task is not delayed by it, whatever the manager is asked for; at
/// that priority, it shares the processor with all that work.
#[test]
fn the_manager_counts_at_its_own_priority() {
    let told = |priority: u8| {
        let task = format!("[[task]]\nname='a'\npriority={priority}\nperiod_us=1000\nbudget_us=10\n");
        check(&parse(&format!("[system]\nname='n'\n{task}[linux]\n")).unwrap(), &machine())
    };
    assert_eq!(told(3), Ok(()));
    assert_told(&told(2).unwrap_err(), 6, "task a can finish after its period", remedy::LATE);
}

#[test]
fn values_together() {
    for &(start, rest, line, message, remedy) in TOGETHER {
        let system = parse(&format!("{start}{rest}")).unwrap();
        let machine = Target { virtualisation: Some(remedy != remedy::VIRTUALISATION), ..machine() };
        let problems = check(&system, &machine).unwrap_err();
        assert_told(&problems, line, message, remedy);
        let more = remedy == remedy::OVERLOAD;
        assert_eq!(problems.len(), 1 + usize::from(more), "{problems:#?}");
    }
}

#[test]
fn too_many() {
    let tasks: String = (0..65).map(|i| format!("[[task]]\nname='t{i}'\npriority=9\n")).collect();
    assert_told(
        &parse(&format!("[system]\nname='s'\n{tasks}")).unwrap_err(),
        3 + 64 * 3,
        "more than 64",
        remedy::FEWER,
    );
    assert_told(
        &parse(&format!("[system]\nname='s'\n[dual]\n{tasks}")).unwrap_err(),
        4 + 63 * 3,
        "more than 63",
        remedy::FEWER,
    );
    let skins: String = (0..16).map(|i| format!("[[task]]\nname='t{i}'\nskin='rtlinux'\nimage='a'\n")).collect();
    let system = parse(&format!("[system]\nname='s'\n{skins}")).unwrap();
    assert_told(&check(&system, &machine()).unwrap_err(), 3 + 15 * 4, "more than 15 tasks with", remedy::FEWER);
    let ports: String = (0..17).map(|i| format!("\n{{first={},count=1}},", 1024 + i)).collect();
    let system = parse(&format!("{S}ports=[{ports}]")).unwrap();
    assert_told(&check(&system, &machine()).unwrap_err(), 6 + 17, "more than 16 ranges of ports", remedy::FEWER);
    let ports = |count: u32| (0..count).map(|i| format!("\n{{first={},count=1}},", 1024 + i)).collect::<String>();
    let told = |file: String| check(&parse(&file).unwrap(), &machine());
    assert_eq!(told(format!("{A}ports=[{}]", ports(32))), Ok(()));
    assert_told(
        &told(format!("{A}ports=[{}]", ports(33))).unwrap_err(),
        6 + 33,
        "more than 32 ranges of ports",
        remedy::FEWER,
    );
    assert_eq!(told(format!("{A}ports=[{}]\n[linux]", ports(29))), Ok(()));
    let problems = told(format!("{A}ports=[{}]\n[linux]", ports(30))).unwrap_err();
    assert_told(&problems, 6 + 30, "30 ranges of ports, more than 29 beside Linux", remedy::FEWER);
    let devices = |count: u32| (0..count).map(|i| format!("\n'{i:02x}:00.0',")).collect::<String>();
    assert_eq!(told(format!("{A}devices=[{}]\n[linux]", devices(32))), Ok(()));
    let problems = told(format!("{A}devices=[{}]\n[linux]", devices(33))).unwrap_err();
    assert_told(&problems, 6 + 33, "33 PCI functions, more than 32", remedy::FEWER);
    let tasks: String = (0..9)
        .map(|i| {
            let ports: String = (0..if i == 8 { 1 } else { 32 })
                .map(|k| format!("\n{{first={},count=1}},", 0x1000 + 32 * i + k))
                .collect();
            format!("[[task]]\nname='t{i}'\nimage='a'\npriority=9\nports=[{ports}]\n")
        })
        .collect();
    let problems = told(format!("[system]\nname='s'\n{tasks}")).unwrap_err();
    assert_told(&problems, 2 + 8 * 37 + 6, "257 ranges of ports, more than 256", remedy::FEWER);
    let lines: String = (0..13).map(|i| format!("\n{{line={i}}},")).collect();
    let system = parse(&format!("{A}interrupts=[{lines}]")).unwrap();
    assert_told(&check(&system, &machine()).unwrap_err(), 6 + 13, "13 interrupt lines", remedy::FEWER);
}

#[test]
fn all_problems_are_told_in_order() {
    let problems = parse(&format!("{A}memory_kib=3\nimage=''\n[linux]\npriority=0")).unwrap_err();
    assert!(problems.iter().map(|p| p.line).eq([6, 6, 7, 9]), "{problems:#?}");
    assert_eq!(problems[3].to_string(), "line 9: priority is 0, outside 1 to 253; give a number within the limits");
}

#[test]
fn the_demonstration_is_good() {
    let system = parse(DEMO).unwrap();
    check(&system, &machine()).unwrap();
    assert_eq!(system.tasks[0].time, Some(Budget { budget_ns: 20_000, period_ns: 100_000 }));
    assert_eq!((system.tasks[0].image.as_str(), system.tasks[0].memory_bytes), ("demo", 256 << 10));
    let loads = pillion_system::responses(&system, &machine());
    // Dual mode is a task with a skin, so the manager's warden takes part, with 3,000 ns, twice.
    let warden = 2 * (3_000 + 1_800);
    assert_eq!(loads[0].response_ns, Some(20_000 + 1_400 + 400 + 1_200 + warden));
}

/// Each line of a less urgent task interrupts once; lines of other tasks are in their own time.
#[test]
fn lines_of_less_urgent_tasks_are_counted() {
    let task = |name, priority, lines| {
        format!(
            "[[task]]\nname='{name}'\nimage='a'\npriority={priority}\nperiod_us=100\nbudget_us=10\ninterrupts={lines}\n"
        )
    };
    let tasks = [task("a", 9, "[{line=3}]"), task("b", 8, "[{line=4},{line=5}]"), task("c", 7, "[{line=6}]")].concat();
    let system = parse(&format!("[system]\nname='s'\n{tasks}")).unwrap();
    let loads = pillion_system::responses(&system, &machine());
    assert_eq!(loads.iter().map(|l| l.lines_ns).collect::<Vec<_>>(), [1_200, 400, 0]);
    let responses = [1, 3, 5].map(|n| 1_200 + n * 11_800).into_iter().zip([1_200, 400, 0]).map(|(r, l)| Some(r + l));
    assert!(loads.iter().map(|l| l.response_ns).eq(responses), "{loads:?}");
}

#[test]
fn every_key_is_read() {
    let system = parse(&format!(
        "{A}{PERIODIC}image='b'\nmemory_kib=64\narguments='x y'\ndevices=['0a:1f.7']\ninterrupts=[{{line=16,level=true}}]\n\
         ports=[{{first=0x300,count=8}}]\nmay_end_system=true\nmay_start_linux=true\n[linux]\nmemory_mib=768\nbudget_ns=1000\nperiod_ns=2000\npriority=3\n\
         restart_limit=0\nrestart_backoff_ms=1\ncommand_line='quiet'\nkernel='k'\ninitrd='i'\n\
         after_poweroff='restart'\nafter_crash='off'\nafter_limit='end'\n"
    ))
    .unwrap();
    let task = &system.tasks[0];
    assert_eq!((task.image.as_str(), task.arguments.as_str(), task.memory_bytes), ("b", "x y", 64 << 10));
    assert_eq!(task.interrupts, [Interrupt { line: 16, level: true, low: false, at: 12 }]);
    assert_eq!(task.ports, [PortRange { first: 0x300, last: 0x307, at: 13 }]);
    assert_eq!((task.devices[0].to_string().as_str(), task.devices[0].requester_id()), ("0a:1f.7", 0x0aff));
    let linux = system.linux.unwrap();
    assert_eq!((linux.kernel.as_str(), linux.initrd.as_str(), linux.command_line.as_str()), ("k", "i", "quiet"));
    assert_eq!((linux.memory_bytes, linux.priority), (Some(768 << 20), 3));
    assert_eq!(linux.time, Some(Budget { budget_ns: 1_000, period_ns: 2_000 }));
    assert_eq!((linux.restart_limit, linux.restart_backoff_ms, linux.lines.memory), (0, 1, 17));
    assert!(task.may_end_system && task.may_start_linux);
    assert_eq!(linux.after, After { poweroff: Then::Restart, crash: Then::Off, limit: Then::End });
}

#[test]
fn unless_told_tasks_outlive_linux_and_may_do_nothing_to_the_system() {
    let system = parse(&format!("{A}[linux]")).unwrap();
    assert!(!system.tasks[0].may_end_system && !system.tasks[0].may_start_linux);
    let after = system.linux.unwrap().after;
    assert_eq!(after, After { poweroff: Then::Off, crash: Then::Restart, limit: Then::Off });
    assert_eq!(parse(DEMO).unwrap().linux.unwrap().after, After { poweroff: Then::End, limit: Then::End, ..after });
}

#[test]
fn every_key_of_a_skin_is_read() {
    let system = parse(&format!(
        "{S}threads=3\nfifo_kib=8\nstart='linux'\nshare=true\nmbuff_kib=8\ngrace_ms=50\npriority=99\nperiod_us=1000\nbudget_us=40\narguments='{}'\n\
         [channels]\nmbuff_kib=4\nshared_fifos=[0,63]\n[linux]\n",
        "x".repeat(1000)
    ))
    .unwrap();
    check(&system, &machine()).unwrap();
    let skin = system.tasks[0].skin.as_ref().unwrap();
    assert_eq!((skin.kind, skin.threads, skin.fifo_bytes), (Kind::RtLinux, 3, 8 << 10));
    assert_eq!((skin.start, skin.share), (Start::Linux, true));
    assert_eq!((skin.mbuff_bytes, skin.grace_ns, system.pool_bytes()), (8 << 10, 50_000_000, 12 << 10));
    assert_eq!((system.tasks[0].priority, system.tasks[0].arguments.len()), (99, 1000));
    assert_eq!(system.channels, Channels { mbuff_bytes: 4096, shared_fifos: 1 << 63 | 1 });
}

#[test]
fn a_skin_has_defaults_and_its_budgets_are_not_added_up() {
    let system = parse(S).unwrap();
    check(&system, &machine()).unwrap();
    let task = &system.tasks[0];
    assert_eq!(
        task.skin,
        Some(Skin {
            kind: Kind::RtLinux,
            threads: 16,
            fifo_bytes: 256 << 10,
            start: Start::Boot,
            share: false,
            mbuff_bytes: 16 << 10,
            grace_ns: 10_000_000_000
        })
    );
    assert_eq!((task.priority, task.memory_bytes, task.time), (212, 1 << 20, None));
    assert_eq!(system.channels, Channels { mbuff_bytes: 1 << 20, shared_fifos: 0 });
    check(&parse(&format!("{S}{PERIODIC}")).unwrap(), &machine()).unwrap();
    let without = Target { images: Some(&["a"]), ..machine() };
    assert_told(&check(&system, &without).unwrap_err(), 3, "no file broker", remedy::MISSING);
}

#[test]
fn dual_mode_is_a_task_with_a_skin() {
    let dual = |keys: &str| {
        let system = parse(&format!("{LINUX}[dual]\n{keys}[[task]]\nname='a'\npriority=2\n")).unwrap();
        check(&system, &machine()).unwrap();
        let task = system.tasks[1].clone();
        let skin = task.skin.clone().unwrap();
        assert_eq!((task.name.as_str(), task.image.as_str(), skin.start), ("dual", "dual", Start::Boot));
        (skin.kind, task.priority, skin.threads, task.bound())
    };
    let time = |budget_ns, period_ns| Some(Budget { budget_ns, period_ns });
    let group = |name: &[u8]| core::array::from_fn(|at| name.get(at).copied().unwrap_or(0));
    let plain = Dual {
        is_placed: false,
        first: 101,
        linger_ms: 0,
        watchdog_ms: 4_000,
        group: group(b"pillion"),
        boost: None,
        shield_ms: 10,
        shield_lines: 0,
    };
    let kind = |first, linger_ms, watchdog_ms| Kind::Dual(Dual { first, linger_ms, watchdog_ms, ..plain });
    assert_eq!(dual(""), (kind(101, 0, 4_000), 199, 9, time(100_000, 1_000_000)));
    let all = "threads=32\npriorities=[16,254]\nperiod_ns=2000000\nbudget_ns=50000\nlinger_ms=3\nwatchdog_ms=0\n";
    assert_eq!(dual(all), (kind(16, 3, 0), 254, 33, time(50_000, 2_000_000)));
    assert_eq!(dual("budget_us=3\n").3, time(3_000, 1_000_000));
    assert_eq!(dual("budget='unlimited'\n").3, None);
    let boost = |keys: &str| match dual(keys).0 {
        Kind::Dual(Dual { boost, .. }) => boost.map(|boost| (boost.ceiling, boost.time)),
        _ => None,
    };
    let above = "[[task]]\nname='b'\npriority=21\nperiod_us=1000\nbudget_us=500\n[dual]\nthreads=1\nbudget_us=1\npriorities=[16,20]\nceiling=20\nboost_us=490\n";
    assert_eq!(check(&parse(&format!("{LINUX}{above}")).unwrap(), &machine()), Ok(()), "Linux is below it");
    assert_eq!(boost("ceiling=150\n"), Some((150, Budget { budget_ns: 100_000, period_ns: 1_000_000 })));
    let all = "ceiling=16\nboost_us=50\nperiod_us=100\nbudget_us=10\n";
    assert_eq!(boost(all), Some((16, Budget { budget_ns: 50_000, period_ns: 100_000 })));
    let shield = Kind::Dual(Dual { shield_ms: 0, shield_lines: 1 << 63 | 0b101, ..plain });
    assert_eq!(dual("shield_ms=0\nshield_lines=[0, 2, 63]\n").0, shield);
    assert_eq!(dual("threads=1\nperiod_us=0\nbudget_us=0\n").3, Some(Budget::DEFAULT));
    let without = Target { images: Some(&["broker", "vmlinuz", "initrd"]), ..machine() };
    let system = parse(&format!("{LINUX}[dual]\n")).unwrap();
    assert_told(&check(&system, &without).unwrap_err(), 4, "no file dual", remedy::MISSING);
}

/// Tasks that Linux loads may have the same resources, one at a time; tasks that start with the
/// system may not.
#[test]
fn tasks_that_take_turns_may_have_the_same() {
    let things = "interrupts=[{line=5}]\nports=[{first=768,count=8}]\ndevices=['00:04.0']\n";
    let task =
        |name, start, things| format!("[[task]]\nname='{name}'\nimage='a'\nskin='rtlinux'\nstart='{start}'\n{things}");
    let read = |start| {
        let port = "ports=[{first=775,count=1}]\n";
        let tasks = [task("a", "linux", things), task("b", start, things), task("c", "linux", port)].concat();
        parse(&format!("[system]\nname='s'\n[linux]\n{tasks}")).unwrap()
    };
    let system = read("linux");
    assert_eq!(check(&system, &machine()), Ok(()));
    let [a, b, c] = &system.tasks[..] else { panic!("three tasks") };
    let shared = |one: &pillion_system::Task, other| one.shared_with(other).map(|thing| thing.to_string());
    assert_eq!(shared(a, b).as_deref(), Some("interrupt line 5"));
    assert_eq!(shared(a, c).as_deref(), Some("one of ports 0x300-0x307"));
    assert_eq!(shared(c, a).as_deref(), Some("one of ports 0x307-0x307"));
    let problems = check(&read("boot"), &machine()).unwrap_err();
    assert_eq!(problems.len(), 4, "{problems:#?}");
    assert!(problems.iter().all(|problem| problem.remedy == remedy::TAKE_AWAY), "{problems:#?}");
    // Having its own resource twice is a mistake.
    let twice = task("a", "linux", "ports=[{first=768,count=8},{first=775,count=1}]\n");
    assert!(check(&parse(&format!("[system]\nname='s'\n[linux]\n{twice}")).unwrap(), &machine()).is_err());
}

/// A task without a budget gets one that leaves a tenth, unless the file says otherwise; for the
/// check it has none.
#[test]
fn a_task_without_a_budget_leaves_a_tenth() {
    let task = |rest: &str| parse(&format!("{S}{rest}")).unwrap().tasks.remove(0);
    let nine_tenths = Budget { budget_ns: 9_000_000, period_ns: 10_000_000 };
    assert_eq!((task("").time, task("").bound()), (None, Some(nine_tenths)));
    assert_eq!((task("budget='unlimited'").time, task("budget='unlimited'").bound()), (None, None));
    let given = Budget { budget_ns: 10_000, period_ns: 100_000 };
    assert_eq!((task(PERIODIC).time, task(PERIODIC).bound()), (Some(given), Some(given)));
    assert_eq!(parse(A).unwrap().tasks[0].bound(), Some(nine_tenths));
}

#[test]
fn the_document_has_every_remedy_and_every_remedy_is_tested() {
    let tested: BTreeSet<_> = ALONE.iter().chain(TOGETHER).map(|t| t.4).chain([remedy::FEWER]).collect();
    for remedy in remedy::ALL {
        assert!(DOCUMENT.contains(remedy), "docs/system-file.md lacks: {remedy}");
        assert!(tested.contains(remedy), "no test for: {remedy}");
    }
}

#[test]
fn the_document_s_example_is_good() {
    let example = DOCUMENT.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    check(&parse(example).unwrap(), &Target::default()).unwrap();
}
