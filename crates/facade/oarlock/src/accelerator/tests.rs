//! Release checks shape by shape, and the accelerator as its users meet it.

use std::sync::Arc;

use oarlock_core::{
    BatchSize, Completion, CompositeAlg, Curve, DigestAlg, EcdsaEncoding, Engine, EngineFault, Fingerprint,
    Holder, JobError, Jobs, Key, KeyKind, NonceRule, Operation, Outcomes, OwnedJobs, Scheme, Shape,
    SigningScheme, SlhDsaSet, Status, VerifyingScheme,
};
use oarlock_dispatch::{Dispatcher, DispatcherBuilder, SchedulerConfig, SubmitOptions};
use oarlock_keys::generate;
use oarlock_scalar::ScalarEngine;

use super::{Accelerator, BuildError};
use crate::selftest::{CorruptEngine, proved_shapes, representative, sample_operations, sample_records};
use crate::{Input, Job};

/// An engine that damages one lane of one shape and confirms nothing.
#[derive(Debug)]
struct Damaged(CorruptEngine<ScalarEngine>);

impl Engine for Damaged {
    fn name(&self) -> &'static str {
        "damaged"
    }

    fn offers(&self, shape: Shape) -> Option<BatchSize> {
        self.0.offers(shape).map(|lanes| BatchSize { preferred: 4, max: lanes.max })
    }

    fn confirms(&self, _: Shape) -> bool {
        false
    }

    fn run(&self, jobs: &Jobs<'_>, out: &mut Outcomes) -> Result<(), EngineFault> {
        self.0.run(jobs, out)
    }
}

/// All work goes to the damaged engine; the scalar one only judges.
fn damaged(shape: Shape, cross_check: f64) -> Dispatcher {
    let scalar = ScalarEngine::detect().unwrap();
    let engine = Damaged(CorruptEngine::new(ScalarEngine::detect().unwrap(), shape, 1));
    let config =
        SchedulerConfig::default().with_cross_check(cross_check).with_referee_serves(false).with_threads(1);
    DispatcherBuilder::new(Arc::new(scalar)).engine(Arc::new(engine)).config(config).build()
}

/// With `OARLOCK_DISABLE` this covers the leaves of other processors, and the pairs of leaves that chains use.
#[test]
fn every_engine_of_this_machine_passes_its_self_tests() {
    let accelerator = Accelerator::builder().build().unwrap();
    for engine in accelerator.engines() {
        for shape in &engine.shapes {
            assert!(shape.verdict.is_ok(), "{} {}: {:?}", engine.name, shape.shape, shape.verdict);
        }
    }
}

#[test]
fn the_release_check_of_every_shape_finds_a_damaged_lane() {
    // Some sets of SLH-DSA stand for the others, whose signatures take up to a second.
    let tested = proved_shapes().into_iter().filter(|shape| representative(*shape) == *shape);
    for shape in tested.chain([Shape::SlhDsaSign { set: SlhDsaSet::Sha2_128f }]) {
        let dispatcher = damaged(shape, 1.0);
        if shape.is_record() {
            check_records(&dispatcher, shape);
        } else {
            check_operations(&dispatcher, shape);
        }
        let counters = dispatcher.counters();
        assert!(counters.disputes > 0 && counters.quarantines > 0, "{shape}: {counters:?}");
        assert_eq!(dispatcher.quarantined()[0].shape, Some(shape));
    }
}

#[test]
fn rsa_results_are_confirmed_without_any_cross_check() {
    for bits in [1024, 2048] {
        let shape = Shape::RsaPrivate { bits };
        let dispatcher = damaged(shape, 0.0);
        check_operations(&dispatcher, shape);
        assert!(dispatcher.counters().unconfirmed > 0);
    }
}

/// Checks that released results are those of the scalar engine, and that ECDSA signatures, which contain a nonce,
/// verify.
fn check_operations(dispatcher: &Dispatcher, shape: Shape) {
    let set = sample_operations(shape, 4).unwrap();
    let results = dispatcher.run_all(&set);
    let scalar = ScalarEngine::detect().unwrap();
    for (index, operation) in set.iter().enumerate() {
        let expected = alone(&scalar, shape, &operation);
        match (shape, results.get(index)) {
            (Shape::EcdsaSign { curve }, Ok(signature)) => {
                let verify = Shape::EcdsaVerify { curve };
                let extra = oarlock_core::SecondInput::Signature(signature);
                let check = Operation::new(verify, operation.key, operation.input, extra).unwrap();
                assert_eq!(alone(&scalar, verify, &check).statuses(), [Status::Done], "{shape} {index}");
            }
            (_, Ok(result)) => {
                assert_eq!((result, Status::Done), (expected.result(0), expected.statuses()[0]));
            }
            (_, Err(error)) => panic!("{shape} {index}: {error}"),
        }
    }
}

