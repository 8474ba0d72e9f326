//! P-256 and P-384.

use std::hint::black_box;

use oarlock_core::{
    Curve as CurveName, EcPrivateParts, Engine, Fingerprint, Jobs, Key, KeyParts, NonceInput, Operation,
    Outcomes, SecondInput, Shape,
};
use oarlock_engine_kit::{VerifyTable, VerifyTableCache};

use super::KernelBench;
use super::counting::CountingSimd;
use crate::LaneEngine;
use crate::ecdsa;
use crate::ecdsa::comb::PublicComb;
use crate::ecdsa::constants::{shifted, small};
use crate::ecdsa::curve::CurveParams;
use crate::ecdsa::field::{CoordinateField, CurveElement, CurveField, CurveSimd};
use crate::ecdsa::key_table::EcdsaKeyTable;
use crate::ecdsa::point::{AffinePoint, JacobianPoint, PointField, XyzzPoint};
use crate::ecdsa::ring::OddModulus;
use crate::ecdsa::{P256, P384};
use crate::simd::{IfmaSimd, LANES};

pub(super) fn run(bench: &KernelBench<'_>, simd: IfmaSimd) {
    for (curve, name) in [(CurveName::P256, "p256"), (CurveName::P384, "p384")] {
        let Some(work) = EngineJobs::new(curve) else { continue };
        work.measure(bench, &format!("{name} sign, 64 jobs, per 8"), JobKind::Sign);
        work.measure(bench, &format!("{name} verify, 64 jobs, per 8"), JobKind::Verify);
        work.measure(
            bench,
            &format!("{name} verify, 64 jobs, 8 keys with tables, per 8"),
            JobKind::VerifyWithTables,
        );
        match curve {
            CurveName::P256 => tables::<P256, 5>(bench, simd, name, &work),
            _ => tables::<P384, 8>(bench, simd, name, &work),
        }
    }
    kernels::<P256, 5, 1>(bench, simd, "p256, one stream:");
    kernels::<P256, 5, 2>(bench, simd, "p256, two streams:");
    kernels::<P384, 8, 1>(bench, simd, "p384, one stream:");
    kernels::<P384, 8, 2>(bench, simd, "p384, two streams:");
}

/// Times tables: building and checking that of a key, and building that of the base point.
fn tables<C: CurveParams<L>, const L: usize>(
    bench: &KernelBench<'_>,
    simd: IfmaSimd,
    name: &str,
    work: &EngineJobs,
) {
    let Some((_, key)) = work.public[0].ec_public() else { return };
    let Some(table) = EcdsaKeyTable::<IfmaSimd, C, L>::new(simd, key) else { return };
    let Some(counted) = EcdsaKeyTable::<CountingSimd, C, L>::new(CountingSimd, key) else { return };
    bench.kernel(
        &format!("{name} table of a key"),
        1,
        || drop(black_box(EcdsaKeyTable::<IfmaSimd, C, L>::new(simd, key))),
        || drop(black_box(EcdsaKeyTable::<CountingSimd, C, L>::new(CountingSimd, key))),
    );
    bench.kernel(
        &format!("{name} check of a table"),
        1,
        || _ = black_box(table.is_right(key)),
        || _ = black_box(counted.is_right(key)),
    );
    bench.kernel(
        &format!("{name} table of the base point"),
        1,
        || drop(black_box(PublicComb::of_base::<IfmaSimd, C, L>(simd))),
        || drop(black_box(PublicComb::of_base::<CountingSimd, C, L>(CountingSimd))),
    );
}

/// The calls of a kernel per measurement.
const STEPS: usize = 100;

fn kernels<C: CurveParams<L>, const L: usize, const N: usize>(
    bench: &KernelBench<'_>,
    simd: IfmaSimd,
    name: &str,
) {
    let mut plain = PointStreams::<IfmaSimd, C, L, N>::new(simd);
    let mut counted = PointStreams::<CountingSimd, C, L, N>::new(CountingSimd);
    let each = STEPS * N;
    bench.kernel(&format!("{name} product"), each, || plain.multiply(), || counted.multiply());
    bench.kernel(&format!("{name} squaring"), each, || plain.square(), || counted.square());
    bench.kernel(&format!("{name} doubling"), each, || plain.double(), || counted.double());
    bench.kernel(&format!("{name} addition to Jacobian"), each, || plain.add(), || counted.add());
    bench.kernel(&format!("{name} addition to XYZZ"), each, || plain.widen(), || counted.widen());
}

/// N groups of points that pass through kernels repeatedly.
struct PointStreams<S: CurveSimd<C, L>, C: CurveParams<L>, const L: usize, const N: usize> {
    f: CurveField<S, C, L, N>,
    point: JacobianPoint<CurveElement<S, C, L, N>>,
    wide: XyzzPoint<CurveElement<S, C, L, N>>,
    addend: AffinePoint<CurveElement<S, C, L, N>>,
}

impl<S: CurveSimd<C, L>, C: CurveParams<L>, const L: usize, const N: usize> PointStreams<S, C, L, N> {
    fn new(simd: S) -> Self {
        let f = CurveField::<S, C, L, N>::new(simd);
        let e = |n: u64| f.splat(&shifted(small(n), 200, &<C::Field as OddModulus<L>>::LIMBS));
        Self {
            f,
            point: JacobianPoint { x: e(5), y: e(6), z: e(7) },
            wide: XyzzPoint { x: e(5), y: e(6), zz: e(7), zzz: e(8) },
            addend: AffinePoint { x: e(15), y: e(16) },
        }
    }

