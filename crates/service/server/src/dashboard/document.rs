//! The data of the page as JSON. Names end with their unit; rates and latencies are those of the last ten seconds.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::{SystemTime, UNIX_EPOCH};

use oarlock::metrics::Histogram;
use oarlock::{Accelerator, Shape};
use serde::Serialize;

use super::TICK;
use super::history::{History, STEP};
use super::latency::ValueSpread;
use super::totals::{TotalsWindow, rounded};
use crate::service::{SharedService, resident_kb};

/// The maximum number of rows of a table whose length clients or files decide.
const MAX_ROWS: usize = 50;

/// The whole document.
#[derive(Serialize)]
struct Document<'d> {
    version: &'static str,
    time_ms: u64,
    tick_s: u64,
    /// The reason why requests are refused now.
    refusal: Option<&'static str>,
    rates: DashboardRates,
    operations: Vec<OperationRow<'d>>,
    shapes: Vec<ShapeRow>,
    batches: Vec<BatchSizeRow>,
    /// None until the self tests have ended.
    engines: Option<Vec<LiveEngine<'d>>>,
    keys: KeyUseTable<'d>,
    clients: ClientTable,
    refusals: Vec<RefusalRow<'d>>,
    certificates: Vec<CertificateRow>,
    history: HistoryTable<'d>,
}

#[derive(Serialize)]
struct DashboardRates {
    operations_per_s: f64,
    requests_per_s: f64,
    refusals_per_s: f64,
    received_bytes_per_s: f64,
    sent_bytes_per_s: f64,
    p50_s: Option<f64>,
    p99_s: Option<f64>,
    cores: f64,
    resident_bytes: u64,
    connections: u64,
    audit_lost: u64,
}

#[derive(Serialize)]
struct OperationRow<'d> {
    operation: &'d str,
    per_s: f64,
    done: u64,
    not_done: u64,
}

#[derive(Serialize)]
struct ShapeRow {
    shape: String,
    per_s: f64,
    p50_s: Option<f64>,
    p99_s: Option<f64>,
    waiting: usize,
    total: u64,
}

#[derive(Serialize)]
struct BatchSizeRow {
    engine: &'static str,
    shape: String,
    batches_per_s: f64,
    /// The operations in a batch: of the window, or since the start if it had none.
    mean: Option<f64>,
    /// Upper bounds, powers of two, and the number of batches up to each since the start.
    sizes: Vec<(u64, u64)>,
    run_p50_s: Option<f64>,
}

/// An engine as its self test found it.
#[derive(Debug, Serialize)]
pub(super) struct EngineVerdict {
    engine: &'static str,
    /// The number of shapes that passed the self test.
    passed: usize,
    /// The shapes that failed it, with the reason.
    failed: Vec<String>,
    leaves: Vec<&'static str>,
    /// The reason why the engine is absent.
    absent: Option<String>,
}

#[derive(Serialize)]
struct LiveEngine<'d> {
    #[serde(flatten)]
    engine: &'d EngineVerdict,
    /// The shapes in quarantine, `*` for all, with the reason.
    quarantined: Vec<(String, String)>,
}

#[derive(Serialize)]
struct KeyUseTable<'d> {
    asymmetric: usize,
    symmetric: usize,
    /// The keys with the most uses.
    used: Vec<KeyRow<'d>>,
    /// The number of keys that are not listed.
    more: usize,
}

#[derive(Serialize)]
struct KeyRow<'d> {
    key: &'d str,
    per_s: f64,
    operations: u64,
}

#[derive(Serialize)]
struct ClientTable {
    listed: Vec<ClientRow>,
    more: usize,
}

#[derive(Serialize)]
struct ClientRow {
    client: String,
    connections: usize,
    held_bytes: usize,
}

#[derive(Serialize)]
struct RefusalRow<'d> {
    reason: &'d str,
    per_s: f64,
    total: u64,
}

#[derive(Serialize)]
struct CertificateRow {
    setting: &'static str,
    subject: String,
    seconds_left: i64,
}

#[derive(Serialize)]
struct HistoryTable<'d> {
    step_s: u64,
    #[serde(flatten)]
    columns: &'d History,
}