fn alone(scalar: &ScalarEngine, shape: Shape, operation: &Operation<'_>) -> Outcomes {
    let jobs = Jobs::Operations(shape, std::slice::from_ref(operation));
    let mut outcomes = Outcomes::for_jobs(&jobs);
    scalar.run(&jobs, &mut outcomes).unwrap();
    outcomes
}

fn check_records(dispatcher: &Dispatcher, shape: Shape) {
    let scalar = ScalarEngine::detect().unwrap();
    let records = sample_records(&scalar, shape, 4, 48).unwrap();
    let parts = [&records];
    let jobs = Jobs::Records(shape, &parts);
    let mut expected = Outcomes::for_jobs(&jobs);
    scalar.run(&jobs, &mut expected).unwrap();
    let outcomes = dispatcher.run_records(shape, &records).unwrap();
    assert_eq!((outcomes.statuses(), outcomes.bytes()), (expected.statuses(), expected.bytes()), "{shape}");
}

/// Proves and measures what a test uses: to do so with every shape takes seconds.
fn accelerator() -> Accelerator {
    Accelerator::builder().threads(1).cost_cache(None).lazy().build().unwrap()
}

const P256: Scheme = Scheme::EcdsaSign {
    curve: Curve::P256,
    digest: DigestAlg::Sha256,
    encoding: EcdsaEncoding::Der,
    nonce: NonceRule::Deterministic,
};

#[test]
fn jobs_of_many_schemes_are_answered_in_their_order_and_bad_ones_fail_alone() {
    let accelerator = accelerator();
    let (p256, ed25519) = (generate::ec(Curve::P256).unwrap(), generate::ed25519().unwrap());
    let jobs = [
        Job::with_scheme(P256, &p256, Input::Message(b"one"), &[]),
        Job::sign(SigningScheme::ED25519, &ed25519, Input::Message(b"two")),
        Job::with_scheme(P256, &ed25519, Input::Message(b"a key of another type"), &[]),
        Job::with_scheme(P256, &p256, Input::Digest(&[0; 31]), &[]),
        Job::with_scheme(P256, &p256, Input::Message(b"three"), &[]),
    ];
    let bulk = accelerator.run_all(&jobs);
    let queued = accelerator.submit_many(&jobs, SubmitOptions::default()).wait();
    for answers in [&bulk, &queued] {
        assert!(matches!(answers.get(2), Err(JobError::KeyType { .. })));
        assert!(matches!(answers.get(3), Err(JobError::Length { found: 31, .. })));
        assert_eq!(answers.get(1).unwrap().len(), 64);
        assert_ne!(answers.get(0), answers.get(4));
    }
    assert!([0, 1, 4].iter().all(|at| bulk.get(*at) == queued.get(*at)), "deterministic signatures agree");
    for (at, job) in jobs.iter().enumerate() {
        let single = accelerator.submit(job, SubmitOptions::default()).wait();
        assert_eq!(single.as_deref().map(Vec::as_slice).map_err(Clone::clone), bulk.get(at));
    }
}

#[test]
fn a_single_job_can_be_awaited() {
    use std::future::Future;
    let accelerator = accelerator();
    let key = generate::ed25519().unwrap();
    let job = Job::sign(SigningScheme::ED25519, &key, Input::Message(b"await me"));
    let mut single = std::pin::pin!(accelerator.submit(&job, SubmitOptions::default()));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let signature = loop {
        match single.as_mut().poll(&mut context) {
            std::task::Poll::Ready(answer) => break answer.unwrap(),
            std::task::Poll::Pending => std::thread::yield_now(),
        }
    };
    let check = Job::verify(VerifyingScheme::ED25519, &key, Input::Message(b"await me"), &signature);
    assert_eq!(accelerator.submit(&check, SubmitOptions::default()).wait().map(|yes| yes.len()), Ok(0));
    let forged = Job::verify(VerifyingScheme::ED25519, &key, Input::Message(b"other"), &signature);
    assert_eq!(accelerator.run_all(&[forged]).get(0), Err(JobError::Rejected));
}

