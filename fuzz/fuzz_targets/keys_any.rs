//! PEM or DER of any structure. An imported key survives export and import; errors quote nothing of a key.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oarlock_fuzz::{cheap_passphrase, check_error, check_round_trip};
use oarlock_keys::import;

fuzz_target!(|bytes: &[u8]| {
    if let Some(key) = check_error(import::any(bytes, Some(&cheap_passphrase()))) {
        check_round_trip(&key);
    }
});
