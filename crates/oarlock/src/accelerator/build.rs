//! Building an accelerator: engines found, allowed, proved, measured and joined to the dispatcher.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use oarlock_core::{BatchSize, Engine, EngineLocation, Holder, Shape};
use oarlock_dispatch::{Dispatcher, DispatcherBuilder, EngineCost, SchedulerConfig};

use super::{About, Accelerator};
use crate::calibrate::{self, Calibration, Costs, FirstUse};
use crate::find::{self, Candidate, KNOWN_ENGINES, SelfTestedEngine, proved_shapes};
use crate::selftest::{Failure, Proof};

/// Settings of an [`Accelerator`].
#[derive(Clone, Debug)]
pub struct AcceleratorBuilder {
    config: SchedulerConfig,
    allowed: Option<Vec<String>>,
    extra: Vec<Arc<dyn Engine>>,
    table_bytes: Option<usize>,
    holders: Vec<Arc<dyn Holder>>,
    cache: Option<PathBuf>,
    reads_environment: bool,
    is_lazy: bool,
}

/// Why there is no accelerator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The caller named an engine that this build does not know.
    #[error("unknown engine {found:?}: expected some of {}", .known.join(", "))]
    UnknownEngine {
        /// What was named.
        found: String,
        /// What could have been.
        known: Vec<String>,
    },
    /// [`DISABLE_VARIABLE`](crate::DISABLE_VARIABLE) names an engine that this build does not know.
    #[error("{}: unknown engine {found:?}: expected some of {}", crate::DISABLE_VARIABLE, .known.join(", "))]
    UnknownDisabled {
        /// The name in the variable.
        found: String,
        /// The names that are allowed there.
        known: Vec<String>,
    },
    /// The caller allowed no engine at all.
    #[error("no engine is allowed: expected some of {}", .known.join(", "))]
    NoEngine {
        /// What could have been.
        known: Vec<String>,
    },
    /// The caller asked for an impossible share of cross-checks.
    #[error("share of cross-checks: expected 0 to 1, found {found}")]
    CrossCheck {
        /// What was asked for.
        found: String,
    },
    /// The scalar engine, on which everything rests, is not to be had on this machine.
    #[error("the scalar engine is not available on this machine")]
    NoReferee,
}

/// What was found out about an engine.
#[derive(Clone, Debug)]
pub struct EngineReport {
    /// Its name.
    pub name: &'static str,
    /// Where it computes.
    pub location: EngineLocation,
    /// Bytes that it may take for what it builds for keys that recur.
    pub table_bytes: usize,
    /// How long its self test took.
    pub proved_in: Duration,
    /// What it claims to offer, shape by shape.
    pub shapes: Vec<ShapeReport>,
}

/// What was found out about an engine and a shape.
#[derive(Clone, Debug)]
pub struct ShapeReport {
    /// The shape.
    pub shape: Shape,
    /// Best and largest batch.
    pub lanes: BatchSize,
    /// True where the engine confirms its results itself.
    pub confirms: bool,
    /// How the self test ended; a shape that failed is not used.
    pub verdict: Result<Proof, Failure>,
    /// Its cost, where it could be measured.
    pub cost: Option<EngineCost>,
}

impl Default for AcceleratorBuilder {
    fn default() -> Self {
        Self {
            config: SchedulerConfig::default(),
            allowed: None,
            extra: Vec::new(),
            table_bytes: None,
            holders: Vec::new(),
            cache: calibrate::default_cache(),
            reads_environment: true,
            is_lazy: false,
        }
    }
}

