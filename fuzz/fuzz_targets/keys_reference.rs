//! References to keys of a server, in PEM and DER and as URIs. An accepted reference survives export and import.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oarlock_fuzz::check_error;
use oarlock_keys::reference::Reference;

fuzz_target!(|bytes: &[u8]| {
    if let Some(reference) = check_error(Reference::parse_der(bytes)) {
        let again = Reference::parse_der(&reference.to_der().expect("a reference that came in goes out"));
        assert_eq!(again.as_ref(), Ok(&reference));
        let plain = Reference { spki: None, ..reference };
        assert_eq!(Reference::parse_uri(&plain.to_uri()), Ok(plain));
    }
    check_error(Reference::parse_pem(bytes));
    if let Ok(text) = std::str::from_utf8(bytes) {
        check_error(Reference::parse_uri(text));
    }
});
