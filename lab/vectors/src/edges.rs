//! Boundary values of the arithmetic: an engine returns the same results as the referee.
//!
//! | module | content |
//! |---|---|
//! | this one | keys, inputs and signatures of a shape at its edges, and the comparison |
//! | `values` | the integers: 0, 1, m - 1, m, m + 1, powers of two at limb seams, points of small order |
//!
//! The fuzz target `lanes_public_key` chooses among the same values.

mod values;

use oarlock::engine_api::selftest::sample_operations;
use oarlock_core::{BatchSize, Curve, Engine, Key, KeyParts, RsaExponent, Shape};
use oarlock_keys::{import, raw, rsa};

use self::values::{
    Integer, around, curve_constants, ed25519_points, ed25519_scalars, encoded_points, plus_one,
    x25519_points,
};
use crate::dice::SplitMix;
use crate::operation_case::OperationCase;
use crate::seams::{compare_results, is_quick, run_operations};
use crate::{FileReport, SuiteReport};

/// The keys, inputs and signatures of a shape at boundary values.
#[derive(Clone, Debug, Default)]
pub struct EdgeCases {
    /// The keys: those of the samples, and keys at boundary values if the shape has any.
    pub keys: Vec<Key>,
    /// The inputs for each key. Those of RSA depend on the numbers of the key.
    inputs: Vec<Vec<Vec<u8>>>,
    /// The halves of signatures: r and s, R and S, or the hash of ML-DSA and the rest.
    pub halves: [Vec<Vec<u8>>; 2],
}

impl EdgeCases {
    /// Returns the boundary values of a public-key shape.
    ///
    /// # Errors
    /// The shape has no samples.
    pub fn of_shape(shape: Shape) -> Result<Self, String> {
        let samples = sample_operations(shape, 24).map_err(|failure| failure.to_string())?;
        let mut keys: Vec<Key> = Vec::new();
        for operation in samples.iter() {
            if !keys.iter().any(|known| known.is_same(operation.key)) {
                keys.push(operation.key.clone());
            }
        }
        keys.extend(boundary_keys(shape, &keys));
        let inputs = keys.iter().map(|key| inputs(shape, key)).collect();
        Ok(Self { keys, inputs, halves: halves(shape) })
    }

    /// Returns the inputs for the key at an index.
    #[must_use]
    pub fn inputs_of(&self, key: usize) -> &[Vec<u8>] {
        &self.inputs[key]
    }
}

/// The number of compared operations of a shape. Half of the verifications have signatures of the referee.
const OPERATIONS: usize = 400;
/// The number for shapes that take long on the referee.
const SLOW_OPERATIONS: usize = 24;
/// The number for SLH-DSA, which takes up to 100 milliseconds.
const LONG_OPERATIONS: usize = 6;

pub(crate) fn run(engine: &dyn Engine, referee: &dyn Engine) -> SuiteReport {
    let mut report = SuiteReport::default();
    for shape in Shape::public_key().into_iter().filter(|shape| is_quick(*shape)) {
        let mut file = FileReport::new(format!("edges {shape}"));
        match (engine.offers(shape), referee.offers(shape)) {
            (None, _) => file.skip("not offered", 1),
            (_, None) => file.skip("the referee does not offer it", 1),
            (Some(size), Some(referee_size)) => match compare((engine, size), (referee, referee_size), shape)
            {
                Ok(passed) => file.passed += passed,
                Err(what) => file.failures.push(what),
            },
        }
        report.files.push(file);
    }
    report
}

fn compare(
    (engine, size): (&dyn Engine, BatchSize),
    (referee, referee_size): (&dyn Engine, BatchSize),
    shape: Shape,
) -> Result<usize, String> {
    let mut dice = SplitMix::new(0x0E_D6E5);
    let mut cases = combine(&EdgeCases::of_shape(shape)?, &mut dice);
    cases.truncate(max_operations(shape));
    cases.extend(signed_cases(shape, (referee, referee_size), &mut dice)?);
    shuffle(&mut cases, &mut dice);
    let jobs = OperationCase::operations(&cases, shape).map_err(|error| error.to_string())?;
    let expected = run_operations(referee, shape, &jobs, referee_size.max)?;
    let found = run_operations(engine, shape, &jobs, size.max)?;
    compare_results(&expected, &found)
        .map_err(|at| format!("operation {at} differs from the referee: {:02x?}", cases[at]))?;
    Ok(cases.len())
}

