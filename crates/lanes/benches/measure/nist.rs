//! P-256 and P-384.

use std::hint::black_box;

use oarlock_core::{
    Curve as CurveName, EcPrivateParts, Engine, Fingerprint, Jobs, Key, KeyParts, NonceInput, Operation,
    Outcomes, SecondInput, Shape, VerifyTable, VerifyTableCache,
};

use super::Bench;
use super::counting::Counting;
use crate::LaneEngine;
use crate::ecdsa;
use crate::ecdsa::comb::PublicComb;
use crate::ecdsa::constants::{shifted, small};
use crate::ecdsa::curve::Curve;
use crate::ecdsa::element::Element;
use crate::ecdsa::hot::KeyTable;
use crate::ecdsa::point::{Affine, Jacobian, Xyzz};
use crate::ecdsa::ring::{Field, Ring};
use crate::ecdsa::{P256, P384, p256, p384};
use crate::simd::{Ifma, LANES, Simd};

pub(super) fn run(bench: &Bench<'_>, simd: Ifma) {
    for (curve, name) in [(CurveName::P256, "p256"), (CurveName::P384, "p384")] {
        let Some(work) = Work::new(curve) else { continue };
        work.measure(bench, &format!("{name} sign, 64 jobs, per 8"), Doing::Sign);
        work.measure(bench, &format!("{name} verify, 64 jobs, per 8"), Doing::Verify);
        work.measure(bench, &format!("{name} verify, 64 jobs, 8 keys with tables, per 8"), Doing::VerifyHot);
        match curve {
            CurveName::P256 => tables::<P256, 5>(bench, simd, name, &work),
            _ => tables::<P384, 8>(bench, simd, name, &work),
        }
    }
    kernels::<p256::field::FieldPrime, 5, 1>(bench, simd, "p256, one stream:");
    kernels::<p256::field::FieldPrime, 5, 2>(bench, simd, "p256, two streams:");
    kernels::<p384::field::FieldPrime, 8, 1>(bench, simd, "p384, one stream:");
    kernels::<p384::field::FieldPrime, 8, 2>(bench, simd, "p384, two streams:");
}

/// What a table takes: a key's to make and to check, the base point's to make.
fn tables<C: Curve<L>, const L: usize>(bench: &Bench<'_>, simd: Ifma, name: &str, work: &Work) {
    let Some((_, key)) = work.public[0].ec_public() else { return };
    let Some(table) = KeyTable::<Ifma, C, L>::new(simd, key) else { return };
    let Some(counted) = KeyTable::<Counting, C, L>::new(Counting, key) else { return };
    bench.kernel(
        &format!("{name} table of a key"),
        1,
        || drop(black_box(KeyTable::<Ifma, C, L>::new(simd, key))),
        || drop(black_box(KeyTable::<Counting, C, L>::new(Counting, key))),
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
        || drop(black_box(PublicComb::of_base::<Ifma, C, L>(simd))),
        || drop(black_box(PublicComb::of_base::<Counting, C, L>(Counting))),
    );
}

/// Times a kernel is called per measurement.
const STEPS: usize = 100;

fn kernels<F: Field<L>, const L: usize, const N: usize>(bench: &Bench<'_>, simd: Ifma, name: &str) {
    let mut own = Streams::<Ifma, F, L, N>::new(simd);
    let mut counted = Streams::<Counting, F, L, N>::new(Counting);
    let each = STEPS * N;
    bench.kernel(&format!("{name} product"), each, || own.multiply(), || counted.multiply());
    bench.kernel(&format!("{name} squaring"), each, || own.square(), || counted.square());
    bench.kernel(&format!("{name} doubling"), each, || own.double(), || counted.double());
    bench.kernel(&format!("{name} addition to Jacobian"), each, || own.add(), || counted.add());
    bench.kernel(&format!("{name} addition to XYZZ"), each, || own.widen(), || counted.widen());
}

/// N groups of points that go through kernels again and again.
struct Streams<S: Simd, F, const L: usize, const N: usize> {
    f: Ring<S, F, L, N>,
    point: Jacobian<S::V, L, N>,
    wide: Xyzz<S::V, L, N>,
    addend: Affine<S::V, L, N>,
}

