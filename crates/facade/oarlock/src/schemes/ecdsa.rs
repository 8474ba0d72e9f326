//! ECDSA: digests at the width of the curve, nonces, and the two encodings of r and s.

use oarlock_core::{
    Curve, DigestAlg, EcdsaEncoding, JobError, NonceInput, NonceRule, OperationSet, SecondInput, Shape,
};

use super::finisher::{FinishStep, Finisher};
use super::hash::Digester;
use super::{Job, NonceSource};

/// The widest scalar, P-384's.
const WIDEST: usize = 48;

/// The largest number of bytes that DER adds to r || s: three headers of two bytes and two sign bytes.
pub(super) const MAX_DER_EXTRA: usize = 3 * 2 + 2;

pub(super) fn lower_sign(
    job: &Job<'_>,
    (curve, digest, encoding): (Curve, DigestAlg, EcdsaEncoding),
    rule: NonceRule,
    set: &mut OperationSet,
    random: &mut NonceSource,
) -> Result<Finisher, JobError> {
    let hash = Digester::from_alg(digest)?.digest(job)?;
    let mut buffer = [0; WIDEST];
    let input = at_width(curve, hash.as_ref(), &mut buffer);
    match rule {
        NonceRule::Deterministic => {
            set.push(job.key, input, SecondInput::NonceInput(NonceInput::Deterministic(digest)))?;
        }
        NonceRule::Hedged => {
            let nonce = random.nonce(Shape::EcdsaSign { curve })?;
            set.push(job.key, input, SecondInput::NonceInput(NonceInput::Hedged(&nonce)))?;
        }
    }
    Ok(Finisher(match encoding {
        EcdsaEncoding::Fixed => FinishStep::Copy,
        EcdsaEncoding::Der => FinishStep::EcdsaDer,
    }))
}

pub(super) fn lower_verify(
    job: &Job<'_>,
    (curve, digest, encoding): (Curve, DigestAlg, EcdsaEncoding),
    set: &mut OperationSet,
) -> Result<Finisher, JobError> {
    let hash = Digester::from_alg(digest)?.digest(job)?;
    let mut buffer = [0; WIDEST];
    let input = at_width(curve, hash.as_ref(), &mut buffer);
    let mut fixed = [0; 2 * WIDEST];
    let signature = match encoding {
        EcdsaEncoding::Fixed if job.second.len() == 2 * curve.scalar_len() => job.second,
        // A signature of a wrong length comes from the peer. It is a bad signature and not the caller's
        // error.
        EcdsaEncoding::Fixed => return Err(JobError::Rejected),
        EcdsaEncoding::Der => read_der(curve, job.second, &mut fixed).ok_or(JobError::Rejected)?,
    };
    set.push(job.key, input, SecondInput::Signature(signature))?;
    Ok(Finisher(FinishStep::Verified))
}

/// The leftmost bytes of a digest at the curve's width, a shorter digest padded on the left. FIPS 186-5 6.4.1 step 2.
fn at_width<'a>(curve: Curve, digest: &[u8], buffer: &'a mut [u8; WIDEST]) -> &'a [u8] {
    let width = curve.scalar_len();
    let kept = digest.len().min(width);
    buffer[width - kept..width].copy_from_slice(&digest[..kept]);
    &buffer[..width]
}

/// Reads `SEQUENCE { INTEGER r, INTEGER s }` in strict DER into r || s at the curve's width. A SEQUENCE of these curves
/// is at most 102 bytes long, so every length in long form is already not minimal. X.690 10.1, 8.3.2.
fn read_der<'a>(curve: Curve, der: &[u8], out: &'a mut [u8; 2 * WIDEST]) -> Option<&'a [u8]> {
    let width = curve.scalar_len();
    let (body, after) = read_element(0x30, der)?;
    let (r, rest) = read_element(0x02, body)?;
    let (s, end) = read_element(0x02, rest)?;
    if !after.is_empty() || !end.is_empty() {
        return None;
    }
    put_integer(r, &mut out[..width])?;
    put_integer(s, &mut out[width..2 * width])?;
    Some(&out[..2 * width])
}

/// Content of an element with the given tag and a length in short form, and what follows it.
fn read_element(tag: u8, der: &[u8]) -> Option<(&[u8], &[u8])> {
    let [first, len @ 0..=0x7F, rest @ ..] = der else { return None };
    if *first != tag {
        return None;
    }
    rest.split_at_checked(usize::from(*len))
}

