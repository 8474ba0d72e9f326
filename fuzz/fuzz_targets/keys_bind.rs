//! BIND's private key files. An imported key survives export and import.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oarlock_fuzz::check_error;
use oarlock_keys::bind;

fuzz_target!(|bytes: &[u8]| {
    if let Some(file) = check_error(bind::import(bytes)) {
        let text = bind::export(&file.key, file.algorithm).expect("a key that came in goes out");
        let again = bind::import(text.as_bytes()).expect("and comes in again");
        assert_eq!((again.key.fingerprint(), again.algorithm), (file.key.fingerprint(), file.algorithm));
    }
});
