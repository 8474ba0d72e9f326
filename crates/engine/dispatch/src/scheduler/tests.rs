//! The rule, decision by decision: engines and batch sizes. Module `turns` has tenants and bounds.
#![allow(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use oarlock_core::{BatchSize, Curve};

use super::*;
use crate::cost::EngineCost;

mod turns;

const SIGN: Shape = Shape::EcdsaSign { curve: Curve::P256 };
const DERIVE: Shape = Shape::X25519;
const REFEREE: usize = 0;
const LANE: usize = 1;
const FAR: usize = 2;
const US: f64 = 1_000.0;

#[derive(Clone, Debug)]
struct Job(Rc<Cell<bool>>);

impl ItemOwner for Job {
    fn is_live(&self) -> bool {
        self.0.get()
    }
}

fn item(count: u32, due: Nanos) -> QueueItem<Job> {
    let owner = Job(Rc::new(Cell::new(true)));
    QueueItem { owner, first: 0, count, bytes: 0, is_whole: false, tenant: 0, enqueued: 0, due, attempts: 0 }
}

fn per_op(ns: f64) -> EngineCost {
    EngineCost { per_batch_ns: 0.0, per_op_ns: ns, per_byte_ns: 0.0 }
}

fn scalar(ns: f64) -> EngineChoice {
    EngineChoice::new(REFEREE, BatchSize { preferred: 1, max: 1 }, per_op(ns), false)
}

fn batch_engine(ns: f64) -> EngineChoice {
    EngineChoice::new(LANE, BatchSize { preferred: 8, max: 64 }, per_op(ns), false)
}

fn far(ns: f64) -> EngineChoice {
    EngineChoice::new(FAR, BatchSize { preferred: 64, max: 1024 }, per_op(ns), true)
}

fn scheduler() -> Scheduler<Job> {
    let config = SchedulerConfig::default().with_overhead(Duration::ZERO).with_tenant_bound(10_000);
    Scheduler::new(config, REFEREE, 3)
}

fn queue(scheduler: &mut Scheduler<Job>, shape: Shape, choices: &[EngineChoice]) -> usize {
    scheduler.queue_for(QueueKey::Engines(shape), || choices.to_vec())
}

/// Returns engine, shape and size of the next batch, for a worker while no other one is idle.
fn next(scheduler: &mut Scheduler<Job>) -> (usize, Shape, usize) {
    run_of(scheduler.next(0, WorkerLoad { idle_others: 0 }))
}

fn run_of(decision: Decision<Job>) -> (usize, Shape, usize) {
    match decision {
        Decision::Run(plan) => (plan.engine, plan.shape, plan.ops),
        other => panic!("not a batch: {other:?}"),
    }
}

#[test]
fn one_job_runs_on_the_referee_and_break_even_many_on_the_lanes() {
    // A group of eight costs four scalars: five are the first that pay.
    for (queued, expected) in
        [(1, (REFEREE, 1)), (4, (REFEREE, 1)), (5, (LANE, 5)), (8, (LANE, 8)), (20, (LANE, 8))]
    {
        let mut scheduler = scheduler();
        let queue = queue(&mut scheduler, SIGN, &[scalar(100.0 * US), batch_engine(50.0 * US)]);
        scheduler.submit(queue, item(queued, 0)).unwrap();
        assert_eq!(next(&mut scheduler), (expected.0, SIGN, expected.1), "{queued} queued");
        assert_eq!(scheduler.live(), queued as usize - expected.1);
    }
}

#[test]
fn a_fixed_break_even_replaces_the_one_of_the_costs() {
    let after = |break_even, queued| {
        let mut scheduler = scheduler();
        scheduler.config.fixed_break_even = Some(break_even);
        let queue = queue(&mut scheduler, SIGN, &[scalar(100.0 * US), batch_engine(50.0 * US)]);
        scheduler.submit(queue, item(queued, 0)).unwrap();
        let single_ns = scheduler.single_ns(queue, queued as usize, 0);
        // Other idle workers do not lower the number of jobs that is compared.
        let (engine, _, ops) = run_of(scheduler.next(0, WorkerLoad { idle_others: 3 }));
        (engine, ops, single_ns.is_some())
    };
    assert_eq!([after(2, 1), after(2, 2)], [(REFEREE, 1, true), (LANE, 2, false)]);
    assert_eq!(after(usize::MAX, 64), (REFEREE, 1, true));
    assert_eq!(after(1, 1), (LANE, 1, false));
}

#[test]
fn idle_workers_get_their_share() {
    let mut scheduler = scheduler();
    let queue = queue(&mut scheduler, SIGN, &[scalar(100.0 * US), batch_engine(50.0 * US)]);
    scheduler.submit(queue, item(8, 0)).unwrap();
    let mut choose_next = |idle_others| run_of(scheduler.next(0, WorkerLoad { idle_others }));
    assert_eq!(choose_next(1), (REFEREE, SIGN, 1), "two workers take four each, below the break-even");
    assert_eq!(choose_next(0), (LANE, SIGN, 7));
}

