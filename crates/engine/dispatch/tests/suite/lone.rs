//! Jobs that are alone when their task polls for them the second time.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use oarlock_core::JobError;
use oarlock_dispatch::{
    Dispatcher, DispatcherBuilder, EngineCost, Results, SchedulerConfig, SubmitOptions, Ticket,
};

use crate::common::*;

fn config() -> SchedulerConfig {
    SchedulerConfig::default()
        .with_threads(1)
        .with_caller_budget(Duration::from_millis(1))
        .with_cross_check(0.0)
        .with_spins(0)
}

fn cost(ns: f64) -> EngineCost {
    EngineCost { per_batch_ns: 0.0, per_op_ns: ns, per_byte_ns: 0.0 }
}

/// A referee and lanes, of which the referee is cheaper for one job.
fn around(referee: &Arc<Invented>, config: SchedulerConfig) -> Dispatcher {
    let lanes = EngineCost { per_batch_ns: 100_000.0, per_op_ns: 10_000.0, per_byte_ns: 0.0 };
    DispatcherBuilder::new(referee.clone())
        .engine(Invented::lanes(Manner::Honest))
        .config(config)
        .cost("referee", DERIVE, cost(50_000.0))
        .cost("lanes", DERIVE, lanes)
        .build()
}

fn coalesced(dispatcher: &Dispatcher, from: usize) -> Ticket {
    dispatcher.submit_many(set_of(DERIVE, from, 1), SubmitOptions::default().with_coalesce(true)).unwrap()
}

fn poll(ticket: &mut Ticket) -> Poll<Results> {
    Pin::new(ticket).poll(&mut Context::from_waker(Waker::noop()))
}

/// Polls a job on this thread until it is answered. A worker that is just starting may take it before.
fn answer(mut ticket: Ticket) -> Results {
    for _ in 0..2 {
        if let Poll::Ready(results) = poll(&mut ticket) {
            return results;
        }
    }
    ticket.wait()
}

/// Submits jobs until one was computed by its caller's thread: then the worker sleeps.
fn settle(dispatcher: &Dispatcher) {
    let before = dispatcher.counters().on_caller;
    while dispatcher.counters().on_caller == before {
        assert_true(&set_of(DERIVE, 0, 1), &answer(coalesced(dispatcher, 0)));
    }
}

#[test]
fn a_job_that_is_still_alone_is_computed_by_the_second_poll() {
    let dispatcher = around(&Invented::referee(), config());
    settle(&dispatcher);
    let counters = dispatcher.counters();
    assert_eq!(counters.completed, counters.submitted);
}

#[test]
fn a_job_that_is_not_alone_waits_for_a_batch() {
    let dispatcher = around(&Invented::referee(), config());
    settle(&dispatcher);
    let before = dispatcher.counters().on_caller;
    let tickets: Vec<_> = (0..LANES).map(|from| coalesced(&dispatcher, from)).collect();
    let mut waiting = Vec::new();
    for (from, mut ticket) in tickets.into_iter().enumerate() {
        // The first poll lets other tasks submit, and the second finds all of them. A worker may be faster than both.
        match poll(&mut ticket) {
            Poll::Ready(results) => assert_true(&set_of(DERIVE, from, 1), &results),
            Poll::Pending => waiting.push((from, ticket)),
        }
    }
    for (from, ticket) in waiting {
        assert_true(&set_of(DERIVE, from, 1), &answer(ticket));
    }
    assert_eq!(dispatcher.counters().on_caller, before, "no job was alone");
}

#[test]
fn a_costly_job_and_one_whose_caller_forbids_it_go_to_a_worker() {
    let dispatcher = around(&Invented::referee(), config().with_caller_budget(Duration::from_micros(10)));
    assert_true(&set_of(DERIVE, 0, 1), &answer(coalesced(&dispatcher, 0)));
    assert_eq!(dispatcher.counters().on_caller, 0);
    let dispatcher = around(&Invented::referee(), config());
    settle(&dispatcher);
    let before = dispatcher.counters().on_caller;
    let options = SubmitOptions::default().with_coalesce(true).with_never_on_caller_thread(true);
    let ticket = dispatcher.submit_many(set_of(DERIVE, 0, 1), options).unwrap();
    assert_true(&set_of(DERIVE, 0, 1), &answer(ticket));
    assert_eq!(dispatcher.counters().on_caller, before);
}

#[test]
fn the_watchdog_gives_a_job_that_hangs_on_its_callers_thread_to_a_worker() {
    // A worker that has not gone to sleep may take the job first, and then it is the one that hangs.
    while !hangs_on_its_callers_thread() {}
}

/// Lets a job hang in its engine, and asserts that it is answered. Returns true if its caller's thread ran it.
fn hangs_on_its_callers_thread() -> bool {
    let referee = Invented::referee();
    let dispatcher = around(&referee, config().with_hang_after(HANG_AFTER));
    settle(&dispatcher);
    let before = dispatcher.counters().on_caller;
    referee.set(Manner::Hangs);
    let mut ticket = coalesced(&dispatcher, 7);
    assert!(poll(&mut ticket).is_pending());
    let caller = std::thread::spawn(move || answer(ticket));
    referee.gate.await_arrivals(1);
    // It hangs in this run only.
    referee.set(Manner::Honest);
    while dispatcher.counters().completed < dispatcher.counters().submitted {
        std::thread::yield_now();
    }
    let counters = dispatcher.counters();
    assert_eq!(counters.hangs, 1);
    // The thread comes back from the engine, and finds the answer of the worker.
    referee.gate.open();
    assert_true(&set_of(DERIVE, 7, 1), &caller.join().unwrap());
    settle(&dispatcher);
    counters.on_caller > before
}

#[test]
fn a_fault_on_the_callers_thread_costs_no_other_job() {
    for manner in [Manner::Fails, Manner::Panics, Manner::LeavesUndone] {
        let referee = Invented::referee();
        let dispatcher = around(&referee, config());
        settle(&dispatcher);
        referee.set(manner);
        // The referee always stays in service, so its job fails when it has been tried often enough.
        let failed = answer(coalesced(&dispatcher, 3));
        assert!(matches!(failed.get(0), Err(JobError::EngineFailed { .. })), "{manner:?}");
        referee.set(Manner::Honest);
        settle(&dispatcher);
    }
}
