//! The harness reports leaks and nothing else. Its clock counts steps, so that noise of the machine has no influence.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use oarlock_core::{
    BatchSize, Engine, EngineFault, Jobs, KeyParts, NonceInput, Operation, Outcomes, SecondInput, Shape,
    Status,
};
use oarlock_leaks::leaves::name_for;
use oarlock_leaks::report::{TimeRow, is_clean, write};
use oarlock_leaks::saved::SavedSamples;
use oarlock_leaks::subject::{Subject, TestRandom};
use oarlock_leaks::timing::{self, SampleClock, SampleLimits, measure, measure_on_threads};
use oarlock_leaks::{LeakError, leaves};

/// Counts steps in place of time.
#[derive(Clone, Debug, Default)]
struct Steps(Arc<AtomicU64>);

/// Takes some thousand noisy steps for each batch. If it leaks, it takes one more for each set bit of its secrets.
#[derive(Debug)]
struct Stepping {
    steps: Steps,
    leaks: bool,
}

impl Engine for Stepping {
    fn name(&self) -> &'static str {
        if self.leaks { "planted" } else { "stepping" }
    }

    fn offers(&self, shape: Shape) -> Option<BatchSize> {
        (shape == Shape::X25519).then_some(BatchSize { preferred: 8, max: 8 })
    }

    fn confirms(&self, _: Shape) -> bool {
        false
    }

    fn run(&self, jobs: &Jobs<'_>, out: &mut Outcomes) -> Result<(), EngineFault> {
        let Jobs::Operations(_, operations) = jobs else { unreachable!() };
        let now = self.steps.0.load(Ordering::Relaxed);
        let mut steps = 1_000 + TestRandom::new(now).below(4_000) as u64;
        for (index, operation) in operations.iter().enumerate() {
            out.set(index, Status::Done);
            if let (true, Some(KeyParts::X25519Private(parts))) = (self.leaks, operation.key.parts()) {
                steps += parts.scalar.expose().iter().map(|byte| u64::from(byte.count_ones())).sum::<u64>();
            }
        }
        self.steps.0.fetch_add(steps, Ordering::Relaxed);
        Ok(())
    }
}

impl SampleClock for Steps {
    fn time<T>(&mut self, body: impl FnOnce() -> T) -> (T, u64) {
        let before = self.0.load(Ordering::Relaxed);
        (body(), self.0.load(Ordering::Relaxed) - before)
    }
}

fn row(leaks: bool) -> TimeRow {
    let mut clock = Steps::default();
    let engine = Stepping { steps: clock.clone(), leaks };
    let mut subject = Subject::new("x25519").unwrap();
    let mut ticks = 0;
    let tests = measure(&engine, &mut subject, SampleLimits::samples(20_000), &mut clock, &mut || ticks += 1)
        .unwrap();
    assert_eq!((tests.count(), ticks), (20_000, 22_000));
    timing::row(subject.name(), engine.name().into(), &[tests])
}

#[test]
fn reports_the_planted_leak_and_no_other() {
    let (planted, sound) = (row(true), row(false));
    assert!(planted.leaks && planted.t > 20.0, "{planted:?}");
    assert!(!sound.leaks && sound.t < 5.0, "{sound:?}");
    let mut text = Vec::new();
    assert!(is_clean(&[planted.clone(), sound.clone()]));
    write(&[planted.clone(), sound.clone()], false, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("leaks, as planted") && text.contains("no leak"), "{text}");
    let missed = TimeRow { leaks: false, ..planted };
    let found = TimeRow { leaks: true, ..sound };
    assert!(!is_clean(std::slice::from_ref(&missed)) && !is_clean(std::slice::from_ref(&found)));
}

/// Keeps the hedges of each batch, and computes nothing.
#[derive(Debug, Default)]
struct KeepsHedges(Mutex<HashSet<Vec<[u8; 32]>>>);

