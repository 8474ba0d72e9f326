//! Known answers for every shape. They run on an engine before it is used, and whenever it comes back from
//! quarantine.
//!
//! [`prove`] fills the preferred batch of the engine with different known answers, mixes bad items in, and compares
//! every lane. A failure names the shape and the lane. [`sample_operations`] and [`sample_records`] make workloads of
//! the same material, to time engines with. The vectors and their origins are in the files of `data/`.

mod cases;
#[cfg(any(test, feature = "corruption-hook"))]
mod corrupt;
mod operations;
mod records;
mod rows;
mod sample;
mod text;

use oarlock_core::{BlockCipher, CipherMode, CipherSpec, Engine, EngineFault, Shape, Status};

#[cfg(any(test, feature = "corruption-hook"))]
pub use corrupt::CorruptEngine;
pub use sample::{sample_operations, sample_records};

/// An engine's answers for a shape were all right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SelfTestProof {
    /// The number of jobs that were compared.
    pub jobs: usize,
}

/// The reason why an engine may not be used for a shape.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum SelfTestFailure {
    /// The engine does not offer the shape.
    #[error("{engine} does not offer {shape}")]
    NotOffered {
        /// The engine's name.
        engine: &'static str,
        shape: Shape,
    },
    /// There are no known answers for the shape itself; [`representative`] may name one to prove in its place.
    #[error("there are no known answers for {shape}")]
    NoVectors { shape: Shape },
    /// The engine failed as a whole.
    #[error(transparent)]
    Fault(#[from] EngineFault),
    /// One lane is wrong.
    #[error("{engine}, {shape}: job {lane} is wrong: {difference}")]
    Wrong {
        /// The engine's name.
        engine: &'static str,
        shape: Shape,
        /// Index of the job in its run.
        lane: usize,
        /// The difference from the known answer.
        difference: Difference,
    },
    /// An embedded vector cannot be read. This is a fault of the build.
    #[error("an embedded vector is damaged: {what}")]
    Vectors {
        /// The place.
        what: String,
    },
}

/// The difference between a result and the known answer. It never contains the result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Difference {
    /// Another status.
    #[error("expected status {expected:?}, found {found:?}")]
    Status {
        /// The known one.
        expected: Status,
        /// The engine's.
        found: Status,
    },
    /// Other bytes.
    #[error("{what} differs from byte {at} on")]
    Bytes {
        /// The name of the result.
        what: &'static str,
        /// The first byte that differs.
        at: usize,
    },
    /// Another length.
    #[error("expected {expected} bytes, found {found}")]
    Length {
        /// The known one.
        expected: usize,
        /// The engine's.
        found: usize,
    },
    /// A signature that the referee rejects.
    #[error("the signature does not verify")]
    DoesNotVerify,
    /// Two signatures share r, so they share the nonce, which reveals the key.
    #[error("the nonce of another job was used again")]
    NonceReused,
}

/// Runs the known answers of `shape` on `engine`.
///
/// `referee` verifies ECDSA signatures whose nonces are random. It may be `engine` itself.
///
/// # Errors
/// The first [`SelfTestFailure`].
pub fn prove(
    engine: &dyn Engine,
    referee: &dyn Engine,
    shape: Shape,
) -> Result<SelfTestProof, SelfTestFailure> {
    let Some(lanes) = engine.offers(shape) else {
        return Err(SelfTestFailure::NotOffered { engine: engine.name(), shape });
    };
    match shape {
        _ if shape.is_record() => records::prove(engine, lanes, shape),
        Shape::EcdsaSign { curve } => {
            let exact = operations::prove(engine, lanes, shape)?;
            let hedged = operations::prove_hedged(engine, referee, lanes, curve)?;
            Ok(SelfTestProof { jobs: exact.jobs + hedged.jobs })
        }
        _ => operations::prove(engine, lanes, shape),
    }
}

/// Returns the shape whose self test stands for `shape`.
///
/// It is the shape itself, or for RSA of another size the next larger one (4096 bits above that). 1031 and 1536 bits
/// have known answers of their own too. For SLH-DSA it is the generation of a key for making keys and signatures, and
/// the verification for verifying, of the smallest set with the same hash functions.
#[must_use]
pub fn representative(shape: Shape) -> Shape {
    let next = |bits: u16| [1024, 2048, 3072].into_iter().find(|size| *size >= bits).unwrap_or(4096);
    match shape {
        Shape::RsaPrivate { bits } => Shape::RsaPrivate { bits: next(bits) },
        Shape::RsaPublic { bits, exponent } => Shape::RsaPublic { bits: next(bits), exponent },
        Shape::ModExp { bits, .. } => Shape::ModExp { bits: next(bits), exponent_bits: next(bits) },
        other => cases::hash_based::proved_shape(other),
    }
}

/// Returns every shape that has a self test: the named shapes and one translation.
///
/// For RSA of other sizes and for sets of SLH-DSA, the [`representative`] of the shape is tested.
#[must_use]
pub fn proved_shapes() -> Vec<Shape> {
    [Shape::public_key(), Shape::records(), vec![TRANSLATION]].concat()
}

/// The translation whose self test stands for all translations.
const TRANSLATION: Shape = Shape::Translate {
    from: CipherSpec { alg: BlockCipher::Tdes2, mode: CipherMode::Cbc },
    to: CipherSpec { alg: BlockCipher::Aes256, mode: CipherMode::Cbc },
};

/// Returns the tested shape that stands for `shape`.
pub(crate) fn vouching(shape: Shape) -> Shape {
    match shape {
        Shape::Translate { .. } => TRANSLATION,
        shape => representative(shape),
    }
}

/// Finds the first difference of two byte strings.
fn compare(what: &'static str, expected: &[u8], found: &[u8]) -> Result<(), Difference> {
    if expected.len() != found.len() {
        return Err(Difference::Length { expected: expected.len(), found: found.len() });
    }
    match expected.iter().zip(found).position(|(expected, found)| expected != found) {
        Some(at) => Err(Difference::Bytes { what, at }),
        None => Ok(()),
    }
}

/// A job that failed has left nothing behind, such as the plaintext of a tag that does not verify.
fn nothing_left(output: &[u8]) -> Result<(), Difference> {
    match output.iter().position(|byte| *byte != 0) {
        Some(at) => Err(Difference::Bytes { what: "the place of a failed job", at }),
        None => Ok(()),
    }
}

/// Jobs that fill an engine's lanes, at least `min` of them, as far as it takes that many at once.
fn batch_len(lanes: oarlock_core::BatchSize, min: usize) -> usize {
    min.next_multiple_of(lanes.preferred.max(1)).min(lanes.max).max(1)
}

#[cfg(test)]
mod tests;
