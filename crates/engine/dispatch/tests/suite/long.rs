//! Long operations: computed beside the workers, checked as others are, and cancelled while they run.

use std::sync::Arc;
use std::time::Duration;

use oarlock_core::JobError;
use oarlock_dispatch::{Dispatcher, DispatcherBuilder, EngineCost, SchedulerConfig, SubmitOptions};

use crate::common::*;

/// The time that a signature is predicted to take.
const SIGNATURE: Duration = Duration::from_millis(500);

fn dispatcher(referee: &Arc<Invented>, max_tenant_backlog: Option<Duration>) -> Dispatcher {
    let config = SchedulerConfig::default()
        .with_threads(1)
        .with_caller_budget(Duration::ZERO)
        .with_cross_check(0.0)
        .with_max_tenant_backlog(max_tenant_backlog)
        .with_spins(SPINS);
    let cost = EngineCost { per_batch_ns: 0.0, per_op_ns: SIGNATURE.as_nanos() as f64, per_byte_ns: 0.0 };
    DispatcherBuilder::new(referee.clone()).config(config).cost("referee", HASH_SIGN, cost).build()
}

#[test]
fn long_operations_are_answered_while_other_jobs_pass_them() {
    let referee = Invented::referee();
    let dispatcher = dispatcher(&referee, None);
    referee.set(Manner::Hangs);
    let signatures = set_of(HASH_SIGN, 0, 3);
    let ticket = dispatcher.submit_many(signatures.clone(), SubmitOptions::default()).unwrap();
    // One signature of the tenant runs, and stands at the gate: one tenant gets half of the threads.
    referee.gate.await_arrivals(1);
    referee.set(Manner::Honest);
    let others = set_of(DERIVE, 0, 5);
    let other = dispatcher.submit_many(others.clone(), SubmitOptions::default()).unwrap();
    assert_true(&others, &other.wait());
    assert!(!ticket.is_done());
    referee.gate.open();
    assert_true(&signatures, &ticket.wait());
    let counters = dispatcher.counters();
    assert_eq!((counters.submitted, counters.completed, counters.bulk), (8, 8, 0));
    let answered = dispatcher.histograms().answers;
    let times = answered.iter().find(|times| times.shape == Some(HASH_SIGN)).unwrap();
    assert_eq!(times.answer_ns.count(), 3);
}

#[test]
fn a_dropped_ticket_cancels_what_runs_and_drops_what_waits() {
    let referee = Invented::referee();
    let dispatcher = dispatcher(&referee, None);
    referee.set(Manner::Hangs);
    let ticket = dispatcher.submit_many(set_of(HASH_SIGN, 0, 3), SubmitOptions::default()).unwrap();
    referee.gate.await_arrivals(1);
    assert_eq!(dispatcher.backlog(0), 2 * SIGNATURE);
    drop(ticket);
    assert_eq!(dispatcher.backlog(0), Duration::ZERO);
    assert_eq!((dispatcher.counters().cancelled, dispatcher.counters().tasks_dropped), (3, 3));
    referee.gate.open();
    // The thread is free again, and the cost model has learnt nothing of the cancelled signature.
    referee.set(Manner::Honest);
    let set = set_of(HASH_SIGN, 9, 1);
    assert_true(&set, &dispatcher.submit_many(set.clone(), SubmitOptions::default()).unwrap().wait());
}

#[test]
fn a_deadline_ends_a_long_operation() {
    let referee = Invented::referee();
    let dispatcher = dispatcher(&referee, None);
    referee.set(Manner::Hangs);
    let options = SubmitOptions::default().with_deadline(Duration::from_millis(1));
    let ticket = dispatcher.submit_many(set_of(HASH_SIGN, 0, 1), options).unwrap();
    assert_eq!(ticket.wait().get(0), Err(JobError::DeadlineExceeded));
    referee.gate.open();
}

#[test]
fn long_operations_beyond_the_bound_are_refused_together() {
    let dispatcher = dispatcher(&Invented::referee(), Some(SIGNATURE));
    let refused = dispatcher.submit_many(set_of(HASH_SIGN, 0, 3), SubmitOptions::default());
    assert!(matches!(refused.unwrap_err(), JobError::Overloaded { .. }));
    let set = set_of(HASH_SIGN, 0, 1);
    assert_true(&set, &dispatcher.submit_many(set.clone(), SubmitOptions::default()).unwrap().wait());
}

#[test]
fn the_end_of_a_dispatcher_answers_long_operations_that_wait() {
    let referee = Invented::referee();
    let dispatcher = dispatcher(&referee, None);
    referee.set(Manner::Hangs);
    let first = dispatcher.submit_many(set_of(HASH_SIGN, 0, 1), SubmitOptions::default()).unwrap();
    referee.gate.await_arrivals(1);
    let waiting = dispatcher.submit_many(set_of(HASH_SIGN, 1, 1), SubmitOptions::default()).unwrap();
    let ending = std::thread::spawn(move || drop(dispatcher));
    assert_eq!(waiting.wait().get(0), Err(JobError::ShutDown));
    referee.gate.open();
    ending.join().unwrap();
    assert!(first.wait().get(0).is_ok());
}

#[test]
fn engines_that_fail_at_long_operations_are_replaced() {
    let (referee, lanes) = (Invented::referee(), Invented::lanes(Manner::Fails));
    let cost = |ns| EngineCost { per_batch_ns: 0.0, per_op_ns: ns, per_byte_ns: 0.0 };
    let dispatcher = DispatcherBuilder::new(referee)
        .engine(lanes)
        .cost("referee", HASH_SIGN, cost(1e9))
        .cost("lanes", HASH_SIGN, cost(1.0))
        .build();
    let set = set_of(HASH_SIGN, 0, 4);
    let ticket = dispatcher.submit_many(set.clone(), SubmitOptions::default()).unwrap();
    assert_true(&set, &ticket.wait());
    assert!(dispatcher.counters().faults > 0 && dispatcher.counters().quarantines > 0);
}
