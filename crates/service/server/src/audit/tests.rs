//! Tests with disks that are slow, full, broken or moved.

use std::fs::{self, File};
use std::io::{PipeReader, Read, pipe};
use std::os::fd::OwnedFd;
use std::path::Path;

use oarlock_wire::proto::Code;
use rustix::fs::{OFlags, fcntl_setfl};
use serde_json::Value;

use super::*;
use crate::config::AuditFailure;
use crate::identity::ClientIdentity;

const QUEUE: usize = 1 << 16;

pub(super) fn config(path: &Path, on_failure: AuditFailure) -> config::AuditConfig {
    config::AuditConfig { max_queue_bytes: QUEUE, ..config::AuditConfig::at(path.to_owned(), on_failure) }
}

pub(super) fn origin() -> AuditOrigin {
    AuditOrigin::new(&ClientIdentity::loopback())
}

pub(super) fn done(key: &str) -> AuditedOperation<'_> {
    AuditedOperation { key, operation: "ed25519-sign", count: 1, verdict: Code::Done }
}

pub(super) fn reserve(audit: &AuditLog) -> Result<Reservation, AuditError> {
    audit.reserve(&Arc::default(), max_entry_bytes(&origin(), "key", "ed25519-sign", 1))
}

/// Opens a log whose queue has this number of bytes.
pub(super) fn with_queue(directory: &Path, max_queue_bytes: usize, on_failure: AuditFailure) -> AuditLog {
    let config =
        config::AuditConfig { max_queue_bytes, ..config::AuditConfig::at(directory.join("log"), on_failure) };
    AuditLog::open(Some(&config)).unwrap()
}

pub(super) fn sign(audit: &AuditLog, number: u64) -> Result<(), AuditError> {
    reserve(audit)?.commit(&origin(), number, &[done("key")])
}

/// Opens a log in a full pipe. The writer waits in the kernel, or gets an error if the pipe does not block.
fn stalled(on_failure: AuditFailure, flags: OFlags) -> (AuditLog, PipeReader) {
    stalled_with(config(Path::new("a pipe"), on_failure), flags)
}

fn stalled_with(config: config::AuditConfig, flags: OFlags) -> (AuditLog, PipeReader) {
    let (reader, writer) = pipe().unwrap();
    let file = File::from(OwnedFd::from(writer));
    fcntl_setfl(&file, OFlags::NONBLOCK).unwrap();
    while io::Write::write(&mut &file, &[b'\n'; 512]).is_ok() {}
    fcntl_setfl(&file, flags).unwrap();
    let audit = AuditLog::start(&config, LogFile::of_pipe(file));
    (audit.unwrap(), reader)
}

pub(super) fn lines(text: &[u8]) -> Vec<Value> {
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
}

/// Reads a pipe until its other end is closed.
fn read_all(mut reader: impl Read) -> Vec<u8> {
    let mut text = Vec::new();
    reader.read_to_end(&mut text).unwrap();
    text
}

pub(super) fn requests(lines: &[Value]) -> Vec<u64> {
    lines.iter().filter_map(|line| line["request"].as_u64()).collect()
}

#[test]
fn refuses_work_and_keeps_every_entry_while_the_disk_stalls() {
    let (audit, reader) = stalled(AuditFailure::Stop, OFlags::empty());
    let early = reserve(&audit).unwrap();
    let mut accepted = Vec::new();
    for number in 1_u64.. {
        match sign(&audit, number) {
            Ok(()) => accepted.push(number),
            Err(error) => {
                assert_eq!(error, AuditError::Full);
                break;
            }
        }
    }
    assert!(audit.queue_bytes() <= QUEUE, "{}", audit.queue_bytes());
    assert!(accepted.len() > 100);
    // Space that was reserved before is still available.
    early.commit(&origin(), 0, &[done("key")]).unwrap();
    accepted.push(0);
    let text = std::thread::spawn(move || read_all(reader));
    audit.close();
    assert_eq!(requests(&lines(&text.join().unwrap())), accepted);
    assert_eq!((audit.lost(), audit.queue_bytes()), (0, 0));
}

