//! Messages.

use crate::{Case, name::Name, scan::Trial};
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use pillion_abi::{NEVER, boot::slot, call::Call, object::Kind};
use pillion_runtime::{
    Cap, call, endpoint_bind, now, receive, reply, reply_receive, sleep, thread_bind_context, thread_resume,
};
use pillion_test_kit::{Checked, Kit, Setup, done, stop};

pub const CASES: &[Case] = &[calls, receives, replies, replies_and_receives];

/// A priority below the first task's.
const LOW: u8 = 50;

/// Time for a client to get to its call.
const CLIENT: u64 = 5_000;

static ENDPOINT: AtomicU32 = AtomicU32::new(0);

extern "C" fn server(_: u64) -> ! {
    let mut words = [0; 8];
    if let Ok(message) = receive(NEVER) {
        words = message.words;
    }
    while let Ok(message) = reply_receive(0, words) {
        words = message.words;
    }
    stop()
}

/// Calls a server in another address space that runs on its caller's scheduling context.
fn calls(kit: &mut Kit) -> Checked {
    let (space, endpoint) = (done!(kit.space()), done!(kit.make(Kind::Endpoint, 0)));
    let served = done!(kit.prepare(Setup::new(200, server).within(space)));
    done!(endpoint_bind(endpoint, served.thread));
    done!(thread_resume(served.thread));
    done!(thread_bind_context(served.thread, 0));
    let trial = Trial::new(|| Ok(()), |()| call(endpoint, 1, [1; 8]), |()| Ok(()));
    trial.scan(kit, Name::of(Call::Call))
}

extern "C" fn client(_: u64) -> ! {
    while call(ENDPOINT.load(Relaxed) as Cap, 1, [1; 8]).is_ok() {}
    stop()
}

/// Starts a client that calls the first task's thread repeatedly.
fn served(kit: &mut Kit) -> Checked {
    let (space, endpoint) = (done!(kit.space()), done!(kit.make(Kind::Endpoint, 0)));
    ENDPOINT.store(endpoint, Relaxed);
    done!(endpoint_bind(endpoint, slot::THREAD));
    done!(kit.start(Setup::new(LOW, client).within(space)));
    Ok(())
}

fn receives(kit: &mut Kit) -> Checked {
    served(kit)?;
    let trial = Trial::new(|| sleep(now() + CLIENT), |_| receive(NEVER), |_| reply(0, [0; 8]));
    trial.scan(kit, Name::of(Call::Receive))
}

fn replies(kit: &mut Kit) -> Checked {
    served(kit)?;
    let trial = Trial::new(|| sleep(now() + CLIENT).and_then(|_| receive(NEVER)), |_| reply(0, [0; 8]), |_| Ok(()));
    trial.scan(kit, Name::of(Call::Reply))
}

/// Replies and receives: it blocks until the client, which is less urgent, has called again.
fn replies_and_receives(kit: &mut Kit) -> Checked {
    served(kit)?;
    let trial = Trial::new(
        || sleep(now() + CLIENT).and_then(|_| receive(NEVER)),
        |_| reply_receive(0, [0; 8]),
        |_| reply(0, [0; 8]),
    );
    trial.scan(kit, Name::of(Call::ReplyReceive))
}
