//! Digests, mask generation and the PRF of implicit rejection, over AWS-LC's one-shot functions.

use aws_lc_rs::{digest, hmac};
use oarlock_core::{DigestAlg, Input, Job, JobError, OwnedJob};
use zeroize::Zeroize;

use super::{MAX_MODULUS_LEN, check_context, pre_hash};

/// A digest of RSA and ECDSA, with the constants that their schemes need.
pub(crate) struct Digester {
    algorithm: &'static digest::Algorithm,
    /// DER of DigestInfo up to the digest. RFC 8017 9.2 note 1.
    pub(crate) info_prefix: &'static [u8],
}

impl Digester {
    /// The entry of `alg`.
    pub(crate) fn from_alg(alg: DigestAlg) -> Result<&'static Self, JobError> {
        match alg {
            DigestAlg::Sha1 => Ok(&SHA1),
            DigestAlg::Sha224 => Ok(&SHA224),
            DigestAlg::Sha256 => Ok(&SHA256),
            DigestAlg::Sha384 => Ok(&SHA384),
            DigestAlg::Sha512 => Ok(&SHA512),
            _ => Err(JobError::Digest { what: "digest", expected: &DigestAlg::RSA_AND_ECDSA, found: alg }),
        }
    }

    /// Bytes of a digest.
    pub(crate) fn len(&self) -> usize {
        self.algorithm.output_len()
    }

    /// Hashes `message`.
    pub(crate) fn hash(&self, message: &[u8]) -> MessageDigest {
        MessageDigest::from_slice(digest::digest(self.algorithm, message).as_ref())
    }

    /// Returns the digest of a job's message, computed or given.
    pub(super) fn digest(&self, job: &Job<'_>) -> Result<MessageDigest, JobError> {
        match job.input {
            Input::Message(message) => Ok(self.hash(message)),
            Input::Digest(digest) if digest.len() == self.len() => Ok(MessageDigest::from_slice(digest)),
            Input::Digest(digest) => Err(JobError::Length {
                what: "digest",
                expected: self.len().to_string(),
                found: digest.len(),
            }),
        }
    }
}

/// Copies a job, with the digest in place of its message if the scheme names one: less to keep or to send, and the
/// message itself stays with the caller.
///
/// # Errors
/// [`JobError::Digest`] if the scheme does not take its digest; [`JobError::Length`] if a given digest or context has
/// the wrong length; [`JobError::Unsupported`] for a digest in a scheme that takes messages.
pub fn to_digested(job: &Job<'_>) -> Result<OwnedJob, JobError> {
    job.scheme.check_digests()?;
    check_context(job)?;
    if let Some(alg) = job.scheme.message_digest() {
        let digest = Digester::from_alg(alg)?.digest(job)?;
        return Ok(with_digest(job, digest.as_ref()));
    }
    if let Some(digest) = pre_hash::digested(job)? {
        return Ok(with_digest(job, &digest));
    }
    job.message()?;
    Ok(OwnedJob::from(*job))
}

fn with_digest(job: &Job<'_>, digest: &[u8]) -> OwnedJob {
    Job::with_scheme(job.scheme, job.key, Input::Digest(digest), job.second).context(job.context).into()
}

static SHA1: Digester = Digester {
    algorithm: &digest::SHA1_FOR_LEGACY_USE_ONLY,
    info_prefix: b"\x30\x21\x30\x09\x06\x05\x2b\x0e\x03\x02\x1a\x05\x00\x04\x14",
};

static SHA224: Digester = Digester {
    algorithm: &digest::SHA224,
    info_prefix: b"\x30\x2d\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x04\x05\x00\x04\x1c",
};

static SHA256: Digester = Digester {
    algorithm: &digest::SHA256,
    info_prefix: b"\x30\x31\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x05\x00\x04\x20",
};

static SHA384: Digester = Digester {
    algorithm: &digest::SHA384,
    info_prefix: b"\x30\x41\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x02\x05\x00\x04\x30",
};

static SHA512: Digester = Digester {
    algorithm: &digest::SHA512,
    info_prefix: b"\x30\x51\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x03\x05\x00\x04\x40",
};

/// A digest of at most 64 bytes, without allocation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct MessageDigest {
    bytes: [u8; 64],
    len: u8,
}

impl MessageDigest {
    /// Takes over at most 64 bytes.
    pub(crate) fn from_slice(given: &[u8]) -> Self {
        let len = given.len().min(64);
        let mut bytes = [0; 64];
        bytes[..len].copy_from_slice(&given[..len]);
        Self { bytes, len: len as u8 }
    }
}

