//! Signed key requests and responses: files of BIND 9.20, round trips, and files with faults.
//!
//! `tests/bind/dnssec-ksr.ksr` and `.skr` were made by dnssec-ksr of BIND 9.20.23 (Debian's package for bookworm), with
//! keys of its own for example.test: a dnssec-policy with `zsk lifetime P30D algorithm ed25519`, and
//! `dnssec-ksr -i 20270101000000 -e 20270305000000`. Signatures of Ed25519 depend on nothing but key and message, so
//! the same request, signed here, gives the same bytes.

use std::collections::BTreeMap;

use oarlock::keys::raw;
use oarlock::{Accelerator, NonceRule};
use oarlock_dnssec::ksr::{
    BundleLookupError, KeySigningRequest, KsrPlanError, KsrSignError, KsrSignOptions, MAX_REQUEST_BYTES,
    OfflineKey, SignedKeyResponse, TimedDnskey,
};
use oarlock_dnssec::rdata::parse_time;
use oarlock_dnssec::sign::{KeyRole, SignerKey, ZoneSignError};
use oarlock_dnssec::{
    DigestType, DnssecAlgorithm, DomainName, DomainNameBuf, KeyEvent, KeyTimes, LetterCase, RecordType,
};

use crate::common::ONE_TAG;
use crate::common::by_engine::by_engine;

const REQUEST: &str = include_str!("../bind/dnssec-ksr.ksr");
const RESPONSE: &str = include_str!("../bind/dnssec-ksr.skr");
/// The private key of the response: made for this test by dnssec-keygen.
const KSK: [u8; 32] = [
    0x22, 0xf8, 0xb7, 0x09, 0x3f, 0xb0, 0x6e, 0x66, 0x21, 0xe1, 0x50, 0x32, 0x85, 0x6d, 0x2f, 0x0e, 0x27,
    0xfd, 0x94, 0x19, 0xeb, 0x20, 0x7c, 0xee, 0x3a, 0x94, 0x9a, 0x19, 0xd1, 0xf3, 0x02, 0xb4,
];
const PROGRAM: &str = "oarlock test";

fn engine() -> Accelerator {
    by_engine("scalar")
}

fn at(text: &str) -> u32 {
    parse_time(text.as_bytes()).unwrap()
}

fn zone() -> DomainNameBuf {
    DomainNameBuf::parse(b"example.test.", DomainName::ROOT, LetterCase::Lower).unwrap()
}

fn request(text: &str) -> KeySigningRequest {
    KeySigningRequest::parse(text.as_bytes(), zone().name()).unwrap()
}

fn response(text: &str) -> SignedKeyResponse {
    SignedKeyResponse::parse(text.as_bytes(), zone().name()).unwrap()
}

fn ksk(seed: &[u8; 32]) -> OfflineKey {
    let key = raw::ed25519_private(seed).unwrap();
    let key = SignerKey::new(key, KeyRole::Ksk, 257, DnssecAlgorithm::ED25519).unwrap();
    OfflineKey { key, times: KeyTimes::default() }
}

fn zsk(seed: u8) -> SignerKey {
    let key = raw::ed25519_private(&[seed; 32]).unwrap();
    SignerKey::new(key, KeyRole::Zsk, 256, DnssecAlgorithm::ED25519).unwrap()
}

fn times(events: &[(KeyEvent, u32)]) -> KeyTimes {
    let mut times = KeyTimes::default();
    events.iter().for_each(|(event, time)| times.set(*event, Some(*time)));
    times
}

/// The options of dnssec-ksr without settings in the policy.
fn options() -> KsrSignOptions {
    const DAY: u32 = 86_400;
    KsrSignOptions {
        until: at("20270305000000"),
        validity_s: 14 * DAY,
        refresh_s: 5 * DAY,
        before_s: 3600,
        digests: vec![DigestType::SHA256],
        has_cdnskey: true,
        nonce: NonceRule::Deterministic,
    }
}

fn written(response: &SignedKeyResponse) -> String {
    let mut out = Vec::new();
    response.write(at("20261130205638"), PROGRAM, &mut out);
    String::from_utf8(out).unwrap()
}

