use super::*;
use crate::examples::KEYS;
use crate::name::{DomainNameBuf, LetterCase};

fn engines() -> [Accelerator; 2] {
    ["scalar", "lanes"].map(|name| Accelerator::builder().engines([name]).lazy().build().unwrap())
}

fn name(text: &str) -> DomainNameBuf {
    DomainNameBuf::parse(text.as_bytes(), DomainName::ROOT, LetterCase::Kept).unwrap()
}

#[test]
fn computes_the_digests_printed_in_rfcs() {
    for accelerator in engines() {
        for example in &KEYS {
            let (rdata, expected) = (example.dnskey(), example.ds());
            let dnskey = Dnskey::parse(&rdata).unwrap();
            let owner = name(&example.owner.to_uppercase());
            let made =
                ds_rdata(&accelerator, owner.name(), &dnskey, DigestType(example.digest_type)).unwrap();
            assert_eq!(made, expected, "{}", example.source);
            let ds = Ds::parse(&expected).unwrap();
            assert!(ds.is_supported() && ds.matches(&accelerator, owner.name(), &dnskey).unwrap());
        }
    }
}

#[test]
fn a_digest_does_not_match_another_owner_or_key() {
    let [accelerator, _] = engines();
    let (rdata, good) = (KEYS[2].dnskey(), KEYS[2].ds());
    let dnskey = Dnskey::parse(&rdata).unwrap();
    let matches = |owner: &str, ds: &[u8], dnskey: &Dnskey<'_>| {
        Ds::parse(ds).unwrap().matches(&accelerator, name(owner).name(), dnskey).unwrap()
    };
    assert!(matches("example.net.", &good, &dnskey));
    assert!(!matches("example.org.", &good, &dnskey));
    for at in [0, 2, 4, good.len() - 1] {
        let mut bad = good.clone();
        bad[at] ^= 1;
        assert!(!matches("example.net.", &bad, &dnskey), "{at}");
    }
    // Swapping two bytes of one sum keeps the key tag and changes the digest.
    let mut other = rdata.clone();
    other.swap(10, 12);
    assert_ne!(other, rdata);
    let other = Dnskey::parse(&other).unwrap();
    assert_eq!(other.key_tag(), dnskey.key_tag());
    assert!(!matches("example.net.", &good, &other));
}

#[test]
fn unknown_digests_fail_only_when_they_are_computed() {
    let [accelerator, _] = engines();
    let (rdata, mut ds) = (KEYS[2].dnskey(), KEYS[2].ds());
    ds[3] = 3;
    let ds = Ds::parse(&ds).unwrap();
    assert!(!ds.is_supported());
    let dnskey = Dnskey::parse(&rdata).unwrap();
    let matched = ds.matches(&accelerator, name("example.net.").name(), &dnskey);
    assert_eq!(matched, Err(DsError::UnsupportedDigest(DigestType(3))));
}

#[test]
fn checks_the_length_of_ds_data() {
    assert_eq!(Ds::parse(&[1, 2, 3]), Err(DsError::Short { found: 3 }));
    assert_eq!(Ds::parse(&[1, 2, 8, 99]), Err(DsError::Short { found: 4 }));
    let wrong = DsError::Length { digest_type: DigestType::SHA256, expected: 32, found: 20 };
    assert_eq!(Ds::parse(&[&[0, 1, 8, 2][..], &[0; 20]].concat()), Err(wrong));
    assert!(Ds::parse(&DELETE_CDS).unwrap().is_delete());
    assert!(!Ds::parse(&[0, 0, 0, 0, 1]).unwrap().is_delete());
}

#[test]
fn types_have_names_and_numbers() {
    for (text, number) in [("sha256", 2), ("SHA-1", 1), ("4", 4), ("sha-384", 4), ("200", 200)] {
        assert_eq!(text.parse(), Ok(DigestType(number)), "{text}");
    }
    for text in ["", "sha", "256", "+1", "-"] {
        assert_eq!(text.parse::<DigestType>(), Err(UnknownDigestError(text.into())));
    }
}
