//! Tests of the dashboard over HTTP.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::Duration;

use oarlock::{Input, Job, SigningScheme, keys::import};
use oarlock_server::CryptoserverConfig;
use oarlock_wire::proto::request;
use oarlock_wire::{ServerLink, jobs};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use crate::test_server::{TestServer, engines, open_resident};

/// The maximum time of a test, so that a test that hangs ends.
const DEADLINE: Duration = Duration::from_secs(120);

async fn shown(change: impl FnOnce(&mut CryptoserverConfig)) -> TestServer {
    TestServer::with(|config, _| {
        config.listen.dashboard = Some("127.0.0.1:0".parse().unwrap());
        // The page tests the engines, and the lanes of a test program take long.
        config.engines.allowed = Some(vec!["scalar".to_owned()]);
        change(config);
    })
    .await
}

struct Answer {
    status: u16,
    headers: HashMap<String, String>,
    body: String,
}

async fn ask(address: SocketAddr, method: &str, path: &str, host: &str) -> Answer {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(format!("{method} {path} HTTP/1.1\r\nhost: {host}\r\n\r\n").as_bytes()).await.unwrap();
    let mut response = String::new();
    timeout(DEADLINE, stream.read_to_string(&mut response)).await.unwrap().unwrap();
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let headers = lines.map(|line| line.split_once(": ").unwrap());
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    Answer { status, headers, body: body.to_owned() }
}

async fn get(server: &TestServer, path: &str) -> Answer {
    ask(server.addresses.dashboard.unwrap(), "GET", path, "localhost:9091").await
}

async fn data(server: &TestServer) -> Value {
    let answer = get(server, "/data.json").await;
    assert_eq!((answer.status, &*answer.headers["content-type"]), (200, "application/json"));
    serde_json::from_str(&answer.body).unwrap()
}

/// Reads documents until a condition is true.
async fn until(server: &TestServer, is_there: impl Fn(&Value) -> bool) -> Value {
    let look = async {
        loop {
            let document = data(server).await;
            if is_there(&document) {
                return document;
            }
        }
    };
    timeout(DEADLINE, look).await.unwrap()
}

fn row<'d>(rows: &'d Value, field: &str, value: &str) -> &'d Value {
    let found = rows.as_array().unwrap().iter().find(|row| row[field] == value);
    found.unwrap_or_else(|| panic!("no row with {field} {value} in {rows}"))
}

#[tokio::test]
async fn serves_a_page_that_loads_nothing_from_elsewhere() {
    let server = shown(|_| {}).await;
    for (path, content_type) in [
        ("/", "text/html; charset=utf-8"),
        ("/dashboard.css", "text/css; charset=utf-8"),
        ("/dashboard.js", "text/javascript; charset=utf-8"),
        ("/icon.svg", "image/svg+xml"),
        ("/data.json", "application/json"),
    ] {
        let answer = get(&server, path).await;
        assert_eq!((answer.status, &*answer.headers["content-type"]), (200, content_type), "{path}");
        let policy = &answer.headers["content-security-policy"];
        assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{policy}");
        assert!(!policy.contains("unsafe") && policy.contains("frame-ancestors 'none'"), "{policy}");
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("cache-control", "no-store"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-resource-policy", "same-origin"),
        ] {
            assert_eq!(answer.headers[name], value, "{path}");
        }
        // The namespace of SVG is a name and not an address.
        let text = answer.body.replace("http://www.w3.org/2000/svg", "");
        assert!(!text.contains("http:") && !text.contains("https:") && !text.contains("url("), "{path}");
    }
    let page = get(&server, "/").await.body;
    assert!(!page.contains("<style") && !page.contains(" style=") && !page.contains(" on"), "{page}");
    for part in page.split(['"']).filter(|part| part.starts_with('/')) {
        assert_eq!(get(&server, part).await.status, 200, "{part}");
    }
    let scripts = page.matches("<script").count();
    assert_eq!((scripts, page.matches("<script src=\"/").count()), (1, 1));
}

#[tokio::test]
async fn answers_only_what_it_must() {
    let server = shown(|_| {}).await;
    let address = server.addresses.dashboard.unwrap();
    let posted = ask(address, "POST", "/data.json", "localhost").await;
    assert_eq!((posted.status, &*posted.headers["allow"]), (405, "GET, HEAD"));
    let head = ask(address, "HEAD", "/", "localhost").await;
    assert_eq!((head.status, &*head.body), (200, ""));
    let absent = get(&server, "/metrics").await;
    assert!(absent.status == 404 && absent.body.contains("/data.json"), "{}", absent.body);
    // A stranger's page under a name that leads to this address must not read the data.
    for path in ["/", "/data.json"] {
        let foreign = ask(address, "GET", path, "attacker.example:9091").await;
        assert_eq!(foreign.status, 421, "{path}");
        assert!(!foreign.body.contains("version") && foreign.body.contains("localhost"), "{}", foreign.body);
    }
    let nameless = {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(b"GET /data.json HTTP/1.0\r\n\r\n").await.unwrap();
        let mut response = String::new();
        timeout(DEADLINE, stream.read_to_string(&mut response)).await.unwrap().unwrap();
        response
    };
    assert!(nameless.starts_with("HTTP/1.0 421"), "{nameless}");
}

