//! The search for the engines of this machine. No other module names them.

use std::collections::HashMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use oarlock_core::{
    BatchSize, Curve, Engine, EngineFault, EngineLeaf, EngineLocation, ForkSafeCell, Jobs, Outcomes, Shape,
    TableUsage,
};
use oarlock_dispatch::EngineCost;
#[cfg(feature = "lanes")]
use oarlock_lanes::{LaneEngine, Leaf};
use oarlock_scalar::{DEFAULT_TABLE_BYTES, ScalarEngine};

use crate::calibrate::FirstUseCosts;
use crate::selftest::{SelfTestFailure, SelfTestProof, prove, proved_shapes, representative, vouching};

/// The environment variable that turns engines and leaves off, with names separated by commas: `OARLOCK_DISABLE=lanes`,
/// `OARLOCK_DISABLE=avx512,vaes512`. The name `fma-secret` leaves secret operations on the scalar engine where the leaf
/// `fma` would compute them ([`AcceleratorBuilder::fma_secrets`](crate::AcceleratorBuilder::fma_secrets)).
///
/// The scalar engine cannot be turned off, because it is the referee.
pub const DISABLE_VARIABLE: &str = "OARLOCK_DISABLE";

/// Engines that this build knows, best first.
pub const KNOWN_ENGINES: [&str; 2] = ["lanes", "scalar"];

/// A known engine that is allowed and unavailable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AbsentEngine {
    /// The name that `engines` of the builder takes.
    pub name: &'static str,
    /// The reason why it is absent.
    pub reason: UnavailableReason,
}

/// The reason why an engine is absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnavailableReason {
    /// [`DISABLE_VARIABLE`] names it.
    Disabled,
    /// This build does not contain the engine, because its feature is off.
    NotBuilt,
    /// The processor lacks instructions that the engine needs.
    Processor {
        /// The name of the instructions.
        lacks: &'static str,
    },
}

impl fmt::Display for UnavailableReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disabled => write!(f, "turned off by {DISABLE_VARIABLE}"),
            Self::NotBuilt => f.write_str("not part of this build"),
            Self::Processor { lacks } => write!(f, "this processor has no {lacks}"),
        }
    }
}

/// The engines of this machine.
pub(crate) struct DetectedEngines {
    pub(crate) referee: ScalarEngine,
    pub(crate) others: Vec<EngineCandidate>,
    pub(crate) absent: Vec<AbsentEngine>,
    table_bytes: Option<usize>,
}

impl DetectedEngines {
    /// Returns the scalar engine in its role.
    ///
    /// It verifies by tables of its own unless other engines offer every shape of [`TABLE_SHAPES`]. Then it only helps
    /// them out, and computes by AWS-LC alone.
    pub(crate) fn scalar<'e>(&self, others: impl Iterator<Item = &'e dyn Engine> + Clone) -> EngineCandidate {
        let referee = || self.referee.clone();
        let is_offered = |shape: &Shape| others.clone().any(|engine| engine.offers(*shape).is_some());
        if TABLE_SHAPES.iter().all(is_offered) {
            return EngineCandidate::uniform(Arc::new(referee()));
        }
        EngineCandidate {
            serving: Arc::new(referee().with_table_bytes(self.table_bytes.unwrap_or(DEFAULT_TABLE_BYTES))),
            plain: Arc::new(referee()),
            eager: Arc::new(referee().with_tables_at_once()),
        }
    }
}

/// The shapes for which the scalar engine has tables for keys that recur.
const TABLE_SHAPES: [Shape; 2] = [Shape::EcdsaVerify { curve: Curve::P256 }, Shape::Ed25519Verify];

/// An engine in the form that serves, and in the forms that are tested and measured.
///
/// Tables for keys that recur change the path of later runs. So the cost is measured without them, and the self test
/// runs with and without them.
pub(crate) struct EngineCandidate {
    pub(crate) serving: Arc<dyn Engine>,
    /// The engine without tables for recurring keys.
    pub(crate) plain: Arc<dyn Engine>,
    /// The engine that builds each table before its first use.
    pub(crate) eager: Arc<dyn Engine>,
}

impl EngineCandidate {
    /// Wraps an engine that keeps nothing for recurring keys, or is not known to.
    pub(crate) fn uniform(engine: Arc<dyn Engine>) -> Self {
        Self { serving: Arc::clone(&engine), plain: Arc::clone(&engine), eager: engine }
    }
}

