//! Access for tests, benches and measurements.

use oarlock_core::{Engine, Shape};
use oarlock_dispatch::Dispatcher;

use super::Accelerator;
use crate::calibrate::{BatchTiming, TimingGrid};

/// The parts of an [`Accelerator`] that only tests, benches and measurements need.
#[derive(Clone, Copy, Debug)]
pub struct Diagnostics<'a>(pub(super) &'a Accelerator);

impl<'a> Diagnostics<'a> {
    /// Drops everything that engines have built for keys that recur, such as verification tables.
    pub fn drop_tables(self) {
        self.0.parts.proved.iter().for_each(|engine| engine.drop_tables());
    }

    /// Waits until no engine builds anything in the background, so that a measurement is not disturbed.
    pub fn wait_for_tables(self) {
        self.0.parts.proved.iter().for_each(|engine| engine.wait_for_tables());
    }

    /// Times batches of one engine by itself, without the queue, the checks and the verification tables.
    ///
    /// Returns nothing if there is no such engine or it does not offer the shape. [`CostFit::from_timings`](crate::CostFit::from_timings) finds
    /// the constants of the cost model.
    #[must_use]
    pub fn time_batches(self, engine: &str, shape: Shape, grid: &TimingGrid) -> Vec<BatchTiming> {
        let found = self.0.parts.proved.iter().find(|entry| entry.name() == engine);
        found.map_or_else(Vec::new, |engine| grid.time(&engine.plain(), shape))
    }

    /// Returns the scalar engine itself, for comparisons. It has no dispatcher and no release checks.
    #[must_use]
    pub fn referee(self) -> &'a dyn Engine {
        &*self.0.parts.referee
    }

    /// Returns the dispatcher, which takes raw shapes.
    #[must_use]
    pub fn dispatcher(self) -> &'a Dispatcher {
        &self.0.dispatcher
    }
}
