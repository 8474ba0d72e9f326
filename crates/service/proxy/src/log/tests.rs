use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::yield_now;
use std::time::{Duration, Instant};

use rustls::AlertDescription;
use serde_json::Value;

use super::line::format;
use super::*;
use crate::certificate::RecordedHello;
use crate::counters::{EndKind, HandshakeLabels, RefusalReason};
use crate::record::{RecordedAlert, RecordedTls};

/// A bound on waits. It only ends a test that would wait forever.
const DEADLINE: Duration = Duration::from_secs(120);

fn settings(file: &Path, max_queue_bytes: usize) -> LogSettings {
    LogSettings {
        connections: LoggedConnections::All,
        file: Some(file.to_owned()),
        format: LineFormat::Text,
        max_queue_bytes,
    }
}

fn open(settings: &LogSettings) -> ConnectionLog {
    let log = ConnectionLog::default();
    log.apply(settings, LogSink::open(settings).unwrap()).unwrap();
    log
}

fn wait_until(is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < DEADLINE, "the condition does not come true");
        yield_now();
    }
}

/// Returns a record whose route is a number.
fn numbered(number: usize) -> ConnectionRecord {
    let mut record = ConnectionRecord::new(None);
    record.route = Some(number.to_string().into());
    record.finish(EndKind::Complete, None);
    record
}

fn numbers(text: &str) -> Vec<usize> {
    let number = |line: &str| {
        let rest = line.split_once("route=").unwrap_or_else(|| panic!("{line:?}")).1;
        rest.split_once(' ').unwrap().0.parse().unwrap()
    };
    text.lines().map(number).collect()
}

fn full_record(name: &str) -> ConnectionRecord {
    let mut record = ConnectionRecord::new(Some("[2001:db8::1]:5".parse().unwrap()));
    record.balancer = Some(SocketAddr::from(([192, 0, 2, 1], 6)));
    record.listener = Some(name.into());
    let (server_name, certificate) = (Some(name.into()), Some(Arc::from(name)));
    record.hello.set(RecordedHello { server_name, certificate }).unwrap();
    let labels = HandshakeLabels { version: "TLSv1.3", group: "X25519MLKEM768".to_owned(), is_resumed: true };
    record.tls = Some(RecordedTls { labels, cipher: Some("TLS_AES_128_GCM_SHA256".into()) });
    record.client_name = Some(name.into());
    record.alpn = Some(name.as_bytes().into());
    record.finish_handshake();
    record.route = Some(name.into());
    record.backend = Some(name.into());
    record.endpoint = Some(name.into());
    record.tries = 2;
    record.finish_connect();
    record.bytes.to_backend.store(3, Relaxed);
    record.bytes.to_client.store(u64::MAX, Relaxed);
    record.refuse(RefusalReason::Backend, &name);
    record.alert = Some(RecordedAlert::Sent(AlertDescription::UnknownCA));
    record
}

fn names_of_text(line: &str) -> Vec<&str> {
    line.split(' ').filter_map(|field| field.split_once('=')).map(|(name, _)| name).collect()
}

#[test]
fn both_forms_have_the_same_fields_in_the_same_order() {
    let record = full_record("name");
    let text = String::from_utf8(format(&record, LineFormat::Text)).unwrap();
    let json = String::from_utf8(format(&record, LineFormat::Json)).unwrap();
    let expected = [
        "time",
        "end",
        "reason",
        "error",
        "alert_sent",
        "listener",
        "client",
        "balancer",
        "sni",
        "certificate",
        "version",
        "cipher",
        "group",
        "resumed",
        "client_name",
        "alpn",
        "route",
        "backend",
        "endpoint",
        "tries",
        "bytes_to_backend",
        "bytes_to_client",
        "handshake_us",
        "connect_us",
        "total_us",
    ];
    assert_eq!(names_of_text(text.trim_end()), expected);
    let positions: Vec<_> = expected.iter().map(|name| json.find(&format!("\"{name}\":")).unwrap()).collect();
    assert!(positions.is_sorted(), "{json}");
    let value: BTreeMap<String, Value> = serde_json::from_str(&json).unwrap();
    assert_eq!(value.len(), expected.len());
    assert_eq!((&value["end"], &value["reason"]), (&"refused".into(), &"backend".into()));
    assert_eq!((&value["resumed"], &value["tries"]), (&true.into(), &2.into()));
    assert_eq!(value["bytes_to_client"], u64::MAX);
    assert_eq!((&value["client"], &value["balancer"]), (&"[2001:db8::1]:5".into(), &"192.0.2.1:6".into()));
    assert!(value["total_us"].as_u64() >= value["handshake_us"].as_u64());
    assert!(
        text.contains(" client=[2001:db8::1]:5 balancer=192.0.2.1:6 ")
            && text.contains(" alert_sent=UnknownCA ")
    );
}

