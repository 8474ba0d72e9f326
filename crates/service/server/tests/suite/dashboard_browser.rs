//! The dashboard in a browser without a window: Chromium prints the page as its script has made it.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use oarlock_service_kit::metrics::{HttpPage, HttpPages, StatusCode, serve_pages};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// Returns the program of a Chromium. Prints SKIPPED and returns None if none is installed.
fn chromium() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let found = std::env::split_paths(&path)
        .flat_map(|directory| names.map(|name| directory.join(name)))
        .find(|program| program.is_file());
    if found.is_none() {
        eprintln!("SKIPPED: chromium is not installed");
    }
    found
}

/// The real page, with documents that the test makes.
struct StubPages {
    documents: Vec<Value>,
    asked: AtomicUsize,
}

const HEADERS: &[(&str, &str)] = &[(
    "content-security-policy",
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'",
)];

impl HttpPages for StubPages {
    fn page(&self, path: &str, _: Option<&str>) -> Option<HttpPage> {
        let (content_type, body) = match path {
            "/" => {
                ("text/html; charset=utf-8", include_str!("../../src/dashboard/assets/index.html").to_owned())
            }
            "/dashboard.css" => {
                ("text/css", include_str!("../../src/dashboard/assets/dashboard.css").to_owned())
            }
            "/dashboard.js" => {
                ("text/javascript", include_str!("../../src/dashboard/assets/dashboard.js").to_owned())
            }
            "/icon.svg" => ("image/svg+xml", include_str!("../../src/dashboard/assets/icon.svg").to_owned()),
            "/data.json" => {
                // After the last document the server fails.
                let document = self.documents.get(self.asked.fetch_add(1, Ordering::Relaxed))?;
                ("application/json", document.to_string())
            }
            _ => return None,
        };
        Some(HttpPage { headers: HEADERS, ..HttpPage::new(StatusCode::OK, content_type, body) })
    }

    fn paths(&self) -> &'static str {
        "the page"
    }
}

/// A document with an operation of this name.
fn document(operation: &str) -> Value {
    json!({
        "version": "1.2.3", "time_ms": 1_780_000_000_000_u64, "tick_s": 2, "refusal": null,
        "rates": {
            "operations_per_s": 123_400.0, "requests_per_s": 4, "refusals_per_s": 0, "received_bytes_per_s": 2048,
            "sent_bytes_per_s": 0, "p50_s": 0.000_4, "p99_s": null, "cores": 1.25, "resident_bytes": 67_108_864,
            "connections": 1, "audit_lost": 0,
        },
        "operations": [{"operation": operation, "per_s": 12.5, "done": 1500, "not_done": 2}],
        "shapes": [{"shape": "rsa2048-private", "per_s": 3, "p50_s": 0.002, "p99_s": 0.0041, "waiting": 7, "total": 9}],
        "batches": [{
            "engine": "lanes", "shape": "rsa2048-private", "batches_per_s": 0.5, "mean": 7.5,
            "sizes": [[1, 3], [8, 40]], "run_p50_s": 0.001,
        }],
        "engines": [
            {"engine": "scalar", "passed": 40, "failed": [], "leaves": [], "absent": null, "quarantined": []},
            {"engine": "lanes", "passed": 30, "failed": [], "leaves": ["avx2"], "absent": null, "quarantined": []},
            {"engine": "cuda", "passed": 0, "failed": [], "leaves": [], "absent": "not built", "quarantined": []},
        ],
        "keys": {"asymmetric": 1, "symmetric": 2, "used": [{"key": "mail", "per_s": 1, "operations": 5}], "more": 3},
        "clients": {"listed": [{"client": "<b>dns:a.test</b>", "connections": 2, "held_bytes": 1024}], "more": 0},
        "refusals": [{"reason": "NO_SUCH_KEY", "per_s": 0, "total": 4}],
        "certificates": [{"setting": "certificate", "subject": "CN=<script>x</script>", "seconds_left": 864_000}],
        "history": {
            "step_s": 10, "operations_per_s": [1, 2, 3], "p50_s": [null, 0.001, 0.002],
            "p99_s": [null, 0.002, 0.004], "refusals_per_s": [0, 0, 0], "cores": [0.5, 1, 1.25],
        },
    })
}

