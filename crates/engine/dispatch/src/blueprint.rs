//! The parts of a dispatcher that its builder was given. They never change.

use std::sync::Arc;

use oarlock_core::{BatchSize, Engine, EngineLocation, Holder, JobError, Shape};

use crate::class::{modulus_bits, scaled, shortest_of};
use crate::config::SchedulerConfig;
use crate::cost::EngineCost;
use crate::queue::EngineChoice;

/// The first engine is baseline, fallback and referee.
pub(crate) const REFEREE: usize = 0;

/// Tests an engine in quarantine with known answers, for one shape or for all that it offers. Returns true if it may
/// return.
pub type Prober = Arc<dyn Fn(&dyn Engine, Option<Shape>) -> bool + Send + Sync>;

/// Returns the batch size and the cost of an engine for a shape; None if the engine does not offer the shape or may
/// not be used for it. A call may take long.
pub type FirstUseProbe = Arc<dyn Fn(&dyn Engine, Shape) -> Option<(BatchSize, EngineCost)> + Send + Sync>;

/// The parts of a dispatcher. A forked child builds its own state from them.
pub(crate) struct Blueprint {
    pub(crate) config: SchedulerConfig,
    pub(crate) engines: Vec<Arc<dyn Engine>>,
    /// Measured costs, by engine and shape.
    pub(crate) costs: Vec<(usize, Shape, EngineCost)>,
    pub(crate) holders: Vec<Arc<dyn Holder>>,
    pub(crate) prober: Prober,
    /// The probe of engines at the first use of a shape; None if they are asked directly.
    pub(crate) first_use_probe: Option<FirstUseProbe>,
}

impl Blueprint {
    pub(crate) fn engine(&self, engine: usize) -> &dyn Engine {
        &*self.engines[engine]
    }

    /// Returns the engines that offer every shape of a class.
    pub(crate) fn choices(&self, class: Shape) -> Vec<EngineChoice> {
        let is_serving = |index: &usize| *index != REFEREE || self.config.referee_serves;
        let engines = self.engines.iter().enumerate().filter(|(index, _)| is_serving(index));
        let offers = engines.filter_map(|(index, engine)| {
            let batch_size = engine.offers(class)?;
            // A class is named by its longest member. Engines offer ranges of lengths, so the two ends suffice.
            engine.offers(shortest_of(class))?;
            let cost = self.first_cost(index, class).unwrap_or_default();
            Some(EngineChoice::new(index, batch_size, cost, engine.location() == EngineLocation::Far))
        });
        offers.collect()
    }

    /// Returns the measured cost of a shape, or an estimate from the nearest measured length.
    fn first_cost(&self, engine: usize, shape: Shape) -> Option<EngineCost> {
        let costs = || self.costs.iter().filter(|(candidate, ..)| *candidate == engine);
        if let Some((.., cost)) = costs().find(|(_, known, _)| *known == shape) {
            return Some(*cost);
        }
        let bits = modulus_bits(shape)?;
        let distance = |known: Shape| modulus_bits(known).map_or(u16::MAX, |known| known.abs_diff(bits));
        let alike =
            costs().filter_map(|(_, known, cost)| Some((distance(*known), scaled(*known, *cost, shape)?)));
        alike.min_by_key(|(distance, _)| *distance).map(|(_, cost)| cost)
    }
}

/// Returns the error of a shape that no engine offers.
pub(crate) fn unsupported(shape: Shape) -> JobError {
    JobError::Unsupported { wanted: shape.to_string() }
}
