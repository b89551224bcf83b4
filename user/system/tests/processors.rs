//! Several processors: what the keys mean, and the analysis against that of one processor.
use pillion_system::{
    Activity, BROKER_NS, Processors, System, Target, VISITORS_NS, WARDEN_NS, check, parse, responses, worst_response,
};
use proptest::prelude::*;

/// The kernel costs nothing, so that a response is nothing but the tasks' own.
fn free() -> Target<'static> {
    Target { overhead_ns: 0, blocking_ns: 0, interrupt_ns: 0, ..Target::default() }
}

/// A periodic task of the file: its processor, period and budget; the number makes its priority.
fn task(number: usize, cpu: u8, (period_us, budget_us): (u64, u64)) -> String {
    let priority = 200 - number;
    format!(
        "[[task]]\nname='t{number}'\ncpu={cpu}\npriority={priority}\nperiod_us={period_us}\nbudget_us={budget_us}\n"
    )
}

fn system(tasks: &str) -> System {
    parse(&format!("[system]\nname='s'\n{tasks}")).unwrap()
}

fn response_of(system: &System, name: &str, machine: &Target) -> u64 {
    let loads = responses(system, machine);
    loads.iter().find(|load| system.tasks[load.task].name == name).unwrap().response_ns.unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Tasks that are spread over processors, in any order, have on each the responses that the
    /// same tasks have alone on a machine with one.
    #[test]
    fn processors_do_not_share_time(
        wanted in prop::collection::vec((0u8..4, (1_000u64..30_000, 1u64..9_000)), 1..12)
    ) {
        let all = wanted.iter().enumerate().map(|(i, (cpu, time))| task(i, *cpu, *time)).collect::<String>();
        let found = responses(&system(&all), &free());
        prop_assert_eq!(found.len(), wanted.len());
        for (number, load) in found.iter().enumerate() {
            let (own, _) = wanted[number];
            let beside: Vec<usize> = (0..wanted.len()).filter(|i| wanted[*i].0 == own).collect();
            let activity = |i: &usize| {
                let (period_us, budget_us) = wanted[*i].1;
                Activity { cost_ns: budget_us * 1_000, period_ns: period_us * 1_000, priority: 200 - *i as u8 }
            };
            let alone: Vec<Activity> = beside.iter().map(activity).collect();
            let index = beside.iter().position(|i| *i == number).unwrap();
            let carried = alone[..index].iter().map(|other| other.cost_ns).sum();
            prop_assert_eq!(load.response_ns, worst_response(&alone, index, carried));
        }
    }
}

/// On one processor the two tasks do not fit, on two they do.
#[test]
fn an_overload_of_one_is_none_of_two() {
    let both = |cpu| system(&(task(0, 0, (1_000, 600)) + &task(1, cpu, (1_000, 600))));
    assert!(check(&both(0), &Target::default()).is_err());
    assert_eq!(check(&both(1), &Target::default()), Ok(()));
}

/// Linux and what has no budget hold up nothing on processors where they are not.
#[test]
fn priorities_are_compared_on_one_processor() {
    let good = |tasks: &str| check(&system(tasks), &Target::default()).is_ok();
    let linux = |cpu| format!("{}[linux]\npriority=200\n", task(0, cpu, (1_000, 1)));
    assert!(!good(&linux(0)) && good(&linux(1)));
    let endless = |cpu| format!("{}[[task]]\nname='e'\npriority=201\ncpu={cpu}\n", task(0, 1, (1_000, 1)));
    assert!(!good(&endless(1)) && good(&endless(2)));
}

