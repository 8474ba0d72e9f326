use oarlock_core::{
    BatchSize, BlockCipher, CipherMode, CipherSpec, Curve, Direction, Jobs, NonceInput, Operation, Outcomes,
    OutputSink, RsaExponent, SecondInput,
};
use oarlock_scalar::ScalarEngine;

use super::*;

fn scalar() -> ScalarEngine {
    ScalarEngine::detect().unwrap()
}

fn translations() -> Vec<Shape> {
    let specs = BlockCipher::ALL.map(|alg| CipherSpec { alg, mode: CipherMode::Cbc });
    specs.iter().flat_map(|from| specs.map(|to| Shape::Translate { from: *from, to })).collect()
}

fn odd_rsa() -> Vec<Shape> {
    let shapes = [1031, 1536].map(|bits| {
        [
            Shape::RsaPrivate { bits },
            Shape::RsaPublic { bits, exponent: RsaExponent::F4 },
            Shape::RsaPublic { bits, exponent: RsaExponent::Other },
            Shape::ModExp { bits, exponent_bits: bits },
        ]
    });
    shapes.concat()
}

fn every_shape() -> Vec<Shape> {
    // Some sets of SLH-DSA stand for the others.
    let public_key = Shape::public_key().into_iter();
    let with_answers = public_key.filter(|shape| representative(*shape) == *shape).collect();
    [with_answers, Shape::records(), translations(), odd_rsa()].concat()
}

#[test]
fn scalar_proves_every_shape() {
    let scalar = scalar();
    for shape in every_shape() {
        let proof = prove(&scalar, &scalar, shape).unwrap_or_else(|failure| panic!("{failure}"));
        // A key of SLH-DSA takes as long as many other operations.
        let min = if shape.is_long() { 2 } else { 3 };
        assert!(proof.jobs >= min, "{shape}: {proof:?}");
    }
}

#[test]
fn one_damaged_lane_fails_every_self_test_by_name() {
    for shape in every_shape() {
        let hedged = if matches!(shape, Shape::EcdsaSign { .. }) { 4 } else { 0 };
        let last = prove(&scalar(), &scalar(), shape).unwrap().jobs - hedged - 1;
        for lane in [0, 1, 2, 3, last].into_iter().filter(|lane| *lane <= last) {
            let damaged = CorruptEngine::new(scalar(), shape, lane);
            match prove(&damaged, &scalar(), shape) {
                Err(SelfTestFailure::Wrong { engine: "scalar", shape: found, lane: wrong, .. }) => {
                    assert_eq!((found, wrong), (shape, lane));
                }
                other => panic!("{shape}, lane {lane}: {other:?}"),
            }
        }
    }
}

/// Right answers but for signatures with random nonces, which `.1` damages.
#[derive(Debug)]
struct BadHedger(ScalarEngine, fn(&mut Outcomes));

impl Engine for BadHedger {
    fn name(&self) -> &'static str {
        "bad hedger"
    }
    fn offers(&self, shape: Shape) -> Option<BatchSize> {
        self.0.offers(shape)
    }
    fn confirms(&self, _: Shape) -> bool {
        false
    }
    fn run(&self, jobs: &Jobs<'_>, out: &mut Outcomes) -> Result<(), EngineFault> {
        self.0.run(jobs, out)?;
        if let Jobs::Operations(_, [first, ..]) = jobs
            && let SecondInput::NonceInput(NonceInput::Hedged(_)) = first.extra
        {
            self.1(out);
        }
        Ok(())
    }
}

#[test]
fn bad_signatures_and_repeated_nonces_of_the_hedged_kind_are_found() {
    let shape = Shape::EcdsaSign { curve: Curve::P384 };
    let difference = |damage| match prove(&BadHedger(scalar(), damage), &scalar(), shape) {
        Err(SelfTestFailure::Wrong { lane: 2, difference, .. }) => difference,
        other => panic!("{other:?}"),
    };
    assert_eq!(difference(|out| out.result_mut(2)[95] ^= 1), Difference::DoesNotVerify);
    let repeat: fn(&mut Outcomes) = |out| {
        let r = out.result(1)[..48].to_vec();
        out.result_mut(2)[..48].copy_from_slice(&r);
    };
    assert_eq!(difference(repeat), Difference::NonceReused);
}

/// Right answers, but what fails leaves something behind.
#[derive(Debug)]
struct Untidy(ScalarEngine);

