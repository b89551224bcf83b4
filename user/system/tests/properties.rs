//! No text makes the reader or the checks panic, and the analysis agrees with a simulation.
use pillion_system::{Activity, Target, check, parse, responses, worst_response};
use proptest::prelude::*;

const DEMO: &str = include_str!("../../../systems/demo.toml");
const FULL: &str = "[system]\nname='s'\ncpus=[0,1,3]\n[[task]]\nname='a'\nimage='b'\npriority=200\nperiod_us=100\nbudget_us=20\nmemory_kib=256\n\
    arguments='x'\ninterrupts=[{line=16,level=true,low=true}]\nports=[{first=0x300,count=8}]\ndevices=['00:04.0']\n\
    [[task]]\nname='c'\npriority=9\nperiod_ns=1000000\nbudget_ns=100000\n\
    [[task]]\nname='e'\npriority=8\nbudget='unlimited'\n\
    [[task]]\nname='d'\nskin='rtlinux'\nthreads=4\nfifo_kib=64\ncpu=1\ncpus=[0,1]\nstart='linux'\nshare=true\nmbuff_kib=8\ngrace_ms=5\nperiod_us=1000\nbudget_us=1\n\
    [channels]\nmbuff_kib=64\nshared_fifos=[3,5]\n[linux]\nkernel='k'\ninitrd='i'\ncommand_line='c'\n\
    memory_mib=768\npriority=1\ncpus=[0,1]\nbudget_us=1\nperiod_us=2\nrestart_limit=5\nrestart_backoff_ms=200\n\
    after_poweroff='end'\nafter_crash='off'\nafter_limit='end'\n";

fn run(text: &str) {
    let lines = u32::try_from(text.split('\n').count()).unwrap();
    let machine =
        Target { memory_bytes: Some(1 << 30), images: Some(&["a"]), virtualisation: Some(false), ..Target::default() };
    let problems = match parse(text) {
        Ok(system) => check(&system, &machine).err().unwrap_or_default(),
        Err(problems) => problems,
    };
    for problem in problems {
        assert!((1..=lines).contains(&problem.line), "{problem}");
        assert!(!problem.to_string().contains('\n'));
    }
}

/// A replacement for a piece of text: numbers at the limits, and elements of TOML.
fn piece() -> impl Strategy<Value = String> {
    let numbers = prop_oneof![any::<i64>(), -2i64..300, Just(i64::MAX), Just(i64::MIN)].prop_map(|n| n.to_string());
    let tokens =
        prop::sample::select(vec!["[", "]", "[[", "{", "}", "=", "\n", "'", "\"\"\"", ",", ".", "0x", "é", "\r", "_"]);
    prop_oneof![3 => numbers, 2 => tokens.prop_map(String::from), 1 => ".{0,8}"]
}

/// Replaces the `length` characters at `at` by `piece`.
fn mutate(text: &str, at: usize, length: usize, piece: &str) -> String {
    let at = at % (text.chars().count() + 1);
    text.chars().take(at).chain(piece.chars()).chain(text.chars().skip(at + length)).collect()
}

/// Replaces the number after one of the `=` by `value`.
fn set_number(text: &str, which: usize, value: &str) -> String {
    let starts: Vec<usize> = text.match_indices('=').map(|(i, _)| i + 1).collect();
    let (head, tail) = text.split_at(starts[which % starts.len()]);
    format!("{head}{value}{}", tail.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '\''))
}

/// Tasks that fit into small hyperperiods, with priorities 1, 2, ...
fn task_set() -> impl Strategy<Value = Vec<Activity>> {
    let task = (prop::sample::select(vec![4u64, 5, 6, 8, 10, 12, 15, 20, 24, 30]), 1u64..6);
    prop::collection::vec(task, 1..5).prop_map(|tasks| {
        let activity = |(i, (period_ns, cost_ns))| Activity { cost_ns, period_ns, priority: i as u8 + 1 };
        tasks.into_iter().enumerate().map(activity).collect()
    })
}