impl AcceleratorBuilder {
    /// Only these engines answer jobs. The scalar engine stays the referee of disputes in any case, and serves where none
    /// of these is to be had on this machine ([`Accelerator::absent`]).
    #[must_use]
    pub fn engines<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.allowed = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Worker threads.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.config.threads = threads.max(1);
        self
    }

    /// Share of all results that is recomputed on a different engine, 0 to 1.
    #[must_use]
    pub fn cross_check(mut self, share: f64) -> Self {
        self.config.cross_check = share;
        self
    }

    /// Sets the longest predicted time of the work that one tenant may have waiting ([`SchedulerConfig::max_tenant_backlog`]).
    #[must_use]
    pub fn max_tenant_backlog(mut self, max: Duration) -> Self {
        self.config.max_tenant_backlog = Some(max);
        self
    }

    /// The dispatcher's settings, all at once.
    #[must_use]
    pub fn config(mut self, config: SchedulerConfig) -> Self {
        self.config = config;
        self
    }

    /// A further engine, from a crate that this build does not know. It is proved like any other.
    #[must_use]
    pub fn engine(mut self, engine: Arc<dyn Engine>) -> Self {
        self.extra.push(engine);
        self
    }

    /// Bytes that each engine may take for what it builds for keys that recur, such as verification tables; 0 for none.
    /// The default is 64 MiB. The scalar engine keeps such things where it serves alone: beside others it is their judge.
    #[must_use]
    pub fn table_bytes(mut self, bytes: usize) -> Self {
        self.table_bytes = Some(bytes);
        self
    }

    /// A holder of keys.
    #[must_use]
    pub fn holder(mut self, holder: Arc<dyn Holder>) -> Self {
        self.holders.push(holder);
        self
    }

    /// Sets the path at which measured costs are kept; None measures at every start. The default is `$XDG_CACHE_HOME/oarlock/costs`, or
    /// `~/.cache/oarlock/costs` if the home directory exists.
    #[must_use]
    pub fn cost_cache(mut self, path: Option<PathBuf>) -> Self {
        self.cache = path;
        self
    }

    /// Reads no environment variable: neither [`DISABLE_VARIABLE`](crate::DISABLE_VARIABLE) nor the ones that lead to the default
    /// cost cache. For libraries in programs with raised privileges (set-user-ID, file capabilities), whose environment comes
    /// from a user who must not choose what they read and write. A cache set later by [`cost_cache`](Self::cost_cache) counts.
    #[must_use]
    pub fn ignore_environment(mut self) -> Self {
        self.reads_environment = false;
        self.cache = None;
        self
    }

    /// Proves and measures nothing in [`build`](Self::build), and each shape when jobs first need it: for programs of which many run
    /// for a short time. One job by itself concerns the scalar engine alone; others are proved once two jobs of the shape wait
    /// together. What no self test has passed still answers nothing, and a job never waits under a lock for one: a worker
    /// proves, or the thread that computes ([`Accelerator::run_all`] and its like). Costs come from the cache file, and what is
    /// missing there is measured and added. A job of a shape that every engine fails at ends with
    /// [`JobError::Unsupported`](crate::JobError::Unsupported), and [`Accelerator::failures`] says why.
    #[must_use]
    pub fn lazy(mut self) -> Self {
        self.is_lazy = true;
        self
    }

    /// Finds the engines, proves every shape by known answers, measures costs (or reads them), and joins them; where it is
    /// [`lazy`](Self::lazy), finds and joins them.
    ///
    /// # Errors
    /// A name that is not known, here or in [`DISABLE_VARIABLE`](crate::DISABLE_VARIABLE), no engine left, a share outside 0 to 1, or no scalar engine.
    pub fn build(self) -> Result<Accelerator, BuildError> {
        self.check()?;
        let disabled = self.disabled()?;
        let found = find::find(|name| self.is_named(name), &disabled, self.table_bytes)
            .ok_or(BuildError::NoReferee)?;
        let has_others = !found.others.is_empty() || !self.extra.is_empty();
        let mut candidates = vec![found.scalar(has_others)];
        let referee: Arc<dyn Engine> = Arc::new(found.referee);
        candidates.extend(found.others);
        candidates.extend(self.extra.iter().cloned().map(Candidate::alike));
        let absent = found.absent;
        let prove = if self.is_lazy { SelfTestedEngine::unproved } else { SelfTestedEngine::new };
        let proved: Vec<Arc<SelfTestedEngine>> = candidates
            .into_iter()
            .map(|candidate| Arc::new(prove(candidate, Arc::clone(&referee))))
            .collect();
        let about = |engines, costs, calibration| {
            Arc::new(About {
                referee: Arc::clone(&referee),
                proved: proved.clone(),
                engines,
                costs,
                absent,
                calibration,
            })
        };
        if self.is_lazy {
            let costs = Arc::new(FirstUse::new(self.cache.clone()));
            let dispatcher = self.join_lazily(&proved, &referee, &costs);
            let calibration = Calibration::AtFirstUse { cache: self.cache };
            return Ok(Accelerator { dispatcher, about: about(OnceLock::new(), Some(costs), calibration) });
        }
        let plain: Vec<SelfTestedEngine> = proved.iter().map(|engine| engine.plain()).collect();
        let plain: Vec<&dyn Engine> = plain.iter().map(|engine| engine as &dyn Engine).collect();
        let (costs, calibration) = calibrate::costs(&plain, self.cache.as_deref());
        let engines =
            proved.iter().map(|engine| report(engine, |shape| find_cost(&costs, engine.name(), shape)));
        let engines = OnceLock::from(engines.collect::<Vec<_>>());
        let dispatcher = self.join(&proved, &referee, &costs);
        Ok(Accelerator { dispatcher, about: about(engines, None, calibration) })
    }

    /// The engines that the environment turns off.
    fn disabled(&self) -> Result<Vec<String>, BuildError> {
        if !self.reads_environment {
            return Ok(Vec::new());
        }
        find::disabled_by_environment().map_err(|found| BuildError::UnknownDisabled {
            found,
            known: KNOWN_ENGINES.map(str::to_owned).to_vec(),
        })
    }

    /// A dispatcher that knows what everything costs.
    fn join(&self, proved: &[Arc<SelfTestedEngine>], referee: &Arc<dyn Engine>, costs: &Costs) -> Dispatcher {
        let builder = self.dispatcher(proved, referee);
        let with_cost = |builder: DispatcherBuilder,
                         (engine, shape, cost): &(&'static str, Shape, EngineCost)| {
            builder.cost(engine, *shape, *cost)
        };
        costs.iter().fold(builder, with_cost).build()
    }

    /// A dispatcher that finds out at first use.
    fn join_lazily(
        &self,
        proved: &[Arc<SelfTestedEngine>],
        referee: &Arc<dyn Engine>,
        costs: &Arc<FirstUse>,
    ) -> Dispatcher {
        let (engines, costs) = (proved.to_vec(), Arc::clone(costs));
        let appraise = move |engine: &dyn Engine, shape| {
            engines.iter().find(|own| own.name() == engine.name())?.appraise(shape, &costs)
        };
        self.dispatcher(proved, referee).first_use_probe(appraise).build()
    }

    fn dispatcher(&self, proved: &[Arc<SelfTestedEngine>], referee: &Arc<dyn Engine>) -> DispatcherBuilder {
        let mut engines = proved.iter().map(|engine| Arc::clone(engine) as Arc<dyn Engine>);
        // unreachable because the referee was put first
        let first = engines.next().unwrap_or_else(|| Arc::clone(referee));
        let referee_serves = self.is_named("scalar") || proved.len() == 1;
        let put_aside = proved.to_vec();
        let passes = move |engine: &dyn Engine, shape| {
            put_aside.iter().any(|own| own.name() == engine.name() && own.passes(shape))
        };
        let builder = DispatcherBuilder::new(first)
            .config(SchedulerConfig { referee_serves, ..self.config.clone() })
            .prober(passes);
        let builder = engines.fold(builder, DispatcherBuilder::engine);
        self.holders.iter().cloned().fold(builder, DispatcherBuilder::holder)
    }

    fn check(&self) -> Result<(), BuildError> {
        let known: Vec<String> = KNOWN_ENGINES
            .iter()
            .copied()
            .chain(self.extra.iter().map(|extra| extra.name()))
            .map(Into::into)
            .collect();
        for found in self.allowed.iter().flatten() {
            if !known.contains(found) {
                return Err(BuildError::UnknownEngine { found: found.clone(), known });
            }
        }
        if self.allowed.as_ref().is_some_and(Vec::is_empty) {
            return Err(BuildError::NoEngine { known });
        }
        if !(0.0..=1.0).contains(&self.config.cross_check) {
            return Err(BuildError::CrossCheck { found: self.config.cross_check.to_string() });
        }
        Ok(())
    }

    fn is_named(&self, name: &str) -> bool {
        self.allowed.as_ref().is_none_or(|allowed| allowed.iter().any(|own| own == name))
    }
}

/// What there is to say of an engine; where it is lazy, after finding out all that nobody has asked yet.
pub(super) fn report(engine: &SelfTestedEngine, cost: impl Fn(Shape) -> Option<EngineCost>) -> EngineReport {
    let shapes = proved_shapes().into_iter().filter_map(|shape| {
        Some(ShapeReport {
            shape,
            lanes: engine.claims(shape)?,
            confirms: engine.confirms(shape),
            verdict: engine.verdict(shape)?.clone(),
            cost: cost(shape),
        })
    });
    let shapes = shapes.collect();
    EngineReport {
        name: engine.name(),
        location: engine.location(),
        table_bytes: engine.table_usage().max_bytes,
        proved_in: engine.proved_in(),
        shapes,
    }
}

fn find_cost(costs: &Costs, engine: &str, shape: Shape) -> Option<EngineCost> {
    costs.iter().find(|(name, own, _)| (*name, *own) == (engine, shape)).map(|row| row.2)
}
