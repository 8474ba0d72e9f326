//! Steps that the RSA schemes share.

use oarlock_core::{JobError, Key, OperationSet, SecondInput, Shape};

/// Returns the number of bytes of the modulus, if there are at least `min`. A shorter modulus cannot hold the
/// encoding.
pub(super) fn modulus_len(key: &Key, min: usize) -> Result<usize, JobError> {
    // Without a modulus the length is 0, which is below every minimum.
    let len = key.rsa_public_shape().and_then(Shape::input_len).unwrap_or(0);
    check_min("modulus", min, len)?;
    Ok(len)
}

/// Bytes of the PSS encoding, one fewer than the modulus's if that has 8n + 1 bits, at least `min`. RFC 8017 9.1.1.
pub(super) fn pss_len(key: &Key, min: usize) -> Result<(usize, u16), JobError> {
    let bits = key.rsa_public().map_or(0, |public| public.bits()).saturating_sub(1);
    let len = usize::from(bits).div_ceil(8);
    check_min("modulus", min, len)?;
    Ok((len, bits))
}

fn check_min(what: &'static str, min: usize, found: usize) -> Result<(), JobError> {
    if found >= min {
        return Ok(());
    }
    Err(JobError::Length { what, expected: format!("at least {min}"), found })
}

/// Appends a signature or ciphertext of a peer. A wrong length is the fault of the peer. RFC 8017 8.1.2 step 1.
pub(super) fn push_from_peer(key: &Key, input: &[u8], set: &mut OperationSet) -> Result<(), JobError> {
    if set.shape().input_len() != Some(input.len()) {
        return Err(JobError::Rejected);
    }
    set.push(key, input, SecondInput::None)
}