/// Returns the lines of a file, with one space between words, without the last line.
fn plain(text: &str) -> Vec<String> {
    // BIND writes base64 in groups and digests in capitals, so only the words before them are compared as they are.
    let line = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let split = match words.get(3) {
            Some(&"RRSIG") => 12,
            Some(&"DNSKEY" | &"CDNSKEY") => 7,
            Some(&"CDS") => 7,
            _ => return words.join(" "),
        };
        let data = words[split..].concat();
        let data = if words[3] == "CDS" { data.to_lowercase() } else { data };
        format!("{} {data}", words[..split].join(" "))
    };
    text.lines().filter(|line| !line.is_empty() && !line.contains("generated")).map(line).collect()
}

#[test]
fn reads_and_writes_the_request_of_bind() {
    let read = request(REQUEST);
    let keys: Vec<usize> = read.bundles().iter().map(|bundle| bundle.keys.len()).collect();
    assert_eq!((keys, read.bundles()[1].inception), (vec![1, 2, 1, 2], at("20270130215500")));
    let mut out = Vec::new();
    read.write(at("20261130205638"), PROGRAM, &mut out);
    let out = String::from_utf8(out).unwrap();
    assert_eq!(plain(&out), plain(REQUEST));
    let end = ";; KeySigningRequest 1.0 generated at Mon Nov 30 20:56:38 2026 by oarlock test\n";
    assert!(out.ends_with(end), "{out}");
}

/// The first and the third line, which say when the keys are published, decide the bundles of the request.
#[test]
fn plans_the_request_of_bind_from_the_times_of_keys() {
    let read = request(REQUEST);
    let [first, second, third] =
        [&read.bundles()[0].keys[0], &read.bundles()[1].keys[1], &read.bundles()[3].keys[0]];
    let key = |dnskey: &Vec<u8>, publish, activate, inactive, delete| TimedDnskey {
        dnskey: dnskey.clone(),
        times: times(&[
            (KeyEvent::Created, at("20261130205638")),
            (KeyEvent::Publish, at(publish)),
            (KeyEvent::Activate, at(activate)),
            (KeyEvent::Inactive, at(inactive)),
            (KeyEvent::Delete, at(delete)),
        ]),
    };
    let keys = [
        key(third, "20270301215500", "20270302000000", "20270401000000", "20270411010500"),
        key(first, "20261231215500", "20270101000000", "20270131000000", "20270210010500"),
        key(second, "20270130215500", "20270131000000", "20270302000000", "20270312010500"),
    ];
    let interval = (at("20270101000000"), at("20270305000000"));
    let mut planned = Vec::new();
    KeySigningRequest::plan(zone().name(), &keys, interval, 3600).unwrap().write(0, PROGRAM, &mut planned);
    assert_eq!(plain(&String::from_utf8(planned).unwrap()), plain(REQUEST));
}

#[test]
fn a_plan_needs_zone_signing_keys_at_all_times() {
    let (zone, key) = (zone(), zsk(1));
    let plan = |dnskey: &[u8], times: KeyTimes, interval| {
        let key = TimedDnskey { dnskey: dnskey.to_vec(), times };
        KeySigningRequest::plan(zone.name(), &[key], interval, 3600)
    };
    let always = KeyTimes::default();
    assert_eq!(plan(key.dnskey(), always, (10, 20)).unwrap().bundles().len(), 1);
    for interval in [(10, 10), (20, 10)] {
        let error = KsrPlanError::Interval { from: interval.0, until: interval.1 };
        assert_eq!(plan(key.dnskey(), always, interval), Err(error));
    }
    let unusable = [&key.dnskey()[..4], &[1; 7]].concat();
    assert!(matches!(plan(&unusable, always, (10, 20)), Err(KsrPlanError::Dnskey(_))));
    let late = times(&[(KeyEvent::Publish, 15)]);
    assert_eq!(plan(key.dnskey(), late, (10, 20)), Err(KsrPlanError::NoKey(10)));
    let short = times(&[(KeyEvent::Publish, 5), (KeyEvent::Delete, 15)]);
    assert_eq!(plan(key.dnskey(), short, (10, 20)), Err(KsrPlanError::NoKey(15)));
    let signs_keys = ksk(&KSK).key;
    let error = KsrPlanError::Flags { tag: signs_keys.tag(), flags: 257 };
    assert_eq!(plan(signs_keys.dnskey(), always, (10, 20)), Err(error));
    assert_eq!(KeySigningRequest::plan(zone.name(), &[], (10, 20), 0), Err(KsrPlanError::NoKey(10)));
}

