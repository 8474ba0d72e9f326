//! The limits of the certificate chains that peers send.
//!
//! A verifier searches a path from the peer's certificate to a trusted authority among the certificates that the peer
//! sent. A stranger can make that search long: 144 authorities that issue each other cost webpki two seconds, before a
//! single signature was made by anyone it knows. So a chain is measured before the search, by its certificates and by
//! the paths that they allow.

mod names;
#[cfg(feature = "rustls")]
mod verifier;

use self::names::CertificateNames;

#[cfg(feature = "rustls")]
pub use self::verifier::BoundedVerifier;

/// The maximum steps of a search. A chain without branches has one step for each certificate, and each authority with
/// two certificates doubles the steps above it. A step costs at most one signature check: all of them together stay
/// below a millisecond.
const MAX_STEPS: usize = 16;

/// The limit of the certificates in a peer's chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainLimit {
    max_certificates: usize,
}

/// The reason why a chain is refused before any of its signatures is checked. It is the peer's fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChainError {
    /// The chain has too many certificates.
    #[error("the chain has {found} certificates, at most {max} are allowed")]
    TooLong {
        /// The number of certificates, with that of the peer.
        found: usize,
        /// The number that [`ChainLimit::new`] was given.
        max: usize,
    },
    /// The certificates issue each other in too many ways.
    #[error(
        "the certificates of the chain issue each other in more ways than a search of {max} steps can try"
    )]
    TooManyPaths {
        /// The maximum number of steps.
        max: usize,
    },
}

impl ChainLimit {
    /// The default maximum of certificates. Public chains have two to four.
    pub const DEFAULT_MAX_CERTIFICATES: usize = 8;

    /// Returns a limit. The peer's own certificate counts, so 1 allows no certificates of authorities.
    #[must_use]
    pub const fn new(max_certificates: usize) -> Self {
        Self { max_certificates }
    }

    /// Checks a chain: the peer's own certificate in DER, and the others in the order in which the peer sent them.
    /// Nothing else about the certificates is checked.
    ///
    /// # Errors
    /// The chain is longer than the limit, or has too many paths.
    pub fn check<C: AsRef<[u8]>>(self, leaf: &[u8], others: &[C]) -> Result<(), ChainError> {
        let (found, max) = (others.len().saturating_add(1), self.max_certificates);
        if found > max {
            return Err(ChainError::TooLong { found, max });
        }
        // A verifier finds no path through a certificate that cannot be read.
        let others: Vec<_> =
            others.iter().filter_map(|certificate| CertificateNames::read(certificate.as_ref())).collect();
        match CertificateNames::read(leaf) {
            Some(names) => {
                PathSearch { others: &others, steps: 0 }.count(&names, &mut vec![false; others.len()])
            }
            None => Ok(()),
        }
    }
}

impl Default for ChainLimit {
    fn default() -> Self {
        Self::new(Self::DEFAULT_MAX_CERTIFICATES)
    }
}

/// Counts the steps of a search that tries every path.
struct PathSearch<'a> {
    others: &'a [CertificateNames<'a>],
    steps: usize,
}

impl PathSearch<'_> {
    /// Counts the paths that go on from `head`. Certificates that are on the path already are marked in `used`.
    fn count(&mut self, head: &CertificateNames<'_>, used: &mut [bool]) -> Result<(), ChainError> {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            return Err(ChainError::TooManyPaths { max: MAX_STEPS });
        }
        for (index, issuer) in self.others.iter().enumerate() {
            if !used[index] && issuer.subject == head.issuer {
                used[index] = true;
                self.count(issuer, used)?;
                used[index] = false;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