#[test]
fn the_queue_with_the_least_slack_comes_first() {
    let mut scheduler = scheduler();
    let sign = queue(&mut scheduler, SIGN, &[scalar(100.0 * US)]);
    let derive = queue(&mut scheduler, DERIVE, &[scalar(20.0 * US)]);
    scheduler.submit(derive, item(1, 500_000)).unwrap();
    scheduler.submit(sign, item(1, 550_000)).unwrap();
    // The slack of a queue is its due time less its cost: 450 us for the first, 480 us for the second.
    assert_eq!(next(&mut scheduler).1, SIGN);
    assert_eq!(next(&mut scheduler).1, DERIVE);
    scheduler.submit(sign, item(1, 900_000)).unwrap();
    scheduler.submit(derive, item(1, 700_000)).unwrap();
    assert_eq!(next(&mut scheduler).1, DERIVE);
}

#[test]
fn a_long_group_gives_way_if_it_would_make_another_queue_late() {
    let choices = [scalar(600.0 * US), batch_engine(200.0 * US)];
    // The other queue's operation takes 10 us, a group 1.6 ms.
    for (due, expected, why) in [
        (1_000_000, (REFEREE, SIGN, 1), "it is in time now"),
        (1_609_000, (REFEREE, SIGN, 1), "it would be late by little"),
        (1_611_000, (LANE, SIGN, 8), "it would also be in time after the group"),
        (9_000, (LANE, SIGN, 8), "it is late already, and single operations would delay all queues"),
    ] {
        let mut scheduler = scheduler();
        let sign = queue(&mut scheduler, SIGN, &choices);
        let derive = queue(&mut scheduler, DERIVE, &[scalar(10.0 * US)]);
        scheduler.submit(sign, item(16, 0)).unwrap();
        scheduler.submit(derive, item(1, due)).unwrap();
        assert_eq!(next(&mut scheduler), expected, "{why}");
    }
    let mut scheduler = scheduler();
    let sign = queue(&mut scheduler, SIGN, &choices);
    scheduler.submit(sign, item(16, 0)).unwrap();
    assert_eq!(next(&mut scheduler), (LANE, SIGN, 8), "no other queue waits");
}

#[test]
fn a_long_batch_is_cut_to_the_groups_that_fit() {
    let mut scheduler = scheduler();
    scheduler.config.overhead = Duration::from_micros(100);
    let sign = queue(&mut scheduler, SIGN, &[scalar(600.0 * US), batch_engine(40.0 * US)]);
    let derive = queue(&mut scheduler, DERIVE, &[scalar(10.0 * US)]);
    scheduler.submit(sign, item(64, 0)).unwrap();
    scheduler.submit(derive, item(1, 1_000_000_000)).unwrap();
    // 100 us are 2 % of sixteen groups of 320 us; three fit into a millisecond.
    assert_eq!(next(&mut scheduler), (LANE, SIGN, 24));
}

#[test]
fn a_long_batch_runs_if_nothing_smaller_is_possible() {
    let mut scheduler = scheduler();
    let sign = queue(&mut scheduler, SIGN, &[scalar(5_000.0 * US)]);
    let derive = queue(&mut scheduler, DERIVE, &[scalar(10.0 * US)]);
    scheduler.submit(sign, item(3, 0)).unwrap();
    scheduler.submit(derive, item(1, 1_000_000_000)).unwrap();
    assert_eq!(next(&mut scheduler), (REFEREE, SIGN, 1));
}

#[test]
fn far_engines_get_the_surplus_only() {
    let mut scheduler = scheduler();
    scheduler.config.target_latency = Duration::from_millis(1);
    let queue = queue(&mut scheduler, SIGN, &[scalar(100.0 * US), far(US)]);
    scheduler.submit(queue, item(20, 0)).unwrap();
    // Two workers do twenty in a millisecond.
    assert!(!scheduler.has_surplus(queue, 2) && matches!(scheduler.next_far(FAR, 2), Decision::Idle));
    scheduler.submit(queue, item(30, 0)).unwrap();
    assert!(scheduler.has_surplus(queue, 2));
    assert_eq!(run_of(scheduler.next_far(FAR, 2)), (FAR, SIGN, 30));
    assert_eq!(scheduler.live(), 20);
    assert_eq!(next(&mut scheduler), (REFEREE, SIGN, 1), "a near worker never runs a far engine");
}

