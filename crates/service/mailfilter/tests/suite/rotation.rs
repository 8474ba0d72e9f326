//! Tests of selectors that begin and end by date. No test waits: the clock is set.

use std::sync::atomic::Ordering;

use oarlock::keys::generate;
use oarlock_mailfilter::{FilterService, RotationWarning};
use oarlock_service_kit::ServiceClock;

use crate::running_filter::{FilterFiles, RunningFilter, TestMail, scalar};

/// 2026-07-01, 00:00:00 UTC.
const ROTATION_S: u64 = 1_782_864_000;
const DAY_S: u64 = 86_400;

/// Returns files with the keys of three selectors and their records.
fn files_with_keys(table: &str) -> FilterFiles {
    let mut files = FilterFiles::for_example();
    for (file, selector) in [("a", "sa"), ("b", "sb"), ("c", "sc")] {
        files.key(file, selector, "example.com", &generate::ed25519().unwrap());
    }
    files.table(table);
    files
}

/// Sends a message and returns the selectors of its signatures. Each of them must verify.
async fn selectors(filter: &RunningFilter) -> Vec<String> {
    let mail = TestMail::plain();
    let signed = mail.changed(&filter.submit(&mail).await);
    let selectors = signed.signature_tags("s");
    if !selectors.is_empty() {
        let results = signed.changed(&filter.receive(&signed).await).results();
        assert_eq!(results.matches("dkim=pass").count(), selectors.len(), "{results}");
    }
    selectors
}

#[tokio::test]
async fn signs_with_the_next_selector_from_the_first_second_of_its_date() {
    let files = files_with_keys(
        "example.com sa a until=2026-07-01\nexample.com sb b from=2026-07-01 until=2027-01-01T06:00:00Z\n\
         example.com sc c test from=2026-06-30T12:00:00Z until=2026-07-02\n",
    );
    let clock = ServiceClock::standing_at(ROTATION_S - 2 * DAY_S);
    // The table is never read again, and nothing else tells the filter the date.
    let filter = RunningFilter::open_with_clock(&files, "signing.reload_seconds = 0", &clock).await;
    let end_s = ROTATION_S + 184 * DAY_S + 6 * 3600;
    for (now_s, expected) in [
        (ROTATION_S - 2 * DAY_S, vec!["sa"]),
        (ROTATION_S - DAY_S / 2 - 1, vec!["sa"]),
        (ROTATION_S - DAY_S / 2, vec!["sa", "sc"]),
        (ROTATION_S - 1, vec!["sa", "sc"]),
        (ROTATION_S, vec!["sb", "sc"]),
        (ROTATION_S + DAY_S - 1, vec!["sb", "sc"]),
        (ROTATION_S + DAY_S, vec!["sb"]),
        (end_s - 1, vec!["sb"]),
        (end_s, vec![]),
        // A clock that was wrong is set back.
        (ROTATION_S - 1, vec!["sa", "sc"]),
        (ROTATION_S + 30 * DAY_S, vec!["sb"]),
    ] {
        clock.set(now_s);
        assert_eq!(selectors(&filter).await, expected, "{now_s}");
    }
    let metrics = filter.service.metrics();
    assert_eq!(metrics.reloads.load(Ordering::Relaxed), 0);
    assert_eq!(metrics.key_reads.load(Ordering::Relaxed), 3, "all keys were read at the start");
    filter.stopped().await;
}

#[tokio::test]
async fn a_message_in_progress_at_the_date_keeps_the_selector_of_its_header() {
    let files = files_with_keys("example.com sa a until=2026-07-01\nexample.com sb b from=2026-07-01\n");
    let clock = ServiceClock::standing_at(ROTATION_S - 1);
    let filter = RunningFilter::open_with_clock(&files, "", &clock).await;
    let mut client = filter.client().await;
    let before = filter.send(&mut client, &TestMail::plain(), b"{auth_authen}\0joe\0").await;
    clock.set(ROTATION_S);
    let after = filter.send(&mut client, &TestMail::plain(), b"{auth_authen}\0joe\0").await;
    assert_eq!(TestMail::plain().changed(&before).signature_tags("s"), ["sa"]);
    assert_eq!(TestMail::plain().changed(&after).signature_tags("s"), ["sb"], "the same connection");
    // The time in the signature is that of the same clock.
    let signed = TestMail::plain().changed(&after);
    assert_eq!(signed.signature_tags("t"), [ROTATION_S.to_string()]);
    filter.stopped().await;
}

