//! Steps of schemes for holders whose devices compute the raw operation.

use oarlock_core::{DigestAlg, EcdsaEncoding, JobError, Scheme};

use super::hash::{Digester, hmac_sha256};
use super::{Job, ecdsa, rsa, rsa_decrypt, rsa_oaep};

/// Returns the DigestInfo of a digest: what a device pads and signs for RSASSA-PKCS1-v1_5. RFC 8017 9.2 step 2.
///
/// # Errors
/// [`JobError::Digest`] if RSA does not take the digest, [`JobError::Length`] if `digest` has another length.
pub fn digest_info(alg: DigestAlg, digest: &[u8]) -> Result<Vec<u8>, JobError> {
    let digester = Digester::from_alg(alg)?;
    if digest.len() != digester.len() {
        let expected = digester.len().to_string();
        return Err(JobError::Length { what: "digest", expected, found: digest.len() });
    }
    Ok([digester.info_prefix, digest].concat())
}

/// Returns an ECDSA signature r || s, halves of equal width, in the form of a scheme.
#[must_use]
pub fn encode_ecdsa(fixed: &[u8], encoding: EcdsaEncoding) -> Vec<u8> {
    match encoding {
        EcdsaEncoding::Fixed => fixed.to_vec(),
        EcdsaEncoding::Der => {
            let mut der = Vec::with_capacity(fixed.len() + ecdsa::MAX_DER_EXTRA);
            ecdsa::write_der(fixed, &mut der);
            der
        }
    }
}

/// Returns the message of an RSA decryption from the raw result of a device, `c^d mod n` at the width of the modulus.
///
/// `secret` belongs to the key alone, as the hash of the private exponent does for local keys. It makes the message
/// that replaces one with a bad PKCS#1 padding, and OAEP does not need it.
///
/// # Errors
/// [`JobError::Rejected`] for a bad OAEP encoding, and [`JobError::Length`] for another width than that of the modulus
/// or for a modulus that is too short.
pub fn open_decryption(job: &Job<'_>, secret: &[u8; 32], raw: &[u8]) -> Result<Vec<u8>, JobError> {
    job.scheme.check_digests()?;
    let mut message = Vec::with_capacity(raw.len());
    let check_len = |min| match rsa::modulus_len(job.key, min)? {
        len if len == raw.len() => Ok(()),
        len => Err(JobError::Length { what: "raw result", expected: len.to_string(), found: raw.len() }),
    };
    match job.scheme {
        Scheme::RsaPkcs1Decrypt => {
            check_len(rsa_decrypt::MIN_PADDING + 1)?;
            let seed = hmac_sha256(secret, job.message()?);
            rsa_decrypt::finish(&seed, raw, &mut message);
        }
        Scheme::RsaOaepDecrypt { digest, mgf } => {
            let algs = (Digester::from_alg(digest)?, Digester::from_alg(mgf)?);
            check_len(2 * algs.0.len() + 2)?;
            rsa_oaep::finish(algs, &algs.0.hash(job.second), raw, &mut message)?;
        }
        scheme => return Err(JobError::Unsupported { wanted: format!("{scheme} as a decryption") }),
    }
    Ok(message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Job;

    fn encoded(message: &[u8]) -> Vec<u8> {
        let padding = vec![0x55; 256 - 3 - message.len()];
        [&[0, 2][..], &padding, &[0], message].concat()
    }

    #[test]
    fn a_good_padding_gives_the_message_and_a_bad_one_a_message_of_the_secret() {
        let key = crate::keys::generate::rsa(2048).unwrap();
        let job = Job::decrypt_pkcs1(&key, &[9; 256]);
        let good = encoded(b"a message");
        assert_eq!(open_decryption(&job, &[1; 32], &good).unwrap(), b"a message");
        let mut bad = good.clone();
        bad[1] = 1;
        let replaced = |secret: u8| open_decryption(&job, &[secret; 32], &bad).unwrap();
        assert_eq!(replaced(1), replaced(1));
        assert!(replaced(1) != replaced(2) && replaced(1) != b"a message");
        let short = open_decryption(&job, &[1; 32], &good[1..]).unwrap_err();
        assert_eq!(short.to_string(), "the raw result has 255 bytes, expected 256");
        let oaep = Job::decrypt_oaep(DigestAlg::Sha256, &key, &[9; 256], b"");
        assert_eq!(open_decryption(&oaep, &[1; 32], &good), Err(JobError::Rejected));
    }

    #[test]
    fn digests_and_signatures_get_their_encodings() {
        let info = digest_info(DigestAlg::Sha256, &[7; 32]).unwrap();
        assert_eq!((info.len(), &info[..2], &info[19..]), (51, &[0x30, 0x31][..], &[7; 32][..]));
        assert!(digest_info(DigestAlg::Sha256, &[7; 20]).is_err());
        assert!(digest_info(DigestAlg::Sha3_256, &[7; 32]).is_err());
        let fixed = [&[0x80; 32][..], &[1; 32]].concat();
        assert_eq!(encode_ecdsa(&fixed, EcdsaEncoding::Fixed), fixed);
        let der = encode_ecdsa(&fixed, EcdsaEncoding::Der);
        assert_eq!((der.len(), &der[..5]), (71, &[0x30, 69, 0x02, 33, 0][..]));
    }
}
