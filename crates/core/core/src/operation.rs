//! Public-key operations: one that borrows its inputs, and many in one flat buffer.

use std::fmt;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};

use smallvec::SmallVec;

use crate::{DigestAlg, JobError, Key, Shape, Span, erase, reserve_erasing};

/// A public-key operation that fits its [`Shape`]: the key serves it and the lengths are right.
///
/// [`Operation::new`] and [`OperationSet::push`] check this, and there is no other way to make an operation. So an
/// engine need not check again. Values may still be out of range.
#[derive(Clone, Copy)]
pub struct Operation<'a> {
    shape: Shape,
    inputs: OperationInputs<'a>,
    cancelled: Option<&'a AtomicBool>,
}

/// The key and the inputs of an [`Operation`].
#[derive(Clone, Copy)]
pub struct OperationInputs<'a> {
    /// A local key that serves the shape.
    pub key: &'a Key,
    /// The input. RSA: an integer below n, at the width of the modulus. ECDSA: the leftmost bytes of the digest, at
    /// the width of the curve, with a shorter digest padded on the left. Ed25519: the message. X25519: the
    /// u-coordinate of the peer. ECDH: the uncompressed point of the peer. ML-KEM: the random bytes of an encapsulation
    /// or a ciphertext. ML-DSA: mu. SLH-DSA: the encoded message M'. HSS and XMSS: the
    /// message.
    pub input: &'a [u8],
    /// The signature or the nonce.
    pub extra: SecondInput<'a>,
}

/// The second input of an operation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SecondInput<'a> {
    /// No second input.
    None,
    /// The signature to verify: r || s, the 64 bytes of Ed25519, or that of another scheme.
    Signature(&'a [u8]),
    /// The source of the nonce of an ECDSA signature, or the random bytes of an ML-DSA or SLH-DSA signature.
    NonceInput(NonceInput<'a>),
}

/// The source of the randomness of a signature.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum NonceInput<'a> {
    /// Derives k from the key, the digest and these random bytes, which are wide enough for an unbiased k. The same
    /// bytes give the same signature. An engine over a library that draws its own nonces may ignore them for ECDSA.
    ///
    /// For ML-DSA they are rnd of FIPS 204, which every engine uses. Zeros make the deterministic variant. For SLH-DSA
    /// the first n bytes are opt_rand of FIPS 205, which every engine uses.
    Hedged(&'a [u8; 32]),
    /// Derives k as RFC 6979 says, with HMAC over this digest. For ECDSA only.
    Deterministic(DigestAlg),
}

impl<'a> Operation<'a> {
    /// Makes an operation of `shape`.
    ///
    /// # Errors
    /// [`JobError::KeyType`] if the key does not serve the shape, and [`JobError::Length`] if the input or the
    /// signature has another length than the shape asks for.
    pub fn new(
        shape: Shape,
        key: &'a Key,
        input: &'a [u8],
        extra: SecondInput<'a>,
    ) -> Result<Self, JobError> {
        let inputs = OperationInputs { key, input, extra };
        inputs.check(shape)?;
        Ok(Self { shape, inputs, cancelled: None })
    }

    /// Lets the caller end the operation early: it is not wanted any more as soon as `cancelled` is true.
    #[must_use]
    pub fn until(self, cancelled: &'a AtomicBool) -> Self {
        Self { cancelled: Some(cancelled), ..self }
    }

    /// True if nobody wants the result any more. An engine asks this between the parts of a long operation
    /// ([`Shape::is_long`]), and ends it with [`Status::Cancelled`](crate::Status::Cancelled).
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        // No memory is passed through the flag: an engine that sees it late only computes in vain.
        self.cancelled.is_some_and(|cancelled| cancelled.load(Ordering::Relaxed))
    }

    /// True if the operation was made for `shape`. An engine asks this of each operation of a run.
    #[must_use]
    pub fn fits(&self, shape: Shape) -> bool {
        debug_assert!(self.inputs.check(self.shape).is_ok(), "{self:?} was not checked");
        self.shape == shape
    }
}

// There is no `DerefMut`: an input that is replaced afterwards would be unchecked.
impl<'a> Deref for Operation<'a> {
    type Target = OperationInputs<'a>;

    fn deref(&self) -> &Self::Target {
        &self.inputs
    }
}

impl OperationInputs<'_> {
    /// Checks everything that does not depend on values.
    fn check(&self, shape: Shape) -> Result<(), JobError> {
        if !self.key.serves(shape) {
            return Err(JobError::KeyType { wanted: shape.to_string(), found: self.key.kind() });
        }
        if let Some(expected) = shape.input_len() {
            check_len("input", expected, self.input.len())?;
        }
        // The second input of other shapes is not checked. An ECDSA engine reports `Malformed` if it gets no nonce.
        match (shape.signature_len(), self.extra) {
            (Some(expected), SecondInput::Signature(signature)) => {
                check_len("signature", expected, signature.len())
            }
            (Some(expected), _) => check_len("signature", expected, 0),
            (None, _) => Ok(()),
        }
    }
}

