//! Raw bytes. The first byte is the type of the rest.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oarlock_core::Curve;
use oarlock_fuzz::{check_error, check_round_trip};
use oarlock_keys::{raw, rsa};

fuzz_target!(|bytes: &[u8]| {
    let Some((kind, rest)) = bytes.split_first() else { return };
    let curve = Curve::ALL[usize::from(kind >> 7)];
    let (first, second) = rest.split_at(rest.len() / 2);
    let key = match kind % 8 {
        0 => raw::ec_private(curve, rest),
        1 => raw::ec_public(curve, rest),
        2 => raw::ed25519_private(rest),
        3 => raw::ed25519_public(rest),
        4 => raw::x25519_private(rest),
        5 => raw::x25519_public(rest),
        6 => rsa::private_without_crt(first, &[1, 0, 1], second),
        _ => rsa::public(first, second),
    };
    if let Some(key) = check_error(key) {
        check_round_trip(&key);
    }
});
