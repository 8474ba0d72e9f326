//! Raw bytes. The first byte is the type of the rest.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oarlock_core::{Curve, MlDsaSet, MlKemSet, SlhDsaSet};
use oarlock_fuzz::{check_error, check_round_trip};
use oarlock_keys::{raw, rsa};

fuzz_target!(|bytes: &[u8]| {
    let Some((kind, rest)) = bytes.split_first() else { return };
    let curve = Curve::ALL[usize::from(kind >> 7)];
    let (first, second) = rest.split_at(rest.len() / 2);
    let set = usize::from(kind >> 4);
    let (kem, dsa) = (MlKemSet::ALL[set % MlKemSet::ALL.len()], MlDsaSet::ALL[set % MlDsaSet::ALL.len()]);
    let hash_based = SlhDsaSet::ALL[set % SlhDsaSet::ALL.len()];
    let key = match kind % 16 {
        0 => raw::ec_private(curve, rest),
        1 => raw::ec_public(curve, rest),
        2 => raw::ed25519_private(rest),
        3 => raw::ed25519_public(rest),
        4 => raw::x25519_private(rest),
        5 => raw::x25519_public(rest),
        6 => rsa::private_without_crt(first, &[1, 0, 1], second),
        7 => rsa::public(first, second),
        8 => raw::ml_kem_seed(kem, rest),
        9 => raw::ml_kem_expanded(kem, rest),
        10 => raw::ml_kem_public(kem, rest),
        11 => raw::ml_dsa_seed(dsa, rest),
        12 => raw::ml_dsa_expanded(dsa, rest),
        13 => raw::ml_dsa_public(dsa, rest),
        14 => raw::slh_dsa_private(hash_based, rest),
        _ => raw::slh_dsa_public(hash_based, rest),
    };
    if let Some(key) = check_error(key) {
        check_round_trip(&key);
    }
});
