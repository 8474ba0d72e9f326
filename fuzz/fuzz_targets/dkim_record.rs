//! Key records: the parser returns a usable key or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oarlock_dkim::{KeyRecord, SignatureAlgorithm};

fuzz_target!(|text: &[u8]| match KeyRecord::parse(text) {
    Ok(record) => {
        assert!(record.key_bits() >= 256);
        let _ = SignatureAlgorithm::ALL.map(|algorithm| record.serves(algorithm));
    }
    Err(error) => assert!(!error.to_string().is_empty()),
});
