//! The dispatcher's rule in virtual time: Poisson arrivals, simulated engines, no threads and no sleeping.
#![allow(clippy::unwrap_used, reason = "this is a test")]

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use oarlock_core::{BatchSize, Shape};

use crate::clock::Nanos;
use crate::config::SchedulerConfig;
use crate::cost::EngineCost;
use crate::queue::{EngineChoice, ItemOwner, QueueItem, QueueKey};
use crate::scheduler::{Decision, Scheduler, WorkerLoad};

const SCALAR_NS: f64 = 200_000.0;
const ONE: BatchSize = BatchSize { preferred: 1, max: 64 };
const EIGHT: BatchSize = BatchSize { preferred: 8, max: 64 };

#[derive(Clone, Debug)]
struct Arrival(Nanos);

impl ItemOwner for Arrival {
    fn is_live(&self) -> bool {
        true
    }
}

/// Scalar, and a lane engine whose full batch of eight costs four scalars.
fn engines() -> Vec<EngineChoice> {
    let cost = |ns| EngineCost { per_batch_ns: 0.0, per_op_ns: ns, per_byte_ns: 0.0 };
    vec![
        EngineChoice::new(0, ONE, cost(SCALAR_NS), false),
        EngineChoice::new(1, EIGHT, cost(SCALAR_NS / 2.0), false),
    ]
}

/// The rules that are compared: the scheduler's own, and what applications do without it.
#[derive(Clone, Copy)]
enum ComparedRule {
    Adaptive,
    /// Single jobs on the referee.
    ScalarOnly,
    /// A batch as soon as two jobs wait.
    TwoOrMore,
    /// The application collects eight jobs, or as many as come within this time.
    Timer(Nanos),
}

impl ComparedRule {
    fn fixed_break_even(self) -> Option<usize> {
        match self {
            Self::Adaptive => None,
            Self::ScalarOnly => Some(usize::MAX),
            Self::TwoOrMore => Some(2),
            Self::Timer(_) => Some(1),
        }
    }
}

struct Machine {
    scheduler: Scheduler<Arrival>,
    queue: usize,
    idle: usize,
    /// (end, arrivals) of running batches.
    running: BinaryHeap<Reverse<(Nanos, Vec<Nanos>)>>,
    latencies: Vec<Nanos>,
    /// The wait of a timer in front of the scheduler; zero without a timer.
    wait: Nanos,
    /// The arrivals that the timer has collected.
    collected: Vec<Nanos>,
}

impl Machine {
    fn new(rule: ComparedRule, workers: usize) -> Self {
        let config = SchedulerConfig::default()
            .with_fixed_break_even(rule.fixed_break_even())
            .with_overhead(Duration::ZERO)
            .with_tenant_bound(usize::MAX);
        let mut scheduler = Scheduler::new(config, 0, 2);
        let queue = scheduler.queue_for(QueueKey::Engines(Shape::X25519), engines);
        let wait = if let ComparedRule::Timer(wait) = rule { wait } else { 0 };
        let (running, latencies, collected) = (BinaryHeap::new(), Vec::new(), Vec::new());
        Self { scheduler, queue, idle: workers, running, latencies, wait, collected }
    }

    fn arrive(&mut self, now: Nanos) {
        self.collected.push(now);
        if self.wait == 0 || self.collected.len() == EIGHT.preferred {
            self.submit_collected(now);
        }
    }

    fn submit_collected(&mut self, now: Nanos) {
        for arrived in std::mem::take(&mut self.collected) {
            let item = QueueItem {
                owner: Arrival(arrived),
                first: 0,
                count: 1,
                bytes: 0,
                is_whole: false,
                tenant: 0,
                enqueued: now,
                due: now + 10_000_000,
                attempts: 0,
            };
            self.scheduler.submit(self.queue, item).unwrap();
        }
        self.serve(now);
    }

    fn serve(&mut self, now: Nanos) {
        while self.idle > 0 {
            let load = WorkerLoad { idle_others: self.idle - 1 };
            let Decision::Run(plan) = self.scheduler.next(now, load) else { return };
            self.idle -= 1;
            let arrivals = plan.items.iter().map(|item| item.owner.0).collect();
            self.running.push(Reverse((now + plan.predicted_ns as Nanos, arrivals)));
        }
    }