    fn multiply(&mut self) {
        let (f, factor) = (self.f, self.point.y);
        self.chain(
            #[inline(always)]
            |x| f.mul(x, &factor),
        );
    }

    fn square(&mut self) {
        let f = self.f;
        self.chain(
            #[inline(always)]
            |x| f.sqr(x),
        );
    }

    fn chain(&mut self, step: impl Fn(&CurveElement<S, C, L, N>) -> CurveElement<S, C, L, N>) {
        self.f.simd().call(
            #[inline(always)]
            || {
                let mut x = self.point.x;
                for _ in 0..STEPS {
                    x = step(&x);
                }
                self.point.x = x;
            },
        );
    }

    fn double(&mut self) {
        for _ in 0..STEPS {
            self.f.simd().call(
                #[inline(always)]
                || self.point = self.f.double(black_box(&self.point)),
            );
        }
    }

    fn add(&mut self) {
        for step in 0..STEPS {
            self.f.simd().call(
                #[inline(always)]
                || self.f.add_to_jacobian(&mut self.point, &self.addend, black_box([step as u8; N])),
            );
        }
    }

    fn widen(&mut self) {
        for step in 0..STEPS {
            self.f.simd().call(
                #[inline(always)]
                || self.f.add_to_xyzz(&mut self.wide, &self.addend, black_box([step as u8; N])),
            );
        }
    }
}

/// Jobs of one key that pass through the engine repeatedly.
struct EngineJobs {
    curve: CurveName,
    private: Key,
    /// The same public key under several names, so that each name has a table.
    public: Vec<Key>,
    digests: Vec<Vec<u8>>,
    signatures: Vec<Vec<u8>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum JobKind {
    Sign,
    Verify,
    VerifyWithTables,
}

const NONCE: NonceInput<'static> = NonceInput::Hedged(&[7; 32]);

/// The jobs of a run.
const JOBS: usize = 64;

impl EngineJobs {
    /// Returns the first example of RFC 6979 A.2 for a curve, from the tests of the scalar engine.
    fn new(curve: CurveName) -> Option<Self> {
        let lines = include_str!("../../../scalar/tests/data/rfc6979.txt").lines();
        let line = lines.map(str::trim).find(|line| line.starts_with(&curve.to_string()))?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, scalar, public, _, _, digest, _] = words.try_into().ok()?;
        let (scalar, public, digest) = (super::hex(scalar), super::hex(public), super::hex(digest));
        let name = |at: usize| Fingerprint::new([at as u8; 32]);
        let private = EcPrivateParts { curve, scalar: scalar.into(), public: public.clone() };
        let copy = |at| Key::local(KeyParts::EcPublic(curve, public.clone()), name(at));
        let mut work = Self {
            curve,
            private: Key::local(KeyParts::EcPrivate(private), name(LANES)),
            public: (0..LANES).map(copy).collect(),
            digests: (0..JOBS).map(|at| [&[at as u8], &digest[1..]].concat()).collect(),
            signatures: Vec::new(),
        };
        work.signatures = work.sign()?;
        Some(work)
    }

    /// Returns a signature of each digest.
    fn sign(&self) -> Option<Vec<Vec<u8>>> {
        let shape = Shape::EcdsaSign { curve: self.curve };
        let sign = |digest| Operation::new(shape, &self.private, digest, SecondInput::NonceInput(NONCE)).ok();
        let operations: Vec<_> = self.digests.iter().map(|digest| sign(digest)).collect::<Option<_>>()?;
        let jobs = Jobs::Operations(shape, &operations);
        let mut out = Outcomes::for_jobs(&jobs);
        LaneEngine::detect()?.run(&jobs, &mut out).ok()?;
        Some((0..JOBS).map(|at| out.result(at).to_vec()).collect())
    }

    fn measure(&self, bench: &KernelBench<'_>, name: &str, doing: JobKind) {
        let shape = match doing {
            JobKind::Sign => Shape::EcdsaSign { curve: self.curve },
            _ => Shape::EcdsaVerify { curve: self.curve },
        };
        let operation = |at: usize| {
            let (key, extra) = match doing {
                JobKind::Sign => (&self.private, SecondInput::NonceInput(NONCE)),
                _ => (&self.public[at % LANES], SecondInput::Signature(&self.signatures[at])),
            };
            Operation::new(shape, key, &self.digests[at], extra)
        };
        let Ok(operations) = (0..JOBS).map(operation).collect::<Result<Vec<_>, _>>() else { return };
        let jobs = Jobs::Operations(shape, &operations);
        let (mut out, mut counted) = (Outcomes::for_jobs(&jobs), Outcomes::for_jobs(&jobs));
        let (Some(engine), key_table) =
            (LaneEngine::detect(), VerifyTableCache::new(oarlock_engine_kit::DEFAULT_TABLE_BYTES))
        else {
            return;
        };
        let (engine, key_table) = match doing {
            JobKind::VerifyWithTables => (engine.with_tables_at_once(), key_table.at_once()),
            _ => (engine.with_table_bytes(0), key_table.with_budget(0)),
        };
        let mut count = || match doing {
            JobKind::Sign => ecdsa::sign(CountingSimd, self.curve, &operations, &mut counted),
            _ => ecdsa::verify(CountingSimd, &key_table, self.curve, &operations, &mut counted),
        };
        if name.contains(bench.filter) {
            count();
        }
        bench.kernel(name, JOBS / LANES, || engine.run(&jobs, &mut out).unwrap_or_default(), count);
    }
}
