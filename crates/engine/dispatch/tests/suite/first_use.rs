//! Tests of the probes of engines at the first use of a shape.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use oarlock_core::{BatchSize, Engine, JobError, Shape};
use oarlock_dispatch::{Dispatcher, DispatcherBuilder, EngineCost, SchedulerConfig, SubmitOptions};

use crate::common::*;

/// Records the probes of engines, which pass a gate.
#[derive(Default)]
struct ProbeLog {
    probes: Mutex<Vec<(&'static str, Shape)>>,
    gate: Gate,
}

impl ProbeLog {
    fn note(&self, engine: &dyn Engine, shape: Shape) {
        self.probes.lock().unwrap().push((engine.name(), shape));
        self.gate.pass();
    }

    fn probes(&self) -> Vec<(&'static str, Shape)> {
        self.probes.lock().unwrap().clone()
    }
}

/// Builds a dispatcher and the log of its probes. The referee costs five times as much as the lanes. `offer` returns
/// the batch size that a probe finds.
fn logging(
    threads: usize,
    offer: impl Fn(&dyn Engine, Shape) -> Option<BatchSize> + Send + Sync + 'static,
) -> (Dispatcher, Arc<ProbeLog>) {
    let (log, config) =
        (Arc::new(ProbeLog::default()), SchedulerConfig::default().with_threads(threads).with_spins(SPINS));
    let noting = Arc::clone(&log);
    let probe = move |engine: &dyn Engine, shape| {
        noting.note(engine, shape);
        let per_op_ns = if engine.name() == "referee" { 50_000.0 } else { 10_000.0 };
        Some((offer(engine, shape)?, EngineCost { per_batch_ns: 0.0, per_op_ns, per_byte_ns: 0.0 }))
    };
    // On a slow machine too, a job that may run on its caller's thread runs there.
    let config = config.with_cross_check(0.0).with_caller_budget(Duration::from_secs(60));
    let builder =
        DispatcherBuilder::new(Invented::referee()).engine(Invented::lanes(Manner::Honest)).config(config);
    (builder.first_use_probe(probe).build(), log)
}

fn offered(engine: &dyn Engine, shape: Shape) -> Option<BatchSize> {
    engine.offers(shape)
}

#[test]
fn no_engine_is_probed_before_its_first_use_and_a_single_job_probes_the_referee_only() {
    let (dispatcher, log) = logging(1, offered);
    assert!(log.probes().is_empty());
    log.gate.open();
    let one = set_of(DERIVE, 0, 1);
    assert_true(&one, &dispatcher.submit_many(one.clone(), SubmitOptions::default()).unwrap().wait());
    assert_eq!(dispatcher.counters().on_caller, 0, "a worker runs the probe");
    // The worker answers a moment before it is free again. From then on a cheap job runs on this thread.
    while dispatcher.counters().on_caller == 0 {
        assert_true(&one, &dispatcher.submit_many(one.clone(), SubmitOptions::default()).unwrap().wait());
    }
    assert_eq!(log.probes(), [("referee", DERIVE)]);
    for set in [set_of(DERIVE, 0, LANES), set_of(DERIVE, 0, 2)] {
        assert_true(&set, &dispatcher.submit_many(set.clone(), SubmitOptions::default()).unwrap().wait());
        assert_true(&set, &dispatcher.run_all(&set));
    }
    assert_eq!(log.probes(), [("referee", DERIVE), ("lanes", DERIVE)]);
}

#[test]
fn a_single_long_job_probes_every_engine() {
    let (dispatcher, log) = logging(1, offered);
    log.gate.open();
    let one = set_of(HASH_SIGN, 0, 1);
    assert_true(&one, &dispatcher.submit_many(one.clone(), SubmitOptions::default()).unwrap().wait());
    assert_eq!(log.probes(), [("referee", HASH_SIGN), ("lanes", HASH_SIGN)]);
}

#[test]
fn callers_wait_for_a_running_probe_and_no_lock_is_held_meanwhile() {
    let (dispatcher, log) = logging(2, offered);
    let sets: Vec<_> = (0..4).map(|n| set_of(DERIVE, 10 * n, LANES)).collect();
    std::thread::scope(|scope| {
        let bulk = scope.spawn(|| dispatcher.run_all(&sets[0]));
        let tickets: Vec<_> = sets[1..]
            .iter()
            .map(|set| dispatcher.submit_many(set.clone(), SubmitOptions::default()).unwrap())
            .collect();
        log.gate.await_arrivals(1);
        // All of these take the lock.
        assert_eq!(dispatcher.counters().completed, 0);
        assert!(dispatcher.queued().iter().all(|(name, _)| *name == DERIVE.to_string()));
        log.gate.open();
        assert_true(&sets[0], &bulk.join().unwrap());
        for (set, ticket) in sets[1..].iter().zip(tickets) {
            assert_true(set, &ticket.wait());
        }
    });
    assert_eq!(log.probes(), [("referee", DERIVE), ("lanes", DERIVE)]);
}

#[test]
fn the_referee_serves_while_other_engines_are_probed() {
    let (dispatcher, log) = logging(2, |engine, shape| match engine.name() {
        "referee" => engine.offers(shape),
        _ => None,
    });
    let alone = set_of(DERIVE, 0, 1);
    let ticket = dispatcher.submit_many(alone.clone(), SubmitOptions::default()).unwrap();
    log.gate.await_arrivals(1);
    log.gate.open();
    assert_true(&alone, &ticket.wait());
    log.gate.shut();
    let many = set_of(DERIVE, 1, 5);
    assert_true(&many, &dispatcher.submit_many(many.clone(), SubmitOptions::default()).unwrap().wait());
    log.gate.open();
}

#[test]
fn a_shape_that_no_engine_offers_is_refused_and_a_panicking_engine_is_not_used() {
    let (dispatcher, log) = logging(1, |engine, shape| match engine.name() {
        "referee" => engine.offers(shape).filter(|_| shape == DERIVE),
        _ => panic!("it was told to"),
    });
    log.gate.open();
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
    assert!(matches!(refused.unwrap_err(), JobError::Unsupported { .. }), "the refusal is known by now");
}
