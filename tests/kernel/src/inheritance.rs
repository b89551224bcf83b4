//! Priority inheritance through calls.

use crate::{Test, cells, order};
use pillion_abi::{NEVER, call::endpoint::OWN_PRIORITY, object::Kind};
use pillion_runtime::{call, endpoint_bind, endpoint_bind_with, receive, reply_receive, thread_resume};
use pillion_test_kit::{Checked, Kit, Setup, done, stop};

pub const TESTS: &[Test] = &[
    ("inheritance/waiting-caller-raises-the-server", raised),
    ("inheritance/through-two-servers", twice),
    ("inheritance/ends-with-the-service", ends),
    ("inheritance/next-caller-counts", next_caller),
    ("inheritance/abandoned-caller-does-not-count", abandoned),
    ("inheritance/not-where-callers-raise-nobody", not_raised),
];

extern "C" fn worker(ticks: u64) -> ! {
    let mut next = receive(NEVER);
    while let Ok(message) = next {
        cells::spin(ticks);
        cells::log(message.label);
        next = reply_receive(0, [0; 8]);
    }
    stop()
}

extern "C" fn through(_: u64) -> ! {
    let mut next = receive(NEVER);
    while let Ok(message) = next {
        let _ = call(cells::cap(1), message.label, [0; 8]);
        next = reply_receive(0, [0; 8]);
    }
    stop()
}

extern "C" fn caller(number: u64) -> ! {
    let _ = call(cells::cap(0), number, [0; 8]);
    cells::log(100 + number);
    stop()
}

extern "C" fn medium(ticks: u64) -> ! {
    cells::log(50);
    cells::spin(ticks);
    cells::log(51);
    stop()
}

/// Makes a server with this priority, and puts its new endpoint into a cell.
fn serve(kit: &mut Kit, cell: usize, setup: Setup) -> Checked {
    let (endpoint, t) = (done!(kit.make(Kind::Endpoint, 0)), done!(kit.prepare(setup)));
    done!(endpoint_bind(endpoint, t.thread));
    cells::set(cell, endpoint);
    done!(thread_resume(t.thread));
    kit.rest(5_000);
    Ok(())
}

fn raised(kit: &mut Kit) -> Checked {
    serve(kit, 0, Setup::new(10, worker).with(30_000))?;
    done!(kit.start(Setup::new(20, caller).with(1)));
    kit.rest(10_000);
    done!(kit.start(Setup::new(50, medium).with(100_000)));
    kit.rest(10_000);
    done!(kit.start(Setup::new(60, caller).with(2)));
    kit.rest(400_000);
    // The more urgent caller carries the server, at the first one's work, past the thread between.
    order!(50, 1, 2, 102, 51, 101);
    Ok(())
}

fn twice(kit: &mut Kit) -> Checked {
    serve(kit, 1, Setup::new(10, worker).with(30_000))?;
    serve(kit, 0, Setup::new(11, through))?;
    done!(kit.start(Setup::new(20, caller).with(1)));
    kit.rest(10_000);
    done!(kit.start(Setup::new(50, medium).with(100_000)));
    kit.rest(10_000);
    done!(kit.start(Setup::new(60, caller).with(2)));
    kit.rest(400_000);
    order!(50, 1, 2, 102, 51, 101);
    Ok(())
}

extern "C" fn server_then_work(ticks: u64) -> ! {
    let _ = receive(NEVER);
    let _ = pillion_runtime::reply(0, [0; 8]);
    cells::log(1);
    cells::spin(ticks);
    cells::log(2);
    stop()
}

fn ends(kit: &mut Kit) -> Checked {
    serve(kit, 0, Setup::new(10, server_then_work).with(30_000))?;
    done!(kit.start(Setup::new(60, caller).with(1)));
    done!(kit.start(Setup::new(50, medium).with(20_000)));
    kit.rest(200_000);
    // After the reply, the server has its own priority again.
    order!(101, 50, 51, 1, 2);
    Ok(())
}

fn next_caller(kit: &mut Kit) -> Checked {
    serve(kit, 0, Setup::new(10, worker).with(30_000))?;
    done!(kit.start(Setup::new(20, caller).with(1)));
    kit.rest(5_000);
    done!(kit.start(Setup::new(30, caller).with(2)));
    kit.rest(5_000);
    done!(kit.start(Setup::new(60, caller).with(3)));
    kit.rest(5_000);
    done!(kit.start(Setup::new(50, medium).with(20_000)));
    kit.rest(400_000);
    // Once the most urgent caller is served, the server works for the next, at its priority.
    order!(1, 3, 103, 50, 51, 2, 102, 101);
    Ok(())
}

extern "C" fn abandoning(ticks: u64) -> ! {
    let _ = receive(NEVER);
    // No other caller is there: the caller is released, and this returns at once.
    let _ = receive(0);
    cells::log(1);
    cells::spin(ticks);
    cells::log(2);
    stop()
}

fn abandoned(kit: &mut Kit) -> Checked {
    serve(kit, 0, Setup::new(10, abandoning).with(30_000))?;
    done!(kit.start(Setup::new(60, caller).with(1)));
    done!(kit.start(Setup::new(50, medium).with(20_000)));
    kit.rest(200_000);
    order!(101, 50, 51, 1, 2);
    Ok(())
}

/// Callers raise nobody: the thread in between, which does not use the server, runs before it.
fn not_raised(kit: &mut Kit) -> Checked {
    let (endpoint, t) = (done!(kit.make(Kind::Endpoint, 0)), done!(kit.prepare(Setup::new(10, worker).with(30_000))));
    done!(endpoint_bind_with(endpoint, t.thread, OWN_PRIORITY, 0, 0));
    cells::set(0, endpoint);
    done!(thread_resume(t.thread));
    kit.rest(5_000);
    done!(kit.start(Setup::new(60, caller).with(1)));
    done!(kit.start(Setup::new(70, caller).with(2)));
    done!(kit.start(Setup::new(50, medium).with(100_000)));
    kit.rest(400_000);
    // Both called before the thread in between began; they are served after it, in their order.
    order!(50, 51, 2, 102, 1, 101);
    Ok(())
}