#[test]
fn makes_the_bytes_of_the_response_of_bind() {
    for engine in ["scalar", "lanes"].map(by_engine) {
        let signed = request(REQUEST).sign(&engine, &[ksk(&KSK)], &options()).unwrap();
        assert_eq!(plain(&written(&signed)), plain(RESPONSE));
    }
}

#[test]
fn verifies_the_response_of_bind_and_finds_the_bundle_of_a_time() {
    let read = response(RESPONSE);
    assert_eq!(read.verify(&engine()), Ok(None));
    assert_eq!(plain(&written(&read)), plain(RESPONSE));
    for (now, bundle) in [
        ("20270101000000", Ok(0)),
        ("20270109235959", Ok(0)),
        ("20270110000000", Ok(1)),
        ("20270305000000", Ok(10)),
        ("20270319000000", Ok(10)),
    ] {
        assert_eq!(read.find(at(now)), bundle, "{now}");
    }
    let (now, first) = (at("20261231235959"), at("20270101000000"));
    assert_eq!(read.find(now), Err(BundleLookupError::Early { now, first }));
    // The last time is more than 2^31 seconds after the end, so the end is later as a serial number.
    for now in ["20270319000001", "20960101000000", "21060207062815"].map(at) {
        let last = at("20270319000000");
        assert_eq!(read.find(now), Err(BundleLookupError::Late { now, last }));
    }
}

#[test]
fn finds_every_changed_signature() {
    // A letter in the middle of the signature of each set of the third bundle.
    let start = RESPONSE.match_indices(";;").nth(2).unwrap().0;
    for rtype in ["DNSKEY", "CDNSKEY", "CDS"] {
        let line = start + RESPONSE[start..].find(&format!("RRSIG\t{rtype} ")).unwrap();
        let offset = line + RESPONSE[line..].find("example.test. ").unwrap() + 24;
        let mut changed = RESPONSE.to_owned();
        let letter = if &changed[offset..=offset] == "A" { "B" } else { "A" };
        changed.replace_range(offset..=offset, letter);
        let fault = response(&changed).verify(&engine()).unwrap().unwrap();
        let line = RESPONSE[..start].lines().count() as u32 + 1;
        assert_eq!((fault.line, fault.fault.to_string().contains(rtype)), (line, true), "{fault}");
    }
}

#[test]
fn key_signing_keys_roll_within_a_response() {
    let (old, new) = (ksk(&KSK), ksk(&[9; 32]));
    let day = |day: u32| at("20270101000000") + day * 86_400;
    let old_times = times(&[
        (KeyEvent::Publish, 1),
        (KeyEvent::Activate, 1),
        (KeyEvent::Inactive, day(20)),
        (KeyEvent::Delete, day(30)),
    ]);
    let new_times = times(&[
        (KeyEvent::Publish, day(5)),
        (KeyEvent::Activate, day(15)),
        (KeyEvent::SyncPublish, day(16)),
    ]);
    let keys = [OfflineKey { times: old_times, ..old }, OfflineKey { times: new_times, ..new }];
    let signed = request(REQUEST).sign(&engine(), &keys, &options()).unwrap();
    assert_eq!(response(&written(&signed)).verify(&engine()), Ok(None));
    // The numbers of key-signing keys, of signatures of the keys, and of CDS records.
    let counts = |time: u32| {
        let bundle = &signed.bundles()[signed.find(time).unwrap()];
        let ksks = bundle.keys().data.iter().filter(|data| data[1] == 1).count();
        (ksks, bundle.keys().signatures.len(), bundle.sets[2].data.len())
    };
    for (time, expected) in [
        (day(0), (1, 1, 1)),
        (day(5), (2, 1, 1)),
        (day(15), (2, 2, 1)),
        (day(16), (2, 2, 2)),
        (day(20), (2, 1, 2)),
        (day(30), (1, 1, 1)),
    ] {
        assert_eq!(counts(time), expected, "{time}");
        assert_eq!(signed.bundles()[signed.find(time).unwrap()].inception, time);
    }
}