fn max_operations(shape: Shape) -> usize {
    match shape {
        Shape::RsaPrivate { .. } | Shape::ModExp { .. } => SLOW_OPERATIONS,
        Shape::SlhDsaKeygen { .. } | Shape::SlhDsaSign { .. } => LONG_OPERATIONS,
        _ => OPERATIONS,
    }
}

/// Makes signatures with the referee for a verification shape: boundary inputs under boundary keys.
fn signed_cases(
    shape: Shape,
    (referee, referee_size): (&dyn Engine, BatchSize),
    dice: &mut SplitMix,
) -> Result<Vec<OperationCase>, String> {
    let signing = match shape {
        Shape::EcdsaVerify { curve } => Shape::EcdsaSign { curve },
        Shape::Ed25519Verify => Shape::Ed25519Sign,
        Shape::MlDsaVerify { set } => Shape::MlDsaSign { set },
        Shape::SlhDsaVerify { set } => Shape::SlhDsaSign { set },
        _ => return Ok(Vec::new()),
    };
    let mut cases = combine(&EdgeCases::of_shape(signing)?, dice);
    cases.truncate(max_operations(signing));
    let jobs = OperationCase::operations(&cases, signing).map_err(|error| error.to_string())?;
    let signed = run_operations(referee, signing, &jobs, referee_size.max)?;
    cases.iter_mut().zip(signed).for_each(|(case, result)| case.set_signature(result.output, shape));
    Ok(cases)
}

/// Combines every key with every input, in random order. Verifications get random halves of signatures.
fn combine(edges: &EdgeCases, dice: &mut SplitMix) -> Vec<OperationCase> {
    let mut cases = Vec::new();
    for (key, inputs) in edges.keys.iter().zip(&edges.inputs) {
        for input in inputs {
            let halves = edges.halves.each_ref().map(|half| half.get(dice.below(half.len())).cloned());
            let signature = halves.into_iter().flatten().flatten().collect();
            cases.push(OperationCase { key: key.clone(), input: input.clone(), signature, nonce: [0; 32] });
        }
    }
    shuffle(&mut cases, dice);
    cases
}

fn shuffle(cases: &mut [OperationCase], dice: &mut SplitMix) {
    (1..cases.len()).rev().for_each(|at| cases.swap(at, dice.below(at + 1)));
}

/// Returns the keys of the shape at boundary values that the importer accepts.
fn boundary_keys(shape: Shape, samples: &[Key]) -> Vec<Key> {
    match shape {
        Shape::EcdsaSign { curve } | Shape::EcdsaVerify { curve } | Shape::Ecdh { curve } => {
            let (order, _) = curve_constants(curve);
            let scalars = around(&[&order], order.len());
            scalars.iter().filter_map(|scalar| raw::ec_private(curve, scalar).ok()).collect()
        }
        Shape::Ed25519Verify => {
            ed25519_points().iter().filter_map(|point| raw::ed25519_public(point).ok()).collect()
        }
        Shape::X25519 => {
            let scalars = [vec![0; 32], vec![0xFF; 32], plus_one(&[0; 32])];
            scalars.iter().filter_map(|scalar| raw::x25519_private(scalar).ok()).collect()
        }
        Shape::RsaPrivate { bits: 1024 } => import::pem(CLOSE_PRIMES, None).into_iter().collect(),
        Shape::RsaPublic { bits, exponent } => {
            let exponents: &[&[u8]] = match exponent {
                RsaExponent::F4 => &[&[1, 0, 1]],
                RsaExponent::Other => &[&[3], &[1, 0, 3], &[1, 0, 0, 0, 1], &[1, 0xFF, 0xFF, 0xFF, 0xFF]],
            };
            let moduli = moduli(bits, samples);
            let each = moduli.iter().flat_map(|n| exponents.iter().map(move |e| rsa::public(n, e)));
            each.filter_map(Result::ok).collect()
        }
        Shape::ModExp { bits, exponent_bits } => {
            let all_ones = vec![0xFF; usize::from(exponent_bits).div_ceil(8)];
            let mut one_bit = vec![0; all_ones.len()];
            one_bit[0] = 0x80;
            let exponents = [vec![1], vec![2], vec![3], vec![1, 0, 1], all_ones, one_bit];
            let moduli = moduli(bits, samples);
            let each =
                moduli.iter().flat_map(|n| exponents.iter().map(|x| rsa::mod_exp(n, x, exponent_bits)));
            each.filter_map(Result::ok).collect()
        }
        _ => Vec::new(),
    }
}

/// A 1024-bit key whose primes share their upper halves.
const CLOSE_PRIMES: &[u8] = include_bytes!("edges/close-primes.pem");

