//! Tests of ARC chains that this crate seals and verifies.

use oarlock::Accelerator;
use oarlock_dkim::{
    ArcChain, ArcSealer, BodyHasher, ChainFault, DkimSigner, DkimVerdict, MailLimits, ParsedMail,
    ParsedSignatures, SealError, SealIntake, SealedResults, VerifiedMessage, VerifyPolicy,
};

use crate::common::{NOW, Zone, crlf, ed25519, engines, record, rsa2048, signed, verify_at};

const MAIL: &str = "From: a@example.com\nTo: list@example.net\nSubject: hello\n\nHow  are you? \n\n";

fn zone() -> Zone {
    Zone::with_record("s._domainkey.example.com", record(ed25519()))
        .with("a._domainkey.list.example.net", record(rsa2048()))
        .with("b._domainkey.next.example.org", record(ed25519()))
}

fn sealers() -> [ArcSealer; 2] {
    [("list.example.net", "a", rsa2048()), ("next.example.org", "b", ed25519())].map(
        |(domain, selector, key)| ArcSealer::new(DkimSigner::new(domain, selector, key.clone()).unwrap()),
    )
}

fn policy() -> VerifyPolicy {
    VerifyPolicy { verifies_chains: true, ..VerifyPolicy::default() }
}

fn check(accelerator: &Accelerator, mail: &[u8]) -> VerifiedMessage {
    verify_at(accelerator, &[mail], &zone(), &policy(), NOW).remove(0)
}

fn chain(accelerator: &Accelerator, mail: &[u8]) -> ArcChain {
    check(accelerator, mail).chain.unwrap()
}

/// Verifies and seals a message. Returns it with its new set.
fn seal(accelerator: &Accelerator, mail: &[u8], sealer: &ArcSealer) -> Result<Vec<u8>, SealError> {
    seal_as(accelerator, mail, sealer, &check(accelerator, mail))
}

fn seal_as(
    accelerator: &Accelerator,
    mail: &[u8],
    sealer: &ArcSealer,
    found: &VerifiedMessage,
) -> Result<Vec<u8>, SealError> {
    let mut sealing = SealIntake::new(sealer, NOW);
    let message = ParsedMail::parse(mail, &MailLimits::default()).unwrap();
    sealing.push(message, &results(found, &[])).unwrap();
    let set = sealing.seal(accelerator).unwrap().remove(0)?;
    Ok([set.to_string().as_bytes(), mail].concat())
}

fn results<'a>(found: &'a VerifiedMessage, others: &'a [String]) -> SealedResults<'a> {
    let chain = found.chain.as_ref().unwrap();
    SealedResults { authserv_id: "mx.example.net", signatures: &found.signatures, chain, others }
}

fn with_list_footer(mail: &[u8]) -> Vec<u8> {
    [mail, b"-- \r\nA list\r\n"].concat()
}

#[test]
fn a_complete_chain_passes_at_every_hop() {
    for accelerator in engines() {
        let signer = DkimSigner::new("example.com", "s", ed25519().clone()).unwrap();
        let mail = signed(accelerator, &crlf(MAIL), &[&signer]);
        assert_eq!(chain(accelerator, &mail).verdict(), DkimVerdict::None);
        let mut mail = seal(accelerator, &mail, &sealers()[0]).unwrap();
        let text = String::from_utf8(mail.clone()).unwrap();
        assert!(text.starts_with("ARC-Seal: i=1; a=rsa-sha256; "), "{text}");
        assert!(text.contains("cv=none") && text.contains("i=1; mx.example.net;\r\n\tdkim=pass"), "{text}");
        assert!(text.lines().all(|line| line.len() <= 100), "{text}");
        for hop in 2..5 {
            let found = chain(accelerator, &mail);
            assert_eq!((found.verdict(), found.sets, found.reason()), (DkimVerdict::Pass, hop - 1, None));
            mail = seal(accelerator, &mail, &sealers()[hop % 2]).unwrap();
            let found = check(accelerator, &mail);
            assert_eq!(found.chain.unwrap().signatures.len(), hop + 1);
            assert_eq!(found.signatures[0].verdict(), DkimVerdict::Pass);
        }
    }
}

#[test]
fn a_chain_passes_although_a_sealer_changed_the_body() {
    let accelerator = &engines()[0];
    let signer = DkimSigner::new("example.com", "s", ed25519().clone()).unwrap();
    let mail = signed(accelerator, &crlf(MAIL), &[&signer]);
    let found = check(accelerator, &mail);
    let changed = seal_as(accelerator, &with_list_footer(&mail), &sealers()[0], &found).unwrap();
    let found = check(accelerator, &changed);
    assert_eq!(found.signatures[0].verdict(), DkimVerdict::Fail);
    assert_eq!(found.chain.unwrap().verdict(), DkimVerdict::Pass);
}