impl Engine for KeepsHedges {
    fn name(&self) -> &'static str {
        "keeps hedges"
    }

    fn offers(&self, _: Shape) -> Option<BatchSize> {
        Some(BatchSize { preferred: 8, max: 8 })
    }

    fn confirms(&self, _: Shape) -> bool {
        false
    }

    fn run(&self, jobs: &Jobs<'_>, out: &mut Outcomes) -> Result<(), EngineFault> {
        let Jobs::Operations(_, operations) = jobs else { unreachable!() };
        (0..operations.len()).for_each(|index| out.set(index, Status::Done));
        let hedge = |operation: &Operation<'_>| match operation.extra {
            SecondInput::NonceInput(NonceInput::Hedged(hedge)) => *hedge,
            _ => unreachable!(),
        };
        self.0.lock().unwrap().insert(operations.iter().map(hedge).collect());
        Ok(())
    }
}

/// The number of attempts follows from the hedges, so samples with the same ones are not independent.
#[test]
fn every_sample_of_a_signature_has_fresh_hedges() {
    let engine = KeepsHedges::default();
    let mut subject = Subject::new("ml-dsa-44-sign").unwrap();
    let limits = SampleLimits::samples(1_600);
    let tests = measure(&engine, &mut subject, limits, &mut Steps::default(), &mut || {}).unwrap();
    assert_eq!(tests.count(), 1_600);
    // 160 samples of the pilot, and two untimed runs for each pair of batches.
    assert_eq!(engine.0.into_inner().unwrap().len(), 1_760 + 2 * 110);
}

#[test]
fn threads_share_the_samples() {
    let engine = Stepping { steps: Steps::default(), leaks: false };
    let ticks = AtomicU64::new(0);
    let count = || {
        ticks.fetch_add(1, Ordering::Relaxed);
    };
    let threads = NonZeroUsize::new(3).unwrap();
    let subject = Subject::new("x25519").unwrap();
    let limits = SampleLimits::samples(20_000);
    let tests = measure_on_threads(&engine, &subject, limits, 0, threads, &count).unwrap();
    let row = timing::row(subject.name(), name_for(&engine, &subject).into(), &tests);
    assert_eq!((row.samples, ticks.into_inner()), (3 * 6_667, 3 * (6_667 + 666)));
    assert_eq!((&*row.subject, &*row.leaf), ("x25519", "stepping"));
}

#[test]
fn a_measurement_past_its_deadline_has_no_samples() {
    let engine = Stepping { steps: Steps::default(), leaks: false };
    let mut subject = Subject::new("x25519").unwrap();
    let limits = SampleLimits { samples: 20_000, deadline: Some(Instant::now()) };
    let tests = measure(&engine, &mut subject, limits, &mut Steps::default(), &mut || {}).unwrap();
    assert_eq!(tests.count(), 0);
}

#[test]
fn saved_samples_are_read_back_and_a_broken_file_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("samples.json");
    let mut clock = Steps::default();
    let engine = Stepping { steps: clock.clone(), leaks: true };
    let mut subject = Subject::new("x25519").unwrap();
    let tests =
        measure(&engine, &mut subject, SampleLimits::samples(20_000), &mut clock, &mut || {}).unwrap();
    let mut saved = SavedSamples::open(&path).unwrap();
    assert!(saved.tests("x25519", "fma").is_empty());
    saved.replace("x25519", "fma", vec![tests.clone()]).unwrap();
    let again = SavedSamples::open(&path).unwrap();
    let t = timing::row("x25519", "fma".into(), again.tests("x25519", "fma"));
    assert_eq!((t.samples, t.leaks), (20_000, true));
    assert!((t.t - timing::row("x25519", "fma".into(), &[tests]).t).abs() < 1e-6);
    assert!(again.tests("x25519", "avx2").is_empty());
    std::fs::write(&path, "{").unwrap();
    assert!(SavedSamples::open(&path).unwrap_err().to_string().starts_with(path.to_str().unwrap()));
}