/// Simulates the tasks unit by unit, each released at its offset and then every period; the
/// processor is blocked for the first `blocking` units. Returns each task's longest response, or
/// `u64::MAX` for a task that is not finished by `until`.
fn simulate(tasks: &[Activity], offsets: &[u64], blocking: u64, until: u64) -> Vec<u64> {
    let mut worst = vec![0u64; tasks.len()];
    let mut queue: Vec<(u8, u64, usize, u64)> = Vec::new();
    for now in 0..until {
        for (i, t) in tasks.iter().enumerate() {
            if now >= offsets[i] && (now - offsets[i]).is_multiple_of(t.period_ns) {
                queue.push((t.priority, now, i, t.cost_ns));
            }
        }
        if now < blocking {
            continue;
        }
        // Highest priority, then earliest release; the last task in the list loses ties.
        let Some(best) = (0..queue.len()).min_by_key(|&q| (std::cmp::Reverse(queue[q].0), queue[q].1, queue[q].2))
        else {
            continue;
        };
        queue[best].3 -= 1;
        if queue[best].3 == 0 {
            let (_, released, task, _) = queue.remove(best);
            worst[task] = worst[task].max(now + 1 - released);
        }
    }
    for (_, released, task, _) in queue {
        if until - released > tasks[task].period_ns {
            worst[task] = u64::MAX;
        }
    }
    worst
}

/// Longest response of the last task, released at any time, below threads that use their budgets
/// when they please: in each unit of time, a thread with something left wants the processor or
/// not, as `wants` tells. A budget is whole again when its thread begins to use it and a period has
/// passed since it last did so, as in the kernel.
fn simulate_budgets(tasks: &[Activity], wants: &[u8], until: u64) -> u64 {
    let (last, others) = tasks.split_last().unwrap();
    let mut budgets = vec![(0u64, 0u64); others.len()];
    let mut jobs: Vec<(u64, u64)> = Vec::new();
    let mut worst = 0;
    for now in 0..until {
        if now.is_multiple_of(last.period_ns) {
            jobs.push((now, last.cost_ns));
        }
        let wish = wants[now as usize % wants.len()];
        let user = others.iter().zip(&mut budgets).enumerate().find_map(|(i, (task, budget))| {
            let wants_to = wish >> i & 1 != 0;
            if wants_to && now >= budget.1 {
                *budget = (task.cost_ns, now + task.period_ns);
            }
            (wants_to && budget.0 != 0).then_some(budget)
        });
        if let Some(budget) = user {
            budget.0 -= 1;
        } else if let Some(job) = jobs.first_mut() {
            job.1 -= 1;
            if job.1 == 0 {
                let (released, _) = jobs.remove(0);
                worst = worst.max(now + 1 - released);
            }
        }
    }
    jobs.iter().fold(worst, |worst, (released, _)| worst.max(until - released))
}