/// The leaves of engines that a caller allows.
#[derive(Clone, Debug, Default)]
pub(crate) struct LeafRules {
    /// Engines and leaves that the environment turns off.
    pub(crate) disabled: Vec<String>,
    /// The only leaf that is allowed, if one is named.
    pub(crate) only: Option<String>,
    /// True if the leaf of FMA may not compute with secrets.
    pub(crate) keeps_secrets_off_fma: bool,
}

/// The name in [`DISABLE_VARIABLE`] that keeps secrets off the leaf of FMA.
const FMA_SECRET: &str = "fma-secret";

impl LeafRules {
    fn disables(&self, name: &str) -> bool {
        self.disabled.iter().any(|disabled| disabled == name)
    }

    #[cfg(feature = "lanes")]
    fn allows(&self, leaf: Leaf) -> bool {
        !self.disables(leaf.name()) && self.only.as_ref().is_none_or(|only| only == leaf.name())
    }
}

/// Returns the names of the leaves that this build knows.
#[must_use]
pub fn known_leaves() -> Vec<&'static str> {
    #[cfg(feature = "lanes")]
    return Leaf::ALL.iter().map(|leaf| leaf.name()).collect();
    #[cfg(not(feature = "lanes"))]
    Vec::new()
}

/// Returns the names that [`DISABLE_VARIABLE`] may contain.
pub(crate) fn known_disabled() -> Vec<String> {
    let names = KNOWN_ENGINES.into_iter().chain(known_leaves()).chain([FMA_SECRET]);
    names.map(str::to_owned).collect()
}

/// Finds the referee and the other engines of this machine that the caller has named and allowed.
///
/// `table_bytes` bounds the tables that each keeps for keys that recur.
pub(crate) fn find(
    is_named: impl Fn(&str) -> bool,
    rules: &LeafRules,
    table_bytes: Option<usize>,
) -> Option<DetectedEngines> {
    let mut found = DetectedEngines {
        referee: ScalarEngine::detect()?,
        others: Vec::new(),
        absent: Vec::new(),
        table_bytes,
    };
    if is_named("lanes") {
        match lanes(rules, table_bytes) {
            Ok(candidate) => found.others.push(candidate),
            Err(reason) => found.absent.push(AbsentEngine { name: "lanes", reason }),
        }
    }
    Some(found)
}

#[cfg(feature = "lanes")]
fn lanes(rules: &LeafRules, table_bytes: Option<usize>) -> Result<EngineCandidate, UnavailableReason> {
    if rules.disables("lanes") {
        return Err(UnavailableReason::Disabled);
    }
    let detect = || {
        let lacks = if rules.only.is_some() { "such leaf" } else { "leaf that is allowed" };
        let lanes = LaneEngine::with_leaves(|leaf| rules.allows(leaf));
        let lanes = lanes.ok_or(UnavailableReason::Processor { lacks })?;
        let keeps_secrets_off_fma = rules.keeps_secrets_off_fma || rules.disables(FMA_SECRET);
        Ok(if keeps_secrets_off_fma { lanes.without_secrets_on_fma() } else { lanes })
    };
    let serving = match table_bytes {
        Some(bytes) => detect()?.with_table_bytes(bytes),
        None => detect()?,
    };
    // Detected three times, because the forms must not share their tables.
    Ok(EngineCandidate {
        serving: Arc::new(serving),
        plain: Arc::new(detect()?.with_table_bytes(0)),
        eager: Arc::new(detect()?.with_tables_at_once()),
    })
}

#[cfg(not(feature = "lanes"))]
fn lanes(_: &LeafRules, _: Option<usize>) -> Result<EngineCandidate, UnavailableReason> {
    Err(UnavailableReason::NotBuilt)
}

/// Returns the engines and leaves named in [`DISABLE_VARIABLE`].
///
/// # Errors
/// The first name that is neither in [`KNOWN_ENGINES`] nor in [`known_leaves`]. If it were ignored, a misspelt name
/// would leave an engine on.
pub(crate) fn disabled_by_environment() -> Result<Vec<String>, String> {
    disabled_by(&std::env::var_os(DISABLE_VARIABLE).unwrap_or_default().to_string_lossy())
}