#[test]
fn a_far_engine_that_would_be_later_than_the_cpu_gets_nothing() {
    let mut scheduler = scheduler();
    scheduler.config.target_latency = Duration::from_millis(1);
    let queue = queue(&mut scheduler, SIGN, &[scalar(100.0 * US), far(1_000.0 * US)]);
    scheduler.submit(queue, item(20, 0)).unwrap();
    assert!(matches!(scheduler.next_far(FAR, 1), Decision::Idle));
}

#[test]
fn engines_in_quarantine_are_not_chosen_until_they_return() {
    let mut scheduler = scheduler();
    let choices = [scalar(100.0 * US), batch_engine(50.0 * US)];
    let sign = queue(&mut scheduler, SIGN, &choices);
    let mut engine_after = |quarantined: Vec<Option<Shape>>| {
        scheduler.set_quarantine(LANE, quarantined);
        scheduler.submit(sign, item(8, 0)).unwrap();
        let engine = next(&mut scheduler).0;
        let _ = scheduler.drain();
        engine
    };
    assert_eq!(engine_after(vec![Some(SIGN)]), REFEREE);
    assert_eq!(engine_after(vec![Some(DERIVE)]), LANE);
    assert_eq!(engine_after(vec![None]), REFEREE);
    assert_eq!(engine_after(vec![]), LANE);
    scheduler.set_quarantine(LANE, vec![Some(DERIVE)]);
    let derive = queue(&mut scheduler, DERIVE, &choices);
    assert!(
        scheduler.queues[derive].choices[1].is_quarantined,
        "a queue that is made later inherits the quarantine"
    );
}

/// Otherwise its cheap queue would be served beside another tenant's jobs for ever, and its costly one never.
#[test]
#[cfg_attr(miri, ignore = "thousands of lengths take minutes there")]
fn thousands_of_lengths_make_few_queues() {
    let mut scheduler = scheduler();
    for bits in 512..=4096 {
        let shape = Shape::RsaPublic { bits, exponent: oarlock_core::RsaExponent::F4 };
        let queue = scheduler.queue_for(QueueKey::from_shape(shape), || vec![scalar(10.0 * US)]);
        scheduler.submit(queue, item(1, 0)).unwrap();
    }
    assert_eq!((scheduler.queues.len(), scheduler.live()), (29, 3585));
    while let Decision::Run(_) = scheduler.next(0, WorkerLoad { idle_others: 0 }) {}
    assert_eq!(
        (scheduler.live(), scheduler.queued().count()),
        (0, 15),
        "queues of odd lengths are not shown"
    );
}

#[test]
#[cfg_attr(miri, ignore = "thousands of lengths take minutes there")]
fn an_idle_queue_of_odd_lengths_is_replaced() {
    let mut scheduler = scheduler();
    for exponent_bits in 0..1_000_u16 {
        let shape = Shape::ModExp { bits: 2047, exponent_bits: 64 * exponent_bits + 1 };
        let queue = scheduler.queue_for(QueueKey::from_shape(shape), || vec![scalar(10.0 * US)]);
        scheduler.submit(queue, item(1, 0)).unwrap();
        assert_eq!(next(&mut scheduler).2, 1);
    }
    assert!(scheduler.queues.len() <= IDLE_MIXED_QUEUES + 1, "{}", scheduler.queues.len());
}

#[test]
fn bulk_work_is_planned_by_its_own_bytes() {
    let config = SchedulerConfig::default().with_overhead(Duration::ZERO);
    let mut scheduler = Scheduler::<Job>::new(config, REFEREE, 3);
    let per_byte = |engine, best, per_batch_ns, per_byte_ns| {
        let cost = EngineCost { per_batch_ns, per_op_ns: 0.0, per_byte_ns };
        EngineChoice::new(engine, BatchSize { preferred: best, max: 64 }, cost, false)
    };
    let choices = [per_byte(REFEREE, 1, 0.0, 10.0), per_byte(LANE, 8, US, 1.0)];
    let queue = queue(&mut scheduler, SIGN, &choices);
    let engine = |ops, bytes| scheduler.bulk_plan(queue, ops, bytes).unwrap().0.engine;
    assert_eq!(
        [engine(8, 0), engine(8, 10), engine(1, 40), engine(8, 40)],
        [REFEREE, REFEREE, REFEREE, LANE]
    );
    assert_eq!(scheduler.single_ns(queue, 8, 8 * 40), None);
    assert_eq!(scheduler.single_ns(queue, 1, 40), Some(400.0));
}

/// An engine without groups may share work among the jobs of a batch, and nobody waits for the first of them.
#[test]
fn bulk_work_without_groups_comes_in_long_batches() {
    let mut scheduler = scheduler();
    let referee = EngineChoice::new(REFEREE, BatchSize { preferred: 1, max: 64 }, per_op(100.0 * US), false);
    let queue = queue(&mut scheduler, SIGN, &[referee, batch_engine(900.0 * US)]);
    let plan = |ops| scheduler.bulk_plan(queue, ops, 0).map(|(choice, ops)| (choice.engine, ops));
    assert_eq!([plan(1), plan(64), plan(100)], [1, 64, 64].map(|ops| Some((REFEREE, ops))));
}