#[test]
fn reports_a_broken_chain_and_seals_it_as_broken_once() {
    let accelerator = &engines()[0];
    let mail = seal(accelerator, &crlf(MAIL), &sealers()[0]).unwrap();
    let mail = seal(accelerator, &mail, &sealers()[1]).unwrap();
    let broken = with_list_footer(&mail);
    let found = chain(accelerator, &broken);
    assert_eq!(found.verdict(), DkimVerdict::Fail);
    assert_eq!(found.reason().unwrap(), "message signature 2: the body was changed: its hash differs");
    let text = String::from_utf8(mail).unwrap();
    let found = chain(accelerator, text.replacen("i=1; mx.example.net", "i=1; my.example.net", 1).as_bytes());
    let reason = found.reason().unwrap();
    assert!(found.verdict() == DkimVerdict::Fail && reason.starts_with("seal 2: "), "{reason}");

    let last = seal(accelerator, &broken, &sealers()[0]).unwrap();
    assert!(String::from_utf8(last.clone()).unwrap().contains("cv=fail"));
    let found = chain(accelerator, &last);
    assert_eq!(found.verdict(), DkimVerdict::Fail);
    assert_eq!(found.reason().unwrap(), ChainFault::SealedAsFailed(3).to_string());
    assert_eq!(seal(accelerator, &last, &sealers()[0]), Err(SealError::Closed));
}

#[test]
fn an_unavailable_key_leaves_the_chain_undecided() {
    let accelerator = &engines()[0];
    let mail = seal(accelerator, &crlf(MAIL), &sealers()[0]).unwrap();
    let mut intake = oarlock_dkim::VerifyIntake::new(&policy(), NOW);
    intake.push(&ParsedMail::parse(&mail, &MailLimits::default()).unwrap()).unwrap();
    let hashed = intake.hash(accelerator).unwrap();
    assert_eq!(hashed.queries().count(), 1);
    let found = hashed.answer(|_| oarlock_dkim::KeyAnswer::Unknown("timeout".into())).verify(accelerator);
    // A set would turn a temporary failure into a permanent one.
    assert_eq!(seal_as(accelerator, &mail, &sealers()[1], &found[0]), Err(SealError::Undecided));
    let found = found[0].chain.clone().unwrap();
    assert_eq!(found.verdict(), DkimVerdict::Temperror);
    assert_eq!(found.reason().unwrap(), "message signature 1: the key could not be looked up: timeout");
}

#[test]
fn verifies_and_seals_chains_of_streamed_bodies() {
    for accelerator in engines() {
        let mail = seal(accelerator, &crlf(MAIL), &sealers()[0]).unwrap();
        let message = ParsedMail::parse(&mail, &MailLimits::default()).unwrap();
        let hash = |needs: Vec<_>| -> Vec<BodyHasher> {
            let mut hashers: Vec<_> =
                needs.into_iter().map(|need| BodyHasher::new(accelerator, need)).collect();
            hashers.iter_mut().for_each(|hasher| hasher.push(message.body));
            hashers
        };
        let mut intake = oarlock_dkim::VerifyIntake::new(&policy(), NOW);
        let parsed = ParsedSignatures::parse(&message.headers, &policy(), NOW);
        let bodies = hash(parsed.body_needs());
        intake.push_hashed(&message.headers, parsed, bodies).unwrap();
        let zone = zone();
        let hashed = intake.hash(accelerator).unwrap();
        let found = hashed.answer(|name| zone.answer(name.as_str())).verify(accelerator).remove(0);
        assert_eq!(found.chain.as_ref().unwrap().verdict(), DkimVerdict::Pass);

        let sealers = sealers();
        let mut sealing = SealIntake::new(&sealers[1], NOW);
        let bodies = hash(vec![sealers[1].body_need()]);
        sealing.push_hashed(message.headers.clone(), bodies, &results(&found, &[])).unwrap();
        let set = sealing.seal(accelerator).unwrap().remove(0).unwrap();
        let mail = [set.to_string().as_bytes(), &mail].concat();
        assert_eq!(chain(accelerator, &mail).verdict(), DkimVerdict::Pass);
    }
}

/// Returns a message with 50 sets whose signatures are invalid. The results field of the first set has `first` bytes,
/// the others have `each`.
fn unsigned_chain(first: usize, each: usize, body_hash: &str) -> String {
    let tags = "a=rsa-sha256; d=a.example; s=s";
    let mut text = String::new();
    for number in (1..=50).rev() {
        let filler = "x".repeat(if number == 1 { first } else { each });
        let claim = if number == 1 { "none" } else { "pass" };
        text += &format!(
            "ARC-Seal: i={number}; cv={claim}; {tags}{number}; b=aGVsbG8=\r\n\
             ARC-Message-Signature: i={number}; {tags}{number}; h=from; bh={body_hash}; b=aGVsbG8=\r\n\
             ARC-Authentication-Results: i={number}; {filler}\r\n"
        );
    }
    text + "From: a@b.example\r\n\r\nbody\r\n"
}

