//! Tests of messages and records that have broken other implementations, and of hostile ones.

use oarlock::Accelerator;
use oarlock_dkim::{
    BodyHasher, CanonicalForm, Canonicalization, DkimSigner, DkimVerdict, FailReason, KeyAnswer,
    KeyRecordError, MailLimits, ParsedMail, ParsedSignatures, RecordOptions, VerifyIntake, VerifyPolicy,
    record_text,
};

use crate::common::{NOW, Zone, ed25519, engines, record, rsa2048, signed, verify, verify_at};

fn zone() -> Zone {
    Zone::with_record("r2._domainkey.example.com", record(rsa2048()))
        .with("ed._domainkey.example.com", record(ed25519()))
}

fn signer() -> DkimSigner {
    DkimSigner::new("example.com", "ed", ed25519().clone()).unwrap()
}

fn rsa_signer() -> DkimSigner {
    DkimSigner::new("example.com", "r2", rsa2048().clone()).unwrap()
}

fn is_pass(accelerator: &Accelerator, mail: &[u8]) -> bool {
    verify(accelerator, mail, &zone())[0].verdict() == DkimVerdict::Pass
}

#[test]
fn verifies_at_most_five_of_a_hundred_signatures() {
    let accelerator = &engines()[0];
    let mail = signed(accelerator, b"From: a@example.com\r\n\r\nHello\r\n", &[&signer()]);
    let end = mail.windows(6).position(|bytes| bytes == b"\r\nFrom").unwrap() + 2;
    let flood = [&mail[..end].repeat(100)[..], &mail[end..]].concat();
    let policy = VerifyPolicy::default();
    let needs = {
        let message = ParsedMail::parse(&flood, &policy.limits).unwrap();
        ParsedSignatures::parse(&message.headers, &policy, NOW).body_needs()
    };
    assert_eq!(needs.len(), 1, "one body, hashed once");
    let mut asked = 0;
    let mut intake = VerifyIntake::new(&policy, NOW);
    intake.push(&ParsedMail::parse(&flood, &policy.limits).unwrap()).unwrap();
    let keyed = intake.hash(accelerator).unwrap().answer(|name| {
        asked += 1;
        zone().answer(name.as_str())
    });
    let results = keyed.verify(accelerator).remove(0).signatures;
    assert_eq!((asked, results.len()), (5, 100));
    for (index, result) in results.iter().enumerate() {
        let expected = (index >= 5).then_some(FailReason::TooManySignatures(5));
        assert_eq!(
            (result.reason.clone(), result.domain.as_deref()),
            (expected, Some("example.com")),
            "{index}"
        );
    }
}

#[test]
fn signs_and_verifies_a_body_of_fifty_megabytes() {
    let line = |byte: u8| [&[byte; 1 << 20][..], b" \t \r\n"].concat();
    let body = (0..50).map(|number| line(b'a' + number % 26)).collect::<Vec<_>>().concat();
    let mail = [b"From: a@example.com\r\n\r\n", &body[..]].concat();
    for accelerator in engines() {
        let mail = signed(accelerator, &mail, &[&signer()]);
        assert!(is_pass(accelerator, &mail));
        let message = ParsedMail::parse(&mail, &MailLimits::default()).unwrap();
        let policy = VerifyPolicy::default();
        let parsed = ParsedSignatures::parse(&message.headers, &policy, NOW);
        let mut hashers: Vec<_> =
            parsed.body_needs().into_iter().map(|need| BodyHasher::new(accelerator, need)).collect();
        for piece in message.body.chunks(65_535) {
            hashers.iter_mut().for_each(|hasher| hasher.push(piece));
        }
        let mut intake = VerifyIntake::new(&policy, NOW);
        intake.push_hashed(&message.headers, parsed, hashers).unwrap();
        let keyed = intake.hash(accelerator).unwrap().answer(|name| zone().answer(name.as_str()));
        assert_eq!(keyed.verify(accelerator)[0].signatures[0].verdict(), DkimVerdict::Pass);
        let mut changed = mail;
        let last = changed.len() - 6;
        changed[last] ^= 1;
        assert_eq!(verify(accelerator, &changed, &zone())[0].reason, Some(FailReason::BodyHash));
    }
}

#[test]
fn signs_a_field_of_one_megabyte_and_ten_thousand_fields() {
    let accelerator = &engines()[0];
    let long = [b"From: a@example.com\r\nSubject: ", &[b'x'; 1 << 20][..], b"\r\n\r\nbody\r\n"].concat();
    let mut many = b"From: a@example.com\r\n".to_vec();
    for number in 0..10_000 {
        many.extend_from_slice(format!("To: {number}@example.net\r\n").as_bytes());
    }
    many.extend_from_slice(b"\r\nbody\r\n");
    assert!(is_pass(accelerator, &signed(accelerator, &long, &[&signer()])));
    // Every `To` field is signed, and `h=` names each of them. That exceeds the default limit of a verifier.
    let all = signed(accelerator, &many, &[&signer()]);
    let reason = verify(accelerator, &all, &zone())[0].reason.clone();
    assert!(matches!(reason, Some(FailReason::Signature(_))), "{reason:?}");
    let lax = MailLimits { max_signed_names: 20_000, ..MailLimits::default() };
    let policy = VerifyPolicy { limits: lax, ..VerifyPolicy::default() };
    let results = verify_at(accelerator, &[&all], &zone(), &policy, NOW);
    assert_eq!(results[0].signatures[0].verdict(), DkimVerdict::Pass);
    let fields = String::from_utf8(many).unwrap().replace("To:", "X-To:");
    assert!(is_pass(accelerator, &signed(accelerator, fields.as_bytes(), &[&signer()])));
}

