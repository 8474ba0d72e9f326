//! RSA signatures by shares of a key, after Shoup, "Practical Threshold Signatures", EUROCRYPT 2000.
//!
//! No server ever holds the key. Any k of l servers sign together, and a server that answers wrongly is named.
//! **Experimental**: this module may change without notice.
//!
//! ```text
//! each of k servers    sign(share, requests)              ->  PartialSignature per request: x_i and its proof (z, c)
//! the combiner         combine_optimistic(key, partials)  ->  an ordinary PKCS#1 v1.5 or PSS signature
//! ```
//!
//! A server gets the digest and pads it itself, so it computes no raw operation for anyone. Its share is an
//! [`oarlock_keys::threshold::Share`], and [`oarlock_keys::threshold::split`] deals shares. The mathematics and the
//! assumptions are in `docs/math/threshold-rsa.md`.
//!
//! ```no_run
//! use oarlock::threshold::{SigningRequest, combine_optimistic, sign};
//! use oarlock::{Accelerator, DigestAlg, Input, Scheme, keys};
//!
//! let accelerator = Accelerator::new()?;
//! let key = keys::generate::rsa_safe(2048, |progress| eprintln!("{} candidates", progress.candidates))?;
//! let (public, shares) = keys::threshold::split(&key, 2, 3)?;
//!
//! let scheme = Scheme::RsaPkcs1Sign { digest: DigestAlg::Sha256 };
//! let request = SigningRequest::new(scheme, Input::Message(b"transfer nothing"));
//! let mut partials = Vec::new();
//! for share in &shares[..2] {
//!     partials.extend(sign(&accelerator, share, &[request]).into_iter().collect::<Result<Vec<_>, _>>()?);
//! }
//! let combined = combine_optimistic(&accelerator, &public, &request, &partials)?;
//! assert!(combined.culprits.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod combine;
mod error;
mod lagrange;
mod partial;
mod power;
mod ring;
mod sign;
mod signer;
#[cfg(test)]
mod tests;
mod verify;

use oarlock_core::Scheme;
use oarlock_keys::threshold::ThresholdKey;

pub use self::combine::{CombinedSignature, combine, combine_optimistic};
pub use self::error::ThresholdError;
pub use self::partial::PartialSignature;
pub use self::sign::{PendingPartials, sign, submit};
pub use self::verify::verify;
use crate::schemes::rsa_encoding;
use crate::{Input, Job};

/// A request to sign. Every server and the combiner must have the same.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SigningRequest<'a> {
    /// [`Scheme::RsaPkcs1Sign`] or [`Scheme::RsaPssSign`].
    pub scheme: Scheme,
    /// The message, or its digest.
    pub input: Input<'a>,
    /// The salt of PSS, as long as the scheme says, and empty for PKCS#1 v1.5.
    ///
    /// The caller draws it at random. Servers that drew their own salts would sign different integers.
    pub salt: &'a [u8],
}

impl<'a> SigningRequest<'a> {
    /// A request without salt.
    #[must_use]
    pub fn new(scheme: Scheme, input: Input<'a>) -> Self {
        Self { scheme, input, salt: &[] }
    }

    /// Returns the same request with a salt.
    #[must_use]
    pub fn with_salt(self, salt: &'a [u8]) -> Self {
        Self { salt, ..self }
    }

    /// x, the integer whose e-th root the signature is, at the modulus's width.
    fn encoded(&self, key: &ThresholdKey) -> Result<Vec<u8>, ThresholdError> {
        let job = Job::with_scheme(self.scheme, key.public(), self.input, &[]);
        Ok(rsa_encoding(&job, self.salt)?)
    }
}
