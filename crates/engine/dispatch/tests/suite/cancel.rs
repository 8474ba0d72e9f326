//! Cancellation at every stage of a job: no answer is wrong, and nothing stays counted.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use oarlock_core::{
    BatchSize, Engine, EngineFault, EngineLocation, Jobs, OperationSet, Outcomes, SecondInput, Shape,
};
use oarlock_dispatch::{Dispatcher, DispatcherBuilder, EngineCost, SchedulerConfig, SubmitOptions, Ticket};

use crate::common::*;

fn config() -> SchedulerConfig {
    let probe_after = Duration::from_secs(3600);
    SchedulerConfig::default()
        .with_threads(1)
        .with_cross_check(0.0)
        .with_probe_after(probe_after)
        .with_spins(SPINS)
}

/// An engine around lanes that stops at a gate in runs of one shape, and may fail there.
#[derive(Debug)]
struct Gated {
    lanes: Arc<Invented>,
    shape: Shape,
    fails: bool,
    location: EngineLocation,
}

impl Gated {
    fn new(shape: Shape) -> Self {
        Self { lanes: Invented::lanes(Manner::Honest), shape, fails: false, location: EngineLocation::Near }
    }

    fn gate(&self) -> &Gate {
        &self.lanes.gate
    }
}

impl Engine for Gated {
    fn name(&self) -> &'static str {
        "gated"
    }

    fn offers(&self, shape: Shape) -> Option<BatchSize> {
        self.lanes.offers(shape)
    }

    fn confirms(&self, _: Shape) -> bool {
        false
    }

    fn location(&self) -> EngineLocation {
        self.location
    }

    fn run(&self, jobs: &Jobs<'_>, out: &mut Outcomes) -> Result<(), EngineFault> {
        if jobs.shape() == self.shape {
            self.gate().pass();
            if self.fails {
                return Err(EngineFault::Failed { engine: "gated", reason: "it was told to".into() });
            }
        }
        self.lanes.run(jobs, out)
    }
}

/// Builds a dispatcher. The gated engine is cheap and the referee costly, so that batches of two or more go through the
/// gate.
fn around(gated: &Arc<Gated>, config: SchedulerConfig) -> Dispatcher {
    let mut builder = DispatcherBuilder::new(Invented::referee()).engine(gated.clone()).config(config);
    for shape in [PRIVATE, PUBLIC, DERIVE] {
        let cost = |ns| EngineCost { per_batch_ns: 0.0, per_op_ns: ns, per_byte_ns: 0.0 };
        builder = builder.cost("referee", shape, cost(50_000.0)).cost("gated", shape, cost(10_000.0));
    }
    builder.build()
}

fn submit(dispatcher: &Dispatcher, set: &OperationSet) -> Ticket {
    dispatcher.submit_many(set.clone(), SubmitOptions::default()).unwrap()
}

/// The ways to cancel: drop the ticket, or poll it as a future first and then drop it.
#[derive(Clone, Copy, Debug)]
enum CancelWay {
    Drop,
    DropPolled,
}

impl CancelWay {
    const ALL: [Self; 2] = [Self::Drop, Self::DropPolled];

    fn cancel(self, mut ticket: Ticket) {
        if let Self::DropPolled = self {
            let mut context = Context::from_waker(Waker::noop());
            assert!(Pin::new(&mut ticket).poll(&mut context).is_pending());
        }
        drop(ticket);
    }
}

/// Checks that every job is counted, that the answers for `kept` are right, and that the dispatcher becomes idle.
fn assert_clean(dispatcher: &Dispatcher, cancelled: usize, kept: &OperationSet, answer: Ticket) {
    assert_true(kept, &answer.wait());
    while dispatcher.counters().on_caller == 0 {
        let ticket =
            dispatcher.submit(DERIVE, &x25519_key(), &[1; 32], SecondInput::None, SubmitOptions::default());
        assert!(ticket.unwrap().wait().get(0).is_ok());
    }
    let counters = dispatcher.counters();
    assert_eq!(counters.cancelled, cancelled as u64);
    assert_eq!(counters.submitted, counters.completed + counters.cancelled);
}

#[test]
fn a_job_is_cancelled_while_queued() {
    for way in CancelWay::ALL {
        let gated = Arc::new(Gated::new(DERIVE));
        let dispatcher = around(&gated, config());
        let (first, kept) = (set_of(DERIVE, 0, 4), set_of(DERIVE, 4, 4));
        let running = submit(&dispatcher, &first);
        gated.gate().await_arrivals(1);
        let queued = submit(&dispatcher, &set_of(DERIVE, 8, 3));
        let answer = submit(&dispatcher, &kept);
        way.cancel(queued);
        gated.gate().open();
        assert_true(&first, &running.wait());
        assert_clean(&dispatcher, 3, &kept, answer);
        assert!(gated.lanes.ops.load(Ordering::SeqCst) <= 9, "cancelled jobs are not computed");
    }
}