/// Response of the first job of `task` if all tasks are released together, or `None` if it is
/// beyond the period.
fn first_response(tasks: &[Activity], task: usize, blocking: u64) -> Option<u64> {
    let period = tasks[task].period_ns;
    let mut once = tasks.to_vec();
    once[task].period_ns = 1 << 40;
    let told = simulate(&once, &vec![0; tasks.len()], blocking, period)[task];
    (told != 0 && told <= period).then_some(told)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_text_does_no_harm(text in any::<String>()) {
        run(&text);
    }

    #[test]
    fn mutations_do_no_harm(full: bool, changes in prop::collection::vec((any::<usize>(), 0usize..12, piece()), 1..4)) {
        let start = String::from(if full { FULL } else { DEMO });
        run(&changes.iter().fold(start, |text, (at, length, piece)| mutate(&text, *at, *length, piece)));
    }

    #[test]
    fn other_numbers_do_no_harm(changes in prop::collection::vec((any::<usize>(), piece()), 1..4)) {
        run(&changes.iter().fold(String::from(FULL), |text, (which, value)| set_number(&text, *which, value)));
    }

    #[test]
    fn analysis_is_exact_for_distinct_priorities(tasks in task_set(), blocking in 0u64..4) {
        for task in 0..tasks.len() {
            prop_assert_eq!(worst_response(&tasks, task, blocking), first_response(&tasks, task, blocking));
        }
    }

    /// What `responses` tells of the least urgent of tasks without a skin, none of which sleeps
    /// once in a period only.
    #[test]
    fn no_use_of_budgets_is_worse_than_the_check(
        tasks in task_set(), wants in prop::collection::vec(any::<u8>(), 1..120), greedy: bool,
    ) {
        let told = |(i, t): (usize, &Activity)| {
            let (priority, Activity { period_ns, cost_ns, .. }) = (200 - i, *t);
            format!("[[task]]\nname='t{i}'\npriority={priority}\nperiod_ns={period_ns}000\nbudget_ns={cost_ns}000\n")
        };
        let text = tasks.iter().enumerate().map(told).collect::<String>();
        let system = parse(&format!("[system]\nname='s'\n{text}")).unwrap();
        let free = Target { overhead_ns: 0, blocking_ns: 0, interrupt_ns: 0, ..Target::default() };
        let load = responses(&system, &free).pop().unwrap();
        let bound = load.response_ns;
        // Nothing, then everything: the end of a period before the beginning of the next.
        let last = tasks.last().unwrap().period_ns;
        let wants = if greedy { [vec![0; (last - 1) as usize], vec![0xff; 100]].concat() } else { wants };
        if let Some(bound) = bound {
            prop_assert!(simulate_budgets(&tasks, &wants, 1_000) * 1_000 <= bound);
            // What is told of a task that does not fit adds up.
            prop_assert_eq!(bound, tasks.last().unwrap().cost_ns * 1_000 + load.others_ns);
        }
    }

    #[test]
    fn no_phase_is_worse_than_the_analysis(
        mut tasks in task_set(), equal: bool, blocking in 0u64..4, phases in prop::collection::vec(0u64..30, 5),
    ) {
        if equal {
            tasks.iter_mut().for_each(|t| t.priority = t.priority.div_ceil(2));
        }
        let analysed: Vec<_> = (0..tasks.len()).map(|i| worst_response(&tasks, i, blocking)).collect();
        let simulated = simulate(&tasks, &phases, blocking, 30 + 4 * 120);
        // A response is only guaranteed while everything of equal or higher priority keeps its
        // period.
        for (i, told) in analysed.iter().enumerate() {
            let kept = |(j, t): (usize, &Activity)| t.priority < tasks[i].priority || analysed[j].is_some();
            if let Some(told) = told && tasks.iter().enumerate().all(kept) {
                prop_assert!(simulated[i] <= *told, "task {}: {} > {}", i, simulated[i], told);
            }
        }
    }

    #[test]
    fn extreme_numbers_do_no_harm(raw in prop::collection::vec((any::<u64>(), any::<u64>(), any::<u8>()), 1..64), b: u64) {
        let tasks: Vec<_> =
            raw.iter().map(|&(cost_ns, period_ns, priority)| Activity { cost_ns, period_ns, priority }).collect();
        for i in 0..=tasks.len() {
            let _ = worst_response(&tasks, i, b);
        }
    }
}

#[test]
fn full_file_is_good() {
    assert!(parse(FULL).is_ok());
}

#[test]
fn a_load_next_to_full_ends_soon() {
    let hog = Activity { cost_ns: 3_599_999_999_999, period_ns: 3_600_000_000_000, priority: 9 };
    let busy = Activity { cost_ns: 999, period_ns: 1_000, priority: 8 };
    let last = Activity { cost_ns: 1, period_ns: 3_600_000_000_000, priority: 2 };
    assert_eq!(worst_response(&[hog, last], 1, 0), Some(3_600_000_000_000));
    assert_eq!(worst_response(&[hog, busy, last], 2, 0), None);
    assert_eq!(worst_response(&[busy, Activity { cost_ns: 1, ..busy }], 0, 0), Some(1_000));
}

#[test]
fn deep_nesting_ends_in_a_problem() {
    for open in ["a = [", "a = {b=", "[", "a."] {
        run(&open.repeat(20_000));
        run(&format!("a = {}", open.repeat(20_000)));
        run(&format!("x = {}", "[".repeat(50_000)));
    }
}
