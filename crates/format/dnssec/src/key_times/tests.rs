use super::*;

const NOW: u32 = 1_800_000_000;
const DAY: u32 = 86_400;

/// Makes times from days before and after [`NOW`].
fn times(days: &[(KeyEvent, i64)]) -> KeyTimes {
    let mut times = KeyTimes::default();
    for (event, days) in days {
        let seconds = i64::from(NOW) + days * i64::from(DAY);
        times.set(*event, Some(u32::try_from(seconds).unwrap()));
    }
    times
}

#[test]
fn phases_are_those_of_dnssec_signzone() {
    use KeyEvent::{Activate, Created, Delete, Inactive, Publish, Revoke, SyncPublish};
    // Each row was tried with `dnssec-signzone -S` of BIND 9.18, which the suite of the program repeats.
    let cases: [(&[(KeyEvent, i64)], KeyPhase); 22] = [
        (&[], KeyPhase::Active),
        (&[(Created, -1)], KeyPhase::Future),
        (&[(Publish, -1)], KeyPhase::Published),
        (&[(Publish, 1)], KeyPhase::Future),
        (&[(Publish, -1), (Activate, 1)], KeyPhase::Published),
        (&[(Publish, -1), (Activate, -1)], KeyPhase::Active),
        (&[(Publish, 0), (Activate, 0)], KeyPhase::Active),
        (&[(Activate, -1)], KeyPhase::Active),
        (&[(Activate, 1)], KeyPhase::Future),
        (&[(Publish, 1), (Activate, -1)], KeyPhase::Presigning),
        (&[(Publish, -3), (Activate, -2), (Inactive, -1)], KeyPhase::Inactive),
        (&[(Publish, -3), (Activate, -2), (Inactive, 0)], KeyPhase::Inactive),
        (&[(Activate, -2), (Inactive, -1)], KeyPhase::Removed),
        (&[(Inactive, 1)], KeyPhase::Future),
        (&[(Publish, -3), (Inactive, 1)], KeyPhase::Published),
        (&[(Publish, -3), (Activate, -2), (Delete, 0)], KeyPhase::Removed),
        (&[(Delete, 1)], KeyPhase::Future),
        (&[(Publish, -3), (Activate, -2), (Revoke, -1)], KeyPhase::Revoked),
        (&[(Publish, -3), (Revoke, -1)], KeyPhase::Revoked),
        (&[(Publish, 3), (Revoke, -1)], KeyPhase::Future),
        (&[(Publish, -3), (Activate, -2), (Revoke, -1), (Inactive, 0)], KeyPhase::Revoked),
        (&[(Created, -1), (SyncPublish, -1)], KeyPhase::Future),
    ];
    for (days, phase) in cases {
        assert_eq!(times(days).phase(NOW), phase, "{days:?}");
    }
}

#[test]
fn times_do_not_wrap() {
    // Serial arithmetic would take a time 74 years ahead for one in the past.
    let mut times = times(&[(KeyEvent::Publish, -1), (KeyEvent::Activate, -1)]);
    times.set(KeyEvent::Inactive, Some(u32::MAX));
    assert_eq!(times.phase(NOW), KeyPhase::Active);
}

#[test]
fn contradictions_are_named() {
    use KeyEvent::{Activate, Delete, Inactive, Publish};
    let said = |days: &[_]| times(days).contradictions().map(|pair| pair.to_string()).collect::<Vec<_>>();
    assert!(said(&[(Publish, 1), (Activate, 1), (Inactive, 1), (Delete, 1)]).is_empty());
    assert_eq!(said(&[(Publish, 1), (Activate, 0)]), ["Activate is before Publish"]);
    assert_eq!(said(&[(Activate, 2), (Inactive, 1)]), ["Inactive is before Activate"]);
    assert_eq!(said(&[(Inactive, 2), (Delete, 1)]), ["Delete is before Inactive"]);
}

const PRIVATE: &str = "Private-key-format: v1.3\nAlgorithm: 13 (ECDSAP256SHA256)\nPrivateKey: AAAA\nPredecessor: 7\n\
                       Created: 20261130204425\nPublish: 20261130204425\nDSPublish: 20261130204425\n";