/// Returns odd moduli of exactly this many bits: the smallest, the largest, one of long runs, and one of a sample.
fn moduli(bits: u16, samples: &[Key]) -> Vec<Vec<u8>> {
    let len = usize::from(bits).div_ceil(8);
    let top = 1_u8 << ((bits - 1) % 8);
    let mut min = vec![0; len];
    (min[0], min[len - 1]) = (top, 1);
    let mut largest = vec![0xFF; len];
    largest[0] = top | (top - 1);
    let mut runs = min.clone();
    runs[len / 3..2 * len / 3].fill(0xFF);
    let sample = samples.iter().find_map(|key| match key.parts() {
        Some(KeyParts::ModExp(parts)) => Some(parts.n.clone()),
        _ => Some(key.rsa_public()?.n.clone()),
    });
    [min, largest, runs].into_iter().chain(sample).collect()
}

fn inputs(shape: Shape, key: &Key) -> Vec<Vec<u8>> {
    let width = shape.input_len().unwrap_or_default();
    match (shape, key.parts()) {
        (Shape::EcdsaSign { curve } | Shape::EcdsaVerify { curve }, _) => {
            let (order, prime) = curve_constants(curve);
            around(&[&order, &prime], width)
        }
        (Shape::Ed25519Sign | Shape::Ed25519Verify, _) => MESSAGE_LENGTHS.map(|len| vec![0x5A; len]).into(),
        (Shape::X25519, _) => x25519_points(),
        (Shape::Ecdh { curve }, _) => peers(curve),
        (Shape::MlKemKeygen { .. } | Shape::SlhDsaKeygen { .. }, _) => vec![Vec::new()],
        (Shape::SlhDsaSign { .. } | Shape::SlhDsaVerify { .. } | Shape::HssVerify | Shape::XmssVerify, _) => {
            MESSAGE_LENGTHS.map(|len| vec![0x5A; len]).into()
        }
        (
            Shape::MlKemEncaps { .. }
            | Shape::MlKemDecaps { .. }
            | Shape::MlDsaSign { .. }
            | Shape::MlDsaVerify { .. },
            _,
        ) => [0, 1, 0x7F, 0x80, 0xFE, 0xFF].map(|byte| vec![byte; width]).into(),
        (_, Some(KeyParts::RsaPrivate(parts))) => {
            around(&[&parts.public.n, parts.p.expose(), parts.q.expose()], width)
        }
        (_, Some(KeyParts::RsaPublic(parts))) => around(&[&parts.n], width),
        (_, Some(KeyParts::ModExp(parts))) => around(&[&parts.n], width),
        _ => Vec::new(),
    }
}

/// Returns small multiples of the base point and their opposites, and encodings of them that are no points.
fn peers(curve: Curve) -> Vec<Vec<u8>> {
    let (order, prime) = curve_constants(curve);
    let keys = around(&[&order], order.len());
    let keys = keys.iter().filter_map(|scalar| raw::ec_private(curve, scalar).ok());
    let points: Vec<Vec<u8>> = keys.filter_map(|key| Some(key.ec_public()?.1.to_vec())).collect();
    encoded_points(&points, &prime)
}

/// The lengths at which a block of SHA-512 ends, with the prefix (32 bytes) or R and A (64 bytes) before the message.
const MESSAGE_LENGTHS: [usize; 16] = [0, 1, 46, 47, 48, 63, 64, 65, 78, 79, 80, 95, 96, 175, 176, 1000];

fn halves(shape: Shape) -> [Vec<Integer>; 2] {
    match shape {
        Shape::EcdsaVerify { curve } => {
            let (order, prime) = curve_constants(curve);
            let values = around(&[&order, &prime], order.len());
            [values.clone(), values]
        }
        Shape::Ed25519Verify => [ed25519_points(), ed25519_scalars()],
        Shape::MlDsaVerify { set } => {
            // The hash c~, and behind it z and the hints, of which no byte or every byte is set.
            let (hash, rest) = (32, set.signature_len() - 32);
            [
                [0, 1, 0xFF].map(|byte| vec![byte; hash]).into(),
                [0, 0x80, 0xFF].map(|byte| vec![byte; rest]).into(),
            ]
        }
        Shape::SlhDsaVerify { set } => {
            let (randomizer, rest) = (set.n(), set.signature_len() - set.n());
            [
                [0, 0xFF].map(|byte| vec![byte; randomizer]).into(),
                [0, 0xFF].map(|byte| vec![byte; rest]).into(),
            ]
        }
        _ => [Vec::new(), Vec::new()],
    }
}
