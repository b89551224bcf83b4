//! Memory is mapped, unmapped, deleted and used again by several processors, with calls cut short
//! by those of others: the tests' machine sees to it that no processor knows memory that is put to
//! another use.

use crate::machine::world::{World, args, slot};
use pillion_abi::{NEVER, PAGE, call::Call, object::Kind};
use proptest::prelude::*;

const PROCESSORS: u8 = 3;
const SPACES: usize = 2;
const MEMORIES: usize = 4;

#[derive(Clone, Debug)]
struct Step {
    processor: u8,
    what: u8,
    memory: usize,
    space: usize,
    /// Whether the call is made again until it is done.
    whole: bool,
}

fn step() -> impl Strategy<Value = Step> {
    (0..PROCESSORS, 0u8..10, 0..MEMORIES, 0..SPACES, any::<bool>())
        .prop_map(|(processor, what, memory, space, whole)| Step { processor, what, memory, space, whole })
}

/// A thread that runs on each processor but the first, in one of the spaces. Returns the region of
/// the spaces and of the memory, and their slots.
fn begin(every: u32) -> (World, u64, [u64; SPACES], [u64; MEMORIES]) {
    let mut w = World::of(PROCESSORS).interrupted_every(every);
    let region = w.make(Kind::Region, 64 * PAGE);
    let spaces = [(); SPACES].map(|()| w.free_slot());
    let memories = [(); MEMORIES].map(|()| w.free_slot());
    for space in spaces {
        w.root(Call::RegionCreate, [region, Kind::AddressSpace as u64, 6, space]);
    }
    for processor in 1..PROCESSORS {
        let (thread, context) = (w.make(Kind::Thread, processor.into()), w.make(Kind::SchedContext, processor.into()));
        w.root(Call::ThreadConfigure, [thread, spaces[usize::from(processor) % SPACES], slot::CAPS, 0, 0]);
        w.root(Call::ContextConfigure, [slot::SCHED, context, 20, NEVER, 0, 255]);
        w.root(Call::ThreadBindContext, [thread, context]);
        w.root(Call::ThreadResume, [thread]);
    }
    w.root_runs();
    (w, region, spaces, memories)
}

fn play(steps: &[Step], every: u32) {
    let (mut w, region, spaces, memories) = begin(every);
    for Step { processor, what, memory, space, whole } in steps {
        w.on(*processor);
        let (at, space) = (memories[*memory], spaces[*space]);
        let address = (1 + *memory as u64) << 24;
        let (call, a) = match what {
            0 | 1 => (Call::RegionCreate, args([region, Kind::Memory as u64, (1 + 7 * *memory as u64) * PAGE, at])),
            2..=4 => (Call::MemoryMap, args([at, space, address, 1])),
            5 | 6 => (Call::MemoryUnmap, args([at])),
            7 => (Call::CapDelete, args([0, at])),
            8 => (Call::RegionReset, args([region])),
            _ => (Call::RegionCreate, args([region, Kind::AddressSpace as u64, 6, space])),
        };
        // It deletes spaces of threads elsewhere, so it travels.
        if *whole || matches!(call, Call::RegionReset) {
            w.call(call, a);
        } else {
            w.enter(call as u64, a);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: super::cases(200), failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn memory_that_a_processor_knows_is_not_used_again(
        steps in prop::collection::vec(step(), 1..50),
        every in 0u32..4,
    ) {
        play(&steps, every);
    }
}
