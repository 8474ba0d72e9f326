//! Header fields, signature tags, authentication results and ARC sets of any message: each is read or rejected, and
//! parsed parts lie within the message.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oarlock_dkim::{
    DkimSignature, MailLimits, ParsedMail, ParsedSignatures, TagList, VerifyPolicy, claims_authserv_id,
    parse_results,
};

fuzz_target!(|text: &[u8]| {
    let limits = MailLimits { max_headers: 2_000, max_signed_names: 64, ..MailLimits::default() };
    let Ok(message) = ParsedMail::parse(text, &limits) else { return };
    let policy =
        VerifyPolicy { limits, accepts_sha1: true, verifies_chains: true, ..VerifyPolicy::default() };
    let needs = ParsedSignatures::parse(&message.headers, &policy, 1_700_000_000).body_needs();
    assert!(needs.len() <= limits.max_signatures + 1);
    for header in &message.headers {
        assert!(header.name().len() + header.value().len() < header.raw().len());
        let _ = claims_authserv_id(header.value(), "mx.example.net");
        for result in parse_results(header.value()) {
            assert!(!result.contains(char::is_control), "{result:?}");
        }
        if let Ok(tags) = TagList::parse(header.value()) {
            assert_eq!(tags.get("no such tag"), None);
        }
        if let Ok(signature) = DkimSignature::parse(header.value(), &limits) {
            assert!(!signature.domain.is_empty() && signature.signed_names().len() <= 64);
        }
    }
});
