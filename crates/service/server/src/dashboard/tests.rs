//! Tests of the numbers of the page. `tests/suite/dashboard.rs` has those of a running server.

use std::collections::BTreeMap;
use std::time::Duration;

use oarlock::metrics::Recorder;
use tokio::time::Instant;

use super::history::MAX_SAMPLES;
use super::totals::{OperationTotals, rounded};
use super::*;

/// Returns counters at a moment: so many operations and refusals, and requests of a millisecond.
fn totals(at: Instant, done: u64) -> ServerTotals {
    let requests = Recorder::default();
    requests.record_many(1_000_000, done);
    let operations = OperationTotals { done, not_done: 0 };
    ServerTotals {
        at,
        requests: done,
        received_bytes: 10 * done,
        sent_bytes: 20 * done,
        cpu_ns: 1000 * done,
        operations: BTreeMap::from([("ed25519-sign".to_owned(), operations)]),
        refusals: BTreeMap::from([("NO_SUCH_KEY".to_owned(), done / 10)]),
        keys: Vec::new(),
        jobs_ns: requests.read(),
        records_ns: Recorder::default().read(),
        engines: oarlock::metrics::Histograms::default(),
    }
}

#[test]
fn rates_are_those_of_the_last_ten_seconds() {
    let start = Instant::now();
    let mut window = TotalsWindow::new(totals(start, 0));
    assert_eq!(
        (window.operations_per_s(), window.request_ns().count()),
        (0.0, 0),
        "nothing has been measured"
    );
    for tick in 1..=20 {
        // A hundred operations per second, then a thousand.
        let done = if tick <= 10 { 200 * tick } else { 2000 + 2000 * (tick - 10) };
        window.add(totals(start + TICK * tick as u32, done));
        let expected = match tick {
            ..=10 => 100.0,
            15.. => 1000.0,
            _ => continue,
        };
        assert!(
            (window.operations_per_s() - expected).abs() < 1e-6,
            "tick {tick}: {}",
            window.operations_per_s()
        );
        assert!((window.refusals_per_s() - expected / 10.0).abs() < 1e-6);
        assert!((window.cores() - expected * 1e-6).abs() < 1e-9);
    }
    assert_eq!(window.request_ns().count(), 10_000);
    let median = window.request_ns().quantile(0.5).unwrap();
    assert!((524_288.0..=1_048_576.0).contains(&median), "{median}");
}

#[test]
fn keeps_an_hour_in_memory_of_fixed_size() {
    let start = Instant::now();
    let (mut window, mut history) = (TotalsWindow::new(totals(start, 0)), History::default());
    let ticks_per_sample = 5;
    for tick in 1..=(MAX_SAMPLES as u64 + 100) * ticks_per_sample {
        // Ticks come late by up to 40 ms.
        let at = start + TICK * tick as u32 + Duration::from_millis(tick * 7 % 40);
        window.add(totals(at, 10 * tick));
        history.add(&window);
        let expected = (tick / ticks_per_sample).min(MAX_SAMPLES as u64);
        assert_eq!(history.len() as u64, expected, "tick {tick}");
    }
    let columns = serde_json::to_value(&history).unwrap();
    let columns = columns.as_object().unwrap();
    assert_eq!(columns.len(), 5);
    for (name, column) in columns {
        assert_eq!(column.as_array().unwrap().len(), MAX_SAMPLES, "{name}");
    }
    // Three digits a number, so an hour has a bounded length on the wire.
    let bytes = serde_json::to_string(&history).unwrap().len();
    assert!(bytes < MAX_SAMPLES * 5 * 12, "{bytes} bytes");
}

#[test]
fn rounds_to_three_digits() {
    for (value, expected) in
        [(0.0, 0.0), (1234.5, 1230.0), (0.001_234_5, 0.001_23), (-98_765.0, -98_800.0), (f64::NAN, 0.0)]
    {
        assert!((rounded(value) - expected).abs() < 1e-12, "{value}");
    }
}

#[test]
fn answers_only_to_names_of_this_machine() {
    for good in [
        "localhost",
        "localhost:9091",
        "LOCALHOST:1",
        "localhost.:9091",
        "127.0.0.1:9091",
        "127.0.0.1",
        "127.1.2.3:80",
        "[::1]",
        "[::1]:9091",
    ] {
        assert!(is_local(good), "{good}");
    }
    for bad in [
        "",
        "example.com",
        "example.com:9091",
        "localhost.example.com",
        "localhost..:9091",
        "10.0.0.1",
        "[::2]",
        "::1",
        "127.0.0.1.example.com:9091",
        ":9091",
    ] {
        assert!(!is_local(bad), "{bad}");
    }
}
