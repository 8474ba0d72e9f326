//! RSASSA-PSS with MGF1. RFC 8017 8.1 and 9.1.

use oarlock_core::{JobError, OperationSet, SaltLength, SecondInput};

use super::finisher::{FinishStep, Finisher};
use super::hash::{Digester, MessageDigest, mgf1_xor};
use super::{Job, MAX_MODULUS_LEN, nonce, rsa};

/// The values that verification needs besides the recovered encoding.
pub(super) struct PssExpectation {
    pub(super) digest: &'static Digester,
    pub(super) mgf: &'static Digester,
    pub(super) salt: SaltLength,
    /// The number of bits of the encoding, one fewer than that of the modulus.
    pub(super) bits: u16,
    pub(super) hash: MessageDigest,
}

pub(super) fn lower_sign(
    job: &Job<'_>,
    (digest, mgf): (&'static Digester, &'static Digester),
    salt_len: u16,
    set: &mut OperationSet,
) -> Result<Finisher, JobError> {
    let salt_len = usize::from(salt_len);
    // An encoding that fits into the modulus fits into the buffer.
    rsa::pss_len(job.key, digest.len() + salt_len + 2)?;
    let mut salt = [0; MAX_MODULUS_LEN];
    let salt = &mut salt[..salt_len];
    nonce::fill(set.shape(), salt)?;
    let mut buffer = [0; MAX_MODULUS_LEN];
    set.push(job.key, encoded(job, (digest, mgf), salt, &mut buffer)?, SecondInput::None)?;
    Ok(Finisher(FinishStep::Copy))
}

/// Returns the integer to sign, in `buffer`, at the width of the modulus.
///
/// It has a leading zero byte if the modulus has 8n + 1 bits.
pub(super) fn encoded<'a>(
    job: &Job<'_>,
    (digest, mgf): (&Digester, &Digester),
    salt: &[u8],
    buffer: &'a mut [u8],
) -> Result<&'a [u8], JobError> {
    let hash = digest.digest(job)?;
    let (len, bits) = rsa::pss_len(job.key, digest.len() + salt.len() + 2)?;
    let out = &mut buffer[..rsa::modulus_len(job.key, len)?];
    let zeros = out.len() - len;
    encode((digest, mgf), bits, &hash, salt, &mut out[zeros..]);
    Ok(out)
}

pub(super) fn lower_verify(
    job: &Job<'_>,
    (digest, mgf): (&'static Digester, &'static Digester),
    salt: SaltLength,
    set: &mut OperationSet,
) -> Result<Finisher, JobError> {
    let hash = digest.digest(job)?;
    let salt_len = match salt {
        SaltLength::Exactly(len) => usize::from(len),
        // The shortest salt makes the weakest demand on the modulus.
        SaltLength::Any => 0,
    };
    let (_, bits) = rsa::pss_len(job.key, digest.len() + salt_len + 2)?;
    rsa::push_from_peer(job.key, job.second, set)?;
    Ok(Finisher(FinishStep::PssVerify(PssExpectation { digest, mgf, salt, bits, hash })))
}

/// EMSA-PSS-ENCODE after step 4, into a place of the encoding's length. RFC 8017 9.1.1.
fn encode(
    (digest, mgf): (&Digester, &Digester),
    bits: u16,
    hash: &MessageDigest,
    salt: &[u8],
    out: &mut [u8],
) {
    let unused_bits = out.len() * 8 - usize::from(bits);
    let (block, tail) = out.split_at_mut(out.len() - digest.len() - 1);
    let salted = salted_hash(digest, hash, salt);
    let salt_start = block.len() - salt.len();
    block[salt_start - 1] = 1;
    block[salt_start..].copy_from_slice(salt);
    mgf1_xor(mgf, salted.as_ref(), block);
    // RFC 8017 9.1.1 step 11: the integer must be below the modulus.
    block[0] &= 0xFF >> unused_bits;
    tail[..digest.len()].copy_from_slice(salted.as_ref());
    tail[digest.len()] = 0xBC;
}

