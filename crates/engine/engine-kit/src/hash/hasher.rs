//! A digest whose algorithm is known at run time.

use std::fmt;

use oarlock_core::DigestAlg;

use super::{
    HashState, Sha1, Sha3_224, Sha3_256, Sha3_384, Sha3_512, Sha224, Sha256, Sha384, Sha512, Sha512_224,
    Sha512_256, Shake128, Shake256,
};

/// The computation of a digest in pieces. Erased on drop.
pub struct Hasher {
    alg: DigestAlg,
    state: Box<dyn AnyState>,
}

impl Hasher {
    /// Starts the digest of an empty message, or returns `None` for a digest that is not known here.
    #[must_use]
    pub fn new(alg: DigestAlg) -> Option<Self> {
        let state: Box<dyn AnyState> = match alg {
            DigestAlg::Sha1 => Box::new(Sha1::new()),
            DigestAlg::Sha224 => Box::new(Sha224::new()),
            DigestAlg::Sha256 => Box::new(Sha256::new()),
            DigestAlg::Sha384 => Box::new(Sha384::new()),
            DigestAlg::Sha512 => Box::new(Sha512::new()),
            DigestAlg::Sha512_224 => Box::new(Sha512_224::new()),
            DigestAlg::Sha512_256 => Box::new(Sha512_256::new()),
            DigestAlg::Sha3_224 => Box::new(Sha3_224::new()),
            DigestAlg::Sha3_256 => Box::new(Sha3_256::new()),
            DigestAlg::Sha3_384 => Box::new(Sha3_384::new()),
            DigestAlg::Sha3_512 => Box::new(Sha3_512::new()),
            DigestAlg::Shake128 => Box::new(Shake128::new()),
            DigestAlg::Shake256 => Box::new(Shake256::new()),
            _ => return None,
        };
        Some(Self { alg, state })
    }

    /// Returns the digest that is computed.
    #[must_use]
    pub fn alg(&self) -> DigestAlg {
        self.alg
    }

    /// Absorbs the next piece of the message.
    pub fn update(&mut self, piece: &[u8]) {
        self.state.update(piece);
    }

    /// Returns the digest.
    #[must_use]
    pub fn finish(self) -> Vec<u8> {
        let mut digest = vec![0; self.alg.output_len()];
        self.state.finish(&mut digest);
        digest
    }
}

impl Clone for Hasher {
    fn clone(&self) -> Self {
        Self { alg: self.alg, state: self.state.boxed_clone() }
    }
}

impl fmt::Debug for Hasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hasher({})", self.alg)
    }
}

/// A [`HashState`] behind a pointer.
trait AnyState: Send + Sync {
    fn update(&mut self, piece: &[u8]);

    fn finish(self: Box<Self>, out: &mut [u8]);

    fn boxed_clone(&self) -> Box<dyn AnyState>;
}

impl<H: HashState> AnyState for H {
    fn update(&mut self, piece: &[u8]) {
        HashState::update(self, piece);
    }

    fn finish(self: Box<Self>, out: &mut [u8]) {
        HashState::finish(*self, out);
    }

    fn boxed_clone(&self) -> Box<dyn AnyState> {
        Box::new(self.clone())
    }
}