#[test]
fn a_queued_job_needs_no_more_stack_than_a_fibre_has() {
    // A lazy one would prove engines on the small stack.
    let accelerator = Accelerator::builder().threads(1).cost_cache(None).build().unwrap();
    let (rsa, p256) = (generate::rsa(2048).unwrap(), generate::ec(Curve::P256).unwrap());
    let pss = Scheme::RsaPssSign { digest: DigestAlg::Sha256, mgf: DigestAlg::Sha256, salt_len: 32 };
    let sign = move || {
        let options = SubmitOptions::default().with_never_on_caller_thread(true);
        for (scheme, key, is_possible) in [(P256, &p256, true), (pss, &rsa, true), (pss, &p256, false)] {
            let answer = accelerator
                .submit(&Job::with_scheme(scheme, key, Input::Message(b"fibre"), &[]), options)
                .wait();
            assert_eq!(answer.is_ok(), is_possible, "{scheme}");
        }
        assert_eq!(accelerator.counters().on_caller, 0);
    };
    std::thread::Builder::new().stack_size(FIBRE_BYTES).spawn(sign).unwrap().join().unwrap();
}

/// The stack of an OpenSSL `ASYNC_JOB`, and of this build's own frames, which without optimisation are long.
const FIBRE_BYTES: usize = if cfg!(debug_assertions) { 96 << 10 } else { 32 << 10 };

/// Signs by reversing the input.
#[derive(Debug)]
struct Vault;

impl Holder for Vault {
    fn name(&self) -> &str {
        "vault"
    }

    fn start(&self, jobs: OwnedJobs, done: Completion) {
        for (index, job) in jobs.iter().enumerate() {
            assert!(done.complete(index, Ok(job.as_job().input.bytes().iter().rev().copied().collect())));
        }
    }
}

#[test]
fn held_keys_go_whole_to_their_holder_and_nowhere_else() {
    let accelerator = Accelerator::builder().lazy().holder(Arc::new(Vault)).build().unwrap();
    let local = generate::ed25519().unwrap();
    let held = Key::held(KeyKind::Ed25519Private, "vault", "k", None, Fingerprint::new([1; 32]));
    let lost = Key::held(KeyKind::Ed25519Private, "elsewhere", "k", None, Fingerprint::new([2; 32]));
    let jobs =
        [&held, &local, &lost].map(|key| Job::sign(SigningScheme::ED25519, key, Input::Message(b"abc")));
    for answers in
        [accelerator.run_all(&jobs), accelerator.submit_many(&jobs, SubmitOptions::default()).wait()]
    {
        assert_eq!(answers.get(0), Ok(&b"cba"[..]));
        assert_eq!(answers.get(1).unwrap().len(), 64);
        assert!(matches!(answers.get(2), Err(JobError::Unsupported { .. })));
    }
    assert_eq!(accelerator.submit(&jobs[0], SubmitOptions::default()).wait().unwrap().as_slice(), b"cba");
    assert_eq!(accelerator.counters().held, 3);
}

#[test]
fn builders_say_what_they_expected() {
    let unknown = Accelerator::builder().engines(["scalar", "gpu"]).build().unwrap_err();
    assert_eq!(
        unknown,
        BuildError::UnknownEngine { found: "gpu".into(), known: vec!["lanes".into(), "scalar".into()] }
    );
    let leaf = Accelerator::builder().leaf("avx4096").build().unwrap_err();
    assert!(matches!(leaf, BuildError::UnknownLeaf { found, .. } if found == "avx4096"));
    let none = Accelerator::builder().engines::<&str>([]).build().unwrap_err();
    assert!(matches!(none, BuildError::NoEngine { .. }));
    for share in [-0.1, 1.1, f64::NAN] {
        let refused = Accelerator::builder().cross_check(share).build().unwrap_err();
        assert!(matches!(refused, BuildError::CrossCheck { .. }));
    }
}

#[test]
fn an_engine_that_is_not_allowed_answers_nothing() {
    let engine = Arc::new(Damaged(CorruptEngine::new(ScalarEngine::detect().unwrap(), Shape::X25519, 0)));
    let only = Accelerator::builder().lazy().engine(engine).engines(["damaged"]).build().unwrap();
    let key = generate::ed25519().unwrap();
    let job = Job::sign(SigningScheme::ED25519, &key, Input::Message(b"x"));
    assert!(only.run_all(&[job]).get(0).is_ok());
    assert_eq!(only.diagnostics().dispatcher().costs(Shape::Ed25519Sign).len(), 1);
    let x25519 = generate::x25519().unwrap();
    let peer = *x25519.x25519_public().unwrap();
    let refused = only.run_all(&[Job::agree(&x25519, &peer)]);
    assert!(matches!(refused.get(0), Err(JobError::Unsupported { .. })), "it failed its self test there");
}

/// Returns a key of each composite whose keys are made quickly.
fn composite_keys() -> Vec<(CompositeAlg, Key)> {
    let is_quick = |alg: &CompositeAlg| !matches!(alg.traditional_kind(), KeyKind::RsaPrivate(3072 | 4096));
    let quick = CompositeAlg::ALL.into_iter().filter(is_quick);
    quick.map(|alg| (alg, generate::composite(alg).unwrap())).collect()
}