impl AsRef<[u8]> for MessageDigest {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

/// `target ^= MGF1(seed, target.len())`. The seed is at most as long as the longest modulus. RFC 8017 B.2.1.
pub(super) fn mgf1_xor(mgf: &Digester, seed: &[u8], target: &mut [u8]) {
    let mut buffer = [0; MAX_MODULUS_LEN + 4];
    let used = &mut buffer[..seed.len() + 4];
    used[..seed.len()].copy_from_slice(seed);
    for (counter, chunk) in (0_u32..).zip(target.chunks_mut(mgf.len())) {
        used[seed.len()..].copy_from_slice(&counter.to_be_bytes());
        let mask = digest::digest(mgf.algorithm, used);
        for (byte, mask) in chunk.iter_mut().zip(mask.as_ref()) {
            *byte ^= mask;
        }
    }
    // In OAEP the seed is secret, because the mask and the message follow from it.
    used.zeroize();
}

/// SHA-256 of a secret of at most the longest modulus's length, padded on the left with zeros to `len`.
pub(crate) fn sha256_padded(secret: &[u8], len: usize) -> [u8; 32] {
    let mut context = digest::Context::new(&digest::SHA256);
    // Hashed as two pieces: a padded copy of the secret would have to be erased.
    context.update(&[0; MAX_MODULUS_LEN][..len.saturating_sub(secret.len())]);
    context.update(secret);
    let mut out = [0; 32];
    out.copy_from_slice(context.finish().as_ref());
    out
}

/// HMAC-SHA-256 of `message`.
pub(super) fn hmac_sha256(key: &[u8; 32], message: &[u8]) -> [u8; 32] {
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), message);
    let mut out = [0; 32];
    out.copy_from_slice(tag.as_ref());
    out
}

/// The PRF of draft-irtf-cfrg-rsa-guidance 7.1: blocks of HMAC-SHA-256 over counter, label and length in bits.
pub(crate) fn prf(key: &[u8; 32], label: &[u8], out: &mut [u8]) {
    // unreachable saturation because callers ask for at most 1088 bytes
    let bits = u16::try_from(out.len() * 8).unwrap_or(u16::MAX).to_be_bytes();
    let key = hmac::Key::new(hmac::HMAC_SHA256, key);
    for (counter, chunk) in (0_u16..).zip(out.chunks_mut(32)) {
        let mut context = hmac::Context::with_key(&key);
        context.update(&counter.to_be_bytes());
        context.update(label);
        context.update(&bits);
        chunk.copy_from_slice(&context.sign().as_ref()[..chunk.len()]);
    }
}

#[cfg(test)]
mod tests {
    use oarlock_core::{Curve, Fingerprint, Key, KeyHome, KeyKind, SigningScheme};

    use super::*;

    #[test]
    fn a_copied_job_has_the_digest_and_not_the_message() {
        let fingerprint = Fingerprint::new([1; 32]);
        let key = Key::held(KeyKind::EcPrivate(Curve::P256), "token", "a", None, fingerprint);
        let scheme = SigningScheme::ECDSA_P256_SHA256_DER;
        let copy = to_digested(&Job::sign(scheme, &key, Input::Message(b"abc"))).unwrap();
        let Input::Digest(digest) = copy.as_job().input else { panic!("the message itself") };
        assert_eq!(digest.len(), 32);
        assert_eq!(digest[..4], [0xba, 0x78, 0x16, 0xbf]);
        assert!(matches!(copy.key.home(), KeyHome::Held { .. }));
        let short = to_digested(&Job::sign(scheme, &key, Input::Digest(&[0; 20]))).unwrap_err();
        assert_eq!(short, JobError::Length { what: "digest", expected: "32".into(), found: 20 });
    }

    #[test]
    fn schemes_over_messages_take_no_digest() {
        let key = Key::held(KeyKind::Ed25519Private, "token", "b", None, Fingerprint::new([2; 32]));
        let job = Job::sign(SigningScheme::ED25519, &key, Input::Digest(&[0; 32]));
        assert!(matches!(to_digested(&job), Err(JobError::Unsupported { .. })));
    }

    #[test]
    fn mgf1_matches_a_published_mask() {
        // MGF1-SHA1("foo", 3) and ("bar", 5), as in the RSA mask generation examples of PKCS#1 toolkits.
        let mut three = [0; 3];
        mgf1_xor(&SHA1, b"foo", &mut three);
        assert_eq!(three, [0x1a, 0xc9, 0x07]);
        let mut five = [0; 5];
        mgf1_xor(&SHA1, b"bar", &mut five);
        assert_eq!(five, [0xbc, 0x0c, 0x65, 0x5e, 0x01]);
    }

    #[test]
    fn padding_on_the_left_is_hashed() {
        assert_eq!(sha256_padded(&[7], 3)[..], digest::digest(&digest::SHA256, &[0, 0, 7]).as_ref()[..]);
    }
}
