//! Private keys of ML-KEM and ML-DSA that differ in their secrets alone.
//!
//! The public seed rho decides how often the expansion of the matrix draws again, which the time may show. So all keys
//! of a subject have the same rho.
//!
//! An ML-KEM key gets other secrets beside the same public key. Such a key decapsulates by implicit rejection, in the
//! same steps. An ML-DSA key must be right, because its attempts to sign depend on it: from (s1, s2, t) with t = A s1 +
//! s2 follow 511 others, (X^k s1, X^k s2, X^k t) and their opposites, modulo X^256 + 1.

use oarlock_core::{KeyParts, LatticePrivate, LatticePrivateParts, MlDsaSet, MlKemSet, SecretBytes};
use oarlock_engine_kit::lattice::{ml_dsa, ml_kem};
use oarlock_keys::{KeyError, raw};

use crate::subject::TestRandom;

/// The number of coefficients of a polynomial.
const N: usize = 256;

const NOT_MADE: KeyError = KeyError::Machine { what: "making a secret" };

/// Makes `pool + 1` keys. The secrets of the first are zero.
pub(crate) fn ml_kem(set: MlKemSet, pool: usize) -> Result<Vec<KeyParts>, KeyError> {
    let key = ml_kem::expand(set, &[0x4B; MlKemSet::SEED_LEN]).map_err(|_| NOT_MADE)?;
    // dk = s || ek || H(ek) || z, and each coefficient of s has 12 bits. FIPS 203 algorithm 16.
    let (secret_len, z) = (set.expanded_len() - set.public_len() - 64, set.expanded_len() - 32);
    let mut dice = TestRandom::new(0x4B45);
    let keys = (0..=pool).map(|index| {
        let mut expanded = key.private.to_vec();
        expanded[..secret_len].fill(0);
        expanded[z..].fill(0);
        if index > 0 {
            for pair in expanded[..secret_len].as_chunks_mut::<3>().0 {
                let [a, b] = [dice.below(3_329), dice.below(3_329)];
                *pair = [a as u8, (a >> 8) as u8 | ((b & 15) << 4) as u8, (b >> 4) as u8];
            }
            expanded[z..].copy_from_slice(&dice.bytes(32));
        }
        let private = LatticePrivate::Expanded(SecretBytes::new(expanded));
        KeyParts::MlKemPrivate(LatticePrivateParts { set, private, public: key.public.clone() })
    });
    Ok(keys.collect())
}

/// Makes `pool + 1` seeds. Those of key and matrix are the same, and the secret of implicit rejection differs.
pub(crate) fn ml_kem_seeds(set: MlKemSet, pool: usize) -> Vec<KeyParts> {
    let mut dice = TestRandom::new(0x5EED);
    let seeds = (0..=pool).map(|index| {
        let mut seed = vec![0x4B; 32];
        seed.extend(if index == 0 { vec![0; 32] } else { dice.bytes(32) });
        let private = LatticePrivate::Seed(SecretBytes::new(seed));
        KeyParts::MlKemPrivate(LatticePrivateParts { set, private, public: Vec::new() })
    });
    seeds.collect()
}

/// Makes `pool + 1` times the same public key: the random bytes of an encapsulation are what is secret.
pub(crate) fn ml_kem_public(set: MlKemSet, pool: usize) -> Result<Vec<KeyParts>, KeyError> {
    let key = ml_kem::expand(set, &[0x4B; MlKemSet::SEED_LEN]).map_err(|_| NOT_MADE)?;
    Ok(vec![KeyParts::MlKemPublic(set, key.public); pool + 1])
}

/// Makes `pool + 1` keys, at most 512.
pub(crate) fn ml_dsa(set: MlDsaSet, pool: usize) -> Result<Vec<KeyParts>, KeyError> {
    let key = ml_dsa::expand(set, &[0xD5; MlDsaSet::SEED_LEN]).map_err(|_| NOT_MADE)?;
    let private = ExpandedMlDsa::read(set, &key.private, &key.public);
    let rotations = (0..2 * N).take(pool + 1);
    rotations
        .map(|by| {
            raw::ml_dsa_expanded(set, &private.rotated(by).write(set)?)?.parts().cloned().ok_or(NOT_MADE)
        })
        .collect()
}

/// The parts of an expanded ML-DSA key. FIPS 204 algorithm 24.
struct ExpandedMlDsa {
    /// rho || K.
    seeds: Vec<u8>,
    /// s1 and s2.
    secrets: Vec<Polynomial>,
    /// t, modulo q.
    t: Vec<Polynomial>,
}

type Polynomial = [i32; N];

/// The modulus. FIPS 204 table 1.
const Q: i32 = 8_380_417;

/// eta, and the number of bits of a coefficient of s1 and s2.
fn eta(set: MlDsaSet) -> (i32, usize) {
    if set == MlDsaSet::MlDsa65 { (4, 4) } else { (2, 3) }
}