/// Returns the document as JSON.
pub(super) fn render(
    service: &SharedService,
    engines: Option<&Vec<EngineVerdict>>,
    window: &TotalsWindow,
    history: &History,
) -> String {
    let document = Document {
        version: env!("CARGO_PKG_VERSION"),
        time_ms: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64),
        tick_s: TICK.as_secs(),
        refusal: service.refusal(),
        rates: rates(service, window),
        operations: operations(window),
        shapes: shapes(service, window),
        batches: batches(window),
        engines: engines.map(|engines| live_engines(engines, &service.accelerator)),
        keys: keys(service, window),
        clients: clients(service),
        refusals: refusals(window),
        certificates: certificates(service),
        history: HistoryTable { step_s: STEP.as_secs(), columns: history },
    };
    // unreachable because every map has strings for keys, and numbers are finite or null
    serde_json::to_string(&document).unwrap_or_default()
}

fn seconds(spread: &ValueSpread, share: f64) -> Option<f64> {
    spread.quantile(share).map(|ns| rounded(ns * 1e-9))
}

fn rates(service: &SharedService, window: &TotalsWindow) -> DashboardRates {
    let spread = window.request_ns();
    DashboardRates {
        operations_per_s: rounded(window.operations_per_s()),
        requests_per_s: rounded(window.rate(|totals| totals.requests)),
        refusals_per_s: rounded(window.refusals_per_s()),
        received_bytes_per_s: rounded(window.rate(|totals| totals.received_bytes)),
        sent_bytes_per_s: rounded(window.rate(|totals| totals.sent_bytes)),
        p50_s: seconds(&spread, 0.5),
        p99_s: seconds(&spread, 0.99),
        cores: rounded(window.cores()),
        resident_bytes: resident_kb().unwrap_or_default() * 1024,
        connections: service.metrics.open_connections.load(Ordering::Relaxed),
        audit_lost: service.audit.lost(),
    }
}

fn operations(window: &TotalsWindow) -> Vec<OperationRow<'_>> {
    let rows = window.now.operations.iter().map(|(name, counts)| OperationRow {
        operation: name,
        per_s: rounded(
            window
                .rate(|totals| totals.operations.get(name).map_or(0, |counts| counts.done + counts.not_done)),
        ),
        done: counts.done,
        not_done: counts.not_done,
    });
    most(rows, |row| (row.per_s, row.done))
}

/// Returns the first rows, those with the highest rate first.
fn most<T>(rows: impl Iterator<Item = T>, rank: impl Fn(&T) -> (f64, u64)) -> Vec<T> {
    let mut rows: Vec<T> = rows.collect();
    rows.sort_by(|one, other| {
        let (one, other) = (rank(one), rank(other));
        other.0.total_cmp(&one.0).then(other.1.cmp(&one.1))
    });
    rows.truncate(MAX_ROWS);
    rows
}

fn shape_name(shape: Option<Shape>) -> String {
    shape.map_or_else(|| "other".to_owned(), |shape| shape.to_string())
}

fn shapes(service: &SharedService, window: &TotalsWindow) -> Vec<ShapeRow> {
    let mut waiting: BTreeMap<String, usize> = service.accelerator.queued().into_iter().collect();
    let rows = window.now.engines.answers.iter().map(|answers| {
        let earlier = window
            .before()
            .and_then(|before| before.engines.answers.iter().find(|earlier| earlier.shape == answers.shape));
        let spread = ValueSpread::between(earlier.map(|earlier| &earlier.answer_ns), &answers.answer_ns);
        let shape = shape_name(answers.shape);
        ShapeRow {
            waiting: waiting.remove(&shape).unwrap_or_default(),
            shape,
            per_s: rounded(per_second(&spread, window)),
            p50_s: seconds(&spread, 0.5),
            p99_s: seconds(&spread, 0.99),
            total: answers.answer_ns.count(),
        }
    });
    most(rows.filter(|row| row.total > 0), |row| (row.per_s, row.total))
}

/// Returns the values per second of the window. At the start there is no window, and no rate.
fn per_second(spread: &ValueSpread, window: &TotalsWindow) -> f64 {
    if window.before().is_none() { 0.0 } else { spread.count() as f64 / window.seconds() }
}

fn batches(window: &TotalsWindow) -> Vec<BatchSizeRow> {
    let rows = window.now.engines.runs.iter().map(|runs| {
        let earlier = window.before().and_then(|before| {
            before
                .engines
                .runs
                .iter()
                .find(|earlier| (earlier.engine, earlier.shape) == (runs.engine, runs.shape))
        });
        let since = |earlier: Option<&Histogram>, now: &Histogram| ValueSpread::between(earlier, now);
        let recent = since(earlier.map(|earlier| &earlier.operations), &runs.operations);
        let all = since(None, &runs.operations);
        let times = since(earlier.map(|earlier| &earlier.run_ns), &runs.run_ns);
        BatchSizeRow {
            engine: runs.engine,
            shape: shape_name(runs.shape),
            batches_per_s: rounded(per_second(&recent, window)),
            // An engine that had nothing to do in the last seconds shows its mean since the start.
            mean: recent.mean().or_else(|| all.mean()).map(rounded),
            sizes: all.buckets().to_vec(),
            run_p50_s: seconds(&times, 0.5),
        }
    });
    most(rows.filter(|row| !row.sizes.is_empty()), |row| {
        (row.batches_per_s, row.sizes.iter().map(|size| size.1).sum())
    })
}

