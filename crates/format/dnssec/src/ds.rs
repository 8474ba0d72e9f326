//! Digests of keys in the parent zone: DS and CDS. RFC 4034 section 5, RFC 4509, RFC 6605 section 2, RFC 8078 section
//! 4.

use std::fmt;
use std::str::FromStr;

use oarlock::{Accelerator, DigestAlg, JobError, Records, Shape};
use oarlock::{Column, InputSource, OutputSink, Span, Status};

use crate::algorithm::DnssecAlgorithm;
use crate::dnskey::Dnskey;
use crate::name::DomainName;

/// The data of the CDS that asks a parent to delete the DS records. RFC 8078 section 4.
pub const DELETE_CDS: [u8; 5] = [0; 5];

/// The number of a digest (IANA, DS RR Type Digest Algorithms). Unknown numbers are values too: a DS with an unknown
/// digest counts as absent. RFC 4509 section 3.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DigestType(pub u8);

/// An error for a text that names no digest type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is neither a number up to 255 nor one of sha1, sha256 and sha384")]
pub struct UnknownDigestError(pub String);

/// The fields of a DS record's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ds<'a> {
    /// The tag of the key.
    pub key_tag: u16,
    /// The algorithm of the key.
    pub algorithm: DnssecAlgorithm,
    /// The type of the digest.
    pub digest_type: DigestType,
    /// The digest of the key's owner and data.
    pub digest: &'a [u8],
}

/// An error of a DS record, or of its comparison with a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DsError {
    /// The data has fewer bytes than tag, algorithm and type take.
    #[error("a DS of {found} bytes: it has at least 5")]
    Short {
        /// The number of bytes.
        found: usize,
    },
    /// The length of the digest does not match its type.
    #[error("a digest of {found} bytes of type {digest_type}: expected {expected} bytes")]
    Length {
        /// The type of the digest.
        digest_type: DigestType,
        /// The length that the type requires.
        expected: usize,
        /// The length of the digest.
        found: usize,
    },
    /// This crate does not compute the digest.
    #[error("digest type {0} is not supported")]
    UnsupportedDigest(DigestType),
    /// An engine failed.
    #[error("{0}")]
    Job(#[from] JobError),
}

#[allow(missing_docs, reason = "each is its name")]
impl DigestType {
    pub const SHA1: Self = Self(1);
    pub const SHA256: Self = Self(2);
    pub const SHA384: Self = Self(4);
}

const NAMES: [(DigestType, &str, DigestAlg); 3] = [
    (DigestType::SHA1, "SHA-1", DigestAlg::Sha1),
    (DigestType::SHA256, "SHA-256", DigestAlg::Sha256),
    (DigestType::SHA384, "SHA-384", DigestAlg::Sha384),
];

impl DigestType {
    /// Returns the digest of the facade, if the facade computes it.
    #[must_use]
    pub fn digest(self) -> Option<DigestAlg> {
        NAMES.iter().find(|(digest_type, ..)| *digest_type == self).map(|(.., digest)| *digest)
    }

    /// Returns true if this crate computes the digest.
    #[must_use]
    pub fn is_supported(self) -> bool {
        self.digest().is_some()
    }
}

impl FromStr for DigestType {
    type Err = UnknownDigestError;

    /// Parses `sha256`, `SHA-256` or a number.
    fn from_str(text: &str) -> Result<Self, UnknownDigestError> {
        let is_called = |name: &str| {
            let letters = |text: &str| text.replace('-', "").to_ascii_lowercase();
            letters(name) == letters(text)
        };
        if let Some((known, ..)) = NAMES.iter().find(|(_, name, _)| is_called(name)) {
            return Ok(*known);
        }
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        match text.parse() {
            Ok(number) if is_number => Ok(Self(number)),
            _ => Err(UnknownDigestError(text.into())),
        }
    }
}

impl fmt::Display for DigestType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMES.iter().find(|(digest_type, ..)| digest_type == self) {
            Some((_, name, _)) => f.write_str(name),
            None => write!(f, "{}", self.0),
        }
    }
}

impl fmt::Debug for DigestType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DigestType({self})")
    }
}