#[test]
fn a_job_is_cancelled_while_its_engine_runs() {
    cancel_at_the_gate(DERIVE, DERIVE);
}

#[test]
fn a_job_is_cancelled_while_its_result_is_confirmed() {
    cancel_at_the_gate(PRIVATE, PUBLIC);
}

fn cancel_at_the_gate(shape: Shape, gate: Shape) {
    for way in CancelWay::ALL {
        let gated = Arc::new(Gated::new(gate));
        let dispatcher = around(&gated, config());
        let running = submit(&dispatcher, &set_of(shape, 0, 4));
        gated.gate().await_arrivals(1);
        let kept = set_of(shape, 4, 4);
        let answer = submit(&dispatcher, &kept);
        way.cancel(running);
        gated.gate().open();
        assert_clean(&dispatcher, 4, &kept, answer);
    }
}

#[test]
fn a_job_is_cancelled_while_it_shares_a_batch() {
    for way in CancelWay::ALL {
        let gated = Arc::new(Gated::new(DERIVE));
        let dispatcher = around(&gated, config());
        let first = submit(&dispatcher, &set_of(DERIVE, 0, 2));
        gated.gate().await_arrivals(1);
        // Three and three share a batch of eight with two of the last.
        let sets = [3, 6, 9].map(|n| set_of(DERIVE, n, 3));
        let [one, two, three] = [0, 1, 2].map(|at| submit(&dispatcher, &sets[at]));
        way.cancel(two);
        gated.gate().open();
        assert!(first.wait().get(1).is_ok());
        assert_true(&sets[0], &one.wait());
        assert_clean(&dispatcher, 3, &sets[2], three);
    }
}

#[test]
fn a_job_is_cancelled_while_half_of_it_is_answered() {
    let gated = Arc::new(Gated::new(PUBLIC));
    let dispatcher = around(&gated, config());
    // Twenty are three batches: the first stops in its confirmation.
    let mut ticket = submit(&dispatcher, &set_of(PRIVATE, 0, 20));
    gated.gate().await_arrivals(1);
    gated.gate().open();
    let mut context = Context::from_waker(Waker::noop());
    while dispatcher.counters().completed < 8 {
        let _ = Pin::new(&mut ticket).poll(&mut context);
        std::thread::yield_now();
    }
    drop(ticket);
    let kept = set_of(PRIVATE, 20, 2);
    let answer = submit(&dispatcher, &kept);
    let cancelled = dispatcher.counters().cancelled;
    assert!(cancelled <= 12, "answered jobs are not cancelled");
    assert_clean(&dispatcher, cancelled as usize, &kept, answer);
}

#[test]
fn a_job_is_cancelled_while_its_engine_fails() {
    for way in CancelWay::ALL {
        let gated = Arc::new(Gated { fails: true, ..Gated::new(DERIVE) });
        let dispatcher = around(&gated, config());
        let running = submit(&dispatcher, &set_of(DERIVE, 0, 4));
        gated.gate().await_arrivals(1);
        let kept = set_of(DERIVE, 4, 4);
        let answer = submit(&dispatcher, &kept);
        way.cancel(running);
        gated.gate().open();
        assert_clean(&dispatcher, 4, &kept, answer);
        assert_eq!(dispatcher.counters().rerun, 0, "cancelled jobs do not run again");
    }
}

#[test]
fn a_job_is_cancelled_while_its_engine_hangs_and_after_it_was_abandoned() {
    for way in CancelWay::ALL {
        let gated = Arc::new(Gated::new(DERIVE));
        let dispatcher = around(&gated, config().with_hang_after(HANG_AFTER));
        let (hung, again) = (submit(&dispatcher, &set_of(DERIVE, 0, 2)), set_of(DERIVE, 2, 4));
        gated.gate().await_arrivals(1);
        way.cancel(hung);
        let answer = submit(&dispatcher, &again);
        assert_clean(&dispatcher, 2, &again, answer);
        assert_eq!(dispatcher.counters().hangs, 1);
        gated.gate().open();
    }
}

#[test]
fn a_job_is_cancelled_while_a_far_engine_runs() {
    for way in CancelWay::ALL {
        let gated = Arc::new(Gated { location: EngineLocation::Far, ..Gated::new(DERIVE) });
        let config = config().with_target_latency(Duration::from_nanos(1));
        let referee = Invented::referee();
        referee.set(Manner::Hangs);
        let cheap = EngineCost { per_batch_ns: 0.0, per_op_ns: 1_000.0, per_byte_ns: 0.0 };
        let builder = DispatcherBuilder::new(referee.clone()).engine(gated.clone()).config(config);
        let dispatcher = builder.cost("gated", DERIVE, cheap).build();
        let running = submit(&dispatcher, &set_of(DERIVE, 0, 64));
        // The CPU is stuck in its first job, so the device gets the rest.
        gated.gate().await_arrivals(1);
        way.cancel(running);
        gated.gate().open();
        referee.gate.open();
        let kept = set_of(DERIVE, 64, 4);
        let answer = submit(&dispatcher, &kept);
        assert_true(&kept, &answer.wait());
        let counters = dispatcher.counters();
        assert_eq!(counters.submitted, counters.completed + counters.cancelled);
        assert!(counters.cancelled > 0 && counters.far_batches > 0);
    }
}

