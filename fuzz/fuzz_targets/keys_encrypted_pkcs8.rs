//! Encrypted PKCS#8 DER, under work limits that keep the fuzzer fast.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oarlock_fuzz::{cheap_passphrase, check_error, check_round_trip};
use oarlock_keys::import;

fuzz_target!(|der: &[u8]| {
    if let Some(key) = check_error(import::encrypted_pkcs8_der(der, &cheap_passphrase())) {
        check_round_trip(&key);
    }
});