#[test]
fn a_revoked_key_is_signed_in_its_revoked_form() {
    let day = |day: u32| at("20270101000000") + day * 86_400;
    let begin = [(KeyEvent::Publish, 1), (KeyEvent::Activate, 1)];
    let end = [(KeyEvent::Revoke, day(20)), (KeyEvent::Delete, day(50))];
    let old = OfflineKey { times: times(&[begin, end].concat()), ..ksk(&KSK) };
    let new = OfflineKey { times: times(&begin), ..ksk(&[9; 32]) };
    let alone = request(REQUEST).sign(&engine(), std::slice::from_ref(&old), &options());
    assert_eq!(alone, Err(KsrSignError::NoKey(day(20))));
    let signed = request(REQUEST).sign(&engine(), &[old, new], &options()).unwrap();
    let read = response(&written(&signed));
    assert_eq!(read.verify(&engine()), Ok(None));
    // The flags of the key-signing keys, the number of signatures, and that of CDS records.
    for (time, flags, signatures, cds) in
        [(day(19), vec![257, 257], 2, 2), (day(20), vec![257, 385], 2, 1), (day(50), vec![257], 1, 1)]
    {
        let bundle = &read.bundles()[read.find(time).unwrap()];
        let found = bundle.keys().data.iter().map(|data| u16::from_be_bytes([data[0], data[1]]));
        let mut found: Vec<u16> = found.filter(|flags| *flags != 256).collect();
        found.sort_unstable();
        let counts = (bundle.keys().signatures.len(), bundle.sets[2].data.len());
        assert_eq!((found, counts), (flags, (signatures, cds)), "{time}");
    }
}

#[test]
fn keys_of_a_bundle_have_tags_of_their_own() {
    let [one, two] = ONE_TAG;
    let twice = request(REQUEST).sign(&engine(), &[ksk(&KSK), ksk(&KSK)], &options());
    let (tag, algorithm) = (29131, DnssecAlgorithm::ED25519);
    assert_eq!(twice, Err(KsrSignError::Key(ZoneSignError::SameKey { tag, algorithm })));
    let tag = ksk(&one).key.tag();
    let same = request(REQUEST).sign(&engine(), &[ksk(&one), ksk(&two)], &options());
    assert_eq!(same, Err(KsrSignError::SameTag { line: 1, tag, algorithm }));
    // One after the other they do no harm.
    let early = OfflineKey { times: times(&[(KeyEvent::Publish, 1), (KeyEvent::Delete, 2)]), ..ksk(&one) };
    assert!(request(REQUEST).sign(&engine(), &[early, ksk(&two)], &options()).is_ok());
    let zsks = [one, two].map(|seed| {
        let key = raw::ed25519_private(&seed).unwrap();
        let key = SignerKey::new(key, KeyRole::Zsk, 256, algorithm).unwrap();
        TimedDnskey { dnskey: key.dnskey().to_vec(), times: KeyTimes::default() }
    });
    let plan = |keys: &[TimedDnskey]| KeySigningRequest::plan(zone().name(), keys, (10, 20), 3600);
    let error = KsrPlanError::SameTag { tag: tag - 1, algorithm, at: 10 };
    assert_eq!(plan(&zsks), Err(error.clone()));
    assert_eq!(plan(&[zsks[0].clone(), zsks[0].clone()]), Err(error));
}

/// A response that is signed can be read: its records count, not those of the request.
#[test]
fn a_bundle_that_would_be_too_large_to_read_is_not_signed() {
    let few = KsrSignOptions { digests: Vec::new(), has_cdnskey: false, ..options() };
    let sign = |count: u8| {
        let keys = (1..=count).map(zsk).map(|key| (key.tag(), key.dnskey().to_vec()));
        let keys: BTreeMap<u16, Vec<u8>> = keys.collect();
        let timed = |dnskey: &Vec<u8>| TimedDnskey { dnskey: dnskey.clone(), times: KeyTimes::default() };
        let keys: Vec<TimedDnskey> = keys.values().map(timed).take(199).collect();
        let interval = (at("20270101000000"), at("20270102000000"));
        let planned = KeySigningRequest::plan(zone().name(), &keys, interval, 3600).unwrap();
        (keys.len(), planned.sign(&engine(), &[ksk(&KSK)], &few))
    };
    let (count, signed) = sign(255);
    assert_eq!((count, signed), (199, Err(KsrSignError::ManyRecords { line: 0 })));
    let signed = sign(190).1.unwrap();
    assert_eq!(response(&written(&signed)).bundles().len(), signed.bundles().len());
}

