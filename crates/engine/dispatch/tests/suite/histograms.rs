//! Tests of the histograms of batches and waiting times.

use std::sync::Arc;
use std::time::Duration;

use oarlock_core::{SecondInput, Shape};
use oarlock_dispatch::{Dispatcher, DispatcherBuilder, EngineCost, SchedulerConfig, SubmitOptions};

use crate::common::*;

fn dispatcher(referee: &Arc<Invented>, caller_budget: Duration) -> Dispatcher {
    let config = SchedulerConfig::default()
        .with_threads(1)
        .with_caller_budget(caller_budget)
        .with_cross_check(0.0)
        .with_spins(SPINS);
    let cost = |ns| EngineCost { per_batch_ns: 0.0, per_op_ns: ns, per_byte_ns: 0.0 };
    DispatcherBuilder::new(referee.clone())
        .engine(Invented::lanes(Manner::Honest))
        .config(config)
        .cost("referee", DERIVE, cost(50_000.0))
        .cost("lanes", DERIVE, cost(10_000.0))
        .cost("referee", PRIVATE, cost(50_000.0))
        .cost("lanes", PRIVATE, cost(10_000.0))
        .build()
}

/// Returns the batches and operations of a shape on an engine.
fn ran(dispatcher: &Dispatcher, engine: &str, shape: Shape) -> (u64, u64) {
    let runs = dispatcher.histograms().runs;
    let found = runs.iter().find(|runs| (runs.engine, runs.shape) == (engine, Some(shape)));
    found.map_or((0, 0), |runs| {
        assert_eq!(runs.run_ns.count(), runs.operations.count());
        (runs.operations.count(), runs.operations.sum())
    })
}

#[test]
fn waiting_jobs_are_listed_and_counted_once_they_are_answered() {
    let referee = Invented::referee();
    referee.set(Manner::Hangs);
    let dispatcher = dispatcher(&referee, Duration::ZERO);
    let submit = |count| dispatcher.submit_many(set_of(DERIVE, 0, count), SubmitOptions::default()).unwrap();
    let first = submit(1);
    referee.gate.await_arrivals(1);
    let rest = [submit(3), submit(1)];
    assert_eq!(dispatcher.queued(), [("x25519".to_owned(), 4)]);
    assert!(dispatcher.histograms().answers.is_empty(), "nothing has been answered");
    referee.gate.open();
    first.wait().get(0).unwrap();
    rest.into_iter().for_each(|ticket| assert!(ticket.wait().get(0).is_ok()));
    assert_eq!(dispatcher.queued(), [("x25519".to_owned(), 0)]);
    let answers = dispatcher.histograms().answers;
    let [times] = &answers[..] else { panic!("{answers:?}") };
    assert_eq!(times.shape, Some(DERIVE));
    assert_eq!((times.waiting_ns.count(), times.answer_ns.count()), (5, 5));
    assert!(times.waiting_ns.sum() <= times.answer_ns.sum());
}

#[test]
fn every_batch_is_counted_once_on_every_path() {
    let dispatcher = dispatcher(&Invented::referee(), Duration::from_millis(1));
    let key = x25519_key();
    dispatcher
        .submit(DERIVE, &key, &[1; 32], SecondInput::None, SubmitOptions::default())
        .unwrap()
        .wait()
        .get(0)
        .unwrap();
    assert_eq!(ran(&dispatcher, "referee", DERIVE), (1, 1), "on its caller's thread");
    let answered = |dispatcher: &Dispatcher| {
        dispatcher.histograms().answers.iter().map(|times| times.answer_ns.count()).sum::<u64>()
    };
    assert_eq!(answered(&dispatcher), 1);
    assert_true(&set_of(DERIVE, 0, LANES), &dispatcher.run_all(&set_of(DERIVE, 0, LANES)));
    assert_eq!(ran(&dispatcher, "lanes", DERIVE), (1, LANES as u64), "as bulk work");
    // The lanes do not confirm: each result is confirmed by a public operation, which does not count as a batch.
    assert_true(&set_of(PRIVATE, 0, LANES), &dispatcher.run_all(&set_of(PRIVATE, 0, LANES)));
    assert_eq!(ran(&dispatcher, "lanes", PRIVATE), (1, LANES as u64));
    assert_eq!((ran(&dispatcher, "lanes", PUBLIC), ran(&dispatcher, "referee", PUBLIC)), ((0, 0), (0, 0)));
    assert_eq!(answered(&dispatcher), 1, "bulk work is answered when it returns");
    let (counters, runs) = (dispatcher.counters(), dispatcher.histograms().runs);
    assert_eq!(counters.batches, runs.iter().map(|runs| runs.operations.count()).sum::<u64>());
    assert_eq!(counters.batched_ops, runs.iter().map(|runs| runs.operations.sum()).sum::<u64>());
}
