//! RSASSA-PKCS1-v1_5. RFC 8017 8.2 and 9.2.

use oarlock_core::{JobError, OperationSet, SecondInput};

use super::finisher::{FinishStep, Finisher};
use super::hash::Digester;
use super::{Job, MAX_MODULUS_LEN, rsa};

pub(super) fn lower_sign(
    job: &Job<'_>,
    digest: &'static Digester,
    set: &mut OperationSet,
) -> Result<Finisher, JobError> {
    let mut buffer = [0; MAX_MODULUS_LEN];
    set.push(job.key, encoded(job, digest, &mut buffer)?, SecondInput::None)?;
    Ok(Finisher(FinishStep::Copy))
}

/// Returns the integer to sign, in `buffer`, at the width of the modulus.
pub(super) fn encoded<'a>(
    job: &Job<'_>,
    digest: &Digester,
    buffer: &'a mut [u8],
) -> Result<&'a [u8], JobError> {
    let hash = digest.digest(job)?;
    let out = &mut buffer[..checked_len(job, digest)?];
    encode([digest.info_prefix, hash.as_ref()], out);
    Ok(out)
}

pub(super) fn lower_verify(
    job: &Job<'_>,
    digest: &'static Digester,
    set: &mut OperationSet,
) -> Result<Finisher, JobError> {
    let hash = digest.digest(job)?;
    // A modulus that is too short is not a bad signature. RFC 8017 8.2.2 step 3.
    checked_len(job, digest)?;
    rsa::push_from_peer(job.key, job.second, set)?;
    Ok(Finisher(FinishStep::Pkcs1Verify { digest, hash }))
}

/// A signature over T itself. RFC 8017 9.2 from step 3 on.
pub(super) fn lower_sign_encoded(job: &Job<'_>, set: &mut OperationSet) -> Result<Finisher, JobError> {
    let message = job.message()?;
    let mut buffer = [0; MAX_MODULUS_LEN];
    let out = &mut buffer[..rsa::modulus_len(job.key, message.len() + PADDING_LEN)?];
    encode([message, &[]], out);
    set.push(job.key, out, SecondInput::None)?;
    Ok(Finisher(FinishStep::Copy))
}

pub(super) fn lower_verify_encoded(job: &Job<'_>, set: &mut OperationSet) -> Result<Finisher, JobError> {
    let message = job.message()?;
    rsa::modulus_len(job.key, message.len() + PADDING_LEN)?;
    rsa::push_from_peer(job.key, job.second, set)?;
    Ok(Finisher(FinishStep::Pkcs1VerifyEncoded { message: message.into() }))
}

/// Compares every byte with that of the only valid encoding.
///
/// A parser could be lenient, and a comparison cannot. RFC 8017 8.2.2 step 4. T comes in two parts: the bytes before
/// the digest, and the digest.
pub(super) fn is_encoding_of([prefix, hash]: [&[u8]; 2], recovered: &[u8]) -> bool {
    let Some(padding_len) = recovered.len().checked_sub(prefix.len() + hash.len() + 3) else { return false };
    let (start, rest) = recovered.split_at(2);
    let (padding, info) = rest.split_at(padding_len);
    let (zero, info) = info.split_at(1);
    let (found_prefix, found_hash) = info.split_at(prefix.len());
    start == [0, 1]
        && padding.iter().fold(0xFF, |all, byte| all & byte) == 0xFF
        && zero == [0]
        && found_prefix == prefix
        && found_hash == hash
}

/// Writes `00 01 FF .. FF 00 T` into a buffer of the modulus's length, which is long enough for it.
fn encode([prefix, hash]: [&[u8]; 2], out: &mut [u8]) {
    let (padding, info) = out.split_at_mut(out.len() - prefix.len() - hash.len());
    // The last byte of this part stays zero: it separates the padding from T.
    let (start, end) = (2, padding.len() - 1);
    padding[start..end].fill(0xFF);
    padding[1] = 1;
    info[..prefix.len()].copy_from_slice(prefix);
    info[prefix.len()..].copy_from_slice(hash);
}

/// Returns the length of the modulus if it can hold the encoding with eight bytes of padding. RFC 8017 9.2 step 3.
fn checked_len(job: &Job<'_>, digest: &Digester) -> Result<usize, JobError> {
    rsa::modulus_len(job.key, digest.info_prefix.len() + digest.len() + PADDING_LEN)
}

/// The fewest bytes around T: three fixed bytes and eight of padding.
const PADDING_LEN: usize = 11;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encoding_is_its_own_and_no_other() {
        let digest = Digester::from_alg(oarlock_core::DigestAlg::Sha256).unwrap();
        let hash = digest.hash(b"abc");
        let info = [digest.info_prefix, hash.as_ref()];
        let mut encoded = [0; 128];
        encode(info, &mut encoded);
        assert_eq!(encoded[..4], [0, 1, 0xFF, 0xFF]);
        assert!(is_encoding_of(info, &encoded));
        for index in 0..encoded.len() {
            let mut bad = encoded;
            bad[index] ^= 1;
            assert!(!is_encoding_of(info, &bad));
        }
    }
}
