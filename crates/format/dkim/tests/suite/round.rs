//! Tests that signed messages verify and changed messages do not.

use oarlock_dkim::{
    BodyHasher, CanonicalForm, Canonicalization, DkimSignature, DkimSigner, DkimVerdict, FailReason,
    HeaderCoverage, KeyAnswer, MailLimits, MailSignError, ParsedMail, ParsedSignatures, SignIntake,
    SignatureAlgorithm, VerifyIntake, VerifyPolicy, verify_one,
};

use crate::common::{
    NOW, Zone, crlf, ed25519, engines, record, rsa1024, rsa2048, sign, signed, verify, verify_at,
};

const MAIL: &str = "From: a@example.com\nTo: b@example.net,\n\tc@example.net\nSubject:  two  spaces \nX-Other: x\n\n\
                    Hello,  you\t there \n\n  indented\n \n\n";

fn zone() -> Zone {
    Zone::with_record("r1._domainkey.example.com", record(rsa1024()))
        .with("r2._domainkey.example.com", record(rsa2048()))
        .with("ed._domainkey.example.com", record(ed25519()))
}

fn signers() -> [DkimSigner; 3] {
    [("r1", rsa1024()), ("r2", rsa2048()), ("ed", ed25519())]
        .map(|(selector, key)| DkimSigner::new("example.com", selector, key.clone()).unwrap())
}

fn forms() -> Vec<Canonicalization> {
    let both = [CanonicalForm::Simple, CanonicalForm::Relaxed];
    both.into_iter().flat_map(|header| both.map(|body| Canonicalization { header, body })).collect()
}

#[test]
fn every_form_and_key_verifies_on_every_engine() {
    let mail = crlf(MAIL);
    for accelerator in engines() {
        for form in forms() {
            let signers = signers().map(|signer| {
                signer
                    .with_canonicalization(form)
                    .with_copied_fields()
                    .with_lifetime_s(Some(60))
                    .with_identity("me@a.example.com")
                    .unwrap()
            });
            let signed = signed(accelerator, &mail, &signers.each_ref());
            let text = String::from_utf8(signed.clone()).unwrap();
            assert!(text.lines().all(|line| line.len() <= 78), "{text}");
            let results = verify(accelerator, &signed, &zone());
            assert_eq!(results.len(), 3);
            for (result, signer) in results.iter().zip(&signers) {
                assert_eq!(result.verdict(), DkimVerdict::Pass, "{form} {result:?}\n{text}");
                assert_eq!(result.selector.as_deref(), Some(signer.selector()));
                assert_eq!(result.identity.as_deref(), Some("me@a.example.com"));
            }
        }
    }
}

/// In `i=` an equals sign is `=3D`: dkim-quoted-printable, RFC 6376 2.11.
#[test]
fn quotes_identities_in_signatures() {
    let accelerator = &engines()[0];
    for (identity, written) in
        [("a=40b@example.com", "i=a=3D40b@example.com;"), ("a=b@example.com", "i=a=3Db@example.com;")]
    {
        let signer = signers()[2].clone().with_identity(identity).unwrap();
        let signed = signed(accelerator, &crlf(MAIL), &[&signer]);
        let text = String::from_utf8(signed.clone()).unwrap();
        assert!(text.replace("\r\n", "").replace(['\t', ' '], "").contains(written), "{text}");
        let results = verify(accelerator, &signed, &zone());
        assert_eq!(results[0].verdict(), DkimVerdict::Pass);
        assert_eq!(results[0].identity.as_deref(), Some(identity));
    }
}