#[test]
fn leaves_space_for_work_and_counts_every_refusal() {
    let (audit, reader) = stalled(AuditFailure::Stop, OFlags::empty());
    let name = "\u{1}".repeat(1 << 20);
    let refused =
        AuditedOperation { key: &name, operation: "open", count: 1, verdict: Code::PermissionDenied };
    let clients: Vec<AuditOrigin> = (0..100)
        .map(|uid| AuditOrigin::new(&ClientIdentity::from_credentials(uid, 0).with_process(Some(7))))
        .collect();
    for (number, client) in (0_u64..1000).zip(clients.iter().cycle()) {
        audit.refuse(client, number, &[refused]);
    }
    assert!(audit.queue_bytes() <= QUEUE / 4, "{}", audit.queue_bytes());
    sign(&audit, 5000).unwrap();
    let text = std::thread::spawn(move || read_all(reader));
    audit.close();
    let lines = lines(&text.join().unwrap());
    let counts =
        lines.iter().filter(|line| line["operation"] == "open").map(|line| line["count"].as_u64().unwrap());
    assert_eq!(counts.sum::<u64>(), 1000);
    assert!(lines.iter().all(|line| line.to_string().len() < 1000));
    assert!(requests(&lines).contains(&5000));
    assert_eq!(audit.lost(), 0);
}

#[test]
fn gives_an_unused_reservation_back() {
    let directory = tempfile::tempdir().unwrap();
    let audit = with_queue(directory.path(), QUEUE, AuditFailure::Stop);
    let reserve = || audit.reserve(&Arc::default(), QUEUE / 16);
    let all: Vec<_> = std::iter::from_fn(|| reserve().ok()).collect();
    assert_eq!((all.len(), reserve().unwrap_err()), (14, AuditError::Full));
    assert!(!audit.is_behind(), "reservations are not the disk's fault");
    drop(all);
    assert_eq!(audit.queue_bytes(), 0);
    sign(&audit, 1).unwrap();
}

#[test]
fn limits_the_reservations_of_one_client() {
    let directory = tempfile::tempdir().unwrap();
    let queue = 1 << 20;
    let audit = with_queue(directory.path(), queue, AuditFailure::Stop);
    let (greedy, other, max) = (Arc::default(), Arc::default(), queue / 8);
    let taken: Vec<_> = std::iter::from_fn(|| audit.reserve(&greedy, max / 4).ok()).collect();
    assert_eq!(taken.len(), 4);
    assert_eq!(audit.reserve(&greedy, 1).unwrap_err(), AuditError::TooMany { max });
    let needed = max + 1;
    assert_eq!(audit.reserve(&other, needed).unwrap_err(), AuditError::TooLarge { needed, max });
    // Neither error is the disk's fault, and other clients have their space.
    assert!(!audit.is_behind() && !audit.forbids_work());
    audit.reserve(&other, max).unwrap().commit(&origin(), 1, &[done("key")]).unwrap();
    audit.reserve(&other, max).unwrap();
    // Used and dropped reservations are available to the client again.
    for (number, reservation) in (2..).zip(taken).take(2) {
        reservation.commit(&origin(), number, &[done("key")]).unwrap();
    }
    let again: Vec<_> = std::iter::from_fn(|| audit.reserve(&greedy, max / 4).ok()).collect();
    assert_eq!(again.len(), 4);
}

#[test]
fn refuses_no_client_if_entries_may_be_lost() {
    let directory = tempfile::tempdir().unwrap();
    let audit = with_queue(directory.path(), 1 << 20, AuditFailure::Warn);
    let account = Arc::default();
    let reservations: Vec<_> = (0..20).map(|_| audit.reserve(&account, 1 << 17).unwrap()).collect();
    for (number, reservation) in (0..).zip(reservations) {
        reservation.commit(&origin(), number, &[done("key")]).unwrap();
    }
    audit.close();
    assert_eq!(lines(&fs::read(directory.path().join("log")).unwrap()).len(), 20);
}

#[test]
fn distinguishes_a_stalled_disk_from_a_slow_one() {
    let (audit, reader) = stalled(AuditFailure::Stop, OFlags::empty());
    assert!(!audit.is_behind());
    while sign(&audit, 1).is_ok() {}
    // The disk has not failed, so requests are still tried.
    assert!(audit.is_behind() && !audit.forbids_work());
    let text = std::thread::spawn(move || read_all(reader));
    while audit.is_behind() {
        std::thread::yield_now();
    }
    sign(&audit, 2).unwrap();
    audit.close();
    text.join().unwrap();
    let (audit, _reader) = stalled(AuditFailure::Warn, OFlags::empty());
    (0..1000).for_each(|number| sign(&audit, number).unwrap());
    assert!(!audit.is_behind(), "work continues without entries");
}