#[test]
fn a_single_long_record_is_left_to_the_referee() {
    let config = SchedulerConfig::default().with_overhead(Duration::ZERO);
    let mut scheduler = Scheduler::<Job>::new(config, REFEREE, 3);
    let per_byte = |engine, best, per_byte_ns| {
        let cost = EngineCost { per_batch_ns: 0.0, per_op_ns: 0.0, per_byte_ns };
        EngineChoice::new(engine, BatchSize { preferred: best, max: 64 }, cost, false)
    };
    let queue = queue(&mut scheduler, SIGN, &[per_byte(REFEREE, 1, 10.0), per_byte(LANE, 8, 2.0)]);
    let engine = |ops| scheduler.bulk_plan(queue, ops, 16_384).unwrap().0.engine;
    assert_eq!([engine(1), engine(2), engine(8)], [REFEREE, LANE, LANE]);
}

#[test]
fn a_referee_that_does_not_serve_is_not_chosen() {
    let mut scheduler = scheduler();
    let queue = queue(&mut scheduler, SIGN, &[batch_engine(50.0 * US)]);
    assert_eq!(scheduler.single_ns(queue, 1, 0), None, "nothing runs on the caller's thread");
    assert_eq!(scheduler.bulk_plan(queue, 3, 0).map(|(choice, ops)| (choice.engine, ops)), Some((LANE, 3)));
    scheduler.submit(queue, item(1, 0)).unwrap();
    assert_eq!(next(&mut scheduler), (LANE, SIGN, 1), "a single job goes to the lanes at once");
    scheduler.set_quarantine(LANE, vec![None]);
    scheduler.submit(queue, item(2, 0)).unwrap();
    match scheduler.next(0, WorkerLoad { idle_others: 0 }) {
        Decision::Fail { shape, items } => assert_eq!((shape, items.len()), (SIGN, 1)),
        other => panic!("no engine is left: {other:?}"),
    }
    assert!(scheduler.is_empty());
}

#[test]
fn a_far_engine_gets_everything_if_no_near_engine_is_left() {
    let mut scheduler = scheduler();
    let queue = queue(&mut scheduler, SIGN, &[batch_engine(50.0 * US), far(US)]);
    scheduler.set_quarantine(LANE, vec![None]);
    scheduler.submit(queue, item(2, 0)).unwrap();
    assert!(matches!(scheduler.next(0, WorkerLoad { idle_others: 0 }), Decision::Idle));
    assert!(scheduler.has_surplus(queue, 4));
    assert_eq!(run_of(scheduler.next_far(FAR, 4)), (FAR, SIGN, 2));
}

#[test]
fn items_that_failed_twice_run_alone_on_the_referee() {
    let mut scheduler = scheduler();
    let queue = queue(&mut scheduler, SIGN, &[scalar(100.0 * US), batch_engine(50.0 * US)]);
    scheduler.submit(queue, item(8, 0)).unwrap();
    scheduler.submit_again(QueueKey::Engines(SIGN), vec![QueueItem { attempts: 1, ..item(2, 0) }]);
    assert_eq!([next(&mut scheduler), next(&mut scheduler)], [(REFEREE, SIGN, 1); 2]);
    assert_eq!(next(&mut scheduler), (LANE, SIGN, 8));
}

#[test]
fn submissions_that_ended_are_not_run_and_leave_no_count() {
    let mut scheduler = scheduler();
    let queue = queue(&mut scheduler, SIGN, &[scalar(100.0 * US), batch_engine(50.0 * US)]);
    let gone = item(5, 0);
    scheduler.submit(queue, gone.clone()).unwrap();
    gone.owner.0.set(false);
    assert!(matches!(scheduler.next(0, WorkerLoad { idle_others: 0 }), Decision::Idle));
    scheduler.forget(QueueKey::Engines(SIGN), 0, 5, 0, 0);
    assert!(scheduler.is_empty() && scheduler.live() == 0);
}

#[test]
fn jobs_of_a_holder_start_together() {
    let mut scheduler = scheduler();
    let held = scheduler.queue_for(QueueKey::Holder(3), Vec::new);
    (0..3).for_each(|_| scheduler.submit(held, item(1, 0)).unwrap());
    match scheduler.next(0, WorkerLoad { idle_others: 5 }) {
        Decision::Start { holder, items } => assert_eq!((holder, items.len()), (3, 3)),
        other => panic!("not a start: {other:?}"),
    }
}
