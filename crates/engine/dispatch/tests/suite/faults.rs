//! Engines that fail, give wrong results or hang: no job is lost or answered twice, and no wrong result is released.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use oarlock_core::{JobError, Shape};
use oarlock_dispatch::{
    ConfirmRule, Dispatcher, DispatcherBuilder, EngineCost, SchedulerConfig, SubmitOptions,
};

use crate::common::*;

const MANY: usize = sized(1_000_000, 80);

fn config() -> SchedulerConfig {
    // Probes come only when a test asks for them.
    let probe_after = Duration::from_secs(3600);
    SchedulerConfig::default()
        .with_threads(2)
        .with_caller_budget(Duration::ZERO)
        .with_cross_check(0.0)
        .with_probe_after(probe_after)
        .with_spins(SPINS)
}

/// Builds a dispatcher whose lane engine is so cheap that it gets every batch of two or more.
fn with(engine: &Arc<Invented>, config: SchedulerConfig) -> Dispatcher {
    by(&Invented::referee(), engine, config)
}

/// Builds the same dispatcher with this referee.
fn by(referee: &Arc<Invented>, engine: &Arc<Invented>, config: SchedulerConfig) -> Dispatcher {
    let mut builder =
        DispatcherBuilder::new(referee.clone()).engine(engine.clone()).config(config).prober(|_, _| true);
    for shape in [SIGN, VERIFY, PRIVATE, PUBLIC, DERIVE, LATTICE_SIGN, LATTICE_VERIFY, HASH_SIGN, HASH_VERIFY]
    {
        let cost = |ns| EngineCost { per_batch_ns: 0.0, per_op_ns: ns, per_byte_ns: 0.0 };
        builder = builder.cost("referee", shape, cost(100_000.0)).cost(engine.name, shape, cost(10_000.0));
    }
    builder.build()
}

#[test]
fn no_wrong_p256_result_leaves_under_full_cross_check() {
    for shape in [SIGN, VERIFY] {
        let liar = Invented::lanes(Manner::Lies(shape));
        let (mut done, mut disputes, mut batches) = (0, 0, 0);
        while done < MANY / 2 {
            // A new dispatcher has not learnt what the invented engines really cost, and trusts the liar anew.
            let dispatcher = with(&liar, config().with_cross_check(1.0));
            let set = set_of(shape, done, 500.min(MANY / 4));
            assert_true(&set, &dispatcher.run_all(&set));
            dispatcher.probe();
            let ticket = dispatcher.submit_many(set.clone(), SubmitOptions::default()).unwrap();
            assert_true(&set, &ticket.wait());
            done += 2 * set.len();
            disputes += dispatcher.counters().disputes;
            batches += 1;
        }
        println!("{shape}: {done} jobs, {disputes} disputes, all settled rightly");
        assert!(disputes >= batches, "the liar was believed or not asked: {disputes} of {batches}");
    }
}

#[test]
fn every_wrong_rsa_signature_is_stopped_without_cross_checks() {
    for manner in [Manner::Lies(PRIVATE), Manner::Lies(PUBLIC), Manner::LiesAlways] {
        let liar = Invented::lanes(manner);
        let dispatcher = with(&liar, config());
        for round in 0..sized(20, 1) {
            let set = set_of(PRIVATE, round * 50, sized(50, 10));
            assert_true(&set, &dispatcher.run_all(&set));
            let ticket = dispatcher.submit_many(set.clone(), SubmitOptions::default()).unwrap();
            assert_true(&set, &ticket.wait());
            dispatcher.probe();
        }
        let counters = dispatcher.counters();
        assert!(counters.unconfirmed > 0 && counters.quarantines > 0, "{manner:?}: {counters:?}");
    }
}

