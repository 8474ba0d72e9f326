//! Tests that recompute the constants of all functions.

use num_bigint::BigUint;

use super::sha512::LaneSha512;
use super::{LaneHash, MerkleDamgard, MessageEnding, alone, sha256_constants, sha512_constants};

/// Returns the first primes.
fn primes() -> impl Iterator<Item = u32> {
    (2..).filter(|n| (2..*n).all(|d| n % d != 0))
}

/// Returns the first `bits` bits of the fraction of the `degree`-th root of a prime.
fn fraction(prime: u32, degree: u32, bits: u32) -> BigUint {
    let root = (BigUint::from(prime) << (degree * bits)).nth_root(degree);
    root & ((BigUint::from(1_u32) << bits) - 1_u32)
}

/// FIPS 180-4 4.2.2, 4.2.3 and 5.3.
#[test]
#[cfg_attr(miri, ignore = "minutes, of big integers alone")]
fn hash_constants_are_the_fractions_of_roots_of_primes() {
    for (prime, constant) in primes().zip(sha256_constants::ROUND) {
        assert_eq!(fraction(prime, 3, 32), constant.into());
    }
    for (prime, constant) in primes().zip(sha512_constants::ROUND) {
        assert_eq!(fraction(prime, 3, 64), constant.into());
    }
    for (prime, constant) in primes().zip(sha256_constants::INITIAL) {
        assert_eq!(fraction(prime, 2, 32), constant.into());
    }
    // FIPS 180-4 5.3.2: the second 32 bits of the fractions of the square roots of the ninth to sixteenth primes, which
    // are the second halves of SHA-384's values.
    for (wide, constant) in sha512_constants::INITIAL_384.into_iter().zip(sha256_constants::INITIAL_224) {
        assert_eq!(wide as u32, constant);
    }
    let wide = sha512_constants::INITIAL.into_iter().chain(sha512_constants::INITIAL_384);
    for (prime, constant) in primes().zip(wide) {
        assert_eq!(fraction(prime, 2, 64), constant.into());
    }
}

/// FIPS 180-4 5.3.6: SHA-512 from a changed initial value, of the name of the function.
#[test]
fn initial_values_of_sha512_t_are_digests_of_its_name() {
    for (name, constants) in [
        ("SHA-512/224", sha512_constants::INITIAL_512_224),
        ("SHA-512/256", sha512_constants::INITIAL_512_256),
    ] {
        let start = sha512_constants::INITIAL.map(|word| word ^ 0xA5A5_A5A5_A5A5_A5A5);
        let mut state = alone::chain_bytes(start.map(u64::to_be_bytes));
        LaneSha512::absorb_alone(&mut state, name.as_bytes(), 0, MessageEnding::Padded { before: 0 });
        assert_eq!(state, alone::chain_bytes(constants.map(u64::to_be_bytes)), "{name}");
        assert_ne!(state, LaneSha512::initial());
    }
}