impl Engine for Untidy {
    fn name(&self) -> &'static str {
        "untidy"
    }
    fn offers(&self, shape: Shape) -> Option<BatchSize> {
        self.0.offers(shape)
    }
    fn confirms(&self, shape: Shape) -> bool {
        self.0.confirms(shape)
    }
    fn run(&self, jobs: &Jobs<'_>, out: &mut Outcomes) -> Result<(), EngineFault> {
        self.0.run(jobs, out)?;
        match jobs {
            Jobs::Operations(_, operations) => {
                let failed: Vec<usize> =
                    (0..operations.len()).filter(|lane| out.statuses()[*lane] != Status::Done).collect();
                failed.into_iter().for_each(|lane| out.result_mut(lane).fill(1));
            }
            Jobs::Records(_, parts) => {
                for (index, records) in parts.iter().enumerate() {
                    let part = out.part_mut(index);
                    for (record, _) in part.statuses.iter().enumerate().filter(|(_, s)| **s != Status::Done) {
                        if let Some(OutputSink::Output(span)) = records.output.get(record) {
                            span.slice_mut(part.output).unwrap().fill(1);
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

#[test]
fn what_failed_jobs_leave_behind_is_found() {
    let untidy = Untidy(scalar());
    let with_bad_jobs = [
        Shape::RsaPrivate { bits: 1024 },
        Shape::RsaPublic { bits: 1024, exponent: RsaExponent::F4 },
        Shape::ModExp { bits: 1024, exponent_bits: 1024 },
    ];
    for shape in Shape::records().into_iter().chain(with_bad_jobs) {
        let left = Difference::Bytes { what: "the place of a failed job", at: 0 };
        match prove(&untidy, &scalar(), shape) {
            Err(SelfTestFailure::Wrong { difference, .. }) => assert_eq!(difference, left, "{shape}"),
            other => panic!("{shape}: {other:?}"),
        }
    }
}

/// An engine with the given lanes over scalar, to see the batches that a wide engine gets.
#[derive(Debug)]
struct Wide(ScalarEngine, BatchSize);

impl Engine for Wide {
    fn name(&self) -> &'static str {
        "wide"
    }
    fn offers(&self, shape: Shape) -> Option<BatchSize> {
        self.0.offers(shape).map(|_| self.1)
    }
    fn confirms(&self, shape: Shape) -> bool {
        self.0.confirms(shape)
    }
    fn run(&self, jobs: &Jobs<'_>, out: &mut Outcomes) -> Result<(), EngineFault> {
        assert!(jobs.len() <= self.1.max, "{} of {}", jobs.len(), self.1.max);
        self.0.run(jobs, out)
    }
}

#[test]
fn wide_engines_get_full_lanes_and_never_too_many() {
    let shapes = [
        Shape::X25519,
        Shape::EcdsaSign { curve: Curve::P256 },
        Shape::Cipher { alg: BlockCipher::Des, mode: CipherMode::Cbc, direction: Direction::Encrypt },
    ];
    for lanes in [(8, 8), (16, 64), (512, 512), (512, 8192), (1, 1), (7, 20)] {
        let wide = Wide(scalar(), BatchSize { preferred: lanes.0, max: lanes.1 });
        for shape in shapes {
            let proof =
                prove(&wide, &scalar(), shape).unwrap_or_else(|failure| panic!("{lanes:?}: {failure}"));
            assert!(proof.jobs >= lanes.0, "{shape}: {proof:?}");
        }
    }
}

#[test]
fn shapes_not_offered_or_without_answers_say_so() {
    #[derive(Debug)]
    struct Idle;
    impl Engine for Idle {
        fn name(&self) -> &'static str {
            "idle"
        }
        fn offers(&self, _: Shape) -> Option<BatchSize> {
            None
        }
        fn confirms(&self, _: Shape) -> bool {
            false
        }
        fn run(&self, _: &Jobs<'_>, _: &mut Outcomes) -> Result<(), EngineFault> {
            Ok(())
        }
    }
    let refused = prove(&Idle, &scalar(), Shape::X25519).unwrap_err();
    assert_eq!(refused, SelfTestFailure::NotOffered { engine: "idle", shape: Shape::X25519 });
    let odd = Shape::RsaPrivate { bits: 2056 };
    assert_eq!(prove(&scalar(), &scalar(), odd).unwrap_err(), SelfTestFailure::NoVectors { shape: odd });
    assert_eq!(representative(odd), Shape::RsaPrivate { bits: 3072 });
    assert_eq!(representative(Shape::RsaPrivate { bits: 8192 }), Shape::RsaPrivate { bits: 4096 });
    assert_eq!(
        representative(Shape::ModExp { bits: 1031, exponent_bits: 3000 }),
        Shape::ModExp { bits: 2048, exponent_bits: 2048 }
    );
    assert_eq!(representative(Shape::X25519), Shape::X25519);
    assert!(
        every_shape().into_iter().filter(|shape| !matches!(shape, Shape::Translate { .. })).all(|shape| {
            [Shape::public_key(), Shape::records()].concat().contains(&representative(shape))
        })
    );
}

#[test]
fn samples_of_every_shape_succeed_on_scalar() {
    let scalar = scalar();
    // Signatures of other sets of SLH-DSA take up to a second each.
    let is_quick = |shape: &Shape| representative(*shape) == *shape;
    let sign = Shape::SlhDsaSign { set: oarlock_core::SlhDsaSet::Sha2_128f };
    for shape in Shape::public_key().into_iter().filter(is_quick).chain([sign]) {
        let set = sample_operations(shape, 3).unwrap();
        let operations: Vec<Operation<'_>> = set.iter().collect();
        let jobs = Jobs::Operations(shape, &operations);
        let mut outcomes = Outcomes::for_jobs(&jobs);
        scalar.run(&jobs, &mut outcomes).unwrap();
        assert_eq!(outcomes.statuses(), [Status::Done; 3], "{shape}");
    }
    for shape in [Shape::records(), translations()].concat() {
        for len in [1, 40, 256] {
            let records = sample_records(&scalar, shape, 70, len).unwrap();
            let parts = [&records];
            let jobs = Jobs::Records(shape, &parts);
            let mut outcomes = Outcomes::for_jobs(&jobs);
            scalar.run(&jobs, &mut outcomes).unwrap();
            assert_eq!(outcomes.statuses(), [Status::Done; 70], "{shape} of {len} bytes");
        }
    }
}
