//! Tasks of callers: run once, in turns, dropped with their tickets, and refused beyond the bound.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use oarlock_core::JobError;
use oarlock_dispatch::{Dispatcher, DispatcherBuilder, SchedulerConfig};

use crate::common::*;

fn dispatcher(max_tenant_backlog: Option<Duration>) -> Dispatcher {
    let config = SchedulerConfig::default()
        .with_threads(1)
        .with_max_tenant_backlog(max_tenant_backlog)
        .with_spins(SPINS);
    DispatcherBuilder::new(Invented::referee()).config(config).build()
}

/// A dispatcher with both threads for tasks at work until the gate is opened: one for each of two tenants.
fn busy(dispatcher: &Dispatcher) -> Arc<Gate> {
    let gate = Arc::new(Gate::default());
    for tenant in [8, 9] {
        let inner = Arc::clone(&gate);
        let ticket = dispatcher.submit_task(tenant, Duration::ZERO, move || inner.pass()).unwrap();
        // Somebody waits for it, so that it is not dropped.
        std::thread::spawn(move || ticket.wait());
    }
    gate.await_arrivals(2);
    gate
}

#[test]
fn a_task_is_run_on_another_thread_and_its_panic_harms_nobody() {
    let dispatcher = dispatcher(None);
    let (sender, received) = channel();
    let thread_sender = sender.clone();
    let ticket = dispatcher.submit_task(1, Duration::ZERO, move || {
        thread_sender.send(std::thread::current().id()).unwrap();
        panic!("it was told to");
    });
    assert_ne!(received.recv().unwrap(), std::thread::current().id());
    ticket.unwrap().wait();
    let ticket = dispatcher.submit_task(1, Duration::ZERO, move || drop(sender)).unwrap();
    ticket.wait();
    assert_eq!(dispatcher.counters().tasks, 2);
    let set = set_of(DERIVE, 0, 3);
    assert_true(&set, &dispatcher.run_all(&set));
}

#[test]
fn a_task_that_has_not_begun_is_dropped_with_its_ticket() {
    let dispatcher = dispatcher(None);
    let gate = busy(&dispatcher);
    let (sender, received) = channel::<()>();
    let ticket = dispatcher.submit_task(1, Duration::from_secs(1), move || sender.send(()).unwrap()).unwrap();
    assert_eq!(dispatcher.backlog(1), Duration::from_secs(1));
    drop(ticket);
    assert!(received.recv().is_err(), "its closure is dropped too");
    assert_eq!((dispatcher.backlog(1), dispatcher.counters().tasks_dropped), (Duration::ZERO, 1));
    gate.open();
}

#[test]
fn tasks_beyond_the_bound_are_refused() {
    let dispatcher = dispatcher(Some(Duration::from_secs(1)));
    let gate = busy(&dispatcher);
    let submit = |tenant, ms| dispatcher.submit_task(tenant, Duration::from_millis(ms), || {});
    assert_eq!(submit(1, 1001).unwrap_err(), JobError::Overloaded { queued: 0, bound: 1000 });
    let first = submit(1, 700).unwrap();
    assert_eq!(submit(1, 301).unwrap_err(), JobError::Overloaded { queued: 700, bound: 1000 });
    let others = [submit(1, 300).unwrap(), submit(2, 1000).unwrap()];
    gate.open();
    first.wait();
    others.into_iter().for_each(|ticket| drop(ticket.wait()));
    // The two tasks at the gate have tickets elsewhere, and one thread may run all the others before they end.
    while dispatcher.counters().tasks < 5 {
        std::thread::yield_now();
    }
    assert_eq!(dispatcher.counters().tasks, 5);
}

#[test]
fn waiting_tasks_are_dropped_with_the_dispatcher() {
    let dispatcher = dispatcher(None);
    let gate = busy(&dispatcher);
    let (sender, received) = channel::<()>();
    let ticket = dispatcher.submit_task(1, Duration::ZERO, move || sender.send(()).unwrap()).unwrap();
    let opener = Arc::clone(&gate);
    let opening = std::thread::spawn(move || {
        assert!(received.recv().is_err(), "the task ran");
        opener.open();
    });
    drop(dispatcher);
    ticket.wait();
    opening.join().unwrap();
}
