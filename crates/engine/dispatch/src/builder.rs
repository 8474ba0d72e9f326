//! The builder of dispatchers.

use std::fmt;
use std::sync::Arc;

use oarlock_core::{BatchSize, Engine, Holder, Shape};

use crate::blueprint::{Blueprint, FirstUseProbe, Prober};
use crate::config::SchedulerConfig;
use crate::cost::EngineCost;
use crate::dispatcher::Dispatcher;

/// Builds a [`Dispatcher`].
#[derive(Clone)]
pub struct DispatcherBuilder {
    config: SchedulerConfig,
    engines: Vec<Arc<dyn Engine>>,
    costs: Vec<(&'static str, Shape, EngineCost)>,
    holders: Vec<Arc<dyn Holder>>,
    prober: Prober,
    first_use_probe: Option<FirstUseProbe>,
}

impl DispatcherBuilder {
    /// Begins a dispatcher with `referee`, the engine that is baseline and fallback and decides disputes.
    #[must_use]
    pub fn new(referee: Arc<dyn Engine>) -> Self {
        Self {
            config: SchedulerConfig::default(),
            engines: vec![referee],
            costs: Vec::new(),
            holders: Vec::new(),
            prober: Arc::new(|_, _| false),
            first_use_probe: None,
        }
    }

    /// Sets the settings.
    #[must_use]
    pub fn config(mut self, config: SchedulerConfig) -> Self {
        // Without a worker, queued jobs would wait for ever.
        let threads = config.threads.max(1);
        self.config = config.with_threads(threads);
        self
    }

    /// Adds an engine.
    #[must_use]
    pub fn engine(mut self, engine: Arc<dyn Engine>) -> Self {
        self.engines.push(engine);
        self
    }

    /// Adds the measured cost of an engine for a shape.
    #[must_use]
    pub fn cost(mut self, engine: &'static str, shape: Shape, cost: EngineCost) -> Self {
        self.costs.push((engine, shape, cost));
        self
    }

    /// Adds a holder of keys.
    #[must_use]
    pub fn holder(mut self, holder: Arc<dyn Holder>) -> Self {
        self.holders.push(holder);
        self
    }

    /// Sets the self test that an engine must pass to leave quarantine. Without a test it never leaves.
    #[must_use]
    pub fn prober(
        mut self,
        prober: impl Fn(&dyn Engine, Option<Shape>) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.prober = Arc::new(prober);
        self
    }

    /// Sets the probe that runs at the first use of a shape, in place of [`Engine::offers`] and [`cost`](Self::cost).
    /// It may take long. It runs on a worker or on the thread that computes, never under a lock, and on one thread at
    /// a time for each shape. If no engine offers the shape, its queued jobs end with
    /// [`JobError::Unsupported`](oarlock_core::JobError::Unsupported).
    #[must_use]
    pub fn first_use_probe(
        mut self,
        first_use_probe: impl Fn(&dyn Engine, Shape) -> Option<(BatchSize, EngineCost)> + Send + Sync + 'static,
    ) -> Self {
        self.first_use_probe = Some(Arc::new(first_use_probe));
        self
    }

    /// Builds the dispatcher. No thread starts before the first queued job.
    #[must_use]
    pub fn build(self) -> Dispatcher {
        let index_of = |name: &str| self.engines.iter().position(|engine| engine.name() == name);
        let costs =
            self.costs.iter().filter_map(|(name, shape, cost)| Some((index_of(name)?, *shape, *cost)));
        let blueprint = Arc::new(Blueprint {
            costs: costs.collect(),
            config: self.config,
            engines: self.engines,
            holders: self.holders,
            prober: self.prober,
            first_use_probe: self.first_use_probe,
        });
        Dispatcher::new(blueprint)
    }
}

impl fmt::Debug for DispatcherBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.engines.iter().map(|engine| engine.name())).finish()
    }
}
