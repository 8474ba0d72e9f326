//! RSA and plain modular exponentiation.

use oarlock_core::{Key, KeyParts, ModExpParts, Operation, Status};
use zeroize::Zeroizing;

use crate::ffi::{ModExpContext, RsaPrivate, RsaPublic};
use crate::op_error::OpError;

/// `input^d mod n`.
pub(crate) fn private(operation: &Operation<'_>, out: &mut [u8]) -> Result<(), OpError> {
    let Some(KeyParts::RsaPrivate(parts)) = operation.key.parts() else { return Err(Status::BadKey.into()) };
    check_range(operation.input, &parts.public.n)?;
    if is_fixed(operation.input, &parts.public.n) {
        out.copy_from_slice(operation.input);
        return Ok(());
    }
    let key = operation.key.prepared(|_| RsaPrivate::new(parts).map_err(OpError::from_key_error))?;
    // A fault check that fails once may be a fault of the machine; one that fails again is a key whose parts satisfy
    // every congruence and yet do not invert each other, such as one with a composite p. That is that key's trouble.
    match key.transform(operation.input, out) {
        Err(error) if error.is_out_of_memory() => Err(error.into()),
        Err(_) => key.transform(operation.input, out).map_err(OpError::from_key_error),
        Ok(()) => Ok(()),
    }
}

/// `input^e mod n`.
pub(crate) fn public(operation: &Operation<'_>, out: &mut [u8]) -> Result<(), OpError> {
    let parts = operation.key.rsa_public().ok_or(Status::BadKey)?;
    check_range(operation.input, &parts.n)?;
    let key = operation.key.prepared(|_| RsaPublic::new(parts).map_err(OpError::from_key_error))?;
    Ok(key.transform(operation.input, out)?)
}

/// `input^x mod n` with a secret x.
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
    let pad = len.checked_sub(exponent.len()).ok_or(Status::BadKey)?;
    let mut padded = Zeroizing::new(vec![0; len]);
    padded[pad..].copy_from_slice(exponent);
    ModExpContext::new(&parts.n, &padded).map_err(OpError::from_key_error)
}

/// RFC 8017 5.1: representatives lie in [0, n-1]. An encoded message begins with a zero byte, so that where the comparison
/// ends says nothing about it.
fn check_range(input: &[u8], n: &[u8]) -> Result<(), OpError> {
    if input < n { Ok(()) } else { Err(Status::OutOfRange.into()) }
}

/// True for 0, 1 and n - 1, which every odd exponent leaves as they are, and which AWS-LC refuses
/// (`rsa_default_private_transform`) because no padding yields them.
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

    /// What `ScalarEngine::confirms` rests on: a key that passes every check of its parts and yet computes a wrong result (its p is
    /// composite) is stopped by AWS-LC's comparison with the public operation, and nothing is written.
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