/// Opens a filter at a date and returns its warnings.
async fn warnings(files: &FilterFiles, records: &str, now_s: u64) -> Vec<RotationWarning> {
    let dns = oarlock_mail_files::dns::KeysFile::parse(records.as_bytes()).unwrap();
    let clock = ServiceClock::standing_at(now_s);
    let service = FilterService::open_with_clock(files.config(""), scalar(), std::sync::Arc::new(dns), clock)
        .await
        .unwrap();
    service.check_rotation().await
}

#[tokio::test]
async fn warns_while_the_record_of_the_next_selector_is_missing_or_wrong() {
    let files = files_with_keys("example.com sa a until=2026-07-01\nexample.com sb b from=2026-07-01\n");
    let record_of = |selector: &str| {
        let name = format!("{selector}._domainkey.example.com ");
        files.records.lines().find_map(|line| line.strip_prefix(&name)).unwrap().to_owned()
    };
    let before = ROTATION_S - DAY_S;
    assert_eq!(warnings(&files, &files.records, before).await, []);
    let missing = warnings(&files, "", before).await;
    assert_eq!(missing.len(), 1, "{missing:?}");
    let said = missing[0].to_string();
    assert!(said.starts_with("sb._domainkey.example.com: DNS has no record"), "{said}");
    assert!(said.contains("from 2026-07-01 on") && said.contains("oarlock dkim dns "), "{said}");
    let other = format!("sb._domainkey.example.com {}\n", record_of("sa"));
    assert!(matches!(&warnings(&files, &other, before).await[..], [RotationWarning::OtherKey { .. }]));
    let revoked = "sb._domainkey.example.com v=DKIM1; k=ed25519; p=\n";
    assert!(matches!(&warnings(&files, revoked, before).await[..], [RotationWarning::Unusable { .. }]));
    // The selector signs already, so it is not the next one any more.
    assert_eq!(warnings(&files, "", ROTATION_S).await, []);
}

#[tokio::test]
async fn warns_of_days_on_which_nothing_signs() {
    for (table, expected) in [
        ("example.com sa a until=2026-07-01\n", vec!["example.com: no line signs from 2026-07-01 on"]),
        (
            "example.com sa a until=2026-07-01\nexample.com sb b from=2026-07-03\n",
            vec!["example.com: no line signs from 2026-07-01 until 2026-07-03"],
        ),
        ("example.com sb b from=2026-07-01\n", vec!["example.com: no line signs until 2026-07-01"]),
        ("example.com sa a until=2026-01-01\n", vec!["example.com: no line signs any more"]),
        (
            "example.com sa a until=2026-07-01\nexample.com sb b retiring\n",
            vec!["example.com: no line signs from 2026-07-01 on"],
        ),
        ("example.com sa a until=2026-07-01\nexample.com sb b\n", vec![]),
        ("example.com sa a until=2026-07-02\nexample.com sb b from=2026-07-01\n", vec![]),
        ("example.com sa a\nexample.net sb b retiring\n", vec![]),
    ] {
        let files = files_with_keys(table);
        let found = warnings(&files, &files.records, ROTATION_S - DAY_S).await;
        let gaps = found.iter().filter(|warning| matches!(warning, RotationWarning::Gap { .. }));
        assert_eq!(gaps.map(ToString::to_string).collect::<Vec<_>>(), expected, "{table}");
    }
}

#[tokio::test]
async fn a_line_that_has_ended_needs_no_key_and_a_coming_one_does() {
    let files = files_with_keys("example.com sa gone until=2026-07-01\nexample.com sb b\n");
    let open = async |now_s: u64| {
        let clock = ServiceClock::standing_at(now_s);
        FilterService::open_with_clock(files.config(""), scalar(), files.dns(), clock).await.map(drop)
    };
    let error = open(ROTATION_S - 1).await.unwrap_err().to_string();
    assert!(error.contains("gone"), "{error}");
    open(ROTATION_S).await.unwrap();
    files.table("example.com sa gone from=2026-07-01\nexample.com sb b\n");
    let error = open(ROTATION_S - 1).await.unwrap_err().to_string();
    assert!(error.contains("gone"), "{error}");
}
