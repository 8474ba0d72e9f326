//! Files with DS records of any bytes: what is read comes back when it is written and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oarlock_dnssec::{DomainName, DomainNameBuf, Ds, LetterCase, read_dsset, write_dsset};

fuzz_target!(|text: &[u8]| {
    let child = DomainNameBuf::parse(b"sub.example.", DomainName::ROOT, LetterCase::Lower).unwrap();
    let Ok(found) = read_dsset(text, child.name()) else { return };
    assert!(!found.is_empty() && found.iter().all(|data| Ds::parse(data).is_ok()));
    let mut written = Vec::new();
    write_dsset(child.name(), found.iter().map(Vec::as_slice), &mut written);
    // Digests of unknown types may be longer than a file of BIND.
    if written.len() <= oarlock_dnssec::MAX_DSSET_BYTES {
        assert_eq!(read_dsset(&written, child.name()), Ok(found));
    }
});