#[test]
fn every_wrong_signature_that_does_not_verify_is_stopped_without_cross_checks() {
    for (sign, loser) in [
        (LATTICE_SIGN, LATTICE_SIGN),
        (LATTICE_SIGN, LATTICE_VERIFY),
        (HASH_SIGN, HASH_SIGN),
        (HASH_SIGN, HASH_VERIFY),
    ] {
        let dispatcher = with(&Invented::lanes(Manner::Lies(loser)), config());
        let set = set_of(sign, 0, sized(50, 10));
        assert_true(&set, &dispatcher.run_all(&set));
        let quarantined: Vec<_> = dispatcher.quarantined().into_iter().map(|lost| lost.shape).collect();
        assert_eq!(quarantined, [Some(loser)]);
        assert!(dispatcher.counters().disputes > 0);
        let ticket = dispatcher.submit_many(set.clone(), SubmitOptions::default()).unwrap();
        assert_true(&set, &ticket.wait());
    }
}

/// A signature with a wrong node beside the path in a tree verifies.
#[test]
fn a_wrong_signature_that_verifies_is_stopped_if_signatures_are_computed_twice() {
    let set = set_of(HASH_SIGN, 0, 20);
    let grafting = || Invented::lanes(Manner::Grafts(HASH_SIGN));
    let once = with(&grafting(), config());
    let results = once.run_all(&set);
    let is_true = |index: usize| results.get(index) == Ok(&truth(HASH_SIGN, &set.get(index).unwrap()).1);
    assert!((0..set.len()).any(|index| !is_true(index)), "a verification alone finds it");
    let twice = with(&grafting(), config().with_confirm(ConfirmRule::Twice));
    assert_true(&set, &twice.run_all(&set));
    assert!(twice.counters().disputes == 1 && twice.counters().recomputed > 0);
    let quarantined: Vec<_> = twice.quarantined().into_iter().map(|lost| lost.shape).collect();
    assert_eq!(quarantined, [Some(HASH_SIGN)]);
    let ticket = twice.submit_many(set.clone(), SubmitOptions::default()).unwrap();
    assert_true(&set, &ticket.wait());
}

/// All engines are wrong, each time differently, so that no two computations of the first signature agree.
#[test]
fn a_signature_that_no_second_computation_repeats_is_withheld() {
    let (referee, lanes) = (Invented::referee(), Invented::lanes(Manner::Grafts(HASH_SIGN)));
    referee.set(Manner::Grafts(HASH_SIGN));
    let dispatcher = by(&referee, &lanes, config().with_confirm(ConfirmRule::Twice));
    let set = set_of(HASH_SIGN, 0, LANES);
    let results = dispatcher.run_all(&set);
    assert!(matches!(results.get(0), Err(JobError::EngineFailed { .. })));
    for index in 1..LANES {
        assert_eq!(results.get(index), Ok(&truth(HASH_SIGN, &set.get(index).unwrap()).1[..]));
    }
    assert_eq!((dispatcher.counters().unconfirmed, dispatcher.counters().recomputed), (1, 7));
}

/// The referee signs wrongly too, as it does under a key whose parts do not belong together.
#[test]
fn an_ml_dsa_signature_that_the_referee_cannot_mend_is_withheld() {
    let referee = Invented::referee();
    referee.set(Manner::Lies(LATTICE_SIGN));
    let dispatcher = by(&referee, &Invented::lanes(Manner::Lies(LATTICE_SIGN)), config());
    let set = set_of(LATTICE_SIGN, 0, LANES);
    let results = dispatcher.run_all(&set);
    let bad = Err(JobError::UnusableKey { shape: LATTICE_SIGN });
    // The lanes lie about the jobs 1, 4 and 7, and the referee about the second of these three.
    for (index, operation) in set.iter().enumerate() {
        let expected = truth(LATTICE_SIGN, &operation).1;
        assert_eq!(
            results.get(index),
            if index == 4 { bad.clone() } else { Ok(&expected[..]) },
            "job {index}"
        );
    }
    assert_eq!(dispatcher.counters().bad_keys, 1);
}

#[test]
fn the_loser_of_a_dispute_is_the_one_that_lied() {
    let quarantined = |manner| {
        let dispatcher = with(&Invented::lanes(manner), config());
        let set = set_of(PRIVATE, 0, sized(50, 10));
        assert_true(&set, &dispatcher.run_all(&set));
        dispatcher.quarantined().into_iter().map(|quarantined| quarantined.shape).collect::<Vec<_>>()
    };
    assert_eq!(quarantined(Manner::Lies(PRIVATE)), [Some(PRIVATE)]);
    assert_eq!(quarantined(Manner::Lies(PUBLIC)), [Some(PUBLIC)]);
}

