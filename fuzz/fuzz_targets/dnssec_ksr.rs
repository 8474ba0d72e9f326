//! Signed key requests and responses of any bytes: what is read comes back when it is written and read again, and a
//! request of any text is signed or refused.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use oarlock::keys::raw;
use oarlock::{Accelerator, NonceRule};
use oarlock_dnssec::ksr::{KeySigningRequest, KsrSignOptions, OfflineKey, SignedKeyResponse};
use oarlock_dnssec::sign::{KeyRole, SignerKey};
use oarlock_dnssec::{DigestType, DnssecAlgorithm, DomainName, DomainNameBuf, KeyTimes, LetterCase};

static ENGINE: LazyLock<Accelerator> =
    LazyLock::new(|| Accelerator::builder().engines(["scalar"]).build().unwrap());

fuzz_target!(|text: &[u8]| {
    let zone = DomainNameBuf::parse(b"example.test.", DomainName::ROOT, LetterCase::Lower).unwrap();
    if let Ok(request) = KeySigningRequest::parse(text, zone.name()) {
        let mut written = Vec::new();
        request.write(0, "fuzz", &mut written);
        let again = KeySigningRequest::parse(&written, zone.name()).unwrap();
        assert_eq!(keys(&again), keys(&request));
        sign(&request, &zone);
    }
    if let Ok(response) = SignedKeyResponse::parse(text, zone.name()) {
        let mut written = Vec::new();
        response.write(0, "fuzz", &mut written);
        let again = SignedKeyResponse::parse(&written, zone.name()).unwrap();
        let sets = |response: &SignedKeyResponse| -> Vec<_> {
            response.bundles().iter().map(|bundle| (bundle.inception, bundle.sets.clone())).collect()
        };
        assert_eq!(sets(&again), sets(&response));
        // The signatures are those of nobody, but their verification must end.
        let _ = response.verify(&ENGINE);
    }
});

fn keys(request: &KeySigningRequest) -> Vec<(u32, u32, Vec<Vec<u8>>)> {
    request.bundles().iter().map(|bundle| (bundle.inception, bundle.ttl, bundle.keys.clone())).collect()
}

/// Signs a request; a response must be one that verifies.
fn sign(request: &KeySigningRequest, zone: &DomainNameBuf) {
    let key = raw::ed25519_private(&[7; 32]).unwrap();
    let key = SignerKey::new(key, KeyRole::Ksk, 257, DnssecAlgorithm::ED25519).unwrap();
    let last = request.bundles().last().map_or(0, |bundle| bundle.inception);
    let options = KsrSignOptions {
        until: last.saturating_add(1000),
        validity_s: 1 << 30,
        refresh_s: 0,
        before_s: 3600,
        digests: vec![DigestType::SHA256],
        has_cdnskey: true,
        nonce: NonceRule::Deterministic,
    };
    let keys = [OfflineKey { key, times: KeyTimes::default() }];
    let Ok(response) = request.sign(&ENGINE, &keys, &options) else { return };
    let mut written = Vec::new();
    response.write(0, "fuzz", &mut written);
    let again = SignedKeyResponse::parse(&written, zone.name()).unwrap();
    assert_eq!(again.verify(&ENGINE), Ok(None));
}
