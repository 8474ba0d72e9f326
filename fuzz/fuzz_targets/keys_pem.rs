//! Text with PEM blocks.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oarlock_fuzz::{cheap_passphrase, check_error, check_round_trip};
use oarlock_keys::import;

fuzz_target!(|text: &[u8]| {
    if let Some(key) = check_error(import::pem(text, Some(&cheap_passphrase()))) {
        check_round_trip(&key);
    }
});