#[test]
fn rejects_keys_and_times_that_do_not_fit_the_request() {
    let request = request(REQUEST);
    let sign = |keys: &[OfflineKey], options: &KsrSignOptions| request.sign(&engine(), keys, options);
    let key = ksk(&KSK);
    let with = |change: fn(&mut KsrSignOptions)| {
        let mut options = options();
        change(&mut options);
        options
    };
    let last = at("20270301215500");
    let early = with(|options| options.until = at("20270301215500"));
    assert_eq!(sign(std::slice::from_ref(&key), &early), Err(KsrSignError::End { until: last, last }));
    let same = with(|options| options.refresh_s = options.validity_s);
    assert!(matches!(sign(std::slice::from_ref(&key), &same), Err(KsrSignError::Refresh { .. })));
    let long = with(|options| (options.validity_s, options.before_s) = (1 << 30, 1 << 30));
    let error = KsrSignError::Span { validity_s: 1 << 30, before_s: 1 << 30 };
    assert_eq!(sign(std::slice::from_ref(&key), &long), Err(error));
    let short = with(|options| (options.validity_s, options.refresh_s) = (100, 0));
    assert_eq!(sign(std::slice::from_ref(&key), &short), Err(KsrSignError::ManyBundles));
    let late = with(|options| options.until = u32::MAX - 5);
    assert_eq!(sign(std::slice::from_ref(&key), &late), Err(KsrSignError::Late));
    assert_eq!(sign(&[], &options()), Err(KsrSignError::NoKey(at("20270101000000"))));
    let future = OfflineKey { times: times(&[(KeyEvent::Publish, u32::MAX)]), ..key.clone() };
    assert_eq!(sign(&[future], &options()), Err(KsrSignError::NoKey(at("20270101000000"))));
    let zone_signing = OfflineKey { key: zsk(1), times: KeyTimes::default() };
    let error = KsrSignError::Flags { tag: zone_signing.key.tag(), flags: 256 };
    assert_eq!(sign(&[zone_signing], &options()), Err(error));
    let p256 = raw::ec_private(oarlock::Curve::P256, &[7; 32]).unwrap();
    let p256 = SignerKey::new(p256, KeyRole::Ksk, 257, DnssecAlgorithm::ECDSAP256SHA256).unwrap();
    let p256 = OfflineKey { key: p256, times: KeyTimes::default() };
    let error = sign(std::slice::from_ref(&p256), &options()).unwrap_err();
    assert!(matches!(error, KsrSignError::Algorithm { line: 1, tag: 49592, .. }), "{error}");
    let error = sign(&[key, p256], &options()).unwrap_err();
    assert!(matches!(error, KsrSignError::MissingAlgorithm { line: 1, .. }), "{error}");
}

/// Returns the line and the text of a fault.
fn request_fault(text: &str) -> (u32, String) {
    let error = KeySigningRequest::parse(text.as_bytes(), zone().name()).unwrap_err();
    (error.line, error.fault.to_string())
}

