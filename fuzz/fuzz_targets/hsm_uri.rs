//! URIs of tokens and objects. An accepted one has a text that means the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oarlock_hsm::{HsmSettings, Pkcs11Uri};

fuzz_target!(|text: &str| {
    match text.parse::<Pkcs11Uri>() {
        Ok(uri) => {
            let written = uri.to_string();
            assert_eq!(written.parse().as_ref(), Ok(&uri), "{written}");
            if let Ok(settings) = HsmSettings::from_uri(&uri) {
                assert_eq!(settings.check(), Ok(()));
            }
        }
        Err(error) => assert!(error.to_string().len() < 400, "{error}"),
    }
});