impl<S: Simd, F: Field<L>, const L: usize, const N: usize> Streams<S, F, L, N> {
    fn new(simd: S) -> Self {
        let f = Ring::<S, F, L, N>::new(simd);
        let e = |n: u64| f.splat(&shifted(small(n), 200, &F::LIMBS));
        Self {
            f,
            point: Jacobian { x: e(5), y: e(6), z: e(7) },
            wide: Xyzz { x: e(5), y: e(6), zz: e(7), zzz: e(8) },
            addend: Affine { x: e(15), y: e(16) },
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

    fn chain(&mut self, step: impl Fn(&Element<S::V, L, N>) -> Element<S::V, L, N>) {
        self.f.simd.call(
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
            self.f.simd.call(
                #[inline(always)]
                || self.point = self.f.double(black_box(&self.point)),
            );
        }
    }

    fn add(&mut self) {
        for step in 0..STEPS {
            self.f.simd.call(
                #[inline(always)]
                || self.point = self.f.add_to_jacobian(&self.point, &self.addend, black_box([step as u8; N])),
            );
        }
    }

    fn widen(&mut self) {
        for step in 0..STEPS {
            self.f.simd.call(
                #[inline(always)]
                || self.wide = self.f.add_to_xyzz(&self.wide, &self.addend, black_box([step as u8; N])),
            );
        }
    }
}

/// Jobs of one key that go through the engine again and again.
struct Work {
    curve: CurveName,
    private: Key,
    /// The same public key under several names, so that it has as many tables.
    public: Vec<Key>,
    digests: Vec<Vec<u8>>,
    signatures: Vec<Vec<u8>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Doing {
    Sign,
    Verify,
    VerifyHot,
}

const NONCE: NonceInput<'static> = NonceInput::Hedged(&[7; 32]);

/// Jobs of a run.
const JOBS: usize = 64;

impl Work {
    /// The first example of RFC 6979 A.2 for a curve, as the tests of the scalar engine have it.
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

    /// A signature of each digest.
    fn sign(&self) -> Option<Vec<Vec<u8>>> {
        let sign =
            |digest| Operation { key: &self.private, input: digest, extra: SecondInput::NonceInput(NONCE) };
        let operations: Vec<_> = self.digests.iter().map(|digest| sign(digest)).collect();
        let jobs = Jobs::Operations(Shape::EcdsaSign { curve: self.curve }, &operations);
        let mut out = Outcomes::for_jobs(&jobs);
        LaneEngine::detect()?.run(&jobs, &mut out).ok()?;
        Some((0..JOBS).map(|at| out.result(at).to_vec()).collect())
    }

    fn measure(&self, bench: &Bench<'_>, name: &str, doing: Doing) {
        let operation = |at: usize| match doing {
            Doing::Sign => Operation {
                key: &self.private,
                input: &self.digests[at],
                extra: SecondInput::NonceInput(NONCE),
            },
            _ => Operation {
                key: &self.public[at % LANES],
                input: &self.digests[at],
                extra: SecondInput::Signature(&self.signatures[at]),
            },
        };
        let operations: Vec<_> = (0..JOBS).map(operation).collect();
        let shape = match doing {
            Doing::Sign => Shape::EcdsaSign { curve: self.curve },
            _ => Shape::EcdsaVerify { curve: self.curve },
        };
        let jobs = Jobs::Operations(shape, &operations);
        let (mut out, mut counted) = (Outcomes::for_jobs(&jobs), Outcomes::for_jobs(&jobs));
        let (Some(engine), hot) =
            (LaneEngine::detect(), VerifyTableCache::new(oarlock_core::DEFAULT_TABLE_BYTES))
        else {
            return;
        };
        let (engine, hot) = match doing {
            Doing::VerifyHot => (engine.with_tables_at_once(), hot.at_once()),
            _ => (engine.with_table_bytes(0), hot.with_budget(0)),
        };
        let mut count = || match doing {
            Doing::Sign => ecdsa::sign(Counting, self.curve, &operations, &mut counted),
            _ => ecdsa::verify(Counting, &hot, self.curve, &operations, &mut counted),
        };
        if name.contains(bench.filter) {
            count();
        }
        bench.kernel(name, JOBS / LANES, || engine.run(&jobs, &mut out).unwrap_or_default(), count);
    }
}