/// A response time is of one processor, which the problem names.
#[test]
fn a_task_that_can_be_late_is_named_with_its_processor() {
    let late = |cpu| {
        let tasks = task(0, cpu, (10, 6)) + &task(1, cpu, (10, 3));
        let problems = check(&system(&tasks), &Target::default()).unwrap_err();
        problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    for cpu in [0, 2] {
        let said = late(cpu);
        assert!(said.contains(&format!("t1 can finish after its period of 10000 ns on processor {cpu}")), "{said}");
    }
}

/// The kernel's figures in the response of the only task on its processor.
const ALONE: u64 = 10_000 + 1_800 + 1_200;

/// What another processor sends interrupts a task once for each less urgent thread that it is for.
#[test]
fn what_other_processors_send_is_in_the_response_times() {
    let target = Target::default();
    let interrupt = target.interrupt_ns;
    let a = |cpu| task(0, cpu, (1_000, 10));
    let skin = |keys: &str| format!("[[task]]\nname='s'\nskin='rtlinux'\npriority=16\nthreads=5\n{keys}\n");
    assert_eq!(response_of(&system(&a(0)), "t0", &target), ALONE);
    // The resource manager acts on it from elsewhere.
    assert_eq!(response_of(&system(&a(1)), "t0", &target), ALONE + interrupt);
    let warden = 2 * (WARDEN_NS + target.release_ns());
    // Beside it: the warden, and two for each of five threads.
    let beside = system(&(a(1) + &skin("cpu=1")));
    assert_eq!(response_of(&beside, "t0", &target), ALONE + (1 + 2 * 5) * interrupt + warden);
    // Of two processors: they can act from the other one.
    let both = system(&(a(1) + &skin("cpus=[1,2]")));
    assert_eq!(response_of(&both, "t0", &target), ALONE + (1 + 3 * 5) * interrupt + warden);
    // Elsewhere: neither.
    let apart = system(&(a(1) + &skin("cpu=2")));
    assert_eq!(response_of(&apart, "t0", &target), ALONE + interrupt);
    // On the first processor: their calls of the resource manager, whose calls there return.
    let first = system(&(a(0) + &skin("cpu=2")));
    assert_eq!(response_of(&first, "t0", &target), ALONE + (1 + 5) * interrupt + warden);
    // Linux's monitor on two.
    let linux = system(&format!("{}[linux]\ncpus=[0,1]\n", a(1)));
    assert_eq!(response_of(&linux, "t0", &target), ALONE + (1 + 3) * interrupt);
}

/// The broker is on the first processor, whoever waits for it.
#[test]
fn the_broker_holds_up_its_own_processor_only() {
    let response = |cpu| {
        let urgent = "[[task]]\nname='s'\nskin='rtlinux'\npriority=254\ncpu=2\nthreads=2\n";
        let tasks = task(0, cpu, (1_000, 10)) + urgent;
        response_of(&system(&tasks), "t0", &free())
    };
    assert_eq!(response(1), 10_000);
    // What the broker does for others, late in one of its periods and early in the next.
    assert_eq!(response(0), 10_000 + BROKER_NS + 2 * WARDEN_NS + 2 * VISITORS_NS);
}

/// The broker serves them at their priority, on a budget that is not theirs.
#[test]
fn tasks_elsewhere_take_the_visitors_budget_from_the_first_processor() {
    let response = |priority: u8, cpu| {
        let skin = format!("[[task]]\nname='s'\nskin='rtlinux'\npriority={priority}\ncpus={cpu}\nthreads=9\n");
        response_of(&system(&(task(0, 0, (1_000, 10)) + &skin)), "t0", &free())
    };
    let without = 10_000 + 2 * WARDEN_NS;
    assert_eq!([response(199, "[0]"), response(199, "[1]"), response(199, "[0,1]")], [without; 3]);
    assert_eq!(response(200, "[3]"), without + BROKER_NS + 2 * VISITORS_NS);
    let beside = without + BROKER_NS;
    assert!(response(200, "[0,3]") >= beside + 2 * VISITORS_NS);
}

/// Of a task with several processors, all threads can be on each.
#[test]
fn threads_of_several_processors_count_on_each() {
    let skin = "[[task]]\nname='s'\nskin='rtlinux'\npriority=254\ncpus=[1,2]\nthreads=3\nperiod_us=1000\nbudget_us=7\n";
    let response = |cpu| response_of(&system(&(task(0, cpu, (1_000, 10)) + skin)), "t0", &free());
    let beside = 52_000 + 2 * WARDEN_NS;
    assert_eq!([response(1), response(2), response(3)], [beside, beside, 10_000]);
}

/// Those of dual mode are divided among its processors.
#[test]
fn threads_in_primary_mode_count_where_they_are() {
    let dual = |keys: &str| format!("[dual]\nthreads=5\nbudget_us=7\npriorities=[200,254]\n{keys}\n[linux]\n");
    let response = |cpu, keys: &str| response_of(&system(&(task(0, cpu, (1_000, 10)) + &dual(keys))), "t0", &free());
    let [three, six] = [3, 6].map(|threads: u64| 10_000 + threads * 14_000 + 2 * WARDEN_NS);
    assert_eq!(response(1, "cpus=[1,2]"), three);
    assert_eq!(response(2, "cpus=[1,2]"), three);
    assert_eq!(response(1, "cpus=[1]"), six);
    assert_eq!(response(3, "cpus=[1,2]"), 10_000);
}

/// What Linux takes elsewhere from a thread that stopped interrupts whoever runs then, once.
#[test]
fn what_linux_takes_elsewhere_is_in_the_response_times() {
    let target = Target::default();
    let (interrupt, warden) = (target.interrupt_ns, 2 * (WARDEN_NS + target.release_ns()));
    let response = |keys: &str| {
        let dual = format!("[dual]\nthreads=2\npriorities=[16,99]\n{keys}\n[linux]\n");
        response_of(&system(&(task(0, 1, (1_000, 10)) + &dual)), "t0", &target)
    };
    // The manager's, and two for each of three threads, or three if they can be on two processors.
    assert_eq!(response("cpus=[1]"), ALONE + (1 + 2 * 3) * interrupt + warden);
    assert_eq!(response("cpus=[1,2]"), ALONE + (1 + 3 * 3 + 1) * interrupt + warden);
    assert_eq!(response("cpus=[2,3]"), ALONE + interrupt);
}

#[test]
fn dual_mode_can_be_on_several_processors() {
    let read = |keys: &str| system(&format!("[dual]\n{keys}\n[linux]\n")).tasks.remove(0);
    let places = |keys: &str| (read(keys).cpu, read(keys).processors.bits());
    assert_eq!([places(""), places("cpus=[0]"), places("cpus=[3,1]")], [(0, 1), (0, 1), (1, 0xa)]);
}

#[test]
fn keys_and_their_defaults() {
    let read = |keys: &str| system(&format!("[[task]]\nname='s'\nskin='rtlinux'\n{keys}\n")).tasks.remove(0);
    let places = |keys: &str| (read(keys).cpu, read(keys).processors.bits());
    assert_eq!(places(""), (0, 1));
    assert_eq!(places("cpu=3"), (3, 8));
    assert_eq!(places("cpus=[5,2]"), (2, 0x24));
    assert_eq!(places("cpu=5\ncpus=[5,2]"), (5, 0x24));
    let of = |text: &str| parse(text).unwrap();
    let linux = |keys: &str| of(&format!("[system]\nname='s'\n[linux]\n{keys}\n")).linux.unwrap().processors;
    assert_eq!((linux(""), linux("cpus=[0,7]").bits()), (Processors::FIRST, 0x81));
    assert_eq!(of("[system]\nname='s'\n[linux]\n").processors, None);
    let named = of("[system]\nname='s'\ncpus=[0,6]\n[linux]\n");
    assert_eq!(named.processors.unwrap().numbers().collect::<Vec<_>>(), [0, 6]);
    assert_eq!(named.processors_at, 3);
}

/// Where the file does not say which it has.
#[test]
fn linux_has_all_processors_that_run_and_are_used() {
    let of = |header: &str, rest: &str, running| {
        let mut system = parse(&format!("[system]\nname='s'\n{header}\n[linux]\n{rest}\n")).unwrap();
        system.meet(running);
        system.linux.unwrap().processors.to_string()
    };
    assert_eq!([of("", "", 1), of("", "", 4), of("", "", 9)], ["0", "0, 1, 2, 3", "0, 1, 2, 3, 4, 5, 6, 7"]);
    assert_eq!(of("cpus=[0,1,3]", "", 4), "0, 1, 3");
    assert_eq!(of("cpus=[0,1,3]", "", 2), "0, 1");
    assert_eq!(of("", "cpus=[0]", 4), "0");
    assert_eq!(of("", "cpus=[2]", 2), "2", "what is wrong stays so");
    // Functions of its processes run beside it.
    assert_eq!([of("", "[dual]", 4), of("", "[[task]]\nname='p'\nskin='psc'", 4)], ["0, 1, 2, 3", "0"]);
    assert_eq!(of("", "[[task]]\nname='r'\nskin='rtlinux'", 4), "0, 1, 2, 3");
}

/// Where the file does not say where it is.
#[test]
fn dual_mode_is_where_linux_is() {
    let of = |linux: &str, dual: &str, running| {
        let mut system = parse(&format!("[system]\nname='s'\n[linux]\n{linux}\n[dual]\n{dual}\n")).unwrap();
        system.meet(running);
        let task = &system.tasks[0];
        assert!(task.processors.has(task.cpu));
        task.processors.to_string()
    };
    assert_eq!([of("", "", 1), of("", "", 4), of("", "threads=2", 4)], ["0", "0, 1, 2, 3", "0, 1"]);
    assert_eq!([of("cpus=[2,3]", "", 4), of("cpus=[0,1]", "cpus=[1]", 4), of("", "cpus=[0]", 4)], ["2, 3", "1", "0"]);
}

#[test]
fn a_set_is_made_of_what_it_is_given() {
    let set = Processors::one(1).and(Processors::one(6));
    assert_eq!((set.count(), set.bits(), set.to_string()), (2, 0x42, "1, 6".into()));
    assert!(set.has(6) && !set.has(0) && !set.has(9) && set.meets(Processors::one(1)) && !set.meets(Processors::FIRST));
    assert_eq!((Processors::one(8).count(), Processors::ALL.count()), (0, 8));
}