/// Writes a non-negative, minimally encoded INTEGER right-aligned; None if it is anything else or too wide.
fn put_integer(content: &[u8], out: &mut [u8]) -> Option<()> {
    let magnitude = match content {
        // Zero is good DER and a bad signature, which is for the engine to say.
        [0] => content,
        // X.690 8.3.2: a leading zero is allowed only in front of a bit that would be a sign.
        [0, rest @ ..] if rest.first().is_some_and(|byte| *byte >= 0x80) => rest,
        [1..=0x7F, ..] => content,
        _ => return None,
    };
    let start = out.len().checked_sub(magnitude.len())?;
    out[start..].copy_from_slice(magnitude);
    Some(())
}

/// Appends r || s, halves of equal width, as strict DER.
pub(super) fn write_der(fixed: &[u8], out: &mut Vec<u8>) {
    let (r, s) = fixed.split_at(fixed.len() / 2);
    let (r, s) = (without_zeros(r), without_zeros(s));
    let body_len = integer_len(r) + integer_len(s);
    // At most 102 bytes with P-384, so the length has one byte.
    out.extend([0x30, body_len as u8]);
    for integer in [r, s] {
        out.extend([0x02, (integer_len(integer) - 2) as u8]);
        // Zero has no digits left, and a leading 1 bit would make the INTEGER negative.
        if integer.first().is_none_or(|byte| *byte >= 0x80) {
            out.push(0);
        }
        out.extend_from_slice(integer);
    }
}

/// Strips leading zeros. Signatures are public, so a search for zeros reveals nothing.
fn without_zeros(integer: &[u8]) -> &[u8] {
    let zeros = integer.iter().take_while(|byte| **byte == 0).count();
    &integer[zeros..]
}

/// Length of an INTEGER with its tag and length.
fn integer_len(magnitude: &[u8]) -> usize {
    let sign = usize::from(magnitude.first().is_none_or(|byte| *byte >= 0x80));
    2 + sign + magnitude.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(der: &[u8]) -> Option<Vec<u8>> {
        read_der(Curve::P256, der, &mut [0; 96]).map(<[u8]>::to_vec)
    }

    fn both(r: &[u8], s: &[u8]) -> Vec<u8> {
        let mut fixed = vec![0; 64];
        fixed[32 - r.len()..32].copy_from_slice(r);
        fixed[64 - s.len()..].copy_from_slice(s);
        fixed
    }

    #[test]
    fn der_round_trips_at_every_length_of_r_and_s() {
        for len in 0..=32 {
            for first in [0x01, 0x7F, 0x80, 0xFF] {
                let mut integer = vec![0x55; len];
                if let Some(byte) = integer.first_mut() {
                    *byte = first;
                }
                let fixed = both(&integer, &[1]);
                let mut der = Vec::new();
                write_der(&fixed, &mut der);
                assert_eq!(read(&der), Some(fixed), "{der:02x?}");
            }
        }
    }

    #[test]
    fn only_strict_der_is_read() {
        let good = [0x30, 6, 2, 1, 1, 2, 1, 2];
        assert_eq!(read(&good), Some(both(&[1], &[2])));
        for cut in 0..good.len() {
            assert_eq!(read(&good[..cut]), None);
        }
        let bad: &[&[u8]] = &[
            &[0x30, 6, 2, 1, 1, 2, 1, 2, 0],       // trailing byte
            &[0x30, 7, 2, 1, 1, 2, 1, 2, 0],       // trailing byte within
            &[0x30, 0x81, 6, 2, 1, 1, 2, 1, 2],    // long form
            &[0x30, 0x80, 2, 1, 1, 2, 1, 2, 0, 0], // indefinite length
            &[0x30, 7, 2, 2, 0, 1, 2, 1, 2],       // not minimal
            &[0x30, 6, 2, 1, 0x81, 2, 1, 2],       // negative
            &[0x30, 5, 2, 0, 2, 1, 2],             // empty integer
            &[0x31, 6, 2, 1, 1, 2, 1, 2],          // not a SEQUENCE
            &[0x30, 6, 3, 1, 1, 2, 1, 2],          // not an INTEGER
        ];
        for der in bad {
            assert_eq!(read(der), None, "{der:02x?}");
        }
        let mut wide = vec![0x30, 38, 2, 33, 1];
        wide.extend([0; 32]);
        wide.extend([2, 1, 1]);
        assert_eq!(read(&wide), None);
    }

    #[test]
    fn digests_are_cut_or_padded_on_the_left() {
        let long: Vec<u8> = (0..64).collect();
        assert_eq!(at_width(Curve::P256, &long, &mut [0; 48]), &long[..32]);
        assert_eq!(at_width(Curve::P384, &[9; 20], &mut [0; 48])[27..30], [0, 9, 9]);
    }
}