/// EMSA-PSS-VERIFY of the recovered integer, at the modulus's width. RFC 8017 9.1.2.
pub(super) fn is_encoding_of(expected: &PssExpectation, recovered: &[u8]) -> bool {
    let mut buffer = [0; MAX_MODULUS_LEN];
    let recovered_copy = &mut buffer[..recovered.len().min(MAX_MODULUS_LEN)];
    recovered_copy.copy_from_slice(&recovered[..recovered_copy.len()]);
    let len = usize::from(expected.bits).div_ceil(8);
    let (zeros, encoded) = recovered_copy.split_at_mut(recovered.len() - len);
    zeros.iter().all(|byte| *byte == 0)
        && unmask(expected, encoded).is_some_and(|(salt, salted)| {
            let again = salted_hash(expected.digest, &expected.hash, salt);
            again.as_ref() == salted
        })
}

/// Removes the mask and returns salt and salted hash; None if the form is wrong.
fn unmask<'a>(expected: &PssExpectation, encoded: &'a mut [u8]) -> Option<(&'a [u8], &'a [u8])> {
    let unused_bits = encoded.len() * 8 - usize::from(expected.bits);
    let (block, tail) = encoded.split_at_mut(encoded.len() - expected.digest.len() - 1);
    let (last, salted) = tail.split_last()?;
    if *last != 0xBC || block[0] & !(0xFF >> unused_bits) != 0 {
        return None;
    }
    // Everything here is public, so the checks may end at the first flaw.
    mgf1_xor(expected.mgf, salted, block);
    block[0] &= 0xFF >> unused_bits;
    let zeros = block.iter().take_while(|byte| **byte == 0).count();
    let [1, salt @ ..] = &block[zeros..] else { return None };
    match expected.salt {
        SaltLength::Exactly(len) if salt.len() != usize::from(len) => None,
        _ => Some((salt, salted)),
    }
}

/// Hash of eight zero bytes, the message's digest and the salt.
fn salted_hash(digest: &Digester, hash: &MessageDigest, salt: &[u8]) -> MessageDigest {
    let mut buffer = [0; 8 + 64 + MAX_MODULUS_LEN];
    let hash = hash.as_ref();
    buffer[8..8 + hash.len()].copy_from_slice(hash);
    let end = 8 + hash.len() + salt.len();
    buffer[8 + hash.len()..end].copy_from_slice(salt);
    digest.hash(&buffer[..end])
}

#[cfg(test)]
mod tests {
    use oarlock_core::DigestAlg;

    use super::*;

    fn expected(bits: u16, salt: SaltLength) -> PssExpectation {
        let digest = Digester::from_alg(DigestAlg::Sha256).unwrap();
        let mgf = Digester::from_alg(DigestAlg::Sha1).unwrap();
        PssExpectation { digest, mgf, salt, bits, hash: digest.hash(b"abc") }
    }

    /// Moduli of 8n + r bits for every r, so that every number of unused bits and the leading zero byte occur.
    #[test]
    fn encodings_verify_at_every_bit_length_and_one_flipped_bit_fails() {
        for modulus_bits in 1025..=1033_u16 {
            let pss = expected(modulus_bits - 1, SaltLength::Exactly(20));
            let mut encoded = vec![0; usize::from(modulus_bits).div_ceil(8)];
            let zeros = encoded.len() - usize::from(pss.bits).div_ceil(8);
            encode((pss.digest, pss.mgf), pss.bits, &pss.hash, &[7; 20], &mut encoded[zeros..]);
            assert!(is_encoding_of(&pss, &encoded), "{modulus_bits}");
            for bit in 0..encoded.len() * 8 {
                let mut bad = encoded.clone();
                bad[bit / 8] ^= 0x80 >> (bit % 8);
                assert!(!is_encoding_of(&pss, &bad), "{modulus_bits}, bit {bit}");
            }
        }
    }

    #[test]
    fn the_salt_rule_is_kept() {
        let pss = expected(1023, SaltLength::Exactly(20));
        let mut encoded = [0; 128];
        encode((pss.digest, pss.mgf), pss.bits, &pss.hash, &[7; 20], &mut encoded);
        assert!(is_encoding_of(&expected(1023, SaltLength::Any), &encoded));
        assert!(!is_encoding_of(&expected(1023, SaltLength::Exactly(19)), &encoded));
        assert!(!is_encoding_of(&expected(1023, SaltLength::Exactly(21)), &encoded));
    }
}
