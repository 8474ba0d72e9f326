//! RSA and plain modular exponentiation.

use oarlock_core::{Key, KeyParts, ModExpParts, Operation, Status};
use zeroize::Zeroizing;

use crate::ffi::{ModExpContext, RsaPrivate, RsaPublic};
use crate::op_error::OpError;

/// Computes `input^d mod n`.
pub(crate) fn private(operation: &Operation<'_>, out: &mut [u8]) -> Result<(), OpError> {
    let Some(KeyParts::RsaPrivate(parts)) = operation.key.parts() else { return Err(Status::BadKey.into()) };
    check_range(operation.input, &parts.public.n)?;
    if is_fixed(operation.input, &parts.public.n) {
        out.copy_from_slice(operation.input);
        return Ok(());
    }
    let key = operation.key.prepared(|_| RsaPrivate::new(parts).map_err(OpError::from_key_error))?;
    // AWS-LC's fault check failed. A single failure can be a fault of the machine. A second failure means that the
    // key is bad: its parts satisfy every congruence and yet do not invert each other, as with a composite p.
    match key.transform(operation.input, out) {
        Err(error) if error.is_out_of_memory() => Err(error.into()),
        Err(_) => key.transform(operation.input, out).map_err(OpError::from_key_error),
        Ok(()) => Ok(()),
    }
}

/// Computes `input^e mod n`.
pub(crate) fn public(operation: &Operation<'_>, out: &mut [u8]) -> Result<(), OpError> {
    let parts = operation.key.rsa_public().ok_or(Status::BadKey)?;
    check_range(operation.input, &parts.n)?;
    let key = operation.key.prepared(|_| RsaPublic::new(parts).map_err(OpError::from_key_error))?;
    Ok(key.transform(operation.input, out)?)
}

/// Computes `input^x mod n` with a secret x.
pub(crate) fn mod_exp(operation: &Operation<'_>, out: &mut [u8]) -> Result<(), OpError> {
    let Some(KeyParts::ModExp(parts)) = operation.key.parts() else { return Err(Status::BadKey.into()) };
    check_range(operation.input, &parts.n)?;
    let key = operation.key.prepared(|_: &Key| prepare_mod_exp(parts))?;
    Ok(key.compute(operation.input, out)?)
}

/// Pads the exponent to its public bound, so that every exponent of the shape takes the same steps.
fn prepare_mod_exp(parts: &ModExpParts) -> Result<ModExpContext, OpError> {
    let len = usize::from(parts.exponent_bits).div_ceil(8);
    let exponent = parts.exponent.expose();
    // The length of the exponent decides the number of steps, so it must not depend on leading zeros.
    let pad = len.checked_sub(exponent.len()).ok_or(Status::BadKey)?;
    let mut padded = Zeroizing::new(vec![0; len]);
    padded[pad..].copy_from_slice(exponent);
    ModExpContext::new(&parts.n, &padded).map_err(OpError::from_key_error)
}

/// Checks that the input is in [0, n-1]. RFC 8017 5.1. The comparison is not constant time: an encoded message
/// begins with a zero byte, so the position of the first difference reveals nothing.
fn check_range(input: &[u8], n: &[u8]) -> Result<(), OpError> {
    if input < n { Ok(()) } else { Err(Status::OutOfRange.into()) }
}

/// Returns true for 0, 1 and n - 1. Every odd exponent leaves them unchanged. AWS-LC refuses them
/// (`rsa_default_private_transform`), because no padding yields them.
fn is_fixed(input: &[u8], n: &[u8]) -> bool {
    let (Some((last, rest)), Some((n_last, n_rest))) = (input.split_last(), n.split_last()) else {
        return false;
    };
    (*last <= 1 && rest.iter().all(|byte| *byte == 0)) || (*last == n_last ^ 1 && rest == n_rest)
}

#[cfg(test)]
mod tests {
    use oarlock_core::{RsaPrivateParts, RsaPublicParts};

    use super::*;

    /// `ScalarEngine::confirms` relies on this: the key passes every check of its parts, but its p is composite and
    /// the result is wrong. AWS-LC compares the result with the public operation, fails, and writes nothing.
    #[test]
    fn a_wrong_private_result_is_not_released() {
        let line = include_str!("../tests/data/rsa-composite-p.txt").lines().last().unwrap();
        let fields: Vec<Vec<u8>> = line.split(' ').skip(1).map(hex).collect();
        let [n, e, d, p, q, dp, dq, qinv] = fields.try_into().unwrap();
        let input = [&[0][..], &n[1..]].concat();
        let parts = RsaPrivateParts {
            public: RsaPublicParts { n, e },
            d: d.into(),
            p: p.into(),
            q: q.into(),
            dp: dp.into(),
            dq: dq.into(),
            qinv: qinv.into(),
        };
        let key = RsaPrivate::new(&parts).unwrap();
        let mut out = vec![0; input.len()];
        let error = key.transform(&input, &mut out).unwrap_err();
        assert!(!error.is_out_of_memory() && out.iter().all(|byte| *byte == 0));
    }

    fn hex(text: &str) -> Vec<u8> {
        (0..text.len() / 2).map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap()).collect()
    }
}
