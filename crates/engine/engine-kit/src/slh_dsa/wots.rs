//! One-time keys: WOTS+. FIPS 205 section 5.

use oarlock_core::SlhDsaSet;

use super::{Address, AddressKind, Chain, HashSteps};

/// The number of steps of a whole chain.
pub(super) const CHAIN_STEPS: u8 = SlhDsaSet::CHAIN_VALUES as u8 - 1;

/// Computes the values of all chains of some keys, after `steps(index)` steps each, from their secret values on.
///
/// `keys` are the addresses of the keys: trees and key pairs. FIPS 205 algorithms 6 and 7.
pub(super) fn values_from_secrets(
    hash_steps: &impl HashSteps,
    set: SlhDsaSet,
    secret_seed: &[u8],
    keys: &[Address],
    steps: impl Fn(usize) -> u8,
    values: &mut [u8],
) {
    let chains = |kind, steps: &dyn Fn(usize) -> u8| -> Vec<Chain> {
        let address = |index: usize| Address {
            kind,
            height: (index % set.chains()) as u32,
            ..keys[index / set.chains()]
        };
        let chain = |index| Chain { first: address(index), steps: steps(index) };
        (0..keys.len() * set.chains()).map(chain).collect()
    };
    values.chunks_exact_mut(set.n()).for_each(|value| value.copy_from_slice(secret_seed));
    hash_steps.chains(&chains(AddressKind::WotsSecret, &|_| 1), values);
    hash_steps.chains(&chains(AddressKind::WotsHash, &steps), values);
}

/// Compresses the ends of the chains of each key to its public key.
pub(super) fn compress(hash_steps: &impl HashSteps, keys: &[Address], ends: &[u8], public: &mut [u8]) {
    let addresses: Vec<Address> =
        keys.iter().map(|key| Address { kind: AddressKind::WotsKey, ..*key }).collect();
    hash_steps.nodes(&addresses, ends, public);
}

/// Returns the digits that sign a value of n bytes, most significant first, and their checksum of three digits. FIPS
/// 205 algorithm 7, steps 1 to 7.
pub(super) fn digits(value: &[u8]) -> Vec<u8> {
    let mut digits: Vec<u8> = value.iter().flat_map(|byte| [byte >> 4, byte & 15]).collect();
    let sum: u16 = digits.iter().map(|digit| u16::from(CHAIN_STEPS - digit)).sum();
    digits.extend([8, 4, 0].map(|shift| (sum >> shift & 15) as u8));
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checksum_falls_when_a_digit_rises() {
        assert_eq!(digits(&[0x00, 0xf3]), [0, 0, 15, 3, 0, 2, 10]);
        assert_eq!(digits(&[0xff; 32])[64..], [0, 0, 0]);
        assert_eq!(digits(&[0; 32])[64..], [3, 12, 0]);
    }
}
