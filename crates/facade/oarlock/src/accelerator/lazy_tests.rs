//! Accelerators that prove and measure at first use.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use oarlock_core::{
    BatchSize, Curve, Engine, EngineFault, JobError, Jobs, Key, Outcomes, Scheme, Shape, VerifyingScheme,
};
use oarlock_dispatch::SubmitOptions;
use oarlock_keys::generate;
use oarlock_scalar::ScalarEngine;

use super::Accelerator;
use crate::selftest::{CorruptEngine, SelfTestFailure};
use crate::{Calibration, Input, Job};

/// An engine that counts what it is asked to compute, and is right but for one lane of one shape.
#[derive(Debug)]
struct Counting {
    engine: CorruptEngine<ScalarEngine>,
    runs: Arc<AtomicUsize>,
}

impl Engine for Counting {
    fn name(&self) -> &'static str {
        "counting"
    }

    fn offers(&self, shape: Shape) -> Option<BatchSize> {
        self.engine.offers(shape).map(|lanes| BatchSize { preferred: 4, max: lanes.max.max(4) })
    }

    fn confirms(&self, _: Shape) -> bool {
        false
    }

    fn run(&self, jobs: &Jobs<'_>, out: &mut Outcomes) -> Result<(), EngineFault> {
        self.runs.fetch_add(1, Ordering::SeqCst);
        self.engine.run(jobs, out)
    }
}

/// A lazy accelerator whose second engine damages `damaged`, and how often that engine ran.
fn lazy(damaged: Shape, allowed: &[&str]) -> (Accelerator, Arc<AtomicUsize>) {
    let runs = Arc::new(AtomicUsize::new(0));
    let engine = CorruptEngine::new(ScalarEngine::detect().unwrap(), damaged, 1);
    let engine = Counting { engine, runs: Arc::clone(&runs) };
    let builder = Accelerator::builder().threads(1).cross_check(0.0).cost_cache(None).lazy();
    (builder.engine(Arc::new(engine)).engines(allowed.iter().copied()).build().unwrap(), runs)
}

const SIGN: Scheme = Scheme::Ed25519Sign;
/// Not used by these tests.
const ELSEWHERE: Shape = Shape::EcdsaVerify { curve: Curve::P384 };

fn sign(key: &Key) -> Job<'_> {
    Job::with_scheme(SIGN, key, Input::Message(b"lazily"), &[])
}

#[test]
fn nothing_is_proved_or_measured_before_it_is_wanted() {
    let (accelerator, runs) = lazy(ELSEWHERE, &["scalar", "counting"]);
    assert_eq!(runs.load(Ordering::SeqCst), 0);
    assert_eq!(*accelerator.calibration(), Calibration::AtFirstUse { cache: None });
    let proved = |accelerator: &Accelerator| -> Vec<usize> {
        let known = |engine: &Arc<crate::detect::SelfTestedEngine>| engine.shapes_so_far();
        accelerator.parts.proved.iter().map(known).collect()
    };
    assert_eq!(proved(&accelerator), [0, 0]);
    let key = generate::ed25519().unwrap();
    for options in [SubmitOptions::default(), SubmitOptions::default().with_never_on_caller_thread(true)] {
        accelerator.submit(&sign(&key), options).wait().unwrap();
    }
    assert_eq!(
        (proved(&accelerator), runs.load(Ordering::SeqCst)),
        (vec![1, 0], 0),
        "one job is the referee's"
    );
    let jobs = vec![sign(&key); 4];
    let answers = accelerator.run_all(&jobs);
    assert!((0..4).all(|at| answers.get(at) == answers.get(0) && answers.get(at).is_ok()));
    assert_eq!(proved(&accelerator), [1, 1]);
    assert!(runs.load(Ordering::SeqCst) > 0 && accelerator.failures().is_empty());
}