    /// Runs what ends or is due before `until`.
    fn advance(&mut self, until: Nanos) {
        loop {
            let end = self.running.peek().map(|Reverse((end, _))| *end);
            let ready = self.collected.first().map(|first| first + self.wait);
            let next = [end, ready].into_iter().flatten().min();
            let Some(now) = next.filter(|now| *now <= until) else { return };
            if end == Some(now) {
                let Some(Reverse((_, arrivals))) = self.running.pop() else { return };
                self.latencies.extend(arrivals.iter().map(|arrival| now - arrival));
                self.idle += 1;
                self.serve(now);
            } else {
                self.submit_collected(now);
            }
        }
    }
}

struct Outcome {
    p99: f64,
    per_second: f64,
}

/// `load` in percent of what the workers do with scalar alone.
fn simulate(rule: ComparedRule, workers: usize, load: f64, jobs: usize) -> Outcome {
    let mut machine = Machine::new(rule, workers);
    let mean = SCALAR_NS / workers as f64 / (load / 100.0);
    let mut seed = 0x9E37_79B9_7F4A_7C15_u64;
    let mut now = 0.0;
    for _ in 0..jobs {
        now += -mean * (1.0 - uniform(&mut seed)).ln();
        machine.advance(now as Nanos);
        machine.arrive(now as Nanos);
    }
    machine.advance(Nanos::MAX);
    assert_eq!(machine.latencies.len(), jobs, "every job is answered once");
    machine.latencies.sort_unstable();
    Outcome { p99: machine.latencies[jobs * 99 / 100] as f64, per_second: jobs as f64 / now * 1e9 }
}

fn uniform(seed: &mut u64) -> f64 {
    *seed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut x = *seed;
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((x ^ (x >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

const JOBS: usize = 400_000;

#[test]
fn at_low_load_the_tail_is_scalars() {
    for workers in [1, 2] {
        let adaptive = simulate(ComparedRule::Adaptive, workers, 5.0, JOBS);
        let scalar = simulate(ComparedRule::ScalarOnly, workers, 5.0, JOBS);
        println!(
            "5 %, {workers} workers: adaptive p99 {:.0} µs, scalar {:.0} µs",
            adaptive.p99 / 1e3,
            scalar.p99 / 1e3
        );
        assert!(adaptive.p99 <= 1.05 * scalar.p99);
    }
}

#[test]
fn at_every_load_the_tail_is_near_the_better_of_the_simple_rules() {
    for workers in [1, 2] {
        for load in [5.0, 20.0, 50.0, 80.0, 90.0, 120.0, 150.0, 180.0] {
            let [adaptive, scalar, batch] =
                [ComparedRule::Adaptive, ComparedRule::ScalarOnly, ComparedRule::TwoOrMore]
                    .map(|rule| simulate(rule, workers, load, JOBS).p99);
            println!(
                "{load} %, {workers} workers: p99 us adaptive {:.0} scalar {:.0} two-or-more {:.0}",
                adaptive / 1e3,
                scalar / 1e3,
                batch / 1e3
            );
            let better = if load < 100.0 { scalar.min(batch) } else { batch };
            assert!(adaptive <= 1.05 * better, "{load} %, {workers} workers");
        }
    }
}

#[test]
fn at_saturation_the_lanes_are_full() {
    for workers in [1, 2] {
        let full = 1e9 / (SCALAR_NS / 2.0) * workers as f64;
        let reached = simulate_backlog(workers);
        println!("saturation, {workers} workers: {:.3} of full lanes", reached / full);
        assert!(reached >= 0.97 * full);
    }
}

/// Arrivals at 300 % of scalar capacity (150 % of the lanes'): completions per second while the backlog lasts.
fn simulate_backlog(workers: usize) -> f64 {
    let mut machine = Machine::new(ComparedRule::Adaptive, workers);
    let (jobs, mean) = (JOBS / 10, SCALAR_NS / workers as f64 / 3.0);
    let (mut seed, mut now) = (7, 0.0);
    for _ in 0..jobs {
        now += -mean * (1.0 - uniform(&mut seed)).ln();
        machine.advance(now as Nanos);
        machine.arrive(now as Nanos);
    }
    machine.latencies.len() as f64 / now * 1e9
}

#[test]
fn a_timer_costs_its_wait_at_low_load() {
    let timer = simulate(ComparedRule::Timer(10_000_000), 1, 5.0, JOBS);
    let adaptive = simulate(ComparedRule::Adaptive, 1, 5.0, JOBS);
    assert!(timer.p99 > 10.0 * adaptive.p99);
    assert!(timer.per_second > 0.0 && adaptive.per_second > 0.0);
}