#[test]
fn sha1_passes_only_if_the_policy_accepts_it() {
    let accelerator = &engines()[0];
    let signer = signers()[1].clone().with_algorithm(SignatureAlgorithm::RsaSha1).unwrap();
    let signed = signed(accelerator, &crlf(MAIL), &[&signer, &signers()[2]]);
    let results = verify(accelerator, &signed, &zone());
    assert_eq!(
        (results[0].reason.clone(), results[0].verdict()),
        (Some(FailReason::Sha1), DkimVerdict::Policy)
    );
    assert_eq!(results[1].verdict(), DkimVerdict::Pass);
    let policy = VerifyPolicy { accepts_sha1: true, ..VerifyPolicy::default() };
    for accelerator in engines() {
        let results = verify_at(accelerator, &[&signed], &zone(), &policy, NOW).remove(0).signatures;
        assert!(results.iter().all(|result| result.verdict() == DkimVerdict::Pass), "{results:?}");
    }
}

#[test]
fn finds_every_change_of_a_signed_message() {
    let accelerator = &engines()[0];
    let mail = signed(accelerator, &crlf(MAIL), &[&signers()[1]]);
    let text = String::from_utf8(mail).unwrap();
    let reason = |text: String| verify(accelerator, text.as_bytes(), &zone()).remove(0).reason;
    assert_eq!(reason(text.clone()), None);
    assert_eq!(reason(text.replace("Hello", "hello")), Some(FailReason::BodyHash));
    assert_eq!(reason(text.clone() + "more\r\n"), Some(FailReason::BodyHash));
    assert_eq!(reason(text.clone() + "\r\n \r\n"), None);
    assert_eq!(reason(text.replace("a@example.com", "x@example.com")), Some(FailReason::Rejected));
    assert_eq!(reason(text.replace("X-Other: x", "X-Other: y")), None);
    // An oversigned field cannot be added at the top or at the bottom, even if the message had none.
    for field in ["From", "Subject", "Reply-To", "Content-Type"] {
        assert_eq!(reason(format!("{field}: x\r\n{text}")), Some(FailReason::Rejected), "{field}");
        assert_eq!(
            reason(text.replace("X-Other: x", &format!("{field}: x"))),
            Some(FailReason::Rejected),
            "{field}"
        );
    }
    let base64 = text.find("b=").unwrap();
    let last = text[base64..].find("\r\nFrom").unwrap() + base64;
    let cut = format!("{}{}", &text[..last - 4], &text[last..]);
    assert_eq!(reason(cut), Some(FailReason::Rejected));
}

#[test]
fn accepts_data_after_the_signed_length_only_if_the_policy_does() {
    let accelerator = &engines()[0];
    let signer = signers()[2].clone().with_body_length();
    let mail = signed(accelerator, &crlf(MAIL), &[&signer]);
    let added = [&mail[..], b"footer\r\n"].concat();
    assert_eq!(verify(accelerator, &mail, &zone())[0].verdict(), DkimVerdict::Pass);
    // The empty lines that were dropped before count again: two CRLFs and the footer.
    let reason = verify(accelerator, &added, &zone())[0].reason.clone();
    assert!(matches!(reason, Some(FailReason::PartialBody(left)) if left > 8), "{reason:?}");
    let lax = VerifyPolicy { accepts_partial_body: true, ..VerifyPolicy::default() };
    assert_eq!(
        verify_at(accelerator, &[&added], &zone(), &lax, NOW)[0].signatures[0].verdict(),
        DkimVerdict::Pass
    );
    // A change within the signed length is found in any case.
    let text = String::from_utf8(added).unwrap().replace("Hello", "Hallo");
    assert_eq!(
        verify_at(accelerator, &[text.as_bytes()], &zone(), &lax, NOW)[0].signatures[0].reason,
        Some(FailReason::BodyHash)
    );
    let offset = mail.windows(9).position(|bytes| bytes == b"  indente").unwrap();
    let short = verify(accelerator, &mail[..offset], &zone())[0].reason.clone();
    assert!(matches!(short, Some(FailReason::BodyTooShort { .. })), "{short:?}");
}