/// With a key whose numbers contradict each other, honest engines give wrong results. No engine is at fault then.
#[test]
fn a_bad_key_is_no_engine_s_fault() {
    let referee = Invented::referee();
    referee.set(Manner::FindsBadKeys { every_second: false });
    let lanes = Invented::lanes(Manner::LiesAlways);
    for (cross_check, never_on_caller_thread) in [(0.0, false), (1.0, false), (0.0, true)] {
        let dispatcher = by(&referee, &lanes, config().with_cross_check(cross_check));
        let set = set_of(PRIVATE, 0, LANES);
        let results = match never_on_caller_thread {
            true => dispatcher.submit_many(set, SubmitOptions::default()).unwrap().wait(),
            false => dispatcher.run_all(&set),
        };
        let bad = Err(JobError::UnusableKey { shape: PRIVATE });
        assert!((0..LANES).all(|index| results.get(index) == bad));
        assert!(results.outcomes().bytes().iter().all(|byte| *byte == 0));
        let counters = dispatcher.counters();
        assert!(
            counters.bad_keys == LANES as u64 || never_on_caller_thread && counters.bad_keys > 0,
            "{counters:?}"
        );
        assert_eq!((counters.unconfirmed, counters.disputes, counters.quarantines), (0, 0, 0));
        assert!(dispatcher.quarantined().is_empty());
    }
    assert!(lanes.ops.load(Ordering::SeqCst) > 0);
}

/// The referee ran the batch itself, so another engine computes the sample again. Its results are not confirmed.
#[test]
fn a_bad_key_in_a_sample_is_no_engine_s_fault() {
    let referee = Invented::referee();
    referee.set(Manner::FindsBadKeys { every_second: false });
    let lanes = Invented::lanes(Manner::LiesAlways);
    let config = config().with_cross_check(1.0);
    let cost = |ns| EngineCost { per_batch_ns: 0.0, per_op_ns: ns, per_byte_ns: 0.0 };
    let builder = DispatcherBuilder::new(referee).engine(lanes.clone()).config(config);
    let builder = builder.cost("referee", PRIVATE, cost(1_000.0)).cost("lanes", PRIVATE, cost(1e9));
    let dispatcher = builder.prober(|_, _| true).build();
    let set = set_of(PRIVATE, 0, 1);
    let results = dispatcher.run_all(&set);
    assert_eq!(results.get(0), Err(JobError::UnusableKey { shape: PRIVATE }));
    assert!(lanes.ops.load(Ordering::SeqCst) > 0, "the lanes were not asked");
    let counters = dispatcher.counters();
    assert_eq!((counters.disputes, counters.quarantines), (0, 0), "{counters:?}");
    assert!(counters.cross_checked > 0);
}

/// Blinding may decide by chance if a result is right, so the referee's first result may be right.
#[test]
fn a_key_that_is_bad_by_chance_is_no_engine_s_fault() {
    let referee = Invented::referee();
    referee.set(Manner::FindsBadKeys { every_second: true });
    let lanes = Invented::lanes(Manner::LiesAlways);
    let dispatcher = by(&referee, &lanes, config());
    let results = dispatcher.run_all(&set_of(PRIVATE, 0, LANES));
    assert!((0..LANES).any(|index| results.get(index).is_ok()));
    let counters = dispatcher.counters();
    assert!(counters.bad_keys > 0, "{counters:?}");
    assert_eq!((counters.unconfirmed, counters.disputes, counters.quarantines), (0, 0, 0));
    // If the referee never finds anything wrong with the key, the engine is to blame.
    referee.set(Manner::Honest);
    let dispatcher = by(&referee, &lanes, config());
    assert_true(&set_of(PRIVATE, 0, LANES), &dispatcher.run_all(&set_of(PRIVATE, 0, LANES)));
    let counters = dispatcher.counters();
    assert_eq!((counters.bad_keys, counters.quarantines), (0, 1));
    assert!(counters.unconfirmed > 0);
}

