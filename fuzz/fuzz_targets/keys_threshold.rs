//! Threshold keys and shares in PEM and DER. Accepted input is exported as the same bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oarlock_fuzz::{cheap_passphrase, check_error};
use oarlock_keys::threshold::{Share, ThresholdKey};

fuzz_target!(|bytes: &[u8]| {
    if let Some(key) = check_error(ThresholdKey::from_der(bytes)) {
        assert_eq!(key.to_der().expect("a key that came in goes out"), bytes);
    }
    if let Some(share) = check_error(Share::from_der(bytes)) {
        assert_eq!(share.to_der().expect("a share that came in goes out").as_slice(), bytes);
    }
    check_error(ThresholdKey::from_pem(bytes));
    check_error(Share::from_pem(bytes, Some(&cheap_passphrase())));
});