#[test]
fn every_subject_has_batches_that_differ_in_their_secrets_alone() {
    use oarlock_leaks::welch::SampleClass::{Fixed, Random};
    for name in [
        "rsa1024-private",
        "modexp1024-1024",
        "p256-sign",
        "p384-sign",
        "ed25519-sign",
        "x25519-base",
        "ml-kem-768-decaps",
        "tdes3-cbc-encrypt",
        "retail-mac",
        "hmac-sha256",
        "aes128-gcm-encrypt",
    ] {
        let mut subject = Subject::new(name).unwrap();
        let engine = Stepping { steps: Steps::default(), leaks: false };
        let secrets = |subject: &mut Subject, class| -> Vec<Vec<u8>> {
            subject.full_batch(class, &engine).secrets().map(<[u8]>::to_vec).collect()
        };
        let (first, second) = (secrets(&mut subject, Fixed), secrets(&mut subject, Fixed));
        assert_eq!(first, second, "{name}");
        assert_ne!(secrets(&mut subject, Random), secrets(&mut subject, Random), "{name}");
        let (fixed, random) = (subject.full_batch(Fixed, &engine), subject.full_batch(Random, &engine));
        let inputs = |batch: &oarlock_leaks::subject::SecretBatch| -> Vec<Vec<u8>> {
            batch.with_jobs(|jobs| match jobs {
                Jobs::Operations(shape, operations) => {
                    assert!(operations.iter().all(|operation| operation.fits(*shape)), "{name}");
                    operations.iter().map(|operation| operation.input.to_vec()).collect()
                }
                Jobs::Records(shape, parts) => {
                    let records = parts.iter().flat_map(|records| records.resolve(*shape));
                    records.map(|record| record.unwrap().input.to_vec()).collect()
                }
            })
        };
        assert_eq!(inputs(&fixed), inputs(&random), "{name}");
    }
}

#[test]
fn an_unknown_subject_gets_an_error_with_all_names() {
    let error = Subject::new("rsa1000").unwrap_err();
    assert!(matches!(error, LeakError::Unknown { .. }) && error.to_string().contains("p256-sign"), "{error}");
}

#[test]
fn paddings_of_both_classes_have_the_expected_results() {
    for name in oarlock_leaks::padding::NAMES {
        let mut paddings = oarlock_leaks::padding::PaddingSubject::new(name, false).unwrap();
        let row = paddings.measure(200, &mut Steps::default(), &mut || {}).unwrap();
        assert_eq!((row.subject.as_str(), row.samples), (name, 200));
    }
    assert!(matches!(
        oarlock_leaks::padding::PaddingSubject::new("rot13", false),
        Err(LeakError::Unknown { .. })
    ));
}

#[test]
fn tls_records_of_both_classes_are_rejected() {
    use oarlock_leaks::tls::{NAMES, TlsSubject};
    let scalar = oarlock_scalar::ScalarEngine::detect().unwrap();
    for name in NAMES {
        for is_planted in [false, true] {
            let mut subject = TlsSubject::new(name, is_planted).unwrap();
            let row = subject.measure(&scalar, 200, &mut Steps::default(), &mut || {}).unwrap();
            let leaf = if is_planted { "planted" } else { "scalar" };
            assert_eq!((row.subject.as_str(), &*row.leaf, row.samples), (name, leaf, 200));
        }
    }
    assert!(matches!(
        TlsSubject::new("aes128-cbc-hmac-sha1-etm-decrypt", false),
        Err(LeakError::Unknown { .. })
    ));
}

#[test]
fn a_leaf_is_checked_by_its_name() {
    let named = |name: &str| leaves::named(&[name.to_owned()], |engine| Subject::names(engine, 2048));
    let error = named("avx4096").unwrap_err();
    assert!(
        matches!(error, LeakError::UnknownLeaf { .. }) && error.to_string().contains("aes-ni"),
        "{error}"
    );
    let scalar = named("scalar").unwrap();
    assert!(scalar[0].subjects.contains(&"ml-dsa-65-sign".to_owned()), "{scalar:?}");
    assert!(scalar[0].subjects.iter().all(|name| name.starts_with("ml-")), "{scalar:?}");
    for leaf in named("all").unwrap() {
        for name in &leaf.subjects {
            let name = leaves::name_for(&*leaf.engine, &Subject::with_one_key(name).unwrap());
            assert!(!name.starts_with("portable") && name != "lanes", "{name}");
            assert_eq!(named(name).unwrap()[0].subjects, leaf.subjects, "{name}");
        }
    }
}