#[test]
fn crafted_signatures_never_bring_an_honest_engine_into_quarantine() {
    let honest = Invented::lanes(Manner::Honest);
    let dispatcher = with(&honest, config().with_cross_check(1.0));
    for shape in [SIGN, VERIFY, PRIVATE, PUBLIC, DERIVE] {
        let key = key_for(shape);
        let mut set = set_of(shape, 0, sized(40, 9));
        let mut crafted = input(shape, 7);
        crafted[0] = 0xFF;
        let extra = set.get(1).unwrap().extra;
        set = {
            let mut with = set.clone();
            with.push(&key, &crafted, extra).unwrap();
            with
        };
        assert_true(&set, &dispatcher.run_all(&set));
        assert_true(&set, &dispatcher.submit_many(set.clone(), SubmitOptions::default()).unwrap().wait());
    }
    let counters = dispatcher.counters();
    assert_eq!((counters.quarantines, counters.disputes), (0, 0));
    assert!(counters.cross_checked > 0 && honest.ops.load(Ordering::SeqCst) > 0);
}

#[test]
fn failing_engines_lose_no_job_and_answer_none_twice() {
    for manner in [Manner::Fails, Manner::Panics, Manner::LeavesUndone] {
        let engine = Invented::lanes(manner);
        let dispatcher = with(&engine, config());
        let sets: Vec<_> = (0..sized(20, 2)).map(|n| set_of(DERIVE, n * 30, sized(30, 9))).collect();
        let tickets: Vec<_> = sets
            .iter()
            .map(|set| dispatcher.submit_many(set.clone(), SubmitOptions::default()).unwrap())
            .collect();
        for (set, ticket) in sets.iter().zip(tickets) {
            assert_true(set, &ticket.wait());
        }
        assert_true(&sets[0], &dispatcher.run_all(&sets[0]));
        let counters = dispatcher.counters();
        assert!(counters.faults > 0 && counters.rerun > 0 && counters.quarantines > 0, "{manner:?}");
        assert_eq!(counters.completed, counters.submitted, "{manner:?}");
        assert_eq!(dispatcher.quarantined()[0].engine, "lanes");
    }
}

#[test]
fn an_rsa_result_without_confirmation_is_withheld_with_its_reason() {
    let referee = Arc::new(Invented { confirms: false, ..Invented::bare("referee", 1, Manner::LiesAlways) });
    let dispatcher = DispatcherBuilder::new(referee).config(config()).build();
    let set = set_of(PRIVATE, 0, 3);
    let queued = dispatcher.submit_many(set.clone(), SubmitOptions::default()).unwrap().wait();
    for results in [queued, dispatcher.run_all(&set)] {
        for index in 0..3 {
            let error = results.get(index).unwrap_err();
            assert!(
                matches!(error, JobError::EngineFailed { ref reason, .. } if reason.contains("confirmed"))
            );
        }
        assert!(
            results.outcomes().bytes().iter().all(|byte| *byte == 0),
            "a wrong signature reveals the key"
        );
    }
}

#[test]
fn an_engine_that_recovers_returns_after_its_probe() {
    let engine = Invented::lanes(Manner::Fails);
    let dispatcher = with(&engine, config());
    let set = set_of(DERIVE, 0, 30);
    assert_true(&set, &dispatcher.run_all(&set));
    assert_eq!(dispatcher.quarantined().len(), 1);
    engine.set(Manner::Honest);
    dispatcher.probe();
    assert!(dispatcher.quarantined().is_empty());
    let before = engine.ops.load(Ordering::SeqCst);
    assert_true(&set, &dispatcher.run_all(&set));
    assert_eq!(engine.ops.load(Ordering::SeqCst), before + 30);
    assert_eq!(dispatcher.counters().returned, 1);
}

#[test]
fn a_failed_probe_keeps_the_engine_in_quarantine() {
    let engine = Invented::lanes(Manner::Fails);
    let dispatcher = DispatcherBuilder::new(Invented::referee())
        .engine(engine)
        .config(config())
        .cost("lanes", DERIVE, EngineCost { per_batch_ns: 0.0, per_op_ns: 1.0, per_byte_ns: 0.0 })
        .prober(|_, _| false)
        .build();
    let set = set_of(DERIVE, 0, 30);
    assert_true(&set, &dispatcher.run_all(&set));
    dispatcher.probe();
    assert_eq!(dispatcher.quarantined().len(), 1);
    assert_eq!(dispatcher.quarantined()[0].reason, "lanes: it was told to");
}

