//! Charges between markers.

use Event::{Cli, Response, Sti};
use Step::{Entry, Kernel, On, Run};
use pillion_model_check::{Event, Model};

/// 1 GHz, one cycle per instruction, all other costs in events: delivery 100, guest exit 1,000.
fn model() -> Model {
    let mut model = Model::new(
        "mhz=1000,instruction=1,line=64,cache.l1i.size=32768,cache.l1i.ways=8,cache.l1d.size=32768,cache.l1d.ways=8,cache.l2.size=262144,\
         cache.l2.ways=8,tlb.code.entries=64,tlb.code.ways=64,tlb.data.entries=64,tlb.data.ways=64,walk.levels=4,walk.entry=8,\
         event.interrupt.cycles=100,event.vmexit.cycles=1000",
    )
    .unwrap();
    model.mode(true);
    model.mode(false);
    model
}

/// What happens to a model.
enum Step {
    Run(u64),
    Kernel,
    Entry,
    On(Event),
}
fn play(model: &mut Model, steps: &[Step]) {
    for step in steps {
        match *step {
            Run(instructions) => drop(model.fetch(0x1000, 0x1000, instructions)),
            Kernel => model.mode(true),
            Entry => model.entry(),
            On(event) => drop(model.event(event)),
        }
    }
}

fn after(steps: &[Step]) -> Model {
    let mut model = model();
    play(&mut model, steps);
    model
}

fn figure(model: &Model, name: &str) -> Option<f64> {
    let text = model.tell();
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("figure {name} ")))?;
    line.split(' ').next()?.parse().ok()
}

/// Entry, handler and total of the only sample.
fn sample(model: &Model) -> [f64; 3] {
    assert_eq!(figure(model, "total_samples"), Some(1.0));
    ["entry_max", "handler_max", "total_max"].map(|name| figure(model, name).unwrap())
}

#[test]
fn user_code_is_interrupted_at_once() {
    let model = after(&[Run(50), Entry, Run(30), On(Response)]);
    assert_eq!(sample(&model), [100.0, 30.0, 130.0]);
}

#[test]
fn in_the_kernel_it_waited_since_interrupts_were_off() {
    // sti; nop; cli
    let mut model = after(&[Kernel, Run(40), On(Sti), Run(2), On(Cli)]);
    play(&mut model, &[Run(7), On(Sti), Run(1), Entry, On(Response)]);
    assert_eq!(sample(&model), [108.0, 0.0, 108.0]);
}

#[test]
fn a_call_counts_from_its_entry() {
    let model = after(&[Run(1000), Kernel, Run(40), On(Sti), Entry, On(Response)]);
    assert_eq!(sample(&model)[0], 140.0);
}

#[test]
fn a_kernel_that_can_be_interrupted_is_interrupted_at_once() {
    let model = after(&[Kernel, Run(400), On(Sti), Run(1000), Entry, Run(30), On(Response)]);
    assert_eq!(sample(&model), [100.0, 30.0, 130.0]);
}

#[test]
fn a_handler_returns_to_a_kernel_that_can_be_interrupted() {
    let mut model = after(&[Kernel, Run(400), On(Sti), Run(1000), Entry, Run(70)]);
    play(&mut model, &[On(Event::Iret), Run(200), Entry, On(Response)]);
    assert_eq!(sample(&model)[0], 100.0);
}

#[test]
fn what_was_open_for_no_instruction_was_not_open() {
    for opening in [Sti, Event::Iret] {
        let mut model = after(&[Kernel, Run(40), On(opening), Run(1), On(Cli), Run(7)]);
        play(&mut model, &[On(Sti), Run(1), Entry, On(Response)]);
        assert_eq!(sample(&model)[0], 149.0, "{opening:?}");
    }
}

#[test]
fn who_says_how_late_was_woken_by_the_first_interrupt_since() {
    // Interrupts 9,000 and 3,000 instructions before the program, which is 500 to 9,900 ns late.
    for (late, handler) in [(500, 3000.0), (3000, 3000.0), (8700, 3000.0), (8900, 9100.0), (9900, 9100.0)] {
        // Each delivery takes 100 cycles and no instruction.
        let mut model = after(&[Run(50), Entry, Run(6000), Entry, Run(3000), On(Event::Woke), Run(40), Entry, Run(60)]);
        model.late(late);
        assert_eq!(sample(&model)[1], handler, "{late}");
        assert_eq!(figure(&model, "counted_max"), Some(late as f64));
    }
}

#[test]
fn who_was_not_woken_by_an_interrupt_is_no_sample() {
    let mut model = after(&[Entry]);
    model.late(100);
    model.event(Event::Woke);
    model.late(100);
    assert_eq!(figure(&model, "total_samples"), None);
    assert_eq!(figure(&model, "counted_samples"), None);
}

