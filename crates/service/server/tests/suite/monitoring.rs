//! The board and the alerts of `packaging`: every metric that they name is on the page of a server.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::test_server::TestServer;

const RULES: &str = include_str!("../../../../../packaging/prometheus-rules.yaml");
const BOARD: &str = include_str!("../../../../../packaging/grafana-oarlock.json");

/// The metrics of other services, whose own tests compare them with the board and the alerts.
const OTHER_SERVICES: [&str; 2] = ["oarlock_milter_", "oarlock_proxy_"];

/// Returns the metrics of a server that a text names.
fn named(text: &str) -> BTreeSet<&str> {
    let is_of_name = |letter: char| letter.is_ascii_lowercase() || letter == '_';
    let words = text.split(|letter| !is_of_name(letter));
    let is_of_server = |word: &&str| !OTHER_SERVICES.iter().any(|prefix| word.starts_with(prefix));
    let named = words.filter(|word| word.starts_with("oarlock_") || word.starts_with("process_"));
    named.filter(is_of_server).collect()
}

/// Returns the expressions of all panels and variables of the board.
fn expressions(board: &Value) -> Vec<&str> {
    match board {
        Value::Object(fields) => fields
            .iter()
            .flat_map(|(name, value)| match value {
                Value::String(text) if name == "expr" || name == "definition" => vec![text.as_str()],
                value => expressions(value),
            })
            .collect(),
        Value::Array(items) => items.iter().flat_map(expressions).collect(),
        _ => Vec::new(),
    }
}

async fn declared_metrics() -> BTreeSet<String> {
    // No module is there, and the metrics of the device are.
    let device = "module = '/nonexistent/module.so'\ntoken = 'none'\nisolate = false";
    let server = TestServer::with(|config, _| {
        config.listen.metrics = Some("127.0.0.1:0".parse().unwrap());
        config.devices = vec![toml::from_str(device).unwrap()];
    })
    .await;
    let mut stream = TcpStream::connect(server.addresses.metrics.unwrap()).await.unwrap();
    stream.write_all(b"GET /metrics HTTP/1.1\r\nhost: test\r\n\r\n").await.unwrap();
    let mut page = String::new();
    stream.read_to_string(&mut page).await.unwrap();
    let types = page.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '));
    let names = types.flat_map(|(name, kind)| {
        let ends: &[&str] = if kind == "histogram" { &["_bucket", "_sum", "_count"] } else { &[""] };
        ends.iter().map(move |end| format!("{name}{end}"))
    });
    names.collect()
}

#[tokio::test]
async fn every_metric_of_the_board_and_the_alerts_exists() {
    let declared = declared_metrics().await;
    let board: Value = serde_json::from_str(BOARD).unwrap();
    let expressions = expressions(&board).join("\n");
    for (text, min) in [(RULES, 10), (expressions.as_str(), 25)] {
        let names = named(text);
        assert!(names.len() >= min, "{names:?}");
        let absent: Vec<_> = names.iter().filter(|name| !declared.contains(**name)).collect();
        assert!(absent.is_empty(), "{absent:?}");
    }
}

#[test]
fn the_panels_of_the_board_do_not_overlap_and_have_a_title() {
    let board: Value = serde_json::from_str(BOARD).unwrap();
    let mut taken = BTreeSet::new();
    let mut ids = BTreeSet::new();
    for panel in board["panels"].as_array().unwrap() {
        assert!(!panel["title"].as_str().unwrap().is_empty() && ids.insert(panel["id"].as_u64().unwrap()));
        let [x, y, w, h] = ["x", "y", "w", "h"].map(|field| panel["gridPos"][field].as_u64().unwrap());
        assert!(x + w <= 24, "{panel}");
        for cell in (x..x + w).flat_map(|x| (y..y + h).map(move |y| (x, y))) {
            assert!(taken.insert(cell), "{panel}");
        }
        assert_eq!(panel["type"] == "row", panel["targets"].is_null());
    }
}

#[test]
fn promtool_accepts_the_alerts() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../packaging/prometheus-rules.yaml");
    match Command::new("promtool").args(["check", "rules"]).arg(&path).output() {
        Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => println!("SKIPPED: promtool: {error}"),
    }
    assert_eq!(RULES.matches("- alert:").count(), RULES.matches("severity:").count());
}
