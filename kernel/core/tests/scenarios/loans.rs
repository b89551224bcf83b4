//! Contexts and priorities donated along a chain of calls while a link of the chain changes.

use crate::machine::world::{Worker, World};
use pillion_abi::{NEVER, call::Call, object::Kind, status::Error};
use pillion_core::thread::State;

/// A client has called the first of two servers without a context of their own, and the first
/// server the second.
struct Chain {
    w: World,
    client: Worker,
    first: Worker,
    second: Worker,
}

const PRIORITY: u8 = 20;

fn chain() -> Chain {
    let mut w = World::new();
    let ends = [w.make(Kind::Endpoint, 0), w.make(Kind::Endpoint, 0)];
    let [first, second] = ends.map(|e| w.server(e, None));
    let client = w.worker(PRIORITY);
    w.call(Call::Call, [ends[0], 1]);
    w.call(Call::Call, [ends[1], 2]);
    assert_eq!(w.current(), second.id);
    Chain { w, client, first, second }
}

/// A server gets the context that it passed on back, so it must not get another one meanwhile. (The
/// reply would leave the new context with a user that does not refer to it; after both ended, a
/// context would be in use whose memory is free.)
#[test]
fn a_server_that_lent_its_time_on_takes_no_other() {
    for client_left in [false, true] {
        let Chain { mut w, client, first, second } = chain();
        if client_left {
            w.root(Call::ThreadSuspend, [client.thread]);
        }
        let new = w.context(30, NEVER, 0);
        w.root_fails(Call::ThreadBindContext, [first.thread, new], Error::Busy);
        assert_eq!(w.current(), second.id);
        w.call(Call::ReplyReceive, [0, 0]);
        assert_eq!(w.current(), first.id);
        w.root(Call::CapDelete, [0, first.thread]);
        if client_left {
            w.root(Call::ThreadResume, [client.thread]);
        }
        assert_eq!((w.current(), w.priority(client.id)), (client.id, PRIORITY));
    }
}

/// If a chain has lost its context, a new one bound in the middle goes to the end of the chain,
/// which needs it, and comes back.
#[test]
fn time_for_a_chain_without_any_goes_to_its_end() {
    let Chain { mut w, client, first, second } = chain();
    w.root(Call::CapDelete, [0, client.context]);
    assert_eq!(w.k.cpu.current, None);
    let new = w.context(30, NEVER, 0);
    w.root(Call::ThreadBindContext, [first.thread, new]);
    assert_eq!((w.current(), w.priority(second.id)), (second.id, 30));
    let newer = w.context(PRIORITY, NEVER, 0);
    w.root(Call::ThreadBindContext, [client.thread, newer]);
    w.call(Call::ReplyReceive, [0, 0]);
    assert_eq!((w.current(), w.priority(first.id)), (first.id, 30));
    w.call(Call::ReplyReceive, [0, 0]);
    assert_eq!((w.current(), w.priority(client.id)), (client.id, PRIORITY));
}

/// In chains longer than the kernel's walks, no thread in the middle can get a context.
#[test]
fn no_walk_ends_in_the_middle_of_a_long_chain() {
    let mut w = World::new();
    w.checked = false;
    let ends: Vec<u64> = (0..20).map(|_| w.make(Kind::Endpoint, 0)).collect();
    let servers: Vec<Worker> = ends.iter().map(|e| w.server(*e, None)).collect();
    let client = w.worker(PRIORITY);
    for end in &ends {
        w.call(Call::Call, [*end, 1]);
    }
    let new = w.context(PRIORITY, NEVER, 0);
    w.root_fails(Call::ThreadBindContext, [servers[0].thread, new], Error::TooDeep);
    w.root_fails(Call::ThreadBindContext, [servers[10].thread, new], Error::Busy);
    for server in servers.iter().rev() {
        assert_eq!(w.current(), server.id);
        w.call(Call::ReplyReceive, [0, 0]);
    }
    assert_eq!(w.current(), client.id);
    w.checked = true;
    w.check();
}

/// A server whose caller is gone gets back the context that it passed on, and that context's
/// priority.
#[test]
fn time_that_comes_back_has_its_priority() {
    for delete in [false, true] {
        for fast in [false, true] {
            let Chain { mut w, client, first, .. } = chain();
            w.fast = fast;
            let other = w.worker(10);
            let call = if delete { Call::CapDelete } else { Call::ThreadSuspend };
            w.root(call, if delete { [0, client.thread] } else { [client.thread, 0] });
            w.call(Call::ReplyReceive, [0, 0]);
            assert_eq!((w.current(), w.priority(first.id)), (first.id, PRIORITY));
            // The context's priority is lowered while the server runs on it.
            w.root(Call::ContextSetPriority, [client.context, 5]);
            assert_eq!((w.current(), w.priority(first.id)), (other.id, 5));
        }
    }
}

/// A server no longer inherits from a thread that does not wait any more.
#[test]
fn a_priority_is_given_back_with_its_reason() {
    let raised = || {
        let mut w = World::new();
        let endpoint = w.make(Kind::Endpoint, 0);
        let server = w.server(endpoint, Some(3));
        let client = w.worker(PRIORITY);
        w.call(Call::Call, [endpoint, 1]);
        assert_eq!(w.priority(server.id), PRIORITY);
        (w, endpoint, server, client)
    };
    // The endpoint was deleted: `ReplyReceive` fails, but the reply has been made.
    let (mut w, endpoint, server, client) = raised();
    w.root(Call::CapDelete, [0, endpoint]);
    w.call(Call::ReplyReceive, [0, 0]);
    assert_eq!(Error::from_raw(w.frame(server.id).rax), Some(Error::BadState));
    assert_eq!((w.current(), w.priority(server.id)), (client.id, 3));
    // The binding is revoked while callers wait in the queue.
    let (mut w, endpoint, server, _) = raised();
    w.worker(40);
    w.call(Call::Call, [endpoint, 1]);
    assert_eq!(w.priority(server.id), 40);
    w.root(Call::CapRevoke, [0, server.thread]);
    assert_eq!(w.priority(server.id), PRIORITY);
    // The caller's context is taken away.
    for delete in [false, true] {
        let (mut w, _, server, client) = raised();
        let call = if delete { Call::CapDelete } else { Call::ThreadBindContext };
        w.root(call, if delete { [0, client.context] } else { [client.thread, 0] });
        w.expect(client.id, State::Served);
        assert_eq!(w.priority(server.id), 3);
    }
}