#[test]
fn a_hung_batch_is_abandoned_and_its_jobs_run_elsewhere() {
    let engine = Invented::lanes(Manner::Hangs);
    let dispatcher = with(&engine, config().with_hang_after(HANG_AFTER));
    let sets: Vec<_> = (0..sized(8, 3)).map(|n| set_of(DERIVE, n * 30, sized(30, 9))).collect();
    let tickets: Vec<_> = sets
        .iter()
        .map(|set| dispatcher.submit_many(set.clone(), SubmitOptions::default()).unwrap())
        .collect();
    engine.gate.await_arrivals(1);
    for (set, ticket) in sets.iter().zip(tickets) {
        assert_true(set, &ticket.wait());
    }
    let counters = dispatcher.counters();
    assert!(counters.hangs >= 1 && counters.rerun >= 1);
    assert_eq!(counters.completed, counters.submitted);
    engine.gate.open();
    let set = set_of(DERIVE, 1000, 30);
    assert_true(&set, &dispatcher.submit_many(set.clone(), SubmitOptions::default()).unwrap().wait());
    assert_eq!(dispatcher.counters().completed, dispatcher.counters().submitted);
}

#[test]
fn a_dispatcher_with_a_hung_engine_still_ends() {
    let engine = Invented::lanes(Manner::Hangs);
    let dispatcher = with(&engine, config().with_hang_after(HANG_AFTER));
    let ticket = dispatcher.submit_many(set_of(DERIVE, 0, 5), SubmitOptions::default()).unwrap();
    engine.gate.await_arrivals(1);
    drop(dispatcher);
    let results = ticket.wait();
    assert!((0..5).all(|index| results.get(index) == Err(JobError::ShutDown)));
    engine.gate.open();
}

#[test]
fn jobs_end_with_the_reason_if_every_engine_fails() {
    let referee = Invented::referee();
    referee.set(Manner::Fails);
    let dispatcher = DispatcherBuilder::new(referee).config(config()).build();
    let set = set_of(DERIVE, 0, 5);
    let results = dispatcher.submit_many(set.clone(), SubmitOptions::default()).unwrap().wait();
    for results in [results, dispatcher.run_all(&set)] {
        for index in 0..5 {
            let error = results.get(index).unwrap_err();
            assert!(
                matches!(error, JobError::EngineFailed { ref reason, .. } if reason.contains("it was told to"))
            );
        }
    }
}

#[test]
fn a_job_that_breaks_every_engine_fails_alone() {
    #[derive(Debug)]
    struct Fragile(Arc<Invented>);
    impl oarlock_core::Engine for Fragile {
        fn name(&self) -> &'static str {
            "fragile"
        }
        fn offers(&self, shape: Shape) -> Option<oarlock_core::BatchSize> {
            self.0.offers(shape)
        }
        fn confirms(&self, _: Shape) -> bool {
            true
        }
        fn run(
            &self,
            jobs: &oarlock_core::Jobs<'_>,
            out: &mut oarlock_core::Outcomes,
        ) -> Result<(), oarlock_core::EngineFault> {
            let oarlock_core::Jobs::Operations(_, operations) = jobs else { panic!("operations only") };
            assert!(operations.iter().all(|operation| operation.input[20] != 0x66), "the poison job");
            self.0.run(jobs, out)
        }
    }
    let dispatcher = DispatcherBuilder::new(Arc::new(Fragile(Invented::referee()))).config(config()).build();
    let mut set = set_of(DERIVE, 0, 6);
    let mut poison = input(DERIVE, 6);
    poison[20] = 0x66;
    set.push(&x25519_key(), &poison, oarlock_core::SecondInput::None).unwrap();
    let queued = dispatcher.submit_many(set.clone(), SubmitOptions::default()).unwrap().wait();
    for results in [queued, dispatcher.run_all(&set)] {
        assert!((0..6).all(|index| results.get(index).is_ok()));
        assert!(matches!(results.get(6), Err(JobError::EngineFailed { .. })));
    }
}
