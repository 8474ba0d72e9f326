//! Deterministic ECDSA nonces. RFC 6979.

use oarlock_core::{Curve, DigestAlg, EcPrivateParts, Status};
use oarlock_engine_kit::hash::{HashState, HmacKey, Sha1, Sha224, Sha256, Sha384, Sha512};
use zeroize::Zeroizing;

use crate::op_error::OpError;

/// Calls `attempt` with the nonces of RFC 6979 3.2 in order until it accepts one.
///
/// `input` is the digest at the curve's width, and section 3.2 needs no more. If the digest is longer, `bits2int`
/// takes its leftmost bits (2.3.2), which are `input`. If it is shorter, the integer is that of `input`, which is
/// padded on the left. So `bits2octets(digest)` (2.3.4) is `input` reduced once modulo the order.
pub(crate) fn sign(
    key: &EcPrivateParts,
    alg: DigestAlg,
    input: &[u8],
    attempt: impl FnMut(&[u8]) -> Result<(), OpError>,
) -> Result<(), OpError> {
    match alg {
        DigestAlg::Sha1 => sign_with::<Sha1>(key, input, attempt),
        DigestAlg::Sha224 => sign_with::<Sha224>(key, input, attempt),
        DigestAlg::Sha256 => sign_with::<Sha256>(key, input, attempt),
        DigestAlg::Sha384 => sign_with::<Sha384>(key, input, attempt),
        DigestAlg::Sha512 => sign_with::<Sha512>(key, input, attempt),
        _ => Err(Status::Malformed.into()),
    }
}

/// The nonces that are tried. A second nonce is needed only if r or s is zero, which has never been observed. More
/// than a few refusals are a fault.
const ATTEMPTS: usize = 4;

fn sign_with<H: HashState>(
    key: &EcPrivateParts,
    input: &[u8],
    mut attempt: impl FnMut(&[u8]) -> Result<(), OpError>,
) -> Result<(), OpError> {
    let order = order(key.curve)?;
    let mut nonces = NonceGenerator::<H>::new(key.scalar.expose(), &reduced(input, order));
    let mut k = Zeroizing::new(vec![0; order.len()]);
    let mut outcome = Err(Status::BadKey.into());
    for _ in 0..ATTEMPTS {
        nonces.next(order, &mut k);
        outcome = attempt(&k);
        match outcome {
            // AWS-LC refuses the nonce if r or s is zero. Lack of memory is no reason to use another nonce.
            Err(OpError::Library(error)) if !error.is_out_of_memory() => {}
            _ => return outcome,
        }
    }
    outcome
}

/// The nonce generator of RFC 6979 3.2.
struct NonceGenerator<H: HashState> {
    k: HmacKey<H>,
    v: Zeroizing<Vec<u8>>,
    has_candidate: bool,
}

impl<H: HashState> NonceGenerator<H> {
    /// Runs steps b to g, with x and h1 as octets of the order's length.
    fn new(x: &[u8], h1: &[u8]) -> Self {
        let mut nonces = Self {
            k: HmacKey::new(&vec![0; H::OUTPUT]),
            v: Zeroizing::new(vec![1; H::OUTPUT]),
            has_candidate: false,
        };
        nonces.update(&[&[0], x, h1]);
        nonces.update(&[&[1], x, h1]);
        nonces
    }

    /// Sets K = HMAC_K(V || parts), then V = HMAC_K(V).
    fn update(&mut self, parts: &[&[u8]]) {
        let mut key = Zeroizing::new(vec![0; H::OUTPUT]);
        let mut mac = self.k.start();
        mac.update(&self.v);
        parts.iter().for_each(|part| mac.update(part));
        self.k.finish(mac, &mut key);
        self.k = HmacKey::new(&key);
        self.step();
    }

    fn step(&mut self) {
        let mut mac = self.k.start();
        mac.update(&self.v);
        self.k.finish(mac, &mut self.v);
    }

    /// Runs step h and writes the next candidate in [1, order - 1].
    fn next(&mut self, order: &[u8], k: &mut [u8]) {
        loop {
            if self.has_candidate {
                // Step h.3: the last candidate was refused, by the range check below or by the caller.
                self.update(&[&[0]]);
            }
            self.has_candidate = true;
            for chunk in k.chunks_mut(H::OUTPUT) {
                self.step();
                chunk.copy_from_slice(&self.v[..chunk.len()]);
            }
            let is_zero = k.iter().fold(0, |all, byte| all | byte) == 0;
            // Refused candidates are discarded, so this branch reveals nothing about the nonce that is used.
            if !is_zero && subtract(k, order).1 == 0xff {
                return;
            }
        }
    }
}

/// Reduces `value`, which must be below twice the order, modulo `order`.
fn reduced(value: &[u8], order: &[u8]) -> Zeroizing<Vec<u8>> {
    let (mut difference, is_below) = subtract(value, order);
    for (to, from) in difference.iter_mut().zip(value) {
        *to = (*to & !is_below) | (*from & is_below);
    }
    difference
}

/// Returns `a - b` for equal lengths, and a mask of ones if it is negative. Constant time.
fn subtract(a: &[u8], b: &[u8]) -> (Zeroizing<Vec<u8>>, u8) {
    let mut difference = Zeroizing::new(a.to_vec());
    let mut borrow = 0_i16;
    for (to, from) in difference.iter_mut().rev().zip(b.iter().rev()) {
        let digit = i16::from(*to) - i16::from(*from) + borrow;
        [_, *to] = digit.to_be_bytes();
        borrow = digit >> 8;
    }
    let [_, mask] = borrow.to_be_bytes();
    (difference, mask)
}

/// Returns the order of the base point. SEC 2 2.4.2 and 2.5.1.
fn order(curve: Curve) -> Result<&'static [u8], Status> {
    match curve {
        Curve::P256 => Ok(&P256_ORDER),
        Curve::P384 => Ok(&P384_ORDER),
        _ => Err(Status::BadKey),
    }
}

const P256_ORDER: [u8; 32] = [
    0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xbc,
    0xe6, 0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51,
];

const P384_ORDER: [u8; 48] = [
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xc7, 0x63, 0x4d, 0x81, 0xf4, 0x37, 0x2d, 0xdf, 0x58, 0x1a,
    0x0d, 0xb2, 0x48, 0xb0, 0xa7, 0x7a, 0xec, 0xec, 0x19, 0x6a, 0xcc, 0xc5, 0x29, 0x73,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc6979_reduction_subtracts_the_order_once() {
        let order = [0x80, 0x01];
        assert_eq!(*reduced(&[0x80, 0x00], &order), [0x80, 0x00]);
        assert_eq!(*reduced(&[0x80, 0x01], &order), [0, 0]);
        assert_eq!(*reduced(&[0xff, 0xff], &order), [0x7f, 0xfe]);
    }

    #[test]
    fn rfc6979_candidates_past_the_order_are_refused() {
        let mut nonces = NonceGenerator::<Sha256>::new(&[1; 2], &[2; 2]);
        let mut k = [0; 2];
        for _ in 0..64 {
            nonces.next(&[0x00, 0x40], &mut k);
            assert!(k != [0, 0] && k < [0x00, 0x40]);
        }
    }
}
