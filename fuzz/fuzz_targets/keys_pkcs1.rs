//! PKCS#1 DER, private and public.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oarlock_fuzz::{check_error, check_round_trip};
use oarlock_keys::import;

fuzz_target!(|der: &[u8]| {
    for key in
        [import::pkcs1_private_der(der), import::pkcs1_public_der(der)].into_iter().filter_map(check_error)
    {
        check_round_trip(&key);
    }
});