impl fmt::Debug for Operation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Operation({}, {:?})", self.shape, self.inputs)
    }
}

impl fmt::Debug for OperationInputs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}, {} bytes", self.key, self.input.len())
    }
}

impl fmt::Debug for SecondInput<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("None"),
            Self::Signature(signature) => write!(f, "Signature({} bytes)", signature.len()),
            Self::NonceInput(nonce) => write!(f, "{nonce:?}"),
        }
    }
}

impl fmt::Debug for NonceInput<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hedged(_) => f.write_str("Hedged"),
            Self::Deterministic(digest) => write!(f, "Deterministic({digest})"),
        }
    }
}

fn check_len(what: &'static str, expected: usize, found: usize) -> Result<(), JobError> {
    if expected == found {
        return Ok(());
    }
    Err(JobError::Length { what, expected: expected.to_string(), found })
}

/// Operations of one shape, with everything they refer to in one buffer.
///
/// This is the form in which operations are queued: a job needs no allocation of its own. Inputs are digests,
/// ciphertexts, public values, and random bytes that reveal no nonce without the key. Only the random bytes of an
/// ML-KEM encapsulation are secret, because the shared secret follows from them and the public key: a set of them is
/// zeroized on drop.
#[derive(Clone)]
pub struct OperationSet {
    shape: Shape,
    // Inline space for one: a single job allocates the buffer of its data only.
    keys: SmallVec<[Key; 1]>,
    entries: SmallVec<[OperationEntry; 1]>,
    data: Vec<u8>,
}

#[derive(Clone, Copy)]
struct OperationEntry {
    key: u32,
    input: Span,
    extra: SecondInputEntry,
}

#[derive(Clone, Copy)]
enum SecondInputEntry {
    None,
    Signature(Span),
    Hedged(Span),
    Deterministic(DigestAlg),
}

impl OperationSet {
    /// Creates an empty set.
    #[must_use]
    pub fn new(shape: Shape) -> Self {
        Self::with_capacity(shape, 0, 0)
    }

    /// Creates an empty set with memory for a number of operations and of input bytes.
    #[must_use]
    pub fn with_capacity(shape: Shape, operations: usize, bytes: usize) -> Self {
        Self {
            shape,
            keys: SmallVec::new(),
            entries: SmallVec::with_capacity(operations),
            data: Vec::with_capacity(bytes),
        }
    }

    /// Returns the shape of every operation.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Returns the number of operations.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True if there is no operation.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the number of input bytes of all operations.
    #[must_use]
    pub fn input_bytes(&self) -> usize {
        self.data.len()
    }

    /// Checks an operation and appends it.
    ///
    /// # Errors
    /// Those of [`Operation::new`], and [`JobError::Malformed`] past 4 GiB of input. The set then holds no other
    /// operation than before.
    pub fn push(&mut self, key: &Key, input: &[u8], extra: SecondInput<'_>) -> Result<(), JobError> {
        OperationInputs { key, input, extra }.check(self.shape)?;
        let key = self.intern(key);
        let input = self.store(input)?;
        let extra = match extra {
            SecondInput::None => SecondInputEntry::None,
            SecondInput::Signature(signature) => SecondInputEntry::Signature(self.store(signature)?),
            SecondInput::NonceInput(NonceInput::Hedged(bytes)) => {
                SecondInputEntry::Hedged(self.store(bytes)?)
            }
            SecondInput::NonceInput(NonceInput::Deterministic(digest)) => {
                SecondInputEntry::Deterministic(digest)
            }
        };
        self.entries.push(OperationEntry { key, input, extra });
        Ok(())
    }

    /// Returns the operation at `index`, or `None` past the end.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<Operation<'_>> {
        let entry = self.entries.get(index)?;
        let extra = match entry.extra {
            SecondInputEntry::None => SecondInput::None,
            SecondInputEntry::Signature(span) => SecondInput::Signature(span.slice(&self.data)?),
            SecondInputEntry::Hedged(span) => {
                SecondInput::NonceInput(NonceInput::Hedged(span.slice(&self.data)?.try_into().ok()?))
            }
            SecondInputEntry::Deterministic(digest) => {
                SecondInput::NonceInput(NonceInput::Deterministic(digest))
            }
        };
        let key = self.keys.get(entry.key as usize)?;
        // Not checked again: `push` has checked the same inputs against the same shape.
        let inputs = OperationInputs { key, input: entry.input.slice(&self.data)?, extra };
        Some(Operation { shape: self.shape, inputs, cancelled: None })
    }

    /// Returns the operations in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Operation<'_>> {
        #[expect(clippy::expect_used, reason = "indices come from the length")]
        // unreachable because `push` stored the key and spans of every index below the length
        (0..self.len()).map(|index| self.get(index).expect("index below the length"))
    }

    /// Returns the index of a key handle. Jobs often repeat their key, so the last few handles are searched first.
    fn intern(&mut self, key: &Key) -> u32 {
        // A search of all keys would make a set of many keys quadratic. A handle that is missed is stored twice.
        let recent = self.keys.iter().enumerate().rev().take(8);
        let index = recent.into_iter().find(|(_, known)| known.is_same(key)).map(|(index, _)| index);
        let index = index.unwrap_or_else(|| {
            self.keys.push(key.clone());
            self.keys.len() - 1
        });
        // unreachable because a set of 2^32 operations would not fit in memory
        u32::try_from(index).unwrap_or(u32::MAX)
    }

    fn store(&mut self, bytes: &[u8]) -> Result<Span, JobError> {
        let span = Span::new(self.data.len(), bytes.len())
            .ok_or(JobError::Malformed { what: "a set of operations holds at most 4 GiB of input" })?;
        if self.shape.input_is_secret() {
            // A vector that grows by itself leaves its old memory as it is.
            reserve_erasing(&mut self.data, bytes.len());
        }
        self.data.extend_from_slice(bytes);
        Ok(span)
    }
}