#[test]
fn keeps_repeated_refusals_of_many_clients_within_the_queue() {
    let config =
        config::AuditConfig { max_queue_bytes: 1 << 20, ..config(Path::new("a pipe"), AuditFailure::Stop) };
    let (audit, reader) = stalled_with(config, OFlags::empty());
    let name = "\u{1}".repeat(64);
    let refused =
        AuditedOperation { key: &name, operation: "open", count: 1, verdict: Code::PermissionDenied };
    for client in 0..1000 {
        let names = (0..16).map(|at| format!("dns:{client}-{at}-{}", "x".repeat(240))).collect();
        let origin = AuditOrigin::new(&ClientIdentity::from_names(names));
        (0..40).for_each(|number| audit.refuse(&origin, number, &[refused]));
    }
    let text = std::thread::spawn(move || read_all(reader));
    audit.close();
    let text = text.join().unwrap();
    assert!(text.len() < (1 << 18) + (1 << 17), "{} bytes", text.len());
    let counts = lines(&text).iter().map(|line| line["count"].as_u64().unwrap()).sum::<u64>();
    assert_eq!((counts, audit.lost()), (40_000, 0));
}

#[test]
fn refuses_entries_after_the_log_is_closed() {
    let directory = tempfile::tempdir().unwrap();
    for (on_failure, expected) in
        [(AuditFailure::Stop, Err(AuditError::Closed)), (AuditFailure::Warn, Ok(()))]
    {
        let path = directory.path().join("log");
        let audit = AuditLog::open(Some(&config(&path, on_failure))).unwrap();
        let late = reserve(&audit).unwrap();
        audit.close();
        assert_eq!(late.commit(&origin(), 1, &[done("key")]), expected);
        assert_eq!(fs::read(&path).unwrap(), b"");
    }
}

/// The pipe has space for some lines and a part of the next. Entries may be lost.
#[test]
fn ends_half_a_line_before_the_next_line() {
    let (audit, mut reader) = stalled(AuditFailure::Warn, OFlags::NONBLOCK);
    sign(&audit, 0).unwrap();
    while audit.lost() == 0 {
        std::thread::yield_now();
    }
    // A pipe has space in pages, and accepts a long write in parts. pipe(7)
    let mut page = vec![0; 8192];
    reader.read_exact(&mut page).unwrap();
    let many = vec![done("key"); 150];
    audit.reserve(&Arc::default(), QUEUE / 2).unwrap().commit(&origin(), 1, &many).unwrap();
    while audit.lost() == 1 {
        std::thread::yield_now();
    }
    // Everything is read, so that there is space for the last lines.
    fcntl_setfl(&reader, OFlags::NONBLOCK).unwrap();
    let _ = reader.read_to_end(&mut page);
    audit.close();
    fcntl_setfl(&reader, OFlags::empty()).unwrap();
    let text = [page, read_all(reader)].concat();
    let (mut whole, mut halves, mut named) = (0, 0, 0);
    for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        match serde_json::from_slice::<Value>(line) {
            Ok(line) if line["event"] == "lost" => named += line["count"].as_u64().unwrap(),
            Ok(_) => whole += 1,
            Err(_) => halves += 1,
        }
    }
    assert!(halves >= 1, "no line was cut, so the test has tested nothing");
    assert_eq!(named, audit.lost(), "every lost entry is reported");
    assert!(whole > 0);
}

#[test]
fn ends_half_a_line_of_a_former_server_before_the_first_entry() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log");
    fs::write(&path, "{\"time_ms\":1}\n{\"time").unwrap();
    let audit = AuditLog::open(Some(&config(&path, AuditFailure::Stop))).unwrap();
    sign(&audit, 1).unwrap();
    audit.close();
    let text = fs::read_to_string(&path).unwrap();
    let last = text.lines().last().unwrap();
    assert!(text.starts_with("{\"time_ms\":1}\n{\"time\n{"), "{text}");
    assert_eq!(requests(&lines(last.as_bytes())), [1]);
}

#[test]
fn leaves_a_full_disk_for_a_new_file_with_complete_lines() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log");
    std::os::unix::fs::symlink("/dev/full", &path).unwrap();
    let audit = AuditLog::open(Some(&config(&path, AuditFailure::Stop))).unwrap();
    let accepted: Vec<u64> = (0..10).filter(|number| sign(&audit, *number).is_ok()).collect();
    fs::remove_file(&path).unwrap();
    audit.replace(audit.open_again().unwrap());
    audit.close();
    let text = fs::read(&path).unwrap();
    assert_eq!(requests(&lines(&text)), accepted);
    assert_eq!(audit.lost(), 0);
}

#[test]
fn keeps_the_former_file_if_the_new_one_cannot_be_opened() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("logs/log");
    fs::create_dir(path.parent().unwrap()).unwrap();
    let audit = AuditLog::open(Some(&config(&path, AuditFailure::Stop))).unwrap();
    let moved = directory.path().join("moved");
    fs::rename(path.parent().unwrap(), &moved).unwrap();
    assert_eq!(audit.open_again().unwrap_err().kind(), io::ErrorKind::NotFound);
    sign(&audit, 3).unwrap();
    audit.close();
    assert_eq!(requests(&lines(&fs::read(moved.join("log")).unwrap())), [3]);
}