fn disabled_by(value: &str) -> Result<Vec<String>, String> {
    let known = known_disabled();
    let names = value.split(',').map(str::trim).filter(|name| !name.is_empty());
    names
        .map(|name| {
            if known.iter().any(|candidate| candidate == name) {
                Ok(name.to_owned())
            } else {
                Err(name.to_owned())
            }
        })
        .collect()
}

/// An engine that offers only shapes whose self test has passed.
///
/// A shape is tested when it is first asked about. That takes time, so callers hold no lock then.
#[derive(Debug)]
pub(crate) struct SelfTestedEngine {
    engine: Arc<dyn Engine>,
    plain: Arc<dyn Engine>,
    eager: Arc<dyn Engine>,
    referee: Arc<dyn Engine>,
    /// The findings about each shape that the engine claims.
    known: Arc<HashMap<Shape, ShapeFindings>>,
    /// True if a run must look at the verdict. If all shapes were tested before, the dispatcher knows the verdicts.
    is_guarded: bool,
}

/// The findings about a shape.
///
/// No thread waits for another here. Two threads that ask at once may both run the test, with the same result, and a
/// fork in between leaves the child no lock that nobody opens.
#[derive(Debug, Default)]
struct ShapeFindings {
    verdict: ForkSafeCell<(Result<SelfTestProof, SelfTestFailure>, Duration)>,
    cost: ForkSafeCell<Option<EngineCost>>,
}

impl SelfTestedEngine {
    /// Runs the self test of every shape that the engine offers.
    pub(crate) fn new(candidate: EngineCandidate, referee: Arc<dyn Engine>) -> Self {
        let entry = Self { is_guarded: false, ..Self::unproved(candidate, referee) };
        for shape in proved_shapes() {
            // The verdict stays in `known`. A failure withdraws one shape, not the engine.
            let _ = entry.verdict(shape);
        }
        entry
    }

    /// Runs the self test of a shape when it is first asked about.
    pub(crate) fn unproved(candidate: EngineCandidate, referee: Arc<dyn Engine>) -> Self {
        let EngineCandidate { serving: engine, plain, eager } = candidate;
        let claimed = proved_shapes().into_iter().filter(|shape| engine.offers(*shape).is_some());
        let known = Arc::new(claimed.map(|shape| (shape, ShapeFindings::default())).collect());
        Self { engine, plain, eager, referee, known, is_guarded: true }
    }

    /// Returns the engine to measure. Tables for recurring keys would hide the cost of other keys.
    pub(crate) fn plain(&self) -> Self {
        let engine = Arc::clone(&self.plain);
        Self {
            plain: Arc::clone(&engine),
            eager: Arc::clone(&engine),
            engine,
            referee: Arc::clone(&self.referee),
            known: Arc::clone(&self.known),
            is_guarded: false,
        }
    }

    /// Returns the result of a shape's self test, and runs the test if nobody has. Returns `None` if the engine does
    /// not claim the shape.
    pub(crate) fn verdict(&self, shape: Shape) -> Option<&Result<SelfTestProof, SelfTestFailure>> {
        let tested = vouching(shape);
        let (verdict, _) = self.known.get(&tested)?.verdict.get_or_make(|| {
            let start = Instant::now();
            (self.prove(tested), start.elapsed())
        });
        Some(verdict)
    }

    /// Returns the result of a shape's self test if it has run.
    fn verdict_so_far(&self, shape: Shape) -> Option<&Result<SelfTestProof, SelfTestFailure>> {
        self.known.get(&vouching(shape))?.verdict.get().map(|(verdict, _)| verdict)
    }

    /// Returns the self tests that have failed so far.
    pub(crate) fn failures(&self) -> impl Iterator<Item = (Shape, &SelfTestFailure)> {
        proved_shapes()
            .into_iter()
            .filter_map(|shape| Some((shape, self.verdict_so_far(shape)?.as_ref().err()?)))
    }

    /// Returns the time that its self tests took so far.
    pub(crate) fn proved_in(&self) -> Duration {
        self.known.values().filter_map(|known| known.verdict.get()).map(|(_, took)| *took).sum()
    }

    /// Returns the number of shapes that were asked about so far.
    #[cfg(test)]
    pub(crate) fn shapes_so_far(&self) -> usize {
        self.known
            .values()
            .filter(|known| known.verdict.get().is_some() || known.cost.get().is_some())
            .count()
    }

