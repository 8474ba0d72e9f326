//! Measures the cost of the dispatcher itself, with a no-op engine behind every entry point.
//!
//! CPU time is the whole process's, so workers and submitters both count. Saturated means that work is always waiting:
//! the engine is held until a backlog stands in the queue, then everything is served and collected. In the stream of
//! four clients the worker keeps up with its no-op, so the time that it looks for work counts as well. Latency is the
//! median of single jobs, one at a time. Each line is the best of its rounds, with the worst beside it: what else the
//! machine does can only add.
#![allow(missing_docs, clippy::expect_used, reason = "a program that may stop at the first surprise")]

use std::collections::VecDeque;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use cpu_time::ProcessTime;
use oarlock_core::{
    BatchSize, Engine, EngineFault, Fingerprint, Jobs, Key, KeyParts, OperationSet, Outcomes, SecondInput,
    SecretBytes, Shape, Status, X25519PrivateParts,
};
use oarlock_dispatch::{Dispatcher, DispatcherBuilder, EngineCost, SchedulerConfig, SubmitOptions, Ticket};

const SHAPE: Shape = Shape::X25519;
const JOBS: usize = 1_000_000;
const ROUNDS: usize = 5;
/// The number of waiting jobs at which the blocked engine is released.
const BACKLOG: usize = 50_000;
const SUBMITTERS: usize = 4;
/// Jobs that one client of the stream has in flight.
const WINDOW: usize = 1024;

/// Does nothing, once it is let go.
#[derive(Debug, Default)]
struct NoOp {
    is_held: AtomicBool,
    gate: Mutex<()>,
    changed: Condvar,
}

impl NoOp {
    fn hold(&self) {
        self.is_held.store(true, Ordering::Release);
    }

    fn let_go(&self) {
        let guard = self.gate.lock();
        self.is_held.store(false, Ordering::Release);
        drop(guard);
        self.changed.notify_all();
    }

    fn wait(&self) {
        let guard = self.gate.lock().expect("nobody panics here");
        drop(self.changed.wait_while(guard, |()| self.is_held.load(Ordering::Acquire)));
    }
}

impl Engine for NoOp {
    fn name(&self) -> &'static str {
        "no-op"
    }

    fn offers(&self, _: Shape) -> Option<BatchSize> {
        Some(BatchSize { preferred: 1, max: 256 })
    }

    fn confirms(&self, _: Shape) -> bool {
        true
    }

    fn run(&self, jobs: &Jobs<'_>, out: &mut Outcomes) -> Result<(), EngineFault> {
        if self.is_held.load(Ordering::Acquire) {
            self.wait();
        }
        (0..jobs.len()).for_each(|index| out.set(index, Status::Done));
        Ok(())
    }
}

fn main() {
    // `cargo test` builds and starts benches too, but without this argument. Then nothing is measured.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let key = key();
    println!("no-op engine, X25519 shape, 32-byte inputs, one key, one worker thread");
    println!("{:<44} {:>10} {:>10} {:>10} {:>10}", "way in", "best of 5", "worst", "target", "verdict");
    report("submit, saturated: CPU us per job", || saturated(&key, 1), Some(0.5));
    report("submit_many x64, saturated: CPU us per job", || saturated(&key, 64), Some(0.05));
    report("submit, stream of 4 clients: CPU us per job", || stream(&key), None);
    report("run_all in sets of 4096: CPU us per job", || run_all(&key), Some(0.05));
    report("submit across threads: median us", || latency(&key, Duration::ZERO), Some(10.0));
    report("submit on the caller's thread: median us", || latency(&key, Duration::from_millis(1)), Some(1.0));
}

fn report(name: &str, measure: impl Fn() -> f64, target: Option<f64>) {
    let rounds: Vec<f64> = (0..ROUNDS).map(|_| measure()).collect();
    let (best, worst) =
        rounds.iter().fold((f64::MAX, 0.0_f64), |(best, worst), &us| (best.min(us), worst.max(us)));
    let verdict = target.map_or("", |target| if best <= target { "met" } else { "missed" });
    let target = target.map_or_else(String::new, |target| format!("{target:.2}"));
    println!("{name:<44} {best:>10.3} {worst:>10.3} {target:>10} {verdict:>10}");
}

fn key() -> Key {
    let parts = X25519PrivateParts { scalar: SecretBytes::new(vec![1; 32]), public: [0; 32] };
    Key::local(KeyParts::X25519Private(parts), Fingerprint::new([0; 32]))
}