#[test]
fn rejects_future_and_expired_signatures() {
    let accelerator = &engines()[0];
    let mail = signed(accelerator, &crlf(MAIL), &[&signers()[2].clone().with_lifetime_s(Some(1_000))]);
    let at = |now_s| {
        verify_at(accelerator, &[&mail], &zone(), &VerifyPolicy::default(), now_s)[0].signatures[0]
            .reason
            .clone()
    };
    assert_eq!((at(NOW - 300), at(NOW - 301)), (None, Some(FailReason::Future(301))));
    assert_eq!((at(NOW + 1_300), at(NOW + 1_301)), (None, Some(FailReason::Expired(301))));
}

#[test]
fn reports_messages_that_cannot_be_signed_and_signs_the_others() {
    for accelerator in engines() {
        let (good, none, two) = (crlf(MAIL), crlf("To: x\n\nhi\n"), crlf("From: a\nFROM: b\n\nhi\n"));
        let signers = signers();
        let mut intake = SignIntake::new(NOW);
        for mail in [&none, &good, &two, &good] {
            intake.push(ParsedMail::parse(mail, &MailLimits::default()).unwrap(), &signers[1..]).unwrap();
        }
        let fields = intake.sign(accelerator).unwrap();
        let errors = fields.iter().map(|field| field.as_ref().err().cloned()).collect::<Vec<_>>();
        let [none, two] = [0, 2].map(|count| Some(MailSignError::From(count)));
        assert_eq!(errors, [none.clone(), none, None, None, two.clone(), two, None, None]);
        assert_eq!(fields[2], fields[6]);
    }
}

#[test]
fn streamed_bodies_give_the_same_results_as_whole_ones() {
    let long = crlf(&["From: a@example.com\n\n", &"A line  of text. \n".repeat(9_000)].concat());
    let signers = signers();
    for accelerator in engines() {
        for mail in [&long, &crlf(MAIL)] {
            let limits = MailLimits::default();
            let message = ParsedMail::parse(mail, &limits).unwrap();
            let hashers = |needs: Vec<_>, body: &[u8]| {
                let mut hashers: Vec<BodyHasher> =
                    needs.into_iter().map(|need| BodyHasher::new(accelerator, need)).collect();
                for chunk in body.chunks(1_000) {
                    hashers.iter_mut().for_each(|hasher| hasher.push(chunk));
                }
                hashers
            };
            let mut intake = SignIntake::new(NOW);
            let bodies = hashers(vec![signers[2].body_need()], message.body);
            intake.push_hashed(message.headers.clone(), bodies, &signers[2..]).unwrap();
            let field = intake.sign(accelerator).unwrap().remove(0).unwrap();
            assert_eq!(Ok(&field), sign(accelerator, mail, &[&signers[2]])[0].as_ref());

            let whole = [field.as_bytes(), b"\r\n", mail].concat();
            let message = ParsedMail::parse(&whole, &limits).unwrap();
            let parsed =
                ParsedSignatures::parse(&message.headers, &VerifyPolicy::default(), NOW).into_owned();
            let needs = parsed.body_needs();
            assert_eq!(needs, [signers[2].body_need()]);
            let mut intake = VerifyIntake::new(&VerifyPolicy::default(), NOW);
            intake.push_hashed(&message.headers, parsed, hashers(needs, message.body)).unwrap();
            let zone = zone();
            let hashed = intake.hash(accelerator).unwrap();
            let results = hashed.answer(|name| zone.answer(name.as_str())).verify(accelerator);
            assert_eq!(results[0].signatures[0].verdict(), DkimVerdict::Pass);
        }
    }
}