    /// Returns the batch size and the cost of a shape, after a test and a measurement if they are missing.
    pub(crate) fn probe(&self, shape: Shape, costs: &FirstUseCosts) -> Option<(BatchSize, EngineCost)> {
        let lanes = self.offers(shape)?;
        Some((lanes, self.cost(shape, costs).unwrap_or_default()))
    }

    /// Returns the cost of a shape whose self test has passed.
    pub(crate) fn cost(&self, shape: Shape, costs: &FirstUseCosts) -> Option<EngineCost> {
        let known = &self.known.get(&shape)?.cost;
        // This runs the self test if it is missing. An engine that fails it is not worth a measurement.
        self.offers(shape)?;
        // Two threads may measure at once. The first result counts, and both are right.
        *known.get_or_make(|| costs.cost(&self.plain(), shape))
    }

    /// Returns the batch size that the engine would offer if every self test had passed.
    pub(crate) fn claims(&self, shape: Shape) -> Option<BatchSize> {
        self.engine.offers(shape)
    }

    /// Runs the test that ends a quarantine: the shape that the engine lost, or all shapes that it has passed before.
    ///
    /// The tables for recurring keys may be what was wrong, so they are dropped first.
    pub(crate) fn passes(&self, shape: Option<Shape>) -> bool {
        let shapes = match shape {
            Some(shape) => vec![representative(shape)],
            // Many shapes have one test.
            None => proved_shapes().into_iter().filter(|shape| vouching(*shape) == *shape).collect(),
        };
        self.engine.drop_tables();
        self.eager.drop_tables();
        // A shape that never passed is not offered, so it cannot keep the engine in quarantine.
        let is_proved = |shape: &Shape| self.verdict_so_far(*shape).is_some_and(Result::is_ok);
        let mut offered = shapes.into_iter().filter(is_proved).peekable();
        offered.peek().is_some() && offered.all(|shape| self.prove(shape).is_ok())
    }

    fn is_proved(&self, shape: Shape) -> bool {
        self.verdict(shape).is_some_and(Result::is_ok)
    }

    /// Runs the self test of a shape. An engine that panics has failed.
    fn prove(&self, shape: Shape) -> Result<SelfTestProof, SelfTestFailure> {
        let prove = || prove_both(&*self.engine, &*self.eager, &*self.referee, shape);
        catch_unwind(AssertUnwindSafe(prove)).unwrap_or_else(|_| {
            Err(EngineFault::Failed { engine: self.engine.name(), reason: "panicked".to_owned() }.into())
        })
    }
}

impl Engine for SelfTestedEngine {
    fn name(&self) -> &'static str {
        self.engine.name()
    }

    fn offers(&self, shape: Shape) -> Option<BatchSize> {
        self.engine.offers(shape).filter(|_| self.is_proved(shape))
    }

    fn confirms(&self, shape: Shape) -> bool {
        self.engine.confirms(shape)
    }

    fn location(&self) -> EngineLocation {
        self.engine.location()
    }

    fn leaf(&self, shape: Shape) -> Option<EngineLeaf> {
        self.engine.leaf(shape)
    }

    fn table_usage(&self) -> TableUsage {
        self.engine.table_usage()
    }

    fn wait_for_tables(&self) {
        self.engine.wait_for_tables();
    }

    fn drop_tables(&self) {
        self.engine.drop_tables();
    }

    fn run(&self, jobs: &Jobs<'_>, out: &mut Outcomes) -> Result<(), EngineFault> {
        if self.is_guarded && !self.is_proved(jobs.shape()) {
            return Err(EngineFault::NotOffered { engine: self.name(), shape: jobs.shape() });
        }
        self.engine.run(jobs, out)
    }
}

/// Runs the known answers on an engine. If it would build tables, they run on the engine that builds them at once
/// too.
fn prove_both(
    engine: &dyn Engine,
    eager: &dyn Engine,
    referee: &dyn Engine,
    shape: Shape,
) -> Result<SelfTestProof, SelfTestFailure> {
    let mut proof = prove(engine, referee, shape)?;
    // An engine may claim tables and build none for this shape. Then the second proof shows nothing new.
    let before = eager.table_usage().bytes;
    if eager.table_usage().max_bytes > 0 && is_verification(shape) {
        let with_tables = prove(eager, referee, shape)?;
        if eager.table_usage().bytes > before {
            proof.jobs += with_tables.jobs;
        }
    }
    Ok(proof)
}