impl ExpandedMlDsa {
    fn read(set: MlDsaSet, private: &[u8], public: &[u8]) -> Self {
        let (eta, eta_bits) = eta(set);
        let rows = (public.len() - 32) / 320;
        let t0_at = private.len() - rows * 416;
        let secrets = unpack(&private[128..t0_at], eta_bits).map(|packed| packed.map(|value| eta - value));
        let t0 = unpack(&private[t0_at..], 13).map(|packed| packed.map(|value| (1 << 12) - value));
        let t1 = unpack(&public[32..], 10);
        let t = t1.zip(t0).map(|(high, low)| std::array::from_fn(|at| (high[at] << 13) + low[at]));
        Self { seeds: private[..64].to_vec(), secrets: secrets.collect(), t: t.collect() }
    }

    /// Multiplies every polynomial by X^by, where X^256 is -1.
    fn rotated(&self, by: usize) -> Self {
        let rotate = |polynomial: &Polynomial| {
            let mut rotated = [0; N];
            for (at, value) in polynomial.iter().enumerate() {
                let to = at + by;
                rotated[to % N] = if (to / N).is_multiple_of(2) { *value } else { -value };
            }
            rotated
        };
        Self {
            seeds: self.seeds.clone(),
            secrets: self.secrets.iter().map(rotate).collect(),
            t: self.t.iter().map(rotate).collect(),
        }
    }

    fn write(&self, set: MlDsaSet) -> Result<Vec<u8>, KeyError> {
        let (eta, eta_bits) = eta(set);
        let (mut high, mut low) = (Vec::new(), Vec::new());
        for polynomial in &self.t {
            // FIPS 204 algorithm 35: t0 in (-2^12, 2^12].
            let t1 = polynomial.map(|value| (value.rem_euclid(Q) + (1 << 12) - 1) >> 13);
            let t0: Polynomial = std::array::from_fn(|at| polynomial[at].rem_euclid(Q) - (t1[at] << 13));
            pack(&t1, 10, &mut high);
            pack(&t0.map(|value| (1 << 12) - value), 13, &mut low);
        }
        let public = [&self.seeds[..32], &high].concat();
        let mut private = self.seeds.clone();
        private.extend(ml_dsa::public_hash(&public));
        for secret in &self.secrets {
            pack(&secret.map(|value| eta - value), eta_bits, &mut private);
        }
        private.extend(low);
        Ok(private)
    }
}

/// Reads polynomials whose coefficients have `bits` bits, the lowest first.
fn unpack(bytes: &[u8], bits: usize) -> impl Iterator<Item = Polynomial> {
    let bit = |bytes: &[u8], at: usize| i32::from(bytes[at / 8] >> (at % 8) & 1);
    bytes.chunks(N * bits / 8).map(move |packed| {
        std::array::from_fn(|at| (0..bits).map(|index| bit(packed, at * bits + index) << index).sum())
    })
}

fn pack(polynomial: &Polynomial, bits: usize, out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + N * bits / 8, 0);
    for (at, value) in polynomial.iter().enumerate() {
        for index in (0..bits).filter(|index| value >> index & 1 == 1) {
            out[start + (at * bits + index) / 8] |= 1 << ((at * bits + index) % 8);
        }
    }
}

#[cfg(test)]
mod tests {
    use oarlock_core::Fingerprint;

    use super::*;

    fn expanded(parts: &KeyParts) -> Vec<u8> {
        match parts {
            KeyParts::MlKemPrivate(LatticePrivateParts {
                private: LatticePrivate::Expanded(key), ..
            })
            | KeyParts::MlDsaPrivate(LatticePrivateParts {
                private: LatticePrivate::Expanded(key), ..
            }) => key.expose().to_vec(),
            _ => panic!("an expanded key"),
        }
    }

    /// The import checks that t follows from s1 and s2, so a key that it takes is right.
    #[test]
    fn keys_of_ml_dsa_have_one_rho_and_different_secrets() {
        for set in MlDsaSet::ALL {
            let keys: Vec<Vec<u8>> = ml_dsa(set, 300).unwrap().iter().map(expanded).collect();
            assert_eq!(keys.len(), 301);
            assert!(
                keys.windows(2)
                    .all(|pair| pair[0][..32] == pair[1][..32] && pair[0][128..] != pair[1][128..])
            );
        }
    }

    #[test]
    fn keys_of_ml_kem_have_one_public_key_and_different_secrets() {
        for set in MlKemSet::ALL {
            let keys = ml_kem(set, 3).unwrap();
            let public = |parts: &KeyParts| {
                let key = oarlock_core::Key::local(parts.clone(), Fingerprint::new([1; 32]));
                key.ml_kem_public().unwrap().1.to_vec()
            };
            assert!(keys.windows(2).all(|pair| public(&pair[0]) == public(&pair[1])));
            assert!(keys.windows(2).all(|pair| expanded(&pair[0]) != expanded(&pair[1])));
        }
    }
}
