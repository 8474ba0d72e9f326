//! Tests of the probes of engines at the first use of a shape.

#![allow(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

mod common;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::*;
use oarlock_core::{BatchSize, Engine, JobError, Shape};
use oarlock_dispatch::{Dispatcher, DispatcherBuilder, EngineCost, SchedulerConfig, SubmitOptions};

/// Records the probes of engines, which pass a gate.
#[derive(Default)]
struct Asked {
    questions: Mutex<Vec<(&'static str, Shape)>>,
    gate: Gate,
}

impl Asked {
    fn note(&self, engine: &dyn Engine, shape: Shape) {
        self.questions.lock().unwrap().push((engine.name(), shape));
        self.gate.pass();
    }

    fn questions(&self) -> Vec<(&'static str, Shape)> {
        self.questions.lock().unwrap().clone()
    }
}

/// The referee costs five times what lanes do; what a question comes to is `answer`'s.
fn asking(
    threads: usize,
    answer: impl Fn(&dyn Engine, Shape) -> Option<BatchSize> + Send + Sync + 'static,
) -> (Dispatcher, Arc<Asked>) {
    let (asked, config) =
        (Arc::new(Asked::default()), SchedulerConfig { threads, spins: SPINS, ..SchedulerConfig::default() });
    let noting = Arc::clone(&asked);
    let appraise = move |engine: &dyn Engine, shape| {
        noting.note(engine, shape);
        let per_op_ns = if engine.name() == "referee" { 50_000.0 } else { 10_000.0 };
        Some((answer(engine, shape)?, EngineCost { per_batch_ns: 0.0, per_op_ns, per_byte_ns: 0.0 }))
    };
    // However slow the machine: what may run on its caller's thread does.
    let config = SchedulerConfig { cross_check: 0.0, caller_budget: Duration::from_secs(60), ..config };
    let builder =
        DispatcherBuilder::new(Invented::referee()).engine(Invented::lanes(Manner::Honest)).config(config);
    (builder.first_use_probe(appraise).build(), asked)
}

fn offered(engine: &dyn Engine, shape: Shape) -> Option<BatchSize> {
    engine.offers(shape)
}

#[test]
fn nobody_is_asked_before_and_one_job_concerns_the_referee_alone() {
    let (dispatcher, asked) = asking(1, offered);
    assert!(asked.questions().is_empty());
    asked.gate.open();
    let one = set_of(DERIVE, 0, 1);
    assert_true(&one, &dispatcher.submit_many(one.clone(), SubmitOptions::default()).unwrap().wait());
    assert_eq!(dispatcher.counters().on_caller, 0, "a worker asks");
    // The worker has answered before it is free again; then a job that is known to be cheap runs here.
    while dispatcher.counters().on_caller == 0 {
        assert_true(&one, &dispatcher.submit_many(one.clone(), SubmitOptions::default()).unwrap().wait());
    }
    assert_eq!(asked.questions(), [("referee", DERIVE)]);
    for set in [set_of(DERIVE, 0, LANES), set_of(DERIVE, 0, 2)] {
        assert_true(&set, &dispatcher.submit_many(set.clone(), SubmitOptions::default()).unwrap().wait());
        assert_true(&set, &dispatcher.run_all(&set));
    }
    assert_eq!(asked.questions(), [("referee", DERIVE), ("lanes", DERIVE)]);
}

#[test]
fn whoever_comes_meanwhile_waits_for_one_answer_and_no_lock_is_held() {
    let (dispatcher, asked) = asking(2, offered);
    let sets: Vec<_> = (0..4).map(|n| set_of(DERIVE, 10 * n, LANES)).collect();
    std::thread::scope(|scope| {
        let bulk = scope.spawn(|| dispatcher.run_all(&sets[0]));
        let tickets: Vec<_> = sets[1..]
            .iter()
            .map(|set| dispatcher.submit_many(set.clone(), SubmitOptions::default()).unwrap())
            .collect();
        asked.gate.await_arrivals(1);
        // All of these take the lock.
        assert_eq!(dispatcher.counters().completed, 0);
        assert!(dispatcher.queued().iter().all(|(name, _)| *name == DERIVE.to_string()));
        asked.gate.open();
        assert_true(&sets[0], &bulk.join().unwrap());
        for (set, ticket) in sets[1..].iter().zip(tickets) {
            assert_true(set, &ticket.wait());
        }
    });
    assert_eq!(asked.questions(), [("referee", DERIVE), ("lanes", DERIVE)]);
}

#[test]
fn the_referee_works_on_while_others_are_asked() {
    let (dispatcher, asked) = asking(2, |engine, shape| match engine.name() {
        "referee" => engine.offers(shape),
        _ => None,
    });
    let alone = set_of(DERIVE, 0, 1);
    let ticket = dispatcher.submit_many(alone.clone(), SubmitOptions::default()).unwrap();
    asked.gate.await_arrivals(1);
    asked.gate.open();
    assert_true(&alone, &ticket.wait());
    asked.gate.shut();
    let many = set_of(DERIVE, 1, 5);
    assert_true(&many, &dispatcher.submit_many(many.clone(), SubmitOptions::default()).unwrap().wait());
    asked.gate.open();
}

#[test]
fn what_no_engine_offers_is_refused_and_an_engine_that_panics_is_not_used() {
    let (dispatcher, asked) = asking(1, |engine, shape| match engine.name() {
        "referee" => engine.offers(shape).filter(|_| shape == DERIVE),
        _ => panic!("it was told to"),
    });
    asked.gate.open();
    for (shape, is_offered) in [(DERIVE, true), (SIGN, false)] {
        let set = set_of(shape, 0, LANES);
        let queued = dispatcher.submit_many(set.clone(), SubmitOptions::default()).unwrap().wait();
        for results in [queued, dispatcher.run_all(&set)] {
            let is_refused = matches!(results.get(0), Err(JobError::Unsupported { .. }));
            assert_eq!((results.get(0).is_ok(), is_refused), (is_offered, !is_offered), "{shape}");
        }
        assert_eq!(dispatcher.costs(shape).len(), usize::from(is_offered));
    }
    let refused = dispatcher.submit_many(set_of(SIGN, 0, 1), SubmitOptions::default());
    assert!(matches!(refused.unwrap_err(), JobError::Unsupported { .. }), "by now it is known");
}