#[test]
fn keeps_the_order_of_messages_at_every_batch_size() {
    for accelerator in engines() {
        for count in [0, 1, 7, 8, 9, 15, 16, 17, 31, 33, 63] {
            let mails: Vec<Vec<u8>> = (0..count)
                .map(|number| {
                    crlf(&format!("From: a@example.com\nSubject: {number}\n\n{}\n", "x ".repeat(number * 9)))
                })
                .collect();
            let signers = signers();
            let mut intake = SignIntake::new(NOW);
            for (number, mail) in mails.iter().enumerate() {
                intake
                    .push(ParsedMail::parse(mail, &MailLimits::default()).unwrap(), [&signers[number % 3]])
                    .unwrap();
            }
            let fields = intake.sign(accelerator).unwrap();
            let damage = |number: usize| number % 5 == 3;
            let whole: Vec<Vec<u8>> = fields
                .iter()
                .zip(&mails)
                .enumerate()
                .map(|(number, (field, mail))| {
                    let tail: &[u8] = if damage(number) { b"!" } else { b"" };
                    [field.as_ref().unwrap().as_bytes(), b"\r\n", mail, tail].concat()
                })
                .collect();
            let all: Vec<&[u8]> = whole.iter().map(Vec::as_slice).collect();
            let results = verify_at(accelerator, &all, &zone(), &VerifyPolicy::default(), NOW);
            assert_eq!(results.len(), count);
            for (number, results) in results.iter().enumerate() {
                let expected = damage(number).then_some(FailReason::BodyHash);
                assert_eq!(results.signatures[0].reason, expected, "{number} of {count}");
                let selector = signers[number % 3].selector();
                assert_eq!(results.signatures[0].selector.as_deref(), Some(selector));
            }
        }
    }
}

#[test]
fn names_each_signed_field_as_often_as_it_occurs() {
    let accelerator = &engines()[0];
    let mail = crlf("Received: 2\nReceived: 1\nFrom: a@example.com\nTo: b\n\nhi\n");
    let coverage = HeaderCoverage {
        signed: ["received", "From", "Cc"].map(String::from).into(),
        oversigned: ["From", "Cc"].map(String::from).into(),
    };
    let signer = signers()[2].clone().covering(&coverage).unwrap().without_timestamp();
    let field = sign(accelerator, &mail, &[&signer]).remove(0).unwrap();
    let value = field.strip_prefix("DKIM-Signature:").unwrap();
    let signature = DkimSignature::parse(value.as_bytes(), &MailLimits::default()).unwrap();
    let names: Vec<String> =
        signature.signed_names().map(|name| String::from_utf8_lossy(name).into()).collect();
    assert_eq!(names, ["received", "received", "From", "From", "Cc"]);
    assert_eq!(signature.timestamp, None);
}

/// The lookups of one message run side by side: each waits until the last has begun.
#[tokio::test]
async fn one_message_verifies_with_its_lookups_side_by_side() {
    let accelerator = &engines()[0];
    let signers = signers();
    let signed = signed(accelerator, &crlf(MAIL), &signers.each_ref());
    let mail = ParsedMail::parse(&signed, &MailLimits::default()).unwrap();
    let begun = tokio::sync::Barrier::new(signers.len());
    let look_up = async |name: oarlock_dkim::KeyName| {
        begun.wait().await;
        zone().answer(name.as_str())
    };
    let verified = verify_one(accelerator, &mail, &VerifyPolicy::default(), NOW, look_up).await.unwrap();
    assert_eq!(verified.signatures.as_slice(), verify(accelerator, &signed, &zone()));

    let unknown = async |_| KeyAnswer::Unknown("no server".into());
    let verified = verify_one(accelerator, &mail, &VerifyPolicy::default(), NOW, unknown).await.unwrap();
    assert!(verified.signatures.iter().all(|result| result.verdict() == DkimVerdict::Temperror));
    let unsigned = crlf(MAIL);
    let mail = ParsedMail::parse(&unsigned, &MailLimits::default()).unwrap();
    let nothing = async |_| panic!("a message without signatures needs no key");
    let verified = verify_one(accelerator, &mail, &VerifyPolicy::default(), NOW, nothing).await.unwrap();
    assert!(verified.signatures.is_empty());
}