#[test]
fn names_of_any_characters_give_one_line_without_escapes_for_terminals() {
    let names = [
        String::new(),
        "a b".to_owned(),
        "a=b".to_owned(),
        "\"quoted\" \\ 'name'".to_owned(),
        "line\r\nend=complete client=192.0.2.9:1\u{2028}\u{85}".to_owned(),
        "\u{1b}[2J\u{1b}]0;title\u{7}\u{9b}31m".to_owned(),
        "\u{202e}moc.elpmaxe\u{2066}\u{200b}".to_owned(),
        "\0".repeat(255),
        "ü".repeat(127),
        "x".repeat(10_000),
        "😀日本".to_owned(),
    ];
    for name in names {
        let record = full_record(&name);
        let shown: String = match name.chars().count() {
            0..=256 => name.clone(),
            _ => name.chars().take(256).chain("...".chars()).collect(),
        };
        for form in [LineFormat::Text, LineFormat::Json] {
            let line = String::from_utf8(format(&record, form)).unwrap();
            let line = line.strip_suffix('\n').unwrap();
            assert!(!line.contains(char::is_control), "{line}");
            assert!(!line.contains(['\u{2028}', '\u{202e}', '\u{2066}', '\u{200b}']), "{line}");
            assert!(line.len() < 10 * 6 * 260, "{}", line.len());
        }
        let value: Value = serde_json::from_slice(&format(&record, LineFormat::Json)).unwrap();
        for field in ["sni", "client_name", "alpn", "route", "certificate", "error"] {
            assert_eq!(value[field], shown.as_str(), "{field}");
        }
        // A value of logfmt with quotes is a JSON string, too.
        let text = String::from_utf8(format(&record, LineFormat::Text)).unwrap();
        let value = text.split_once(" sni=").unwrap().1.split_once(" certificate=").unwrap().0;
        let is_quoted = value.starts_with('"');
        let read = if is_quoted { serde_json::from_str(value).unwrap() } else { value.to_owned() };
        assert_eq!(read, shown);
    }
}

#[test]
fn only_the_connections_of_the_settings_get_a_line() {
    let directory = tempfile::tempdir().unwrap();
    for (connections, expected) in [
        (LoggedConnections::All, vec![0, 1, 2, 3, 4, 5, 6, 7]),
        (LoggedConnections::Failed, vec![1, 2, 3, 4, 5, 6, 7]),
    ] {
        let file = directory.path().join(format!("{connections:?}"));
        let log = open(&LogSettings { connections, ..settings(&file, 1 << 20) });
        for (number, kind) in EndKind::ALL.into_iter().enumerate() {
            let mut record = numbered(number);
            record.finish(kind, None);
            log.write(&record);
        }
        let mut record = numbered(6);
        record.refuse(RefusalReason::Left, &"left");
        log.write(&record);
        // A task that was dropped.
        let mut record = ConnectionRecord::new(None);
        record.route = Some("7".into());
        log.write(&record);
        log.close();
        assert_eq!(numbers(&fs::read_to_string(&file).unwrap()), expected);
        assert_eq!(log.lines(), (expected.len() as u64, 0));
    }
    let none = LogSettings {
        connections: LoggedConnections::None,
        ..settings(&directory.path().join("none"), 1 << 20)
    };
    let log = open(&none);
    log.write(&numbered(0));
    log.close();
    assert_eq!((log.lines(), directory.path().join("none").exists()), ((0, 0), false));
}

