//! SubjectPublicKeyInfo DER.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oarlock_fuzz::{check_error, check_round_trip};
use oarlock_keys::{held, import};

fuzz_target!(|der: &[u8]| {
    if let Some(key) = check_error(import::spki_der(der)) {
        check_round_trip(&key);
        let held = held::from_spki(der, "token", "label").expect("what imports can be held");
        assert_eq!(held.fingerprint(), key.fingerprint());
    }
});