/// True for shapes whose keys recur: many signatures are verified under the key of one signer.
fn is_verification(shape: Shape) -> bool {
    shape.signature_len().is_some()
}

#[cfg(test)]
mod tests {
    use oarlock_core::RsaExponent;

    use super::*;
    use crate::selftest::CorruptEngine;

    #[test]
    fn only_known_engines_can_be_turned_off() {
        assert_eq!(disabled_by(""), Ok(Vec::new()));
        assert_eq!(disabled_by(" lanes, ,scalar,"), Ok(vec!["lanes".to_owned(), "scalar".to_owned()]));
        assert_eq!(disabled_by("lanes,lane"), Err("lane".to_owned()));
    }

    /// Finds the lanes with the leaf of FMA alone, with and without secrets on it.
    #[cfg(feature = "lanes")]
    #[test]
    fn secrets_can_be_kept_off_the_floating_point_unit() {
        let lanes = |rules: LeafRules| {
            let rules = LeafRules { only: Some("fma".to_owned()), ..rules };
            find(|name| name == "lanes", &rules, None).unwrap().others.pop()
        };
        let Some(all) = lanes(LeafRules::default()) else {
            eprintln!("SKIPPED: this processor has no FMA");
            return;
        };
        let secret = Shape::RsaPrivate { bits: 2048 };
        let public = Shape::RsaPublic { bits: 2048, exponent: RsaExponent::F4 };
        assert!(all.serving.offers(secret).is_some() && all.serving.offers(public).is_some());
        let by_name = LeafRules { disabled: vec![FMA_SECRET.to_owned()], ..LeafRules::default() };
        let by_caller = LeafRules { keeps_secrets_off_fma: true, ..LeafRules::default() };
        for rules in [by_name, by_caller] {
            let public_only = lanes(rules).unwrap();
            for engine in [&public_only.serving, &public_only.plain, &public_only.eager] {
                assert!(engine.offers(secret).is_none() && engine.offers(public).is_some());
            }
        }
    }

    #[test]
    fn an_engine_offers_only_what_it_has_proved() {
        let scalar: Arc<dyn Engine> = Arc::new(ScalarEngine::detect().unwrap());
        let corrupt: Arc<dyn Engine> =
            Arc::new(CorruptEngine::new(ScalarEngine::detect().unwrap(), Shape::Ed25519Sign, 0));
        let proved = SelfTestedEngine::new(EngineCandidate::uniform(corrupt), scalar);
        assert!(proved.claims(Shape::Ed25519Sign).is_some() && proved.offers(Shape::Ed25519Sign).is_none());
        assert!(proved.verdict(Shape::Ed25519Sign).is_some_and(Result::is_err));
        assert!(proved.offers(Shape::Ed25519Verify).is_some());
        assert!(!proved.passes(Some(Shape::Ed25519Sign)));
        assert!(proved.passes(Some(Shape::Ed25519Verify)));
    }

    /// An engine that claims to build tables for recurring keys.
    #[derive(Debug)]
    struct Building<E>(E);

    impl<E: Engine> Engine for Building<E> {
        fn name(&self) -> &'static str {
            "building"
        }

        fn offers(&self, shape: Shape) -> Option<BatchSize> {
            self.0.offers(shape)
        }

        fn confirms(&self, shape: Shape) -> bool {
            self.0.confirms(shape)
        }

        fn table_usage(&self) -> TableUsage {
            TableUsage { bytes: 0, max_bytes: 1 }
        }