#[test]
fn more_interrupts_than_are_remembered_leave_the_last() {
    let mut model = model();
    (0..200).for_each(|_| play(&mut model, &[Entry, Run(1000)]));
    model.event(Event::Woke);
    model.late(150_000);
    assert_eq!(sample(&model)[1], 64.0 * 1000.0 + 63.0 * 100.0);
}

#[test]
fn a_guest_is_left_first() {
    // The exit is as the plug-in reports it: on the host's side.
    let model = after(&[Kernel, On(Event::Clgi), On(Sti), On(Event::Vmrun), Run(5000), On(Event::Vmexit)]);
    assert_eq!(figure(&model, "total_samples"), None);
}

#[test]
fn asleep_it_is_taken_at_once() {
    let model = after(&[Kernel, Run(400), On(Sti), On(Event::Hlt), Entry, On(Response)]);
    assert_eq!(sample(&model)[0], 100.0);
}

#[test]
fn an_interrupt_that_leads_back_to_the_guest_is_no_sample() {
    let model = after(&[Entry, On(Event::Vmrun), On(Event::Vmexit), On(Response)]);
    assert_eq!(figure(&model, "total_samples"), None);
}

#[test]
fn a_response_without_an_interrupt_is_no_sample() {
    let model = after(&[Entry, On(Response), Run(10), On(Response)]);
    assert_eq!(figure(&model, "total_samples"), Some(1.0));
}

#[test]
fn what_happened_in_both_parts_of_a_response_is_told() {
    let mut model = after(&[Run(50)]);
    for line in 0..2 {
        play(&mut model, &[Entry, Run(30), On(Event::Cr3)]);
        model.touch(0x10_0000 + line * 64, true);
        model.event(Response);
        model.mode(false);
    }
    let told = |part: &str, counts: &[&str]| -> Vec<f64> {
        counts.iter().map(|count| figure(&model, &format!("{part}_{count}")).unwrap()).collect()
    };
    assert_eq!(
        told("entry", &["instructions", "l1d_misses", "walks", "space_loads", "for_events"]),
        [0.0, 0.0, 0.0, 0.0, 100.0]
    );
    // Walks: for the data's page in both, for the code's in the second, because CR3 was loaded.
    // Load misses: a table entry in the first, a line of data in both.
    let counts = ["instructions", "l1i_misses", "walks", "write_backs", "device_accesses", "space_loads", "for_events"];
    assert_eq!(told("handler", &counts), [30.0, 0.0, 1.5, 0.0, 0.0, 1.0, 0.0]);
    assert_eq!(told("handler", &["l1d_misses", "l2_misses"]), [1.5, 1.5]);
}

#[test]
fn pieces_of_work_are_told_one_by_one() {
    let mut model = model();
    for n in [10, 20, 5000] {
        play(&mut model, &[On(Event::From), Run(n), On(Event::Upto)]);
    }
    let text = model.tell();
    assert!(text.contains("points work_by_number 1 cycles 0:10 1:20 2:5000\n"), "{text}");
    assert!(text.contains("points work_walks 1 1 0:1 1:0 2:0\n"), "{text}");
    assert!(text.contains("histogram work_cycles cycles 10:1 20:1 4992+32:1\n"), "{text}");
    assert_eq!(figure(&model, "work_avg"), Some(1676.7));
    assert_eq!(figure(&model, "work_p99"), Some(4992.0));
}

#[test]
fn the_first_ones_are_no_samples() {
    let mut model = model();
    model.skip(2);
    for n in [5000, 20, 10] {
        play(&mut model, &[Entry, Run(n), On(Response), On(Event::From), Run(2 * n), On(Event::Upto)]);
    }
    assert_eq!(sample(&model)[1], 10.0);
    let text = model.tell();
    assert!(text.contains("points work_by_number 1 cycles 0:20\n"), "{text}");
    assert_eq!(figure(&model, "work_samples"), Some(1.0));
}

#[test]
fn lines_are_short_and_add_up() {
    let mut model = model();
    for n in 1..=500 {
        play(&mut model, &[On(Event::From), Run(n * 37), On(Event::Upto)]);
    }
    let text = model.tell();
    assert!(text.lines().all(|line| line.len() <= 200));
    let buckets = text.lines().filter_map(|line| line.strip_prefix("histogram work ns "));
    let counts = buckets
        .flat_map(|rest| rest.split(' '))
        .map(|bucket| bucket.rsplit(':').next().unwrap().parse::<u64>().unwrap());
    assert_eq!(counts.sum::<u64>(), 500);
}