#[test]
fn a_lazy_accelerator_answers_as_another_does() {
    let (lazy, _) = lazy(ELSEWHERE, &["scalar", "counting"]);
    let eager = Accelerator::builder().threads(1).cost_cache(None).engines(["scalar"]).build().unwrap();
    let (key, rsa) = (generate::ed25519().unwrap(), generate::rsa(2048).unwrap());
    let pkcs1 = Scheme::RsaPkcs1Sign { digest: oarlock_core::DigestAlg::Sha256 };
    let signatures = [Job::with_scheme(pkcs1, &rsa, Input::Message(b"lazily"), &[]), sign(&key), sign(&key)];
    let (ours, theirs) =
        (lazy.submit_many(&signatures, SubmitOptions::default()).wait(), eager.run_all(&signatures));
    assert!((0..3).all(|at| ours.get(at).is_ok() && ours.get(at) == theirs.get(at)));
    let forged = Job::verify(VerifyingScheme::ED25519, &key, Input::Message(b"other"), ours.get(1).unwrap());
    assert_eq!(lazy.submit(&forged, SubmitOptions::default()).wait().unwrap_err(), JobError::Rejected);
}

#[test]
fn one_damaged_lane_is_found_at_first_use() {
    let key = generate::ed25519().unwrap();
    let jobs = vec![sign(&key); 8];
    let (accelerator, _) = lazy(Shape::Ed25519Sign, &["scalar", "counting"]);
    let answers = accelerator.run_all(&jobs);
    assert!((0..8).all(|at| answers.get(at) == answers.get(0) && answers.get(at).is_ok()));
    let [(engine, shape, failure)] = &accelerator.failures()[..] else { panic!("one self test has failed") };
    assert_eq!((*engine, *shape), ("counting", Shape::Ed25519Sign));
    assert!(matches!(failure, SelfTestFailure::Wrong { lane: 1, .. }), "{failure}");
    assert_eq!(accelerator.diagnostics().dispatcher().costs(Shape::Ed25519Sign).len(), 1);

    let (only, _) = lazy(Shape::Ed25519Sign, &["counting"]);
    let queued = only.submit(&jobs[0], SubmitOptions::default().with_never_on_caller_thread(true)).wait();
    assert!(matches!(queued.unwrap_err(), JobError::Unsupported { .. }));
    assert!(matches!(only.run_all(&jobs).get(7), Err(JobError::Unsupported { .. })));
}

#[test]
fn the_findings_about_one_shape_need_no_other() {
    let (lazy, _) = lazy(Shape::X25519, &["scalar", "counting"]);
    assert_eq!(lazy.engine_names().collect::<Vec<_>>(), ["scalar", "counting"]);
    let [scalar, counting] = &lazy.engines_of(Shape::X25519)[..] else { panic!("both claim it") };
    assert!(scalar.shapes[0].verdict.is_ok() && scalar.shapes[0].cost.is_some());
    assert!(counting.shapes[0].verdict.is_err() && counting.shapes[0].cost.is_none());
    assert!(lazy.parts.proved.iter().all(|engine| engine.shapes_so_far() == 1));
    // The same findings as those of all shapes.
    let [_, report] = lazy.engines() else { panic!("two engines") };
    let failed: Vec<Shape> =
        report.shapes.iter().filter(|row| row.verdict.is_err()).map(|row| row.shape).collect();
    assert_eq!(failed, [Shape::X25519]);
    assert!(report.shapes.iter().all(|row| row.cost.is_some() == row.verdict.is_ok()));
    let [again, _] = &lazy.engines_of(Shape::Ed25519Sign)[..] else { panic!("both claim it") };
    assert_eq!((again.shapes.len(), again.shapes[0].shape), (1, Shape::Ed25519Sign));
}

/// The environment of a program with raised privileges is another user's: no path of a cache may come from it.
#[test]
fn the_environment_and_the_cost_cache_are_opt_in() {
    let build = |builder: crate::accelerator::AcceleratorBuilder| builder.threads(1).lazy().build().unwrap();
    let ignoring = build(Accelerator::builder());
    assert_eq!(*ignoring.calibration(), Calibration::AtFirstUse { cache: None });
    assert!(ignoring.absent().iter().all(|absent| absent.reason != crate::UnavailableReason::Disabled));
    let new = Accelerator::new().unwrap();
    assert_eq!(*new.calibration(), Calibration::AtFirstUse { cache: None });
    assert_eq!(new.parts.proved.iter().map(|engine| engine.shapes_so_far()).sum::<usize>(), 0);
    let cache = crate::default_cost_cache();
    let other = build(Accelerator::builder().environment(true).cost_cache(cache.clone()));
    assert_eq!(*other.calibration(), Calibration::AtFirstUse { cache });
}
