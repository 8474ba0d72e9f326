//! Deterministic nonces. RFC 6979 3.2. HMAC runs lane by lane here: deterministic nonces serve reproducible zones,
//! not speed.

use hmac::digest::{KeyInit, OutputSizeUser};
use hmac::{Hmac, Mac};
use oarlock_core::DigestAlg;
use sha1::Sha1;
use sha2::{Sha224, Sha256, Sha384, Sha512};
use zeroize::{Zeroize, Zeroizing};

use super::constants::minus;
use super::curve::CurveParams;
use super::ring::OddModulus;
use super::scalars::limbs_of_bytes;

/// Writes the candidate of step h in [1, n - 1] that follows `refused` good ones.
///
/// `digest` is the digest at the curve's width, and section 3.2 needs no more. If the digest is longer, `bits2int`
/// takes its leftmost bits (2.3.2), which are `digest`. If it is shorter, the integer is that of the padded digest.
/// So `bits2octets` (2.3.4) is `digest` reduced once modulo the order.
pub(crate) fn nonce<C: CurveParams<L>, const L: usize>(
    alg: DigestAlg,
    scalar: &[u8],
    digest: &[u8],
    refused: u8,
    k: &mut [u8],
) {
    match alg {
        DigestAlg::Sha1 => generate::<Hmac<Sha1>, C, L>(scalar, digest, refused, k),
        DigestAlg::Sha224 => generate::<Hmac<Sha224>, C, L>(scalar, digest, refused, k),
        DigestAlg::Sha256 => generate::<Hmac<Sha256>, C, L>(scalar, digest, refused, k),
        DigestAlg::Sha384 => generate::<Hmac<Sha384>, C, L>(scalar, digest, refused, k),
        _ => generate::<Hmac<Sha512>, C, L>(scalar, digest, refused, k),
    }
}

fn generate<M: Mac + KeyInit, C: CurveParams<L>, const L: usize>(
    scalar: &[u8],
    digest: &[u8],
    refused: u8,
    k: &mut [u8],
) {
    let mut nonces = NonceState::<M>::new(scalar, &reduced::<C, L>(digest));
    // From the start for each attempt: nothing of a refused nonce is kept between attempts.
    for _ in 0..=refused {
        nonces.next::<C, L>(k);
    }
}

/// The nonce generator of RFC 6979 3.2.
struct NonceState<M: OutputSizeUser> {
    k: Zeroizing<Vec<u8>>,
    v: Zeroizing<Vec<u8>>,
    has_candidate: bool,
    mac: std::marker::PhantomData<M>,
}

impl<M: Mac + KeyInit> NonceState<M> {
    /// Runs steps b to g, with x and h1 as octets of the order's length.
    fn new(x: &[u8], h1: &[u8]) -> Self {
        let len = <M as OutputSizeUser>::output_size();
        let mut nonces = Self {
            k: Zeroizing::new(vec![0; len]),
            v: Zeroizing::new(vec![1; len]),
            has_candidate: false,
            mac: std::marker::PhantomData,
        };
        nonces.update(&[&[0], x, h1]);
        nonces.update(&[&[1], x, h1]);
        nonces
    }

    /// Sets K = HMAC_K(V || parts), then V = HMAC_K(V).
    fn update(&mut self, parts: &[&[u8]]) {
        self.k = self.hmac(parts);
        self.step();
    }

    fn step(&mut self) {
        self.v = self.hmac(&[]);
    }

    /// Computes HMAC_K(V || parts).
    fn hmac(&self, parts: &[&[u8]]) -> Zeroizing<Vec<u8>> {
        let Ok(mut mac) = <M as KeyInit>::new_from_slice(&self.k) else {
            // unreachable because HMAC takes keys of every length
            return Zeroizing::new(self.v.to_vec());
        };
        Mac::update(&mut mac, &self.v);
        parts.iter().for_each(|part| Mac::update(&mut mac, part));
        let mut output = mac.finalize().into_bytes();
        let bytes = Zeroizing::new(output.to_vec());
        // The array is a copy of the secret; `bytes` erases itself.
        output.as_mut_slice().zeroize();
        bytes
    }

    /// Runs step h and writes the next candidate in [1, order - 1].
    fn next<C: CurveParams<L>, const L: usize>(&mut self, k: &mut [u8]) {
        loop {
            if self.has_candidate {
                // Step h.3: the last candidate was refused, by the range check below or by the caller.
                self.update(&[&[0]]);
            }
            self.has_candidate = true;
            for chunk in k.chunks_mut(self.v.len()) {
                self.step();
                chunk.copy_from_slice(&self.v[..chunk.len()]);
            }
            let limbs = Zeroizing::new(limbs_of_bytes::<L>(k));
            let is_zero = limbs.iter().fold(0, |all, limb| all | limb) == 0;
            // Refused candidates are discarded, so this branch reveals nothing about the nonce that is used.
            if !is_zero && minus(&limbs, &C::Order::LIMBS).1 {
                return;
            }
        }
    }
}

/// Returns the digest modulo the order, at the curve's width. The digest is not secret.
fn reduced<C: CurveParams<L>, const L: usize>(digest: &[u8]) -> Vec<u8> {
    let limbs = limbs_of_bytes::<L>(digest);
    let (less, is_below) = minus(&limbs, &C::Order::LIMBS);
    let limbs = if is_below { limbs } else { less };
    let byte = |at: usize| {
        let (limb, bit) = (8 * at / 52, 8 * at % 52);
        let next = if bit > 44 { limbs[limb + 1] << (52 - bit) } else { 0 };
        (limbs[limb] >> bit | next) as u8
    };
    (0..C::BYTES).rev().map(byte).collect()
}
