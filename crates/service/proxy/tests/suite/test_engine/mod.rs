//! An engine that lies or waits as the test says.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use oarlock::engine_api::{BatchSize, Engine, EngineFault, Jobs};
use oarlock::{Accelerator, AcceleratorBuilder, Outcomes, SchedulerConfig, Shape, Status};
use oarlock_scalar::ScalarEngine;

#[derive(Debug)]
pub(crate) struct TestEngine {
    inner: ScalarEngine,
    pub(crate) lies: AtomicBool,
    gate: Mutex<EngineGate>,
    opened: Condvar,
}

#[derive(Debug, Default)]
struct EngineGate {
    is_closed: bool,
    waiting: usize,
}

impl TestEngine {
    pub(crate) fn new() -> Arc<Self> {
        let inner = ScalarEngine::detect().unwrap();
        Arc::new(Self { inner, lies: AtomicBool::new(false), gate: Mutex::default(), opened: Condvar::new() })
    }

    /// An accelerator in which this engine takes everything, and nothing runs on the caller's thread.
    pub(crate) fn builder(self: &Arc<Self>) -> AcceleratorBuilder {
        let config = SchedulerConfig::default()
            .with_threads(1)
            .with_spins(0)
            .with_caller_budget(Duration::ZERO)
            .with_fixed_break_even(1)
            .with_hang_after(Duration::from_secs(600))
            .with_cross_check(0.0);
        Accelerator::builder().config(config).engine(Arc::clone(self) as _).engines(["test"])
    }

    /// Lets every batch wait until [`open`](Self::open).
    pub(crate) fn close(&self) {
        self.gate.lock().unwrap().is_closed = true;
    }

    pub(crate) fn open(&self) {
        self.gate.lock().unwrap().is_closed = false;
        self.opened.notify_all();
    }

    pub(crate) fn waiting(&self) -> usize {
        self.gate.lock().unwrap().waiting
    }
}

impl Engine for TestEngine {
    fn name(&self) -> &'static str {
        "test"
    }

    fn offers(&self, shape: Shape) -> Option<BatchSize> {
        self.inner.offers(shape)?;
        let is_offered = match shape {
            Shape::RsaPrivate { bits } | Shape::RsaPublic { bits, .. } => bits == 2_048,
            Shape::ModExp { .. } => false,
            shape => !shape.is_record(),
        };
        is_offered.then_some(BatchSize { preferred: 8, max: 64 })
    }

    fn confirms(&self, _: Shape) -> bool {
        false
    }

    fn run(&self, jobs: &Jobs<'_>, out: &mut Outcomes) -> Result<(), EngineFault> {
        {
            let mut gate = self.gate.lock().unwrap();
            gate.waiting += 1;
            let mut gate = self.opened.wait_while(gate, |gate| gate.is_closed).unwrap();
            gate.waiting -= 1;
        }
        self.inner.run(jobs, out)?;
        if self.lies.load(Ordering::Relaxed) {
            (0..jobs.len()).for_each(|index| damage(index, out));
        }
        Ok(())
    }
}

fn damage(index: usize, out: &mut Outcomes) {
    let status = out.statuses()[index];
    match (status, out.result_mut(index).last_mut()) {
        (Status::Done, Some(last)) => *last ^= 1,
        (Status::Done, None) => out.set(index, Status::Rejected),
        (_, _) => out.set(index, Status::Done),
    }
}