const WRONG_HASH: &str = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
/// The SHA-256 of `body` and a CRLF.
const RIGHT_HASH: &str = "Ck5SoRNWUpSR4X0COv7R5ub2pUTtl6xz4dTFz++ji4M=";

#[test]
fn needs_no_more_memory_for_a_long_chain_than_for_its_message() {
    for (first, each) in [(80_000, 80_000), (3_900_000, 100)] {
        let text = unsigned_chain(first, each, WRONG_HASH);
        let message = ParsedMail::parse(text.as_bytes(), &MailLimits::default()).unwrap();
        let mut intake = oarlock_dkim::VerifyIntake::new(&policy(), NOW);
        intake.push(&message).unwrap();
        assert!(intake.bytes() <= text.len() + text.len() / 4, "{} of {}", intake.bytes(), text.len());
    }
}

#[test]
fn looks_up_no_key_for_a_chain_with_a_changed_message() {
    let queries = |body_hash: &str, max_lookups: usize| {
        let text = unsigned_chain(10, 10, body_hash);
        let mut policy = policy();
        policy.limits.max_lookups = max_lookups;
        let mut intake = oarlock_dkim::VerifyIntake::new(&policy, NOW);
        intake.push(&ParsedMail::parse(text.as_bytes(), &policy.limits).unwrap()).unwrap();
        let hashed = intake.hash(&engines()[0]).unwrap();
        let count = hashed.queries().count();
        let found = hashed.answer(|_| oarlock_dkim::KeyAnswer::NoRecord).verify(&engines()[0]).remove(0);
        (count, found.chain.unwrap())
    };
    let (count, chain) = queries(WRONG_HASH, 20);
    assert_eq!((count, chain.verdict(), chain.signatures.len()), (0, DkimVerdict::Fail, 1));
    // With the right body hash the records of the newest sets are looked up, up to the limit.
    let (count, chain) = queries(RIGHT_HASH, 20);
    assert_eq!((count, chain.verdict(), chain.signatures.len()), (20, DkimVerdict::Fail, 51));
    let reason = chain.signatures[50].reason.clone().unwrap();
    assert_eq!(reason, oarlock_dkim::FailReason::TooManyLookups(20));
    assert_eq!(queries(RIGHT_HASH, 100).0, 50);
}

#[test]
fn signatures_and_chain_share_one_limit_of_lookups() {
    let accelerator = &engines()[0];
    let signer = DkimSigner::new("example.com", "s", ed25519().clone()).unwrap();
    let mail = signed(accelerator, &crlf(MAIL), &[&signer]);
    let mail = seal(accelerator, &mail, &sealers()[0]).unwrap();
    let with = |max_lookups| {
        let mut policy = policy();
        policy.limits.max_lookups = max_lookups;
        let found = verify_at(accelerator, &[&mail], &zone(), &policy, NOW).remove(0);
        (found.signatures[0].verdict(), found.chain.unwrap().verdict())
    };
    assert_eq!(with(2), (DkimVerdict::Pass, DkimVerdict::Pass));
    assert_eq!(with(1), (DkimVerdict::Pass, DkimVerdict::Fail));
    assert_eq!(with(0), (DkimVerdict::Policy, DkimVerdict::Fail));
}

#[test]
fn a_set_repeats_the_results_of_other_filters() {
    for accelerator in engines() {
        let mail = crlf(MAIL);
        let found = check(accelerator, &mail);
        let others =
            ["spf=pass (a comment) smtp.mailfrom=a@example.com", "dmarc=pass header.from=example.com"];
        let others = others.map(String::from);
        let sealers = sealers();
        let mut sealing = SealIntake::new(&sealers[0], NOW);
        let message = ParsedMail::parse(&mail, &MailLimits::default()).unwrap();
        sealing.push(message, &results(&found, &others)).unwrap();
        let set = sealing.seal(accelerator).unwrap().remove(0).unwrap();
        let set = set.to_string();
        let unfolded = set.replace("\r\n\t", " ");
        let expected = format!("i=1; mx.example.net; dkim=none; arc=none; {}; {}\r\n", others[0], others[1]);
        assert!(unfolded.ends_with(&expected), "{unfolded}");
        assert_eq!(chain(accelerator, &[set.as_bytes(), &mail].concat()).verdict(), DkimVerdict::Pass);
    }
}
