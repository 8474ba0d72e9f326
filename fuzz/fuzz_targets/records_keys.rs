//! Key files: each is accepted, or rejected with an error that quotes no key.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let open = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    oarlock_fuzz::check_error(oarlock_records::load_keys(text, open));
});
