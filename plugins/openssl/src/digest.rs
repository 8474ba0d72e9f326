//! Digests by their names in OpenSSL, with the identifiers that signatures need.

use std::fmt;

use aws_lc_rs::digest as aws;
use oarlock::DigestAlg;

use crate::error::ProviderError;

/// A digest that signatures may name.
pub(crate) struct NamedDigest {
    /// All names; error messages and comparisons use the first.
    names: &'static [&'static str],
    pub(crate) canonical: &'static std::ffi::CStr,
    algorithm: &'static aws::Algorithm,
    /// The digest of `oarlock`, if its schemes of RSA and ECDSA take it.
    pub(crate) accelerated: Option<DigestAlg>,
    /// The object identifier, in DER without tag and length.
    pub(crate) oid: &'static [u8],
    /// The identifiers of PKCS#1 v1.5 and of ECDSA signatures with it. RFC 8017 A.2.4, RFC 5758, NIST CSOR.
    pub(crate) rsa_oid: &'static [u8],
    pub(crate) ecdsa_oid: &'static [u8],
}

/// All supported digests. Their names match in any case.
static DIGESTS: [NamedDigest; 8] = [
    NamedDigest {
        names: &["SHA1", "SHA-1", "SSL3-SHA1", "1.3.14.3.2.26"],
        canonical: c"SHA1",
        algorithm: &aws::SHA1_FOR_LEGACY_USE_ONLY,
        accelerated: Some(DigestAlg::Sha1),
        oid: b"\x2b\x0e\x03\x02\x1a",
        rsa_oid: b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x05",
        ecdsa_oid: b"\x2a\x86\x48\xce\x3d\x04\x01",
    },
    NamedDigest {
        names: &["SHA2-224", "SHA224", "SHA-224", "2.16.840.1.101.3.4.2.4"],
        canonical: c"SHA2-224",
        algorithm: &aws::SHA224,
        accelerated: Some(DigestAlg::Sha224),
        oid: b"\x60\x86\x48\x01\x65\x03\x04\x02\x04",
        rsa_oid: b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0e",
        ecdsa_oid: b"\x2a\x86\x48\xce\x3d\x04\x03\x01",
    },
    NamedDigest {
        names: &["SHA2-256", "SHA256", "SHA-256", "2.16.840.1.101.3.4.2.1"],
        canonical: c"SHA2-256",
        algorithm: &aws::SHA256,
        accelerated: Some(DigestAlg::Sha256),
        oid: b"\x60\x86\x48\x01\x65\x03\x04\x02\x01",
        rsa_oid: b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0b",
        ecdsa_oid: b"\x2a\x86\x48\xce\x3d\x04\x03\x02",
    },
    NamedDigest {
        names: &["SHA2-384", "SHA384", "SHA-384", "2.16.840.1.101.3.4.2.2"],
        canonical: c"SHA2-384",
        algorithm: &aws::SHA384,
        accelerated: Some(DigestAlg::Sha384),
        oid: b"\x60\x86\x48\x01\x65\x03\x04\x02\x02",
        rsa_oid: b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0c",
        ecdsa_oid: b"\x2a\x86\x48\xce\x3d\x04\x03\x03",
    },
    NamedDigest {
        names: &["SHA2-512", "SHA512", "SHA-512", "2.16.840.1.101.3.4.2.3"],
        canonical: c"SHA2-512",
        algorithm: &aws::SHA512,
        accelerated: Some(DigestAlg::Sha512),
        oid: b"\x60\x86\x48\x01\x65\x03\x04\x02\x03",
        rsa_oid: b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0d",
        ecdsa_oid: b"\x2a\x86\x48\xce\x3d\x04\x03\x04",
    },
    NamedDigest {
        names: &["SHA3-256", "2.16.840.1.101.3.4.2.8"],
        canonical: c"SHA3-256",
        algorithm: &aws::SHA3_256,
        accelerated: None,
        oid: b"\x60\x86\x48\x01\x65\x03\x04\x02\x08",
        rsa_oid: b"\x60\x86\x48\x01\x65\x03\x04\x03\x0e",
        ecdsa_oid: b"\x60\x86\x48\x01\x65\x03\x04\x03\x0a",
    },
    NamedDigest {
        names: &["SHA3-384", "2.16.840.1.101.3.4.2.9"],
        canonical: c"SHA3-384",
        algorithm: &aws::SHA3_384,
        accelerated: None,
        oid: b"\x60\x86\x48\x01\x65\x03\x04\x02\x09",
        rsa_oid: b"\x60\x86\x48\x01\x65\x03\x04\x03\x0f",
        ecdsa_oid: b"\x60\x86\x48\x01\x65\x03\x04\x03\x0b",
    },
    NamedDigest {
        names: &["SHA3-512", "2.16.840.1.101.3.4.2.10"],
        canonical: c"SHA3-512",
        algorithm: &aws::SHA3_512,
        accelerated: None,
        oid: b"\x60\x86\x48\x01\x65\x03\x04\x02\x0a",
        rsa_oid: b"\x60\x86\x48\x01\x65\x03\x04\x03\x10",
        ecdsa_oid: b"\x60\x86\x48\x01\x65\x03\x04\x03\x0c",
    },
];

impl NamedDigest {
    /// Finds the digest of this name.
    pub(crate) fn named(name: &str) -> Result<&'static Self, ProviderError> {
        let is_named = |digest: &&Self| digest.names.iter().any(|known| known.eq_ignore_ascii_case(name));
        DIGESTS.iter().find(is_named).ok_or_else(|| ProviderError::Digest(name.to_owned()))
    }

    /// Returns the number of bytes in a hash.
    pub(crate) fn len(&self) -> usize {
        self.algorithm.output_len()
    }

    /// Returns the digest of `oarlock`, which schemes need that hash by themselves.
    pub(crate) fn accelerated_for(&self, scheme: &str) -> Result<DigestAlg, ProviderError> {
        self.accelerated
            .ok_or_else(|| ProviderError::Unsupported { what: format!("{scheme} with {}", self.names[0]) })
    }

    pub(crate) fn hasher(&self) -> aws::Context {
        aws::Context::new(self.algorithm)
    }
}

impl fmt::Debug for NamedDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.names[0])
    }
}

impl PartialEq for NamedDigest {
    fn eq(&self, other: &Self) -> bool {
        self.names[0] == other.names[0]
    }
}
