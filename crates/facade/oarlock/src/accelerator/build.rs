//! The builder of accelerators: it finds engines, tests and measures them, and joins them to the dispatcher.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use oarlock_core::{BatchSize, Engine, EngineLeaf, EngineLocation, ForkSafeCell, Holder, Shape};
use oarlock_dispatch::{ConfirmRule, Dispatcher, DispatcherBuilder, EngineCost, SchedulerConfig};

use super::{Accelerator, AcceleratorParts};
use crate::calibrate::{self, Calibration, EngineCosts, FirstUseCosts};
use crate::detect::{self, EngineCandidate, KNOWN_ENGINES, LeafRules, SelfTestedEngine};
use crate::selftest::{SelfTestFailure, SelfTestProof, proved_shapes};

/// Settings of an [`Accelerator`].
#[derive(Clone, Debug, Default)]
pub struct AcceleratorBuilder {
    config: SchedulerConfig,
    threads: Option<usize>,
    cross_check: Option<f64>,
    confirm: Option<ConfirmRule>,
    max_tenant_backlog: Option<Duration>,
    allowed: Option<Vec<String>>,
    leaf: Option<String>,
    keeps_secrets_off_fma: bool,
    extra: Vec<Arc<dyn Engine>>,
    table_bytes: Option<usize>,
    holders: Vec<Arc<dyn Holder>>,
    cache: Option<PathBuf>,
    reads_environment: bool,
    is_lazy: bool,
}

/// The reason why an accelerator could not be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The caller named an engine that this build does not know.
    #[error("unknown engine {found:?}: expected some of {}", .known.join(", "))]
    UnknownEngine {
        /// The name that was given.
        found: String,
        /// The names that are allowed.
        known: Vec<String>,
    },
    /// [`DISABLE_VARIABLE`](crate::detect::DISABLE_VARIABLE) names an engine or leaf that this build does not know.
    #[error("{}: unknown engine or leaf {found:?}: expected some of {}", crate::detect::DISABLE_VARIABLE, .known.join(", "))]
    UnknownDisabled {
        /// The name in the variable.
        found: String,
        /// The names that are allowed there.
        known: Vec<String>,
    },
    /// The caller named a leaf that this build does not know.
    #[error("unknown leaf {found:?}: expected one of {}", .known.join(", "))]
    UnknownLeaf {
        /// The name that was given.
        found: String,
        /// The names that are allowed.
        known: Vec<String>,
    },
    /// The caller allowed no engine at all.
    #[error("no engine is allowed: name one or more of {}", .known.join(", "))]
    NoEngine {
        /// The names that are allowed.
        known: Vec<String>,
    },
    /// The caller asked for an impossible share of cross-checks.
    #[error("share of cross-checks: expected a number from 0 to 1, found {found}")]
    CrossCheck {
        /// The share that was given.
        found: String,
    },
    /// The scalar engine, which every accelerator needs, is not available on this machine.
    #[error("the scalar engine is not available on this machine, and every accelerator needs it")]
    NoReferee,
}

/// The findings about an engine.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EngineReport {
    /// The name that `engines` of the builder takes.
    pub name: &'static str,
    /// The place where it computes.
    pub location: EngineLocation,
    /// The bytes that it may use for keys that recur.
    pub table_bytes: usize,
    /// The time that its self test took.
    pub proved_in: Duration,
    /// The shapes that the engine claims to offer.
    pub shapes: Vec<ShapeReport>,
}

/// The findings about an engine and a shape.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ShapeReport {
    /// The shape that the engine was tested with.
    pub shape: Shape,
    /// The preferred and the largest batch.
    pub lanes: BatchSize,
    /// The group of instructions that computes the shape, if the engine has several.
    pub leaf: Option<EngineLeaf>,
    /// True if the engine confirms its results itself.
    pub confirms: bool,
    /// The end of the self test. A shape that failed is not used.
    pub verdict: Result<SelfTestProof, SelfTestFailure>,
    /// The cost of the shape, if it could be measured.
    pub cost: Option<EngineCost>,
}

