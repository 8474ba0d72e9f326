//! RSAES-PKCS1-v1_5 decryption with implicit rejection: a bad padding gives a message derived from key and ciphertext,
//! the one that OpenSSL 3.2 and later give. RFC 8017 7.2.2, draft-irtf-cfrg-rsa-guidance section 7.

use std::convert::Infallible;

use oarlock_core::{JobError, Key, KeyParts, OperationSet, RsaPrivateParts};
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq, ConstantTimeGreater, ConstantTimeLess};
use zeroize::{Zeroize, Zeroizing};

use super::finisher::{FinishStep, Finisher};
use super::hash::{hmac_sha256, prf, sha256_padded};
use super::{Job, MAX_MODULUS_LEN, rsa};

/// Two bytes of header and at least eight of padding before the separator. RFC 8017 7.2.1.
pub(super) const MIN_PADDING: usize = 2 + 8;

/// Candidates for the alternative message's length; all too long with a chance of 2^-128.
const LENGTH_CANDIDATES: usize = 128;

pub(super) fn prepare(job: &Job<'_>, set: &mut OperationSet) -> Result<Finisher, JobError> {
    let ciphertext = job.message()?;
    let Some(KeyParts::RsaPrivate(parts)) = job.key.parts() else {
        return Err(JobError::KeyType { wanted: job.scheme.to_string(), found: job.key.kind() });
    };
    rsa::modulus_len(job.key, MIN_PADDING + 1)?;
    rsa::push_from_peer(job.key, ciphertext, set)?;
    Ok(Finisher(FinishStep::Pkcs1Decrypt { seed: rejection_seed(job.key, parts, ciphertext) }))
}

/// HMAC over the ciphertext, which is as long as the modulus, under the hash of the private exponent.
fn rejection_seed(key: &Key, parts: &RsaPrivateParts, ciphertext: &[u8]) -> Zeroizing<[u8; 32]> {
    let hash = key.prepared::<ExponentHash, Infallible>(|_| {
        Ok(ExponentHash(Zeroizing::new(sha256_padded(parts.d.expose(), ciphertext.len()))))
    });
    let Ok(ExponentHash(hash)) = hash;
    Zeroizing::new(hmac_sha256(hash, ciphertext))
}

/// SHA-256 of d at the modulus's width, kept with the key.
struct ExponentHash(Zeroizing<[u8; 32]>);

/// Appends the message, or the alternative in the same time but for the length that is written.
pub(super) fn finish(seed: &[u8; 32], encoded: &[u8], out: &mut Vec<u8>) -> usize {
    let mut buffer = [0; MAX_MODULUS_LEN];
    let chosen = &mut buffer[..encoded.len().min(MAX_MODULUS_LEN)];
    // The alternative is always computed. A branch on the padding would be Bleichenbacher's oracle.
    prf(seed, b"message", chosen);
    let (is_good, separator) = find_separator(encoded);
    let start = u32::conditional_select(&alternative_start(seed, chosen.len()), &(separator + 1), is_good);
    for (byte, real) in chosen.iter_mut().zip(encoded) {
        byte.conditional_assign(real, is_good);
    }
    // Only the length of the answer depends on the padding, and an alternative has a plausible length of its
    // own.
    let message = &chosen[start as usize..];
    let len = message.len();
    out.extend_from_slice(message);
    chosen.zeroize();
    len
}

/// Returns whether the padding is good, and the index of its first zero byte after the header. RFC 8017 7.2.2 step 3.
fn find_separator(encoded: &[u8]) -> (Choice, u32) {
    let mut is_good = encoded[0].ct_eq(&0) & encoded[1].ct_eq(&2);
    let mut is_looking = Choice::from(1);
    let mut separator = 0_u32;
    for (index, byte) in (0_u32..).zip(encoded).skip(2) {
        let is_zero = byte.ct_eq(&0);
        separator.conditional_assign(&index, is_looking & is_zero);
        is_looking &= !is_zero;
    }
    // Without any zero byte the separator is 0, which this bound excludes too.
    is_good &= separator.ct_gt(&(MIN_PADDING as u32 - 1));
    (is_good, separator)
}

/// Returns the start of the alternative message, from the last candidate length that a message of this modulus could
/// have.
fn alternative_start(seed: &[u8; 32], modulus_len: usize) -> u32 {
    let mut candidates = Zeroizing::new([0; LENGTH_CANDIDATES * 2]);
    prf(seed, b"length", &mut candidates[..]);
    // unreachable saturation because a modulus has at most 1024 bytes
    let bound = u16::try_from(modulus_len - MIN_PADDING).unwrap_or(u16::MAX);
    let mask = u16::MAX >> bound.leading_zeros();
    let mut len = 0_u16;
    // All candidates are read, and the last fitting one wins. A loop that stopped early would show which one
    // fits.
    for candidate in candidates.chunks_exact(2) {
        let candidate = u16::from_be_bytes([candidate[0], candidate[1]]) & mask;
        len.conditional_assign(&candidate, candidate.ct_lt(&bound));
    }
    modulus_len as u32 - u32::from(len)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encode(message: &[u8]) -> Vec<u8> {
        let mut encoded = vec![0x55; 64];
        encoded[..2].copy_from_slice(&[0, 2]);
        let start = encoded.len() - message.len();
        encoded[start - 1] = 0;
        encoded[start..].copy_from_slice(message);
        encoded
    }

    fn decode(encoded: &[u8]) -> Vec<u8> {
        let mut out = vec![9];
        assert_eq!(finish(&[3; 32], encoded, &mut out) + 1, out.len());
        out.split_off(1)
    }

    #[test]
    fn good_messages_come_back_at_every_length() {
        for len in 0..=64 - 11 {
            assert_eq!(decode(&encode(&vec![0xA0; len])), vec![0xA0; len]);
        }
    }

    #[test]
    fn every_bad_padding_gives_the_one_alternative() {
        let mut flaws = vec![encode(&[1; 20]); 5];
        flaws[0][0] = 1;
        flaws[1][1] = 1;
        flaws[2][9] = 0;
        flaws[3].fill(0x55);
        flaws[4][2] = 0;
        flaws[3][..2].copy_from_slice(&[0, 2]);
        let alternative = decode(&flaws[0]);
        assert!(flaws.iter().all(|flaw| decode(flaw) == alternative));
        assert!(alternative.len() < 64 - 10);
    }

    #[test]
    fn lengths_are_spread_and_always_possible() {
        let lens: std::collections::HashSet<u32> =
            (0..=255).map(|n| 256 - alternative_start(&[n; 32], 256)).collect();
        assert!(lens.len() > 100 && lens.iter().all(|len| *len < 256 - 10));
    }
}
