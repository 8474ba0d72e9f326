//! Several threads submit, cancel, expire and wait at random while an engine fails in every way it can: each job is
//! answered once and correctly.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Waker};
use std::time::Duration;

use oarlock_core::{
    BatchSize, Engine, EngineFault, JobError, Jobs, OperationSet, Outcomes, SecondInput, Shape,
};
use oarlock_dispatch::{
    DispatchCounters, Dispatcher, DispatcherBuilder, EngineCost, SchedulerConfig, SubmitOptions, Ticket,
};

use crate::common::*;

const SUBMITTERS: usize = 3;
const ROUNDS: usize = sized(1_000, 4);
const HANGS: usize = sized(2, 1);
const SHAPES: [Shape; 3] = [DERIVE, PRIVATE, SIGN];

/// An engine that computes correctly or fails in one of many ways, at random.
#[derive(Debug)]
struct Moody {
    honest: Invented,
    failing: [Invented; 4],
    hanging: Invented,
    hangs_left: AtomicUsize,
    dice: Dice,
}

#[derive(Debug)]
struct Dice(AtomicU64);

impl Dice {
    /// Returns a number below `end`.
    fn draw(&self, end: u64) -> u64 {
        let mut x = self.0.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed);
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (x ^ (x >> 31)) % end
    }
}

impl Moody {
    fn new() -> Arc<Self> {
        let with = |manner| Invented::bare("moody", LANES, manner);
        let failing = [Manner::Fails, Manner::Panics, Manner::LeavesUndone, Manner::Lies(PRIVATE)].map(with);
        let (honest, hanging) = (with(Manner::Honest), with(Manner::Hangs));
        let (hangs_left, dice) = (AtomicUsize::new(HANGS), Dice(AtomicU64::new(1)));
        Arc::new(Self { honest, failing, hanging, hangs_left, dice })
    }

    fn mood(&self) -> &Invented {
        let hangs = |left: usize| left.checked_sub(1);
        match self.dice.draw(16) {
            drawn @ 0..4 => &self.failing[drawn as usize],
            4 if self.hangs_left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, hangs).is_ok() => {
                &self.hanging
            }
            _ => &self.honest,
        }
    }
}

impl Engine for Moody {
    fn name(&self) -> &'static str {
        "moody"
    }

    fn offers(&self, shape: Shape) -> Option<BatchSize> {
        self.honest.offers(shape)
    }

    fn confirms(&self, _: Shape) -> bool {
        false
    }

    fn run(&self, jobs: &Jobs<'_>, out: &mut Outcomes) -> Result<(), EngineFault> {
        self.mood().run(jobs, out)
    }
}

fn dispatcher(moody: &Arc<Moody>) -> Dispatcher {
    let config = SchedulerConfig::default()
        .with_threads(3)
        .with_cross_check(0.0)
        .with_hang_after(HANG_AFTER)
        .with_probe_after(Duration::from_micros(200))
        .with_spins(SPINS);
    let mut builder =
        DispatcherBuilder::new(Invented::referee()).engine(moody.clone()).config(config).prober(|_, _| true);
    for shape in [SIGN, PRIVATE, PUBLIC, DERIVE] {
        let cost = |ns| EngineCost { per_batch_ns: 0.0, per_op_ns: ns, per_byte_ns: 0.0 };
        builder = builder.cost("referee", shape, cost(50_000.0)).cost("moody", shape, cost(10_000.0));
    }
    builder.build()
}

/// A submission that has not been answered.
struct Open {
    set: OperationSet,
    ticket: Ticket,
    may_expire: bool,
}

fn submit(dispatcher: &Dispatcher, dice: &Dice, first: usize) -> Open {
    let set = set_of(SHAPES[dice.draw(3) as usize], first, 1 + dice.draw(20) as usize);
    let deadline = match dice.draw(8) {
        0 => Some(Duration::from_micros(dice.draw(2_000))),
        1 => Some(Duration::from_secs(3_600)),
        _ => None,
    };
    let options = SubmitOptions::default().with_tenant(dice.draw(4)).with_deadline(deadline);
    let ticket = dispatcher.submit_many(set.clone(), options).unwrap();
    Open { set, ticket, may_expire: deadline.is_some() }
}

fn check(open: Open) {
    let results = open.ticket.wait();
    if open.may_expire && (0..open.set.len()).any(|at| results.get(at) == Err(JobError::DeadlineExceeded)) {
        return;
    }
    assert_true(&open.set, &results);
}

fn serve_one_client(dispatcher: &Dispatcher, seed: u64) {
    let dice = Dice(AtomicU64::new(seed));
    let mut open = VecDeque::new();
    for round in 0..ROUNDS {
        let mut new = submit(dispatcher, &dice, round * 20);
        match dice.draw(8) {
            0 => new.ticket.cancel(),
            1 => drop(Pin::new(&mut new.ticket).poll(&mut Context::from_waker(Waker::noop()))),
            _ => open.push_back(new),
        }
        if open.len() > dice.draw(24) as usize {
            open.pop_front().into_iter().for_each(check);
        }
        if dice.draw(16) == 0 {
            drop(open.pop_back());
        }
    }
    open.into_iter().for_each(check);
}

#[test]
fn each_job_is_answered_once_and_correctly_while_an_engine_fails() {
    let moody = Moody::new();
    let dispatcher = dispatcher(&moody);
    std::thread::scope(|scope| {
        for seed in 0..SUBMITTERS as u64 {
            let dispatcher = &dispatcher;
            scope.spawn(move || serve_one_client(dispatcher, seed));
        }
    });
    let DispatchCounters { submitted, completed, cancelled, expired, failed, refused, .. } =
        dispatcher.counters();
    assert_eq!(submitted, completed + cancelled + expired, "each job ends in one way");
    assert_eq!((failed, refused), (0, 0));
    assert!(
        completed > 0 && cancelled > 0 && dispatcher.counters().faults > 0,
        "{:?}",
        dispatcher.counters()
    );
    assert_idle(&dispatcher);
    moody.hanging.gate.open();
    drop(dispatcher);
    // Abandoned threads end too, once their engine lets them.
    while Arc::strong_count(&moody) > 1 {
        std::thread::yield_now();
    }
}

/// Checks that no count has drifted: a job runs on its caller's thread only if nothing is queued or in flight.
fn assert_idle(dispatcher: &Dispatcher) {
    let before = dispatcher.counters().on_caller;
    for _ in 0..sized(10_000_000, 100) {
        let ticket =
            dispatcher.submit(DERIVE, &x25519_key(), &[1; 32], SecondInput::None, SubmitOptions::default());
        assert!(ticket.unwrap().wait().get(0).is_ok());
        if dispatcher.counters().on_caller > before {
            return;
        }
    }
    panic!("the dispatcher never became idle");
}
