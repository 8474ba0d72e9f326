//! RSAES-OAEP decryption. RFC 8017 7.1.2.

use oarlock_core::{JobError, OperationSet};
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};
use zeroize::Zeroize;

use super::finisher::{FinishStep, Finisher};
use super::hash::{Digester, MessageDigest, mgf1_xor};
use super::{Job, MAX_MODULUS_LEN, rsa};

pub(super) fn prepare(
    job: &Job<'_>,
    (digest, mgf): (&'static Digester, &'static Digester),
    set: &mut OperationSet,
) -> Result<Finisher, JobError> {
    let ciphertext = job.message()?;
    rsa::modulus_len(job.key, 2 * digest.len() + 2)?;
    rsa::push_from_peer(job.key, ciphertext, set)?;
    Ok(Finisher(FinishStep::Oaep { digest, mgf, label: digest.hash(job.second) }))
}

/// Appends the message to `out`. One error for every flaw, found in constant time (Manger's attack). RFC 8017 7.1.2
/// step 3.
pub(super) fn finish(
    (digest, mgf): (&Digester, &Digester),
    label: &MessageDigest,
    encoded: &[u8],
    out: &mut Vec<u8>,
) -> Result<usize, JobError> {
    let mut buffer = [0; MAX_MODULUS_LEN];
    let copy = &mut buffer[..encoded.len().min(MAX_MODULUS_LEN)];
    copy.copy_from_slice(&encoded[..copy.len()]);
    let (is_good, start) = unmask((digest, mgf), label, copy);
    // From here on, the answer itself says whether the form was good.
    let result = if is_good.into() {
        let message = &copy[start..];
        out.extend_from_slice(message);
        Ok(message.len())
    } else {
        Err(JobError::Rejected)
    };
    copy.zeroize();
    result
}

/// Removes both masks in place. Returns whether the form is good, and the start of the message if so.
fn unmask(
    (digest, mgf): (&Digester, &Digester),
    label: &MessageDigest,
    encoded: &mut [u8],
) -> (Choice, usize) {
    let hash_len = digest.len();
    let (first, rest) = encoded.split_at_mut(1);
    let (seed, block) = rest.split_at_mut(hash_len);
    mgf1_xor(mgf, block, seed);
    mgf1_xor(mgf, seed, block);
    let (found_label, padded) = block.split_at(hash_len);
    // The first byte gets no error of its own: that would be Manger's oracle.
    let mut is_good = first[0].ct_eq(&0) & found_label.ct_eq(label.as_ref());
    let mut is_looking = Choice::from(1);
    let mut end_of_padding = 0_u32;
    for (index, byte) in (1_u32..).zip(padded) {
        let (is_zero, is_one) = (byte.ct_eq(&0), byte.ct_eq(&1));
        end_of_padding.conditional_assign(&index, is_looking & is_one);
        is_looking &= !is_one;
        // Before the 1 that ends the padding, every byte must be zero. Behind it, any byte may stand.
        is_good &= !is_looking | is_zero;
    }
    (is_good & !is_looking, 1 + 2 * hash_len + end_of_padding as usize)
}

#[cfg(test)]
mod tests {
    use oarlock_core::DigestAlg;

    use super::*;

    fn algs() -> (&'static Digester, &'static Digester) {
        (Digester::from_alg(DigestAlg::Sha256).unwrap(), Digester::from_alg(DigestAlg::Sha1).unwrap())
    }

    fn encode(label: &[u8], padding: &[u8]) -> Vec<u8> {
        let mut encoded = vec![0; 128];
        encoded[1..33].fill(0x5A);
        let (seed, block) = encoded[1..].split_at_mut(32);
        block[..32].copy_from_slice(algs().0.hash(label).as_ref());
        let start = block.len() - padding.len();
        block[start..].copy_from_slice(padding);
        mgf1_xor(algs().1, seed, block);
        mgf1_xor(algs().1, block, seed);
        encoded
    }

    fn decode(encoded: &[u8]) -> Result<Vec<u8>, JobError> {
        let mut out = vec![9];
        let len = finish(algs(), &algs().0.hash(b"label"), encoded, &mut out)?;
        assert_eq!(out.len(), len + 1);
        Ok(out.split_off(1))
    }

    #[test]
    fn messages_of_every_length_come_back() {
        assert_eq!(decode(&encode(b"label", &[1])), Ok(vec![]));
        assert_eq!(decode(&encode(b"label", &[1, 1, 0, 1])), Ok(vec![1, 0, 1]));
        let mut full = [0x77; 63];
        full[0] = 1;
        assert_eq!(decode(&encode(b"label", &full)), Ok(vec![0x77; 62]));
    }

    #[test]
    fn every_flaw_gives_the_same_error() {
        let good = encode(b"label", &[1, 7]);
        for bit in 0..good.len() * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 0x80 >> (bit % 8);
            assert_eq!(decode(&bad), Err(JobError::Rejected), "bit {bit}");
        }
        assert_eq!(decode(&encode(b"other", &[1, 7])), Err(JobError::Rejected));
        assert_eq!(decode(&encode(b"label", &[2, 1, 7])), Err(JobError::Rejected));
        assert_eq!(decode(&encode(b"label", &[0])), Err(JobError::Rejected));
    }
}