impl Drop for OperationSet {
    fn drop(&mut self) {
        if self.shape.input_is_secret() {
            erase(&mut self.data);
        }
    }
}

impl fmt::Debug for OperationSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OperationSet({}, {} operations)", self.shape, self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Curve, Fingerprint, KeyParts};

    fn p256_public() -> Key {
        Key::local(KeyParts::EcPublic(Curve::P256, vec![4; 65]), Fingerprint::new([1; 32]))
    }

    #[test]
    fn a_set_returns_what_was_pushed() {
        let key = p256_public();
        let mut set = OperationSet::new(Shape::EcdsaVerify { curve: Curve::P256 });
        for n in 0..3_u8 {
            set.push(&key, &[n; 32], SecondInput::Signature(&[n + 100; 64])).unwrap();
        }
        assert_eq!((set.len(), set.keys.len()), (3, 1));
        let last = set.get(2).unwrap();
        assert_eq!(last.input, [2; 32]);
        assert!(last.extra == SecondInput::Signature(&[102; 64]) && last.key.is_same(&key));
        assert!(set.get(3).is_none());
    }

    #[test]
    fn an_operation_fits_the_shape_it_was_made_for_and_no_other() {
        let (key, shape) = (p256_public(), Shape::EcdsaVerify { curve: Curve::P256 });
        let signature = SecondInput::Signature(&[0; 64]);
        let operation = Operation::new(shape, &key, &[7; 32], signature).unwrap();
        assert!(operation.fits(shape) && !operation.fits(Shape::EcdsaVerify { curve: Curve::P384 }));
        assert_eq!(operation.input, [7; 32]);
        let mut set = OperationSet::new(shape);
        set.push(&key, &[7; 32], signature).unwrap();
        assert!(set.iter().all(|operation| operation.fits(shape)));
    }

    #[test]
    fn an_operation_is_cancelled_by_the_flag_of_its_caller_alone() {
        let (key, shape) = (p256_public(), Shape::EcdsaVerify { curve: Curve::P256 });
        let cancelled = AtomicBool::new(false);
        let operation = Operation::new(shape, &key, &[7; 32], SecondInput::Signature(&[0; 64])).unwrap();
        let watched = operation.until(&cancelled);
        assert!(!watched.is_cancelled());
        cancelled.store(true, Ordering::Relaxed);
        assert!(watched.is_cancelled() && !operation.is_cancelled());
    }

    #[test]
    fn an_operation_with_a_wrong_key_or_length_cannot_be_made() {
        let (key, shape) = (p256_public(), Shape::EcdsaVerify { curve: Curve::P256 });
        let error = |shape, input, extra| Operation::new(shape, &key, input, extra).map(drop).unwrap_err();
        let signature = SecondInput::Signature(&[0; 64]);
        let other = Shape::EcdsaVerify { curve: Curve::P384 };
        assert!(matches!(error(other, &[0; 48], signature), JobError::KeyType { .. }));
        assert!(matches!(error(shape, &[0; 31], signature), JobError::Length { what: "input", .. }));
        let short = SecondInput::Signature(&[0; 63]);
        assert!(matches!(error(shape, &[0; 32], short), JobError::Length { what: "signature", .. }));
    }

    #[test]
    fn a_set_does_not_change_if_an_operation_does_not_fit() {
        let key = p256_public();
        let mut set = OperationSet::new(Shape::EcdsaVerify { curve: Curve::P256 });
        let short = set.push(&key, &[0; 31], SecondInput::Signature(&[0; 64])).unwrap_err();
        assert_eq!(short, JobError::Length { what: "input", expected: "32".into(), found: 31 });
        let unsigned = set.push(&key, &[0; 32], SecondInput::None).unwrap_err();
        assert_eq!(unsigned, JobError::Length { what: "signature", expected: "64".into(), found: 0 });
        let other = OperationSet::new(Shape::Ed25519Sign).push(&key, &[], SecondInput::None);
        assert!(matches!(other, Err(JobError::KeyType { .. })));
        assert!(set.is_empty() && set.input_bytes() == 0);
    }
}