/// Returns the engines with the verdicts of their self tests. An accelerator that has not tested its engines does so
/// now.
pub(super) fn engine_rows(accelerator: &Accelerator) -> Vec<EngineVerdict> {
    let tested = accelerator.engines().iter().map(|engine| {
        let mut leaves: Vec<&'static str> =
            engine.shapes.iter().filter_map(|shape| Some(shape.leaf?.name)).collect();
        leaves.sort_unstable();
        leaves.dedup();
        let failed = engine.shapes.iter().filter_map(|shape| {
            let failure = shape.verdict.as_ref().err()?;
            Some(format!("{}: {failure}", shape.shape))
        });
        EngineVerdict {
            engine: engine.name,
            passed: engine.shapes.iter().filter(|shape| shape.verdict.is_ok()).count(),
            failed: failed.collect(),
            leaves,
            absent: None,
        }
    });
    let absent = accelerator.absent().iter().map(|absent| EngineVerdict {
        engine: absent.name,
        passed: 0,
        failed: Vec::new(),
        leaves: Vec::new(),
        absent: Some(absent.reason.to_string()),
    });
    tested.chain(absent).collect()
}

fn live_engines<'d>(engines: &'d [EngineVerdict], accelerator: &Accelerator) -> Vec<LiveEngine<'d>> {
    let quarantined = accelerator.quarantined();
    let of = |engine: &'d EngineVerdict| {
        let of_engine = quarantined.iter().filter(|quarantined| quarantined.engine == engine.engine);
        let rows = of_engine.map(|quarantined| {
            let shape = quarantined.shape.map_or_else(|| "*".to_owned(), |shape| shape.to_string());
            (shape, quarantined.reason.clone())
        });
        LiveEngine { engine, quarantined: rows.collect() }
    };
    engines.iter().map(of).collect()
}

fn keys<'d>(service: &SharedService, window: &'d TotalsWindow) -> KeyUseTable<'d> {
    let keyring = service.keyring();
    let used = window.now.keys.iter().take(MAX_ROWS).map(|(key, operations)| {
        let earlier = window.before().and_then(|before| before.keys.iter().find(|(name, _)| name == key));
        let since = operations.saturating_sub(earlier.map_or(0, |(_, count)| *count));
        let per_s = if window.before().is_none() { 0.0 } else { rounded(since as f64 / window.seconds()) };
        KeyRow { key, per_s, operations: *operations }
    });
    KeyUseTable {
        asymmetric: keyring.asymmetric_len(),
        symmetric: keyring.table.len(),
        used: used.collect(),
        more: window.now.keys.len().saturating_sub(MAX_ROWS),
    }
}

fn clients(service: &SharedService) -> ClientTable {
    let mut listed: Vec<ClientRow> = service
        .clients
        .connected()
        .into_iter()
        .map(|(client, connections, held_bytes)| ClientRow { client, connections, held_bytes })
        .collect();
    listed.sort_by(|one, other| other.connections.cmp(&one.connections).then(one.client.cmp(&other.client)));
    let more = listed.len().saturating_sub(MAX_ROWS);
    listed.truncate(MAX_ROWS);
    ClientTable { listed, more }
}

fn refusals(window: &TotalsWindow) -> Vec<RefusalRow<'_>> {
    let rows = window.now.refusals.iter().map(|(reason, total)| RefusalRow {
        reason,
        per_s: rounded(window.rate(|totals| totals.refusals.get(reason).copied().unwrap_or_default())),
        total: *total,
    });
    most(rows, |row| (row.per_s, row.total))
}

fn certificates(service: &SharedService) -> Vec<CertificateRow> {
    let Some(tls) = &service.tls else { return Vec::new() };
    let now = service.lifetimes.clock().signed_now_s();
    let mut rows: Vec<CertificateRow> = tls
        .get()
        .terms
        .iter()
        .map(|term| CertificateRow {
            setting: term.role.setting(),
            subject: term.subject.clone(),
            seconds_left: term.seconds_left(now),
        })
        .collect();
    rows.sort_by_key(|row| row.seconds_left);
    rows.truncate(MAX_ROWS);
    rows
}