/// Returns the page as the browser has made it after so many milliseconds of its own clock.
async fn rendered(program: PathBuf, address: SocketAddr, budget_ms: u32) -> String {
    let page = tokio::task::spawn_blocking(move || {
        let profile = tempfile::tempdir().unwrap();
        let mut folder = OsString::from("--user-data-dir=");
        folder.push(profile.path());
        let output = Command::new(program)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
            ])
            .args(["--disable-background-networking", "--disable-component-update", "--dump-dom"])
            .arg(format!("--virtual-time-budget={budget_ms}"))
            .arg(folder)
            .arg(format!("http://{address}/"))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    });
    page.await.unwrap()
}

async fn show(documents: Vec<Value>, budget_ms: u32) -> Option<(String, Arc<StubPages>)> {
    let program = chromium()?;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let pages = Arc::new(StubPages { documents, asked: AtomicUsize::new(0) });
    let serving = tokio::spawn(serve_pages(listener, Arc::clone(&pages)));
    let page = rendered(program, address, budget_ms).await;
    serving.abort();
    Some((page, pages))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn shows_the_figures_with_their_units() {
    let documents = vec![document("ed25519-sign"); 50];
    let Some((page, _)) = show(documents, 1_000).await else { return };
    for text in [
        ">Serves<",
        "1.2.3",
        "ed25519-sign",
        "123\u{202f}k/s",
        "400\u{202f}\u{b5}s",
        "64\u{202f}MiB",
        "1.25\u{202f}cores",
        "2\u{202f}KiB/s",
        "12.5/s",
        "1.5\u{202f}k",
        "4.1\u{202f}ms",
        "no such key",
        "10 days",
        "1 asymmetric, 2 symmetric, 3 more",
        "in use",
        "absent",
        "not built",
        "up to 8: 40",
        "avx2",
        "Latency of requests, last hour. Now: median 2\u{202f}ms, 99 % 4\u{202f}ms.",
    ] {
        assert!(page.contains(text), "{text} is not in {page}");
    }
    // What the server says is text and never markup.
    assert!(page.contains("&lt;b&gt;dns:a.test&lt;/b&gt;") && page.contains("&lt;script&gt;x"), "{page}");
    assert_eq!(page.matches("<caption").count(), 8, "each table has a caption");
    assert!(page.matches("class=\"curve").count() == 5 && page.matches("tabindex=\"0\"").count() == 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn shows_new_data_and_the_end_of_the_server() {
    let documents = vec![document("first-operation"), document("second-operation")];
    let Some((page, pages)) = show(documents, 9_000).await else { return };
    assert!(pages.asked.load(Ordering::Relaxed) >= 3, "the page has not read again");
    assert!(page.contains("second-operation") && !page.contains("first-operation"), "{page}");
    assert!(page.contains("The server does not answer"), "{page}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn says_what_is_missing_and_what_is_wrong() {
    let mut empty = document("x");
    for rows in ["operations", "shapes", "batches", "refusals", "certificates"] {
        empty[rows] = json!([]);
    }
    empty["engines"] = Value::Null;
    empty["clients"] = json!({"listed": [], "more": 0});
    empty["keys"] = json!({"asymmetric": 0, "symmetric": 0, "used": [], "more": 0});
    for column in ["operations_per_s", "p50_s", "p99_s", "refusals_per_s", "cores"] {
        empty["history"][column] = json!([]);
    }
    empty["refusal"] = "the audit log cannot be written".into();
    empty["rates"]["audit_lost"] = 3.into();
    let Some((page, _)) = show(vec![empty; 50], 1_000).await else { return };
    for text in [
        "Refuses requests: the audit log cannot be written",
        "Lost audit entries",
        "No operation yet.",
        "No batch yet.",
        "The self tests are running.",
        "No key.",
        "No client is connected.",
        "No refusal since the start.",
        "No certificate is in use.",
        "The first sample comes after ten seconds.",
    ] {
        assert!(page.contains(text), "{text} is not in {page}");
    }
    let mut ill = document("x");
    ill["engines"][1]["quarantined"] = json!([["*", "the engine hung"]]);
    ill["certificates"][0]["seconds_left"] = (-5).into();
    let Some((page, _)) = show(vec![ill; 50], 1_000).await else { return };
    for text in ["Serves, with an engine in quarantine", "all shapes: the engine hung", "expired"] {
        assert!(page.contains(text), "{text} is not in {page}");
    }
}