#[test]
fn signs_every_byte_value_unchanged() {
    let every: Vec<u8> = (0..=255).collect();
    let stray = b"a\rb\nc\r\rd\n\ne\0f";
    let subject = [b"Subject: ", &every[32..], stray].concat();
    let body = [&every[..], b"\r\n", stray, b"\r\n", &every].concat();
    let mail = [b"From: a@example.com\r\n", &subject[..], b"\r\n\r\n", &body].concat();
    for accelerator in engines() {
        for form in [CanonicalForm::Simple, CanonicalForm::Relaxed] {
            let signer = signer().with_canonicalization(Canonicalization { header: form, body: form });
            let mail = signed(accelerator, &mail, &[&signer]);
            assert!(is_pass(accelerator, &mail), "{form}");
            // None of these repairs may happen in transit: a CR becomes a CRLF, an 8-bit byte loses its high bit, a
            // NUL disappears.
            for (was, becomes) in
                [(&b"a\rb"[..], &b"a\r\nb"[..]), (b"b\nc", b"b\r\nc"), (b"\0f", b"f"), (b"\xff", b"\x7f")]
            {
                let offset = mail.windows(was.len()).rposition(|bytes| bytes == was).unwrap();
                let changed = [&mail[..offset], becomes, &mail[offset + was.len()..]].concat();
                assert!(!is_pass(accelerator, &changed), "{form} {}", was.escape_ascii());
            }
        }
    }
}

#[test]
fn signs_and_verifies_bodies_with_any_end() {
    for accelerator in engines() {
        for body in
            ["", "\r\n", "\r\n\r\n", " ", "\t\r\n \r\n", "x", "x\r\n \t\r\n\t\r\n", "x \t", "x\r", "x\r\n\r"]
        {
            for form in [CanonicalForm::Simple, CanonicalForm::Relaxed] {
                let canonicalization = Canonicalization { header: CanonicalForm::Relaxed, body: form };
                let whole = signer().with_canonicalization(canonicalization);
                let mail = format!("From: a@example.com\r\n\r\n{body}");
                let mail = signed(accelerator, mail.as_bytes(), &[&whole, &whole.clone().with_body_length()]);
                let results = verify(accelerator, &mail, &zone());
                assert!(
                    results.iter().all(|result| result.verdict() == DkimVerdict::Pass),
                    "{form} {body:?}"
                );
            }
        }
        // `l=` counts the CRLF that a last line gets. A body without it is the same body. RFC 6376 3.4.4.
        let mail =
            signed(accelerator, b"From: a@example.com\r\n\r\nHello\r\n", &[&signer().with_body_length()]);
        assert!(is_pass(accelerator, &mail) && is_pass(accelerator, mail.strip_suffix(b"\r\n").unwrap()));
    }
}

#[test]
fn tries_every_record_in_any_order() {
    let accelerator = &engines()[0];
    let mail = signed(accelerator, b"From: a@example.com\r\n\r\nHello\r\n", &[&rsa_signer()]);
    let name = "r2._domainkey.example.com";
    let (good, other) = (record(rsa2048()), "v=spf1 -all");
    for records in [[&good[..], other], [other, &good]] {
        let zone = Zone::with_record(name, records[0]).with(name, records[1]);
        assert_eq!(verify(accelerator, &mail, &zone)[0].reason, None, "{records:?}");
    }
    let reason =
        |record: &str| verify(accelerator, &mail, &Zone::with_record(name, record))[0].reason.clone();
    assert_eq!(reason("v=DKIM1; p="), Some(FailReason::Record(KeyRecordError::Revoked)));
    assert_eq!(reason("v=DKIM2; p=AAAA").map(|reason| reason.verdict()), Some(DkimVerdict::Permerror));
    assert!(matches!(reason(&record(ed25519())), Some(FailReason::KeyType { .. })));
    assert_eq!(verify(accelerator, &mail, &Zone::default())[0].verdict(), DkimVerdict::Permerror);
}