#[test]
fn lines_of_many_threads_are_whole_through_rotations() {
    const THREADS: usize = 8;
    const LINES: usize = 2_000;
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("connections.log");
    let settings = settings(&file, 64 << 20);
    let log = open(&settings);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let log = &log;
            scope.spawn(move || (0..LINES).for_each(|line| log.write(&numbered(thread * LINES + line))));
        }
        for rotation in 0..20 {
            fs::rename(&file, directory.path().join(rotation.to_string())).unwrap();
            log.apply(&settings, LogSink::open(&settings).unwrap()).unwrap();
        }
    });
    log.close();
    let mut found = Vec::new();
    for entry in fs::read_dir(directory.path()).unwrap() {
        found.extend(numbers(&fs::read_to_string(entry.unwrap().path()).unwrap()));
    }
    found.sort_unstable();
    assert_eq!(found, (0..THREADS * LINES).collect::<Vec<_>>());
    assert_eq!(log.lines(), ((THREADS * LINES) as u64, 0));
}

#[test]
fn a_full_disk_loses_lines_beyond_the_queue_and_the_next_file_gets_those_that_waited() {
    let directory = tempfile::tempdir().unwrap();
    let log = open(&settings(Path::new("/dev/full"), 1 << 16));
    let mut tried = 0;
    while log.lines().1 < 10 {
        log.write(&numbered(tried));
        tried += 1;
    }
    // The disk has space again, here as another file.
    let file = directory.path().join("connections.log");
    let settings = settings(&file, 1 << 16);
    log.apply(&settings, LogSink::open(&settings).unwrap()).unwrap();
    wait_until(|| log.lines().0 > 0);
    log.write(&numbered(tried));
    log.close();
    let (written, lost) = log.lines();
    let found = numbers(&fs::read_to_string(&file).unwrap());
    assert_eq!((written, written + lost), (found.len() as u64, tried as u64 + 1));
    // The line after the loss is there, and so are those before it, in their order.
    assert!(found.is_sorted() && found.last() == Some(&tried), "{found:?}");
    assert!(found.iter().copied().take(100).eq(0..100), "{found:?}");
}

#[test]
fn a_pipe_without_a_reader_blocks_nobody() {
    let directory = tempfile::tempdir().unwrap();
    let pipe = directory.path().join("pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    let log = open(&settings(&pipe, 1 << 16));
    let mut tried = 0;
    // The pipe takes 64 KiB and so does the queue. The rest is lost.
    while log.lines().1 < 10 {
        log.write(&numbered(tried));
        tried += 1;
    }
    let mut reader = fs::File::options()
        .read(true)
        .custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed())
        .open(&pipe)
        .unwrap();
    let (mut text, mut piece) = (Vec::new(), [0; 4096]);
    wait_until(|| log.lines().0 > 0);
    while let Ok(read @ 1..) = reader.read(&mut piece) {
        text.extend_from_slice(&piece[..read]);
    }
    log.close();
    while let Ok(read @ 1..) = reader.read(&mut piece) {
        text.extend_from_slice(&piece[..read]);
    }
    let (written, lost) = log.lines();
    let found = numbers(&String::from_utf8(text).unwrap());
    assert_eq!((written, written + lost), (found.len() as u64, tried as u64));
    assert!(found.is_sorted() && found.iter().copied().take(100).eq(0..100), "{found:?}");
}

#[test]
fn half_a_line_at_the_end_of_a_file_is_ended_before_the_next() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("connections.log");
    for before in ["", "half a li", "a line\n"] {
        fs::write(&file, before).unwrap();
        let log = open(&settings(&file, 1 << 20));
        log.write(&numbered(7));
        log.close();
        let text = fs::read_to_string(&file).unwrap();
        let end = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
        let rest = text.strip_prefix(&format!("{before}{end}")).unwrap();
        assert_eq!(numbers(rest), [7]);
    }
}

#[test]
fn settings_that_name_no_possible_file_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let existing = directory.path().join("file");
    fs::write(&existing, "").unwrap();
    for wrong in ["absent/file", "file/below", ""] {
        let settings = settings(&directory.path().join(wrong), 1 << 20);
        assert!(LogSink::check(&settings).is_err() && LogSink::open(&settings).is_err(), "{wrong}");
    }
    let settings = settings(&directory.path().join("new"), 1 << 20);
    LogSink::check(&settings).unwrap();
    assert!(!directory.path().join("new").exists());
}