#[test]
fn a_job_is_cancelled_while_its_holder_works() {
    for way in CancelWay::ALL {
        let holder = InventedHolder::new(HolderRule::Silent);
        let dispatcher =
            DispatcherBuilder::new(Invented::referee()).config(config()).holder(holder.clone()).build();
        let job = held_job(&[7]);
        let ticket = dispatcher.submit_held(vec![job.clone(), job], SubmitOptions::default()).unwrap();
        while holder.kept.lock().unwrap().is_empty() {
            std::thread::yield_now();
        }
        let done = holder.kept.lock().unwrap().pop().unwrap();
        assert!(done.complete(0, Ok(vec![1])));
        way.cancel(ticket);
        assert!(done.complete(1, Ok(vec![2])), "the holder's answer is taken and dropped");
        let counters = dispatcher.counters();
        assert_eq!((counters.completed, counters.cancelled), (1, 1));
    }
}

#[test]
fn a_job_that_is_done_is_not_cancelled() {
    let dispatcher = around(&Arc::new(Gated::new(PUBLIC)), config());
    let ticket = submit(&dispatcher, &set_of(DERIVE, 0, 1));
    while !ticket.is_done() {
        std::thread::yield_now();
    }
    ticket.cancel();
    assert_eq!((dispatcher.counters().cancelled, dispatcher.counters().completed), (0, 1));
}

#[test]
fn a_holder_that_keeps_its_jobs_does_not_outlive_the_dispatcher() {
    let holder = InventedHolder::new(HolderRule::Silent);
    let dispatcher =
        DispatcherBuilder::new(Invented::referee()).config(config()).holder(holder.clone()).build();
    let ticket = dispatcher.submit_held(vec![held_job(&[7])], SubmitOptions::default()).unwrap();
    while holder.kept.lock().unwrap().is_empty() {
        std::thread::yield_now();
    }
    drop(dispatcher);
    assert_eq!(ticket.wait().get(0), Err(oarlock_core::JobError::ShutDown));
}

#[test]
fn a_waker_that_panics_harms_only_its_own_task() {
    struct Explosive;
    impl Wake for Explosive {
        fn wake(self: Arc<Self>) {
            panic!("it was told to");
        }
    }
    let gated = Arc::new(Gated::new(DERIVE));
    let dispatcher = around(&gated, config());
    let sets = [0, 4].map(|n| set_of(DERIVE, n, 4));
    let first = submit(&dispatcher, &set_of(DERIVE, 8, 2));
    gated.gate().await_arrivals(1);
    let [mut explosive, other] = [0, 1].map(|at| submit(&dispatcher, &sets[at]));
    let waker = Waker::from(Arc::new(Explosive));
    assert!(Pin::new(&mut explosive).poll(&mut Context::from_waker(&waker)).is_pending());
    gated.gate().open();
    assert!(first.wait().get(1).is_ok());
    assert_clean(&dispatcher, 0, &sets[1], other);
    assert_true(&sets[0], &explosive.wait());
}

#[test]
fn an_engine_whose_outcomes_cannot_be_read_loses_no_job() {
    #[derive(Debug)]
    struct Mangler;
    impl Engine for Mangler {
        fn name(&self) -> &'static str {
            "gated"
        }
        fn offers(&self, shape: Shape) -> Option<BatchSize> {
            (shape == DERIVE).then_some(BatchSize { preferred: 8, max: 8 })
        }
        fn confirms(&self, _: Shape) -> bool {
            true
        }
        fn run(&self, jobs: &Jobs<'_>, out: &mut Outcomes) -> Result<(), EngineFault> {
            // As many statuses as jobs, but results of no width.
            *out = Outcomes::for_operations(VERIFY, jobs.len());
            (0..jobs.len()).for_each(|index| out.set(index, oarlock_core::Status::Done));
            Ok(())
        }
    }
    let cost = |ns| EngineCost { per_batch_ns: 0.0, per_op_ns: ns, per_byte_ns: 0.0 };
    let dispatcher = DispatcherBuilder::new(Invented::referee())
        .engine(Arc::new(Mangler))
        .config(config())
        .cost("referee", DERIVE, cost(50_000.0))
        .cost("gated", DERIVE, cost(10_000.0))
        .build();
    let set = set_of(DERIVE, 0, 8);
    let results = submit(&dispatcher, &set).wait();
    assert!(
        (0..8).all(|index| results.get(index).is_err()),
        "results that were not computed are not released"
    );
    assert_eq!(dispatcher.quarantined()[0].engine, "gated");
    let answer = submit(&dispatcher, &set);
    assert_true(&set, &answer.wait());
}