fn dispatcher(caller_budget: Duration) -> Dispatcher {
    around(Arc::new(NoOp::default()), caller_budget)
}

fn around(engine: Arc<NoOp>, caller_budget: Duration) -> Dispatcher {
    let config =
        SchedulerConfig::default().with_threads(1).with_caller_budget(caller_budget).with_cross_check(0.0);
    let cost = EngineCost { per_batch_ns: 0.0, per_op_ns: 1.0, per_byte_ns: 0.0 };
    DispatcherBuilder::new(engine).config(config).cost("no-op", SHAPE, cost).build()
}

/// CPU per job of sets of `ops` jobs through a queue that is never empty. Single jobs are built on the way in; sets are
/// the caller's and built before.
fn saturated(key: &Key, ops: usize) -> f64 {
    let engine = Arc::new(NoOp::default());
    let dispatcher = around(Arc::clone(&engine), Duration::ZERO);
    let (mut spent, loads) = (Duration::ZERO, JOBS / BACKLOG);
    for _ in 0..loads {
        let mut sets: Vec<OperationSet> = match ops {
            1 => Vec::new(),
            ops => (0..BACKLOG / ops).map(|_| set_of(key, ops)).collect(),
        };
        let mut tickets: Vec<Ticket> = Vec::with_capacity(BACKLOG);
        engine.hold();
        let start = ProcessTime::now();
        for _ in 0..BACKLOG / ops {
            let ticket = match sets.pop() {
                Some(set) => dispatcher.submit_many(set, SubmitOptions::default()),
                None => dispatcher.submit(SHAPE, key, &[9; 32], SecondInput::None, SubmitOptions::default()),
            };
            tickets.push(ticket.expect("the queue's bound is above the backlog"));
        }
        engine.let_go();
        tickets.into_iter().rev().for_each(|ticket| drop(black_box(ticket.wait())));
        spent += start.elapsed();
    }
    spent.as_secs_f64() * 1e6 / (loads * (BACKLOG / ops) * ops) as f64
}

fn stream(key: &Key) -> f64 {
    let dispatcher = dispatcher(Duration::ZERO);
    let start = ProcessTime::now();
    std::thread::scope(|scope| {
        for _ in 0..SUBMITTERS {
            scope.spawn(|| submit_share(&dispatcher, key));
        }
    });
    start.elapsed().as_secs_f64() * 1e6 / JOBS as f64
}

/// One client with a window of jobs in flight. It waits for the newest of a quarter first, so that it sleeps once.
fn submit_share(dispatcher: &Dispatcher, key: &Key) {
    let mut waiting: VecDeque<Ticket> = VecDeque::with_capacity(WINDOW);
    for _ in 0..JOBS / SUBMITTERS {
        if waiting.len() == WINDOW {
            waiting.drain(..WINDOW / 4).rev().for_each(|ticket| drop(black_box(ticket.wait())));
        }
        let ticket = dispatcher.submit(SHAPE, key, &[9; 32], SecondInput::None, SubmitOptions::default());
        waiting.push_back(ticket.expect("the queue's bound is above what is in flight"));
    }
    waiting.into_iter().for_each(|ticket| drop(black_box(ticket.wait())));
}

fn set_of(key: &Key, ops: usize) -> OperationSet {
    let mut set = OperationSet::with_capacity(SHAPE, ops, 32 * ops);
    (0..ops).for_each(|_| set.push(key, &[9; 32], SecondInput::None).expect("a well-formed job"));
    set
}

fn run_all(key: &Key) -> f64 {
    let dispatcher = dispatcher(Duration::ZERO);
    let set = set_of(key, 4096);
    let start = ProcessTime::now();
    for _ in 0..JOBS / 4096 {
        drop(black_box(dispatcher.run_all(&set)));
    }
    start.elapsed().as_secs_f64() * 1e6 / (JOBS / 4096 * 4096) as f64
}

fn latency(key: &Key, caller_budget: Duration) -> f64 {
    let dispatcher = dispatcher(caller_budget);
    let mut times: Vec<Duration> = (0..20_000)
        .map(|_| {
            let start = Instant::now();
            let ticket = dispatcher.submit(SHAPE, key, &[9; 32], SecondInput::None, SubmitOptions::default());
            drop(black_box(ticket.expect("nothing is queued").wait()));
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e6
}