#[test]
fn rejects_each_fault_of_a_request_with_its_line() {
    let head = |time: &str| format!(";; KeySigningRequest 1.0 {time} (a comment)\n");
    let end = ";; KeySigningRequest 1.0 generated at some time by a test\n";
    let line = |owner: &str, flags: &str| {
        format!("{owner} 3600 IN DNSKEY {flags} 3 15 oWfn5nXc+euzyc/yM31lzyHW3ioY9rqUpvY1a6mIThM=\n")
    };
    let (one, two, good) = (head("20270101000000"), head("20270201000000"), line("example.test.", "256"));
    assert_eq!(request(&format!("; hello\r\n\n{one}{good}\n{two}{good}{end}\n\n")).bundles().len(), 2);
    let cases = [
        (String::new(), 1, "no bundle"),
        ("\n\n; a comment\n".into(), 3, "no bundle"),
        (end.into(), 1, "no bundle"),
        (good.clone(), 1, "before the first bundle"),
        (format!("{one}{good}"), 2, "may be cut short"),
        (format!("{one}{good}{two}"), 3, "may be cut short"),
        (format!("{one}{good}{end}{good}"), 4, "after the last line"),
        (format!("{one}{good}{end}{two}{good}"), 4, "after the last line"),
        (
            format!("{one}{good}{one}{good}{end}"),
            3,
            "a second bundle of 20270101000000, after that of line 1",
        ),
        (format!("{two}{good}{one}{good}{end}"), 3, "stands after that of 20270201000000"),
        (format!("{one}{two}{good}{end}"), 1, "has no DNSKEY"),
        (format!("{one}{good}{two}{end}"), 3, "has no DNSKEY"),
        (format!("{one}{good}{good}{end}"), 3, "twice"),
        (format!("{one}{}{end}", line("example.test.", "257")), 2, "key-signing key (flags 257)"),
        (format!("{one}{}{end}", line("example.test.", "384")), 2, "has flags 384"),
        (format!("{one}{}{end}", line("example.test.", "0")), 2, "has flags 0"),
        (format!("{one}{}{end}", line("other.test.", "256")), 2, "a record of other.test."),
        (format!("{one}{}{end}", line("sub.example.test.", "256")), 2, "a record of sub.example.test."),
        (format!("{one}example.test. 3600 IN A 192.0.2.1\n{end}"), 2, "type A"),
        (format!("{one}{}{end}", good.replace(" 3 15 ", " 3 13 ")), 2, "expected 64 bytes"),
        (format!("{one}{}{end}", good.replace(" 3 15 ", " 2 15 ")), 2, "protocol 2"),
        (format!("{one}{}{end}", good.replace(" 3 15 ", " 3 99 ")), 2, "not supported"),
        (format!("{one}{}{end}", good.replace("IN", "CH")), 2, "CH"),
        (format!("{one}{}{end}", good.replace(" 3600", "")), 2, ""),
        (format!("{one}garbage\n{end}"), 2, "expected"),
        (format!("{one}{}{end}", good.replace("DNSKEY ", "DNSKEY ( ")), 2, ""),
        (format!("{one}$GENERATE 1-9 a$ A 192.0.2.1\n{good}{end}"), 2, "directives"),
        (format!(";; KeySigningRequest 1.1 20270101000000\n{good}{end}"), 1, "version `1.1`"),
        (format!(";; KeySigningRequest 1.0\n{good}{end}"), 1, "expected `;; KeySigningRequest 1.0`"),
        (format!(";;KeySigningRequest 1.0 20270101000000\n{good}{end}"), 1, "expected `;; KeySigningRequest"),
        (
            format!(";; SignedKeyResponse 1.0 20270101000000\n{good}{end}"),
            1,
            "expected `;; KeySigningRequest",
        ),
        (format!("{}{good}{end}", head("1798761600")), 1, "files of Knot DNS are not supported"),
        (format!("{}{good}{end}", head("20271301000000")), 1, "not the time of a bundle"),
        (format!("{}{good}{end}", head("22000101000000")), 1, "not the time of a bundle"),
        ("\u{0}\u{1}\n".into(), 1, "before the first bundle"),
        // No control character of a file reaches the terminal.
        (";; \u{1b}[2J\n".into(), 1, "found `;; \\u{1b}[2J`"),
        (format!("{}{good}{end}", head("\u{1b}\u{1b}")), 1, "`\\u{1b}\\u{1b}` is not the time"),
        (";".repeat(MAX_REQUEST_BYTES + 1), 1, "at most"),
    ];
    for (text, line, expected) in cases {
        let (found, fault) = request_fault(&text);
        let start: String = text.chars().take(400).collect();
        assert!(found == line && fault.contains(expected), "{start}: line {found}: {fault}");
    }
    let bundle = |second: u32| {
        let mut time = Vec::new();
        oarlock_dnssec::rdata::write_time(at("20270101000000") + second, &mut time);
        format!("{}{good}", head(std::str::from_utf8(&time).unwrap()))
    };
    let many: String = (0..5001).map(bundle).collect();
    assert!(request_fault(&format!("{many}{end}")).1.contains("more than 5000 bundles"));
    let keys: String = (1..=201)
        .map(|number| {
            let key = zsk(number);
            let data = key.dnskey();
            format!(
                "example.test. 3600 IN DNSKEY \\# {} {}\n",
                data.len(),
                data.iter().map(|byte| format!("{byte:02x}")).collect::<String>()
            )
        })
        .collect();
    assert_eq!(request_fault(&format!("{one}{keys}{end}")).1, "more than 200 records in a bundle");
}