        fn run(&self, jobs: &Jobs<'_>, out: &mut Outcomes) -> Result<(), EngineFault> {
            self.0.run(jobs, out)
        }
    }

    #[test]
    fn what_is_built_for_keys_that_recur_is_proved_too() {
        let scalar = || ScalarEngine::detect().unwrap();
        let (verify, sign) = (Shape::Ed25519Verify, Shape::Ed25519Sign);
        let proved = |damaged| {
            let eager = Arc::new(Building(CorruptEngine::new(scalar(), damaged, 0)));
            let candidate = EngineCandidate { eager, ..EngineCandidate::uniform(Arc::new(scalar())) };
            SelfTestedEngine::new(candidate, Arc::new(scalar()))
        };
        let wrong = proved(verify);
        assert!(wrong.verdict(verify).unwrap().is_err() && wrong.offers(verify).is_none());
        assert!(wrong.offers(Shape::EcdsaVerify { curve: Curve::P256 }).is_some());
        assert!(proved(sign).offers(sign).is_some(), "nothing is built for signing");
    }

    #[cfg(feature = "lanes")]
    #[test]
    fn tables_are_built_where_they_are_to_be_proved() {
        let Some(eager) = LaneEngine::detect().map(LaneEngine::with_tables_at_once) else {
            eprintln!("SKIPPED: this processor has no leaf of the lanes");
            return;
        };
        // SLH-DSA has no tables.
        let has_tables =
            |shape: &Shape| is_verification(*shape) && !matches!(shape, Shape::SlhDsaVerify { .. });
        for shape in proved_shapes().into_iter().filter(has_tables) {
            if eager.offers(shape).is_some() {
                eager.drop_tables();
                prove(&eager, &ScalarEngine::detect().unwrap(), shape).unwrap();
                assert!(eager.table_usage().bytes > 0, "{shape}");
            }
        }
    }

    /// An engine that offers the shapes of a list.
    #[derive(Debug)]
    struct Offering(&'static [Shape]);

    impl Engine for Offering {
        fn name(&self) -> &'static str {
            "offering"
        }

        fn offers(&self, shape: Shape) -> Option<BatchSize> {
            self.0.contains(&shape).then_some(BatchSize { preferred: 8, max: 8 })
        }

        fn confirms(&self, _: Shape) -> bool {
            false
        }

        fn run(&self, _: &Jobs<'_>, _: &mut Outcomes) -> Result<(), EngineFault> {
            Err(EngineFault::Failed { engine: "offering", reason: "it never computes".to_owned() })
        }
    }

    #[test]
    fn the_scalar_engine_has_tables_where_no_other_engine_verifies() {
        let found = || find(|name| name == "scalar", &LeafRules::default(), Some(1 << 20)).unwrap();
        let beside = |shapes| found().scalar([Offering(shapes)].iter().map(|engine| engine as &dyn Engine));
        // Engines for records, or for one kind of signature, leave the others to the scalar engine.
        for shapes in [&TABLE_SHAPES[..1], &TABLE_SHAPES[1..], &[]] {
            assert_eq!(beside(shapes).serving.table_usage().max_bytes, 1 << 20, "{shapes:?}");
        }
        let (alone, beside) = (found().scalar(std::iter::empty()), beside(&TABLE_SHAPES));
        assert_eq!(alone.serving.table_usage().max_bytes, 1 << 20);
        for engine in [&alone.plain, &beside.serving, &beside.plain, &beside.eager] {
            assert_eq!(engine.table_usage().max_bytes, 0);
        }
        let proved = SelfTestedEngine::new(alone, Arc::new(ScalarEngine::detect().unwrap()));
        assert!(proved.failures().next().is_none());
        for (shape, has_tables) in [
            (Shape::EcdsaVerify { curve: Curve::P256 }, true),
            (Shape::EcdsaVerify { curve: Curve::P384 }, false),
            (Shape::Ed25519Verify, true),
        ] {
            proved.eager.drop_tables();
            prove(&*proved.eager, &*proved.referee, shape).unwrap();
            assert_eq!(proved.eager.table_usage().bytes > 0, has_tables, "{shape}");
        }
    }

    #[test]
    fn a_failed_size_withdraws_the_sizes_it_vouches_for() {
        let shape = Shape::RsaPrivate { bits: 2048 };
        let scalar: Arc<dyn Engine> = Arc::new(ScalarEngine::detect().unwrap());
        let corrupt = Arc::new(CorruptEngine::new(ScalarEngine::detect().unwrap(), shape, 0));
        let proved = SelfTestedEngine::new(EngineCandidate::uniform(corrupt), scalar);
        assert!(proved.offers(shape).is_none() && proved.offers(Shape::RsaPrivate { bits: 2000 }).is_none());
        assert!(proved.offers(Shape::RsaPrivate { bits: 3072 }).is_some());
    }
}