#[test]
fn a_composite_signature_is_good_if_both_halves_are() {
    let accelerator = Accelerator::new().unwrap();
    let verified = |job: Job<'_>| accelerator.run_all(&[job]).get(0).map(<[u8]>::len);
    for (alg, key) in composite_keys() {
        let sign = Job::sign(SigningScheme::composite(alg), &key, Input::Message(b"message"));
        let signature = accelerator.submit(&sign.context(b"mail"), SubmitOptions::default()).wait().unwrap();
        let verifying = SigningScheme::composite(alg).verifying();
        let public = oarlock_keys::import::spki_der(&oarlock_keys::export::spki_der(&key).unwrap()).unwrap();
        for key in [&key, &public] {
            let verify = |message: &[u8], signature: &[u8], context: &[u8]| {
                verified(Job::verify(verifying, key, Input::Message(message), signature).context(context))
            };
            assert_eq!(verify(b"message", &signature, b"mail"), Ok(0), "{alg}");
            let rejected = Err(JobError::Rejected);
            assert_eq!(verify(b"another", &signature, b"mail"), rejected);
            assert_eq!(verify(b"message", &signature, b""), rejected);
            let lattice_len = alg.set().signature_len();
            for at in [0, lattice_len - 1, lattice_len + 8, signature.len() - 1] {
                let mut other = signature.to_vec();
                other[at] ^= 1;
                assert_eq!(verify(b"message", &other, b"mail"), rejected, "{alg}, byte {at}");
            }
            for len in [0, 1, lattice_len - 1, lattice_len, signature.len() - 1] {
                assert_eq!(verify(b"message", &signature[..len], b"mail"), rejected, "{alg}, {len} bytes");
            }
            let longer = [&signature[..], &[0]].concat();
            assert_eq!(verify(b"message", &longer, b"mail"), rejected);
        }
        // The digest stands for the message.
        let digest = crate::schemes::to_digested(&sign).unwrap();
        let again = accelerator.run_all(&[digest.as_job()]).get(0).map(<[u8]>::to_vec).unwrap();
        assert_eq!(verified(Job::verify(verifying, &public, Input::Message(b"message"), &again)), Ok(0));
        let short = Job::sign(SigningScheme::composite(alg), &key, Input::Digest(&[7; 20]));
        assert!(matches!(verified(short), Err(JobError::Length { what: "digest", .. })));
        let long = [1; 256];
        assert!(matches!(verified(sign.context(&long)), Err(JobError::Length { what: "context", .. })));
        // A public key signs nothing, and no other composite's scheme takes the key.
        let by_public = Job::sign(SigningScheme::composite(alg), &public, Input::Message(b"message"));
        assert!(matches!(verified(by_public), Err(JobError::KeyType { .. })));
        let other = CompositeAlg::MlDsa87Rsa4096Pss;
        let by_other = Job::sign(SigningScheme::composite(other), &key, Input::Message(b"message"));
        assert!(matches!(verified(by_other), Err(JobError::KeyType { .. })));
    }
}

#[test]
fn composites_are_answered_in_order_among_other_jobs() {
    let accelerator = Accelerator::new().unwrap();
    let (alg, key) = composite_keys().pop().unwrap();
    let edwards = generate::ed25519().unwrap();
    let (composite, single) = (SigningScheme::composite(alg), SigningScheme::ED25519);
    let long = [0; 256];
    let message = |text: &'static [u8]| Input::Message(text);
    let jobs = [
        Job::sign(single, &edwards, message(b"first")),
        Job::sign(composite, &key, message(b"second")),
        Job::sign(composite, &key, message(b"third")).context(&long),
        Job::sign(single, &edwards, message(b"fourth")),
        Job::sign(composite, &key, message(b"fifth")).context(b"mail"),
    ];
    let by_thread = accelerator.run_all(&jobs);
    let by_queue = accelerator.submit_many(&jobs, SubmitOptions::default()).wait();
    for answers in [by_thread, by_queue] {
        assert_eq!(answers.len(), jobs.len());
        assert!(matches!(answers.get(2), Err(JobError::Length { what: "context", .. })));
        for (index, text) in [(0, &b"first"[..]), (1, b"second"), (3, b"fourth"), (4, b"fifth")] {
            let signed = &jobs[index];
            let scheme = SigningScheme::try_from(signed.scheme).unwrap().verifying();
            let verify = |text| Job::verify(scheme, signed.key, message(text), answers.get(index).unwrap());
            let verify = [text, b"another"].map(|text| verify(text).context(signed.context));
            let verified = accelerator.run_all(&verify);
            assert_eq!((verified.verified(0), verified.verified(1)), (Ok(true), Ok(false)), "{index}");
        }
    }
}