#[test]
fn names_the_faulty_tag_of_a_signature() {
    let accelerator = &engines()[0];
    let mail = signed(accelerator, b"From: a@example.com\r\n\r\nHello\r\n", &[&signer()]);
    let text = String::from_utf8(mail).unwrap();
    let of = |was: &str, becomes: &str| {
        assert!(text.contains(was), "{was} {text}");
        let changed = text.replacen(was, becomes, 1);
        let result = verify(accelerator, changed.as_bytes(), &zone()).remove(0);
        (result.verdict(), result.reason.map(|reason| reason.to_string()).unwrap_or_default())
    };
    let hash = text[text.find("bh=").unwrap() + 3..].split(';').next().unwrap();
    for (was, becomes, verdict, word) in [
        ("d=example.com", "d=example.com; d=example.org", DkimVerdict::Neutral, "tag `d=` occurs twice"),
        ("s=ed", "s=e d", DkimVerdict::Neutral, "`s=`"),
        ("v=1", "v=2", DkimVerdict::Neutral, "version `2`"),
        ("v=1", "v=1; t=99999999999999999999999", DkimVerdict::Neutral, "t="),
        ("v=1", "v=1; l=-1", DkimVerdict::Neutral, "l="),
        ("v=1", "v=1; x=12 13", DkimVerdict::Neutral, "x="),
        ("a=ed25519-sha256", "a=md5", DkimVerdict::Neutral, "md5"),
        (hash, "!!!!", DkimVerdict::Neutral, "bh="),
        (hash, "AAAA", DkimVerdict::Neutral, "the body hash has 3 bytes"),
    ] {
        let (found, reason) = of(was, becomes);
        assert!(found == verdict && reason.contains(word), "{becomes}: {found:?} {reason}");
    }
    // An unknown tag is signed and has no other effect.
    assert_eq!(of("v=1;", "v=1; unknown=tag;").0, DkimVerdict::Fail);
    // White space within Base64 and folds are not part of the value.
    let (start, end) = hash.split_at(9);
    assert_eq!(
        of(hash, &format!("{start}\r\n\t {end}")).0,
        DkimVerdict::Fail,
        "it is another header, and readable"
    );
}

#[test]
fn reads_the_record_of_a_message_with_a_changed_body() {
    let name = "ed._domainkey.example.com";
    let record_with = |options| record_text(ed25519(), &options).unwrap();
    let plain = record(ed25519());
    let testing = record_with(RecordOptions { is_testing: true, ..RecordOptions::default() });
    for accelerator in engines() {
        let mail = signed(accelerator, b"From: a@example.com\r\n\r\nHello\r\n", &[&signer()]);
        let changed = [&mail[..], b"more\r\n"].concat();
        let found = |records: &Zone| verify(accelerator, &changed, records).remove(0);
        let result = found(&Zone::with_record(name, &testing));
        assert_eq!((result.is_testing, result.key_bits), (true, Some(256)));
        assert_eq!(result.reason, Some(FailReason::BodyHash));
        let result = found(&Zone::with_record(name, &plain));
        assert_eq!(
            (result.is_testing, result.key_bits, result.verdict()),
            (false, Some(256), DkimVerdict::Fail)
        );
        // The key takes precedence over the body hash: RFC 6376 6.1.2 and 6.1.3.
        assert_eq!(found(&Zone::default()).verdict(), DkimVerdict::Permerror);
        assert_eq!(
            found(&Zone::with_record(name, "v=DKIM1; p=")).reason,
            Some(KeyRecordError::Revoked.into())
        );
        let mut intake = VerifyIntake::new(&VerifyPolicy::default(), NOW);
        intake.push(&ParsedMail::parse(&changed, &MailLimits::default()).unwrap()).unwrap();
        let hashed = intake.hash(accelerator).unwrap();
        let found = hashed.answer(|_| KeyAnswer::Unknown("SERVFAIL".into())).verify(accelerator);
        assert_eq!(found[0].signatures[0].verdict(), DkimVerdict::Temperror);
    }
}

#[test]
fn recognizes_a_testing_domain_despite_any_fault() {
    let accelerator = &engines()[0];
    let name = "ed._domainkey.example.com";
    let options = RecordOptions { is_testing: true, ..RecordOptions::default() };
    let good = record_text(ed25519(), &options).unwrap();
    let short_lived = signer().with_lifetime_s(Some(10));
    let mail = signed(accelerator, b"From: a@example.com\r\n\r\nHello\r\n", &[&short_lived]);
    let of = |record: &str, now_s| {
        let zone = Zone::with_record(name, record);
        verify_at(accelerator, &[&mail], &zone, &VerifyPolicy::default(), now_s)
            .remove(0)
            .signatures
            .remove(0)
    };
    let expired = of(&good, NOW + 1_000);
    assert_eq!((expired.is_testing, expired.verdict()), (true, DkimVerdict::Neutral));
    // Expiry takes precedence over the record. RFC 6376 6.1.1.
    assert_eq!(of("v=DKIM1; p=", NOW + 1_000).reason, Some(FailReason::Expired(990)));
    for record in ["v=DKIM1; t=y; p=", "v=DKIM1; t=s:y; k=ed25519; p=AAAA", "v=DKIM1; t=y; k=dsa; p=x"] {
        let result = of(record, NOW);
        assert_eq!((result.is_testing, result.verdict()), (true, DkimVerdict::Permerror), "{record}");
    }
    assert!(!of("v=DKIM1; p=", NOW).is_testing);
}