#[tokio::test]
async fn shows_operations_keys_clients_refusals_and_certificates() {
    let server = shown(|config| config.grants[0].keys = vec!["ed25519".into()]).await;
    let first = data(&server).await;
    assert_eq!(
        (&first["operations"], &first["history"]["cores"]),
        (&serde_json::json!([]), &serde_json::json!([]))
    );
    let link = ServerLink::open(&server.tls()).await.unwrap();
    let edwards = import::spki_der(&open_resident(&link, 0, "ed25519").await.public_key).unwrap();
    let job = Job::sign(SigningScheme::ED25519, &edwards, Input::Message(b"message"));
    for _ in 0..3 {
        let jobs = jobs::write(std::iter::repeat_n((job, 0), 40)).unwrap();
        link.call(request::Body::Jobs(jobs)).await.unwrap();
    }
    let denied = request::Body::OpenKey(oarlock_wire::proto::OpenKey {
        handle: 1,
        source: Some(oarlock_wire::proto::open_key::Source::Resident("rsa2048".into())),
        ..Default::default()
    });
    link.call(denied).await.unwrap_err();
    // The rate is that of ten seconds, and the self tests of the engines may take longer.
    let is_rated = |row: &Value| row["per_s"].as_f64().is_some_and(|rate| rate > 0.0);
    until(&server, |document| document["operations"].as_array().unwrap().iter().any(is_rated)).await;
    let document = until(&server, |document| {
        let has = |name: &str| document[name].as_array().is_some_and(|rows| !rows.is_empty());
        has("operations") && has("refusals") && has("engines") && has("shapes") && has("batches")
    })
    .await;
    let operation = row(&document["operations"], "operation", "ed25519-sign");
    assert_eq!((&operation["done"], &operation["not_done"]), (&120.into(), &0.into()), "{operation}");
    let shape = row(&document["shapes"], "shape", "ed25519-sign");
    assert!(shape["total"].as_u64() >= Some(120) && shape["waiting"] == 0, "{shape}");
    assert_eq!(row(&document["keys"]["used"], "key", "ed25519")["operations"], 120);
    assert_eq!(row(&document["keys"]["used"], "key", "rsa2048")["operations"], 0);
    assert_eq!(document["keys"]["asymmetric"], 4);
    let client = row(&document["clients"]["listed"], "client", "dns:developer.oarlock.test");
    assert_eq!(client["connections"], 1);
    let refusal = document["refusals"].as_array().unwrap();
    assert!(refusal.iter().any(|row| row["total"] == 1), "{refusal:?}");
    let certificate = row(&document["certificates"], "setting", "certificate");
    assert!(certificate["seconds_left"].as_i64().unwrap() > 86_400);
    let scalar = row(&document["engines"], "engine", "scalar");
    assert!(scalar["passed"].as_u64().unwrap() > 10 && scalar["failed"] == serde_json::json!([]), "{scalar}");
    let batches = document["batches"].as_array().unwrap();
    let operations = |batch: &Value| {
        batch["sizes"].as_array().unwrap().iter().map(|size| size[1].as_u64().unwrap()).sum::<u64>()
    };
    assert!(batches.iter().map(operations).sum::<u64>() >= 1, "{batches:?}");
    assert_eq!(document["refusal"], Value::Null);
    for rate in ["operations_per_s", "requests_per_s", "cores", "resident_bytes", "connections"] {
        assert!(document["rates"][rate].is_number(), "{rate}");
    }
}

#[tokio::test]
async fn clients_that_never_read_and_never_send_do_not_hinder_others() {
    let server = shown(|_| {}).await;
    let address = server.addresses.dashboard.unwrap();
    let mut deaf = Vec::new();
    for number in 0..200 {
        let mut stream = TcpStream::connect(address).await.unwrap();
        if number % 2 == 0 {
            stream.write_all(b"GET /data.json HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
        }
        deaf.push(stream);
    }
    assert_eq!(get(&server, "/").await.status, 200);
    // Of the silent connections the oldest were cut, so that their number is bounded.
    let mut cut = 0;
    for stream in deaf.iter_mut().skip(1).step_by(2).take(30) {
        let mut byte = [0];
        cut +=
            usize::from(matches!(timeout(DEADLINE, stream.read(&mut byte)).await.unwrap(), Ok(0) | Err(_)));
    }
    assert_eq!(cut, 30);
}

#[tokio::test]
async fn a_server_runs_without_its_dashboard_if_the_address_is_taken() {
    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = taken.local_addr().unwrap();
    let server = shown(|config| config.listen.dashboard = Some(address)).await;
    assert_eq!(server.addresses.dashboard, None);
    let link = ServerLink::open(&server.tls()).await.unwrap();
    open_resident(&link, 0, "ed25519").await;
}

#[tokio::test]
async fn refuses_an_address_that_other_machines_reach() {
    let directory = tempfile::tempdir().unwrap();
    let development = oarlock_server::development::Development::at(directory.path());
    development.prepare().unwrap();
    let mut config = CryptoserverConfig::read(&development.config()).unwrap();
    assert_eq!(config.listen.dashboard, Some("127.0.0.1:9091".parse().unwrap()), "it is on for trials");
    for address in ["0.0.0.0:9091", "192.0.2.1:9091", "[::]:9091"] {
        config.listen.dashboard = Some(address.parse().unwrap());
        let error = oarlock_server::check(&config, engines()).unwrap_err().to_string();
        assert!(error.contains("expected a loopback address") && error.contains("ssh -L 9091"), "{error}");
    }
    config.listen.dashboard = Some("[::1]:9091".parse().unwrap());
    config.check().unwrap();
}