impl<'a> Ds<'a> {
    /// Splits the data of a DS or CDS into its fields. Digests of unknown types may have any length.
    ///
    /// # Errors
    /// [`DsError::Short`], [`DsError::Length`].
    pub fn parse(rdata: &'a [u8]) -> Result<Self, DsError> {
        let [high, low, algorithm, digest_type, digest @ ..] = rdata else {
            return Err(DsError::Short { found: rdata.len() });
        };
        let (found, digest_type) = (digest.len(), DigestType(*digest_type));
        match digest_type.digest().map(DigestAlg::output_len) {
            Some(expected) if expected != found => {
                return Err(DsError::Length { digest_type, expected, found });
            }
            // Without a digest, a DS of any type identifies no key.
            None if found == 0 => return Err(DsError::Short { found: rdata.len() }),
            _ => {}
        }
        let key_tag = u16::from_be_bytes([*high, *low]);
        Ok(Self { key_tag, algorithm: (*algorithm).into(), digest_type, digest })
    }

    /// Returns true for the CDS that asks for the deletion of all DS records. RFC 8078 section 4.
    #[must_use]
    pub fn is_delete(&self) -> bool {
        self.key_tag == 0 && self.algorithm.0 == 0 && self.digest_type.0 == 0 && self.digest == [0]
    }

    /// Returns true if this crate supports both the algorithm and the digest. RFC 4035 5.2.
    #[must_use]
    pub fn is_supported(&self) -> bool {
        self.algorithm.is_supported() && self.digest_type.is_supported()
    }

    /// Returns true if this is the digest of the key `dnskey` of `owner`. It computes a digest only if tag and
    /// algorithm are those of the key.
    ///
    /// # Errors
    /// [`DsError::UnsupportedDigest`], or an engine failed.
    pub fn matches(
        &self,
        accelerator: &Accelerator,
        owner: DomainName<'_>,
        dnskey: &Dnskey<'_>,
    ) -> Result<bool, DsError> {
        // RFC 4035 5.2: both must match. The tag also saves the digest of keys that cannot match.
        if dnskey.algorithm.number() != self.algorithm.number() || dnskey.key_tag() != self.key_tag {
            return Ok(false);
        }
        Ok(digest(accelerator, owner, dnskey, self.digest_type)? == self.digest)
    }
}

/// Computes the data of a key's DS and CDS.
///
/// # Errors
/// [`DsError::UnsupportedDigest`], or an engine failed.
pub fn ds_rdata(
    accelerator: &Accelerator,
    owner: DomainName<'_>,
    dnskey: &Dnskey<'_>,
    digest_type: DigestType,
) -> Result<Vec<u8>, DsError> {
    let [high, low] = dnskey.key_tag().to_be_bytes();
    let mut rdata = vec![high, low, dnskey.algorithm.number(), digest_type.0];
    rdata.extend(digest(accelerator, owner, dnskey, digest_type)?);
    Ok(rdata)
}

/// Computes the digest of the owner in canonical form and of the key's data. RFC 4034 5.1.4.
fn digest(
    accelerator: &Accelerator,
    owner: DomainName<'_>,
    dnskey: &Dnskey<'_>,
    digest_type: DigestType,
) -> Result<Vec<u8>, DsError> {
    let alg = digest_type.digest().ok_or(DsError::UnsupportedDigest(digest_type))?;
    let owner = owner.to_lower();
    let data = [owner.name().as_bytes(), dnskey.rdata()].concat();
    let span = |len: usize| Span { start: 0, len: len as u32 };
    let shape = Shape::Digest { alg };
    let records = Records {
        len: 1,
        input: Column::One(InputSource::Data(span(data.len()))),
        output: Column::One(OutputSink::Output(span(alg.output_len()))),
        output_len: alg.output_len(),
        data: (&data).into(),
        ..Records::default()
    };
    let outcomes = accelerator.records().run(shape, &records)?;
    match outcomes.statuses().first().and_then(|status: &Status| status.error(shape)) {
        Some(error) => Err(error.into()),
        None => Ok(outcomes.bytes().to_vec()),
    }
}

#[cfg(test)]
mod tests;
