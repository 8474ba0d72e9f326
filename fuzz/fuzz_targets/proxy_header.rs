//! Headers of the PROXY protocol: nothing panics, no cut is read beyond the header, and what is encoded is parsed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oarlock_proxy::header::{HeaderProgress, HeaderVersion, ProxyHeader};

fuzz_target!(|bytes: &[u8]| {
    let Ok(HeaderProgress::Complete { header, len }) = ProxyHeader::parse(bytes) else { return };
    for cut in 0..len {
        match ProxyHeader::parse(&bytes[..cut]) {
            Ok(HeaderProgress::Incomplete { missing }) => assert!((1..=len - cut).contains(&missing)),
            other => panic!("the first {cut} of {len} bytes: {other:?}"),
        }
    }
    for has_checksum in [false, true] {
        let mut encoded = Vec::new();
        if header.encode(HeaderVersion::V2, has_checksum, &mut encoded).is_ok()
            && let Ok(HeaderProgress::Complete { header: again, len }) = ProxyHeader::parse(&encoded)
        {
            assert_eq!(len, encoded.len());
            assert_eq!(again.fields, header.fields);
        }
    }
});
