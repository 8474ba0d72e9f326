//! PKCS#8 DER.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oarlock_fuzz::{check_error, check_round_trip};
use oarlock_keys::import;

fuzz_target!(|der: &[u8]| {
    if let Some(key) = check_error(import::pkcs8_der(der)) {
        check_round_trip(&key);
    }
});
