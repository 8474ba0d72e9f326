//! Engines that are asked about a shape at its first use, where an answer takes long: they prove and time the shape then.
//!
//! The worker that finds a job of a shape nobody knows yet asks, while the job waits in its queue; whoever computes on a thread of
//! its own asks there. Engines are asked without the lock, and by one thread at a time for each shape. One job alone concerns
//! the referee only: others are asked once two are wanted together.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, MutexGuard, PoisonError};

use oarlock_core::{BatchSize, Engine, EngineLocation, Shape};

use crate::class::shortest_of;
use crate::cost::EngineCost;
use crate::inner::{Inner, State};
use crate::queue::Choice;
use crate::scheduler::choice;

/// Says what an engine offers for a shape and what that costs; None where it does not offer it or may not be used for it.
/// It may take long.
pub type FirstUseProbe = Arc<dyn Fn(&dyn Engine, Shape) -> Option<(BatchSize, EngineCost)> + Send + Sync>;

/// Which engines have been asked about the shape of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    Nobody,
    Referee,
    All,
}

/// What has to be asked before so many operations can be placed.
#[derive(Debug)]
pub(crate) enum Inquiry {
    /// Nothing.
    Known,
    /// This, by who made the inquiry.
    Ask(Question),
    /// Another thread is asking.
    Wait,
}

/// Engines to be asked about a shape.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) queue: usize,
    pub(crate) shape: Shape,
    pub(crate) engines: Vec<usize>,
    /// Who has been asked afterwards.
    pub(crate) then: Asked,
}

impl Inner {
    /// The state, and in it the queue of a shape of which enough is known to place `ops` operations; None where no engine
    /// offers it. Where engines have to be asked this thread does, or waits for the one that does.
    pub(crate) fn lock_for(&self, shape: Shape, ops: usize) -> (MutexGuard<'_, State>, Option<usize>) {
        let mut state = self.lock();
        loop {
            let Some(queue) = self.queue_of(&mut state, shape) else { return (state, None) };
            match state.scheduler.inquire(queue, ops) {
                Inquiry::Known => return (state, Some(queue)),
                Inquiry::Wait => state = self.answered.wait(state).unwrap_or_else(PoisonError::into_inner),
                Inquiry::Ask(question) => {
                    drop(state);
                    self.put(&question);
                    state = self.lock();
                }
            }
        }
    }

    /// Asks engines and notes what they say. Who waited for that looks again.
    pub(crate) fn put(&self, question: &Question) {
        let choices = question.engines.iter().filter_map(|engine| self.appraise(*engine, question.shape));
        let choices: Vec<Choice> = choices.collect();
        self.lock().scheduler.learn(question, choices);
        self.answered.notify_all();
        self.call_all();
    }

    /// An engine that panics is not used, nor one that does not offer every shape of the class.
    fn appraise(&self, index: usize, shape: Shape) -> Option<Choice> {
        let (engine, appraiser) = (self.engine(index), self.blueprint.appraiser.as_ref()?);
        let appraise = || {
            let appraisal = appraiser(engine, shape)?;
            engine.offers(shortest_of(shape)).map(|_| appraisal)
        };
        let (lanes, cost) = catch_unwind(AssertUnwindSafe(appraise)).ok().flatten()?;
        Some(choice(index, lanes, cost, engine.location() == EngineLocation::Far))
    }
}