/// Returns the line and the text of a fault of the first bundle of BIND's response, after a change.
fn response_fault(change: impl Fn(&str) -> String) -> (u32, String) {
    let second = RESPONSE.match_indices(";;").nth(1).unwrap().0;
    let end = ";; SignedKeyResponse 1.0 generated\n";
    let text = change(&RESPONSE[..second]) + end;
    match SignedKeyResponse::parse(text.as_bytes(), zone().name()) {
        Err(error) => (error.line, error.fault.to_string()),
        Ok(_) => (0, "no fault".into()),
    }
}

#[test]
fn rejects_each_fault_of_a_response_with_its_line() {
    let without = |line: usize| {
        move |text: &str| -> String {
            let lines = text.lines().enumerate().filter(|(index, _)| *index + 1 != line);
            lines.map(|(_, line)| format!("{line}\n")).collect()
        }
    };
    let replaced = |from: &'static str, to: &'static str| move |text: &str| text.replacen(from, to, 1);
    assert_eq!(response_fault(str::to_owned), (0, "no fault".into()));
    let cases = [
        (response_fault(without(2)), 3, "by key 29131 (ED25519), which is not a key-signing key"),
        (response_fault(without(4)), 1, "the DNSKEY records have no signature"),
        (response_fault(without(5)), 5, "a signature of CDNSKEY, of which the bundle has no records"),
        (response_fault(without(8)), 1, "the CDS records have no signature"),
        (response_fault(|_| ";; SignedKeyResponse 1.0 20270101000000\n".into()), 1, "has no DNSKEY"),
        (
            response_fault(replaced("29131 example.test.", "29131 other.test.")),
            4,
            "a signature by other.test.",
        ),
        (response_fault(replaced("DNSKEY 15 2 3600", "DNSKEY 15 3 3600")), 4, "over 3 labels"),
        (response_fault(replaced("DNSKEY 15 2 3600", "DNSKEY 15 2 60")), 4, "times to live differ"),
        (response_fault(replaced("DNSKEY 15 2", "DNSKEY 13 2")), 4, "by key 29131 (ECDSAP256SHA256)"),
        (response_fault(replaced("29131 example", "29132 example")), 4, "by key 29132"),
        (
            response_fault(replaced("\t3600\tIN\tDNSKEY\t256", "\t60\tIN\tDNSKEY\t256")),
            4,
            "times to live differ",
        ),
        (
            response_fault(replaced("20270115000000", "20261231220000")),
            4,
            "begins at 20261231230000 and ends before",
        ),
        (response_fault(replaced("20270115000000", "20261231235959")), 4, "for the whole time of the bundle"),
        (response_fault(replaced("20261231230000", "20270101000001")), 4, "for the whole time of the bundle"),
        (response_fault(replaced("DNSKEY\t257", "DNSKEY\t1")), 2, "has flags 1"),
        (response_fault(replaced("\tCDS\t29131 15 2 ", "\tCDS\t29131 15 4 ")), 7, "SHA-384"),
        (response_fault(replaced("\tCDS\t29131 15 2 ", "\tDS\t29131 15 2 ")), 7, "type DS"),
        (response_fault(replaced("RRSIG\tCDS ", "RRSIG\tA ")), 8, "a signature of A, of which"),
        (
            response_fault(replaced("SignedKeyResponse", "KeySigningRequest")),
            1,
            "expected `;; SignedKeyResponse",
        ),
    ];
    for (number, ((found, fault), line, expected)) in cases.into_iter().enumerate() {
        assert!(found == line && fault.contains(expected), "case {number}: line {found}: {fault}");
    }
    // The signatures of the first bundle end before the second begins.
    let gap = RESPONSE.replace("20270110000000 (", "20270116000000 (");
    let error = SignedKeyResponse::parse(gap.as_bytes(), zone().name()).unwrap_err();
    assert!(error.line == 4 && error.fault.to_string().contains("for the whole time"), "{error}");
}

#[test]
fn responses_may_lack_records_for_the_parent() {
    let options = KsrSignOptions { digests: Vec::new(), has_cdnskey: false, ..options() };
    let signed = request(REQUEST).sign(&engine(), &[ksk(&KSK)], &options).unwrap();
    let text = written(&signed);
    assert!(!text.contains("CDS") && !text.contains("CDNSKEY"));
    let read = response(&text);
    assert_eq!((read.verify(&engine()), read.bundles().len()), (Ok(None), 11));
    assert_eq!(read.bundles()[0].sets[1].rtype, RecordType::CDNSKEY);
}