const PUBLIC: &str = "; This is a key-signing key, keyid 24538, for example.com.\n\
                      ; Created: 20261130204425 (Mon Nov 30 20:44:25 2026)\n\
                      ; Publish: 20261130204425 (Mon Nov 30 20:44:25 2026)\n\
                      example.com. IN DNSKEY 257 3 13 AAAA\n";
const AT: u32 = 1_796_071_465;

#[test]
fn reads_fields_and_comments() {
    for (text, form) in [(PRIVATE, TimedFile::Private), (PUBLIC, TimedFile::Public)] {
        let read = KeyTimes::read_file(text.as_bytes(), form).unwrap();
        let all = KeyEvent::ALL.map(|event| read.get(event));
        assert_eq!(all, [Some(AT), Some(AT), None, None, None, None, None, None], "{form:?}");
        // Comments are not fields, and fields are not comments.
        let other = if form == TimedFile::Private { TimedFile::Public } else { TimedFile::Private };
        assert!(KeyTimes::read_file(text.as_bytes(), other).unwrap().is_empty());
    }
}

#[test]
fn an_old_format_has_no_times() {
    for (version, is_empty) in
        [("v1.2", true), ("v1.3", false), ("v1.10", false), ("v2.0", false), ("?", false)]
    {
        let text = PRIVATE.replace("v1.3", version);
        let read = KeyTimes::read_file(text.as_bytes(), TimedFile::Private).unwrap();
        assert_eq!(read.is_empty(), is_empty, "{version}");
    }
}

#[test]
fn rewriting_changes_times_only() {
    let mut times = KeyTimes::default();
    times.set(KeyEvent::Created, Some(AT));
    times.set(KeyEvent::Delete, Some(u32::MAX));
    let written = |text: &str, form| {
        let mut out = Vec::new();
        times.write_file(text.as_bytes(), form, &mut out);
        assert!(out.len() <= text.len() + KeyTimes::MAX_WRITTEN);
        assert_eq!(KeyTimes::read_file(&out, form), Ok(times));
        String::from_utf8(out).unwrap()
    };
    assert_eq!(
        written(PRIVATE, TimedFile::Private),
        "Private-key-format: v1.3\nAlgorithm: 13 (ECDSAP256SHA256)\nPrivateKey: AAAA\nPredecessor: 7\n\
         DSPublish: 20261130204425\nCreated: 20261130204425\nDelete: 21060207062815\n"
    );
    assert_eq!(
        written(PUBLIC, TimedFile::Public),
        "; This is a key-signing key, keyid 24538, for example.com.\n\
         ; Created: 20261130204425 (Mon Nov 30 20:44:25 2026)\n\
         ; Delete: 21060207062815 (Sun Feb  7 06:28:15 2106)\n\
         example.com. IN DNSKEY 257 3 13 AAAA\n"
    );
    // A text without an end of line, and an empty one.
    assert!(written("Algorithm: 13", TimedFile::Private).starts_with("Algorithm: 13\nCreated"));
    assert!(written("", TimedFile::Public).starts_with("; Created"));
}

#[test]
fn broken_fields_are_named_without_their_values() {
    let error = |text: &str| KeyTimes::read_file(text.as_bytes(), TimedFile::Private).unwrap_err();
    for value in
        ["", "tomorrow", "20261130", "1796071465", "20261330204425", "21060207062816", "19691231235959"]
    {
        let text = format!("Private-key-format: v1.3\nInactive: {value}\n");
        let error = error(&text);
        assert_eq!(
            (error.line, error.event, error.fault),
            (2, KeyEvent::Inactive, KeyTimesFault::NotATime),
            "{value}"
        );
        let said = error.to_string();
        assert!(said.starts_with("line 2: Inactive: "), "{said}");
        assert!(value.is_empty() || !said.contains(&format!(" {value} ")), "{said}");
    }
    let twice = error("Delete: 20261130204425\n\nDelete: 20261130204425\n");
    assert_eq!(
        twice,
        KeyTimesError { line: 3, event: KeyEvent::Delete, fault: KeyTimesFault::Twice { first: 1 } }
    );
}