impl AcceleratorBuilder {
    /// Allows only these engines to answer jobs.
    ///
    /// The scalar engine stays the referee of disputes in any case. It also serves if this machine has none of the
    /// named engines ([`Accelerator::absent`]).
    #[must_use]
    pub fn engines<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.allowed = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Allows only one leaf of the lanes: one group of instructions, such as `avx2` or `aes-ni`. Shapes that it does
    /// not compute are left to the other engines. [`known_leaves`](crate::engine_api::known_leaves) lists the names.
    ///
    /// This is for measurements and tests. By default each shape has the best leaf of the processor.
    #[must_use]
    pub fn leaf(mut self, name: impl Into<String>) -> Self {
        self.leaf = Some(name.into());
        self
    }

    /// Allows the leaf `fma` of the lanes to compute with secrets, or not. The default is true.
    ///
    /// That leaf multiplies by the floating-point unit, which the processor vendors' lists of instructions with
    /// data-independent time do not name. Where that matters more than speed, `false` leaves private RSA, signatures
    /// and key agreement to the scalar engine. Verification stays.
    #[must_use]
    pub fn fma_secrets(mut self, are_allowed: bool) -> Self {
        self.keeps_secrets_off_fma = !are_allowed;
        self
    }

    /// Sets the number of worker threads.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads.max(1));
        self
    }

    /// Sets the share of all results that is recomputed on a different engine, 0 to 1.
    #[must_use]
    pub fn cross_check(mut self, share: f64) -> Self {
        self.cross_check = Some(share);
        self
    }

    /// Sets the confirmation of SLH-DSA signatures before their release. The default is a verification.
    #[must_use]
    pub fn confirm(mut self, rule: ConfirmRule) -> Self {
        self.confirm = Some(rule);
        self
    }

    /// Sets the longest predicted time of the work that one tenant may have waiting
    /// ([`SchedulerConfig::max_tenant_backlog`]).
    #[must_use]
    pub fn max_tenant_backlog(mut self, max: Duration) -> Self {
        self.max_tenant_backlog = Some(max);
        self
    }

    /// Sets all of the dispatcher's settings at once.
    ///
    /// A setting that has a method of its own ([`threads`](Self::threads), [`cross_check`](Self::cross_check),
    /// [`confirm`](Self::confirm), [`max_tenant_backlog`](Self::max_tenant_backlog)) keeps the value given there, whichever call comes first.
    #[must_use]
    pub fn config(mut self, config: SchedulerConfig) -> Self {
        self.config = config;
        self
    }

    /// Adds an engine from another crate. It is tested like any other.
    #[must_use]
    pub fn engine(mut self, engine: Arc<dyn Engine>) -> Self {
        self.extra.push(engine);
        self
    }

    /// Sets the number of bytes that each engine may use for keys that recur, such as verification tables; 0 turns
    /// them off.
    ///
    /// The default is 64 MiB. The scalar engine keeps such tables only if no other engine verifies P-256 and Ed25519.
    #[must_use]
    pub fn table_bytes(mut self, bytes: usize) -> Self {
        self.table_bytes = Some(bytes);
        self
    }

    /// Adds a holder of keys.
    #[must_use]
    pub fn holder(mut self, holder: Arc<dyn Holder>) -> Self {
        self.holders.push(holder);
        self
    }

    /// Keeps measured costs in a file, so that later processes need not measure again. The default is `None`: no file
    /// is read or written.
    ///
    /// A program usually passes [`default_cost_cache`](crate::default_cost_cache).
    #[must_use]
    pub fn cost_cache(mut self, path: Option<PathBuf>) -> Self {
        self.cache = path;
        self
    }

    /// Reads [`DISABLE_VARIABLE`](crate::detect::DISABLE_VARIABLE) from the environment if `is_read`. By default no variable is
    /// read.
    ///
    /// Programs want this. A library inside a program with raised privileges (set-user-ID, file capabilities) does not:
    /// there the environment comes from a user who must not choose what the program does.
    #[must_use]
    pub fn environment(mut self, is_read: bool) -> Self {
        self.reads_environment = is_read;
        self
    }

    /// Tests and measures nothing in [`build`](Self::build), and each shape when jobs first need it. Programs that
    /// run often and for a short time want this.
    ///
    /// One job by itself needs the scalar engine alone. The other engines are tested once two jobs of the shape wait
    /// together. No engine answers before its self test has passed, and no job waits under a lock for a self test: a
    /// worker runs it, or the thread that computes ([`Accelerator::run_all`] and similar methods).
    ///
    /// Costs come from the cache file. A cost that is missing there is measured and added. A job whose shape fails on
    /// every engine ends with [`JobError::Unsupported`](crate::JobError::Unsupported), and [`Accelerator::failures`]
    /// lists the reasons.
    #[must_use]
    pub fn lazy(mut self) -> Self {
        self.is_lazy = true;
        self
    }

    /// Builds the accelerator: finds the engines, runs every self test, measures the costs or reads them, and starts
    /// the dispatcher.
    ///
    /// This takes from a tenth of a second to some seconds, most of it for the measurement if no cost cache is given.
    /// A [`lazy`](Self::lazy) accelerator only finds the engines, and is built in a few milliseconds.
    ///
    /// # Errors
    /// An unknown name, here or in [`DISABLE_VARIABLE`](crate::detect::DISABLE_VARIABLE); no engine left; a share outside 0
    /// to 1; or no scalar engine.
    pub fn build(self) -> Result<Accelerator, BuildError> {
        self.check()?;
        let rules = LeafRules {
            disabled: self.disabled()?,
            only: self.leaf.clone(),
            keeps_secrets_off_fma: self.keeps_secrets_off_fma,
        };
        let found = detect::find(|name| self.is_named(name), &rules, self.table_bytes)
            .ok_or(BuildError::NoReferee)?;
        let others = found.others.iter().map(|candidate| &*candidate.serving);
        // The scalar engine comes first, because `dispatcher` takes the first one as the referee.
        let mut candidates = vec![found.scalar(others.chain(self.extra.iter().map(|engine| &**engine)))];
        // The referee is a plain scalar engine even if the scalar engine also serves: its tables may not
        // decide disputes about their own results.
        let referee: Arc<dyn Engine> = Arc::new(found.referee);
        candidates.extend(found.others);
        candidates.extend(self.extra.iter().cloned().map(EngineCandidate::uniform));
        let absent = found.absent;
        let holders = self.holders.clone();
        let prove = if self.is_lazy { SelfTestedEngine::unproved } else { SelfTestedEngine::new };
        let proved: Vec<Arc<SelfTestedEngine>> = candidates
            .into_iter()
            .map(|candidate| Arc::new(prove(candidate, Arc::clone(&referee))))
            .collect();
        let parts = |engines, costs, calibration| {
            Arc::new(AcceleratorParts {
                referee: Arc::clone(&referee),
                proved: proved.clone(),
                engines,
                costs,
                absent,
                calibration,
                holders,
            })
        };
        if self.is_lazy {
            let costs = Arc::new(FirstUseCosts::new(self.cache.clone()));
            let dispatcher = self.join_lazily(&proved, &referee, &costs);
            let calibration = Calibration::AtFirstUse { cache: self.cache };
            return Ok(Accelerator {
                dispatcher,
                parts: parts(ForkSafeCell::new(), Some(costs), calibration),
            });
        }
        let plain: Vec<SelfTestedEngine> = proved.iter().map(|engine| engine.plain()).collect();
        let plain: Vec<&dyn Engine> = plain.iter().map(|engine| engine as &dyn Engine).collect();
        let (costs, calibration) = calibrate::costs(&plain, self.cache.as_deref());
        let shapes = proved_shapes();
        let engines = proved
            .iter()
            .map(|engine| report(engine, &shapes, |shape| find_cost(&costs, engine.name(), shape)));
        let engines = ForkSafeCell::from(engines.collect::<Vec<_>>());
        let dispatcher = self.join(&proved, &referee, &costs);
        Ok(Accelerator { dispatcher, parts: parts(engines, None, calibration) })
    }

    /// Returns the engines that the environment turns off.
    fn disabled(&self) -> Result<Vec<String>, BuildError> {
        if !self.reads_environment {
            return Ok(Vec::new());
        }
        detect::disabled_by_environment()
            .map_err(|found| BuildError::UnknownDisabled { found, known: detect::known_disabled() })
    }

    /// Builds a dispatcher that knows every cost.
    fn join(
        &self,
        proved: &[Arc<SelfTestedEngine>],
        referee: &Arc<dyn Engine>,
        costs: &EngineCosts,
    ) -> Dispatcher {
        let builder = self.dispatcher(proved, referee);
        let with_cost = |builder: DispatcherBuilder,
                         (engine, shape, cost): &(&'static str, Shape, EngineCost)| {
            builder.cost(engine, *shape, *cost)
        };
        costs.iter().fold(builder, with_cost).build()
    }

    /// Builds a dispatcher that asks for a cost at first use.
    fn join_lazily(
        &self,
        proved: &[Arc<SelfTestedEngine>],
        referee: &Arc<dyn Engine>,
        costs: &Arc<FirstUseCosts>,
    ) -> Dispatcher {
        let (engines, costs) = (proved.to_vec(), Arc::clone(costs));
        let probe = move |engine: &dyn Engine, shape| {
            engines.iter().find(|entry| entry.name() == engine.name())?.probe(shape, &costs)
        };
        self.dispatcher(proved, referee).first_use_probe(probe).build()
    }

    fn dispatcher(&self, proved: &[Arc<SelfTestedEngine>], referee: &Arc<dyn Engine>) -> DispatcherBuilder {
        let mut engines = proved.iter().map(|engine| Arc::clone(engine) as Arc<dyn Engine>);
        // unreachable because the referee was put first
        let first = engines.next().unwrap_or_else(|| Arc::clone(referee));
        // If it is the only engine, it serves without being named: somebody must answer.
        let referee_serves = self.is_named("scalar") || proved.len() == 1;
        let probed = proved.to_vec();
        let passes = move |engine: &dyn Engine, shape| {
            probed.iter().any(|entry| entry.name() == engine.name() && entry.passes(shape))
        };
        let builder = DispatcherBuilder::new(first)
            .config(self.scheduler_config().with_referee_serves(referee_serves))
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
        let leaves = detect::known_leaves();
        if let Some(found) = self.leaf.as_ref().filter(|leaf| !leaves.contains(&leaf.as_str())) {
            let known = leaves.into_iter().map(str::to_owned).collect();
            return Err(BuildError::UnknownLeaf { found: found.clone(), known });
        }
        let share = self.cross_check.unwrap_or(self.config.cross_check);
        // NaN is in no range, so it is refused too.
        if !(0.0..=1.0).contains(&share) {
            return Err(BuildError::CrossCheck { found: share.to_string() });
        }
        Ok(())
    }

    /// Returns the settings of [`config`](Self::config), replaced by those that have a method of their own.
    fn scheduler_config(&self) -> SchedulerConfig {
        self.config
            .clone()
            .with_threads(self.threads.unwrap_or(self.config.threads))
            .with_cross_check(self.cross_check.unwrap_or(self.config.cross_check))
            .with_confirm(self.confirm.unwrap_or(self.config.confirm))
            .with_max_tenant_backlog(self.max_tenant_backlog.or(self.config.max_tenant_backlog))
    }

    fn is_named(&self, name: &str) -> bool {
        self.allowed.as_ref().is_none_or(|allowed| allowed.iter().any(|entry| entry == name))
    }
}

/// Returns the findings about an engine and some shapes. Tests that a lazy engine has not run yet are run first.
pub(super) fn report(
    engine: &SelfTestedEngine,
    shapes: &[Shape],
    cost: impl Fn(Shape) -> Option<EngineCost>,
) -> EngineReport {
    let shapes = shapes.iter().filter_map(|&shape| {
        Some(ShapeReport {
            shape,
            lanes: engine.claims(shape)?,
            leaf: engine.leaf(shape),
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

fn find_cost(costs: &EngineCosts, engine: &str, shape: Shape) -> Option<EngineCost> {
    costs.iter().find(|(name, candidate, _)| (*name, *candidate) == (engine, shape)).map(|row| row.2)
}
