//! SEC 1 DER.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oarlock_fuzz::check_round_trip;
use oarlock_keys::import;

fuzz_target!(|der: &[u8]| {
    if let Ok(key) = import::sec1_der(der) {
        check_round_trip(&key);
    }
});
