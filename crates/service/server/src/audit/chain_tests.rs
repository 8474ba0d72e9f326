//! Tests of the chain of a log: over restarts, rotations, crashes and disks that fail.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write, pipe};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};

use rustix::fs::{OFlags, fcntl_setfl};
use rustix::time::{ClockId, clock_gettime};

use super::tests::{config, done, lines, origin, requests, reserve, sign, with_queue};
use super::*;
use crate::audit_chain::{
    BreakKind, ChainReport, ChainVerifier, LineHash, NoteKind, chain_end_path, read_chain_end,
};
use crate::config::AuditFailure;

fn open(path: &Path) -> AuditLog {
    AuditLog::open(Some(&config(path, AuditFailure::Stop))).unwrap()
}

/// Starts a server's log, writes entries, and stops it.
fn run(path: &Path, numbers: std::ops::Range<u64>) {
    let audit = open(path);
    numbers.for_each(|number| sign(&audit, number).unwrap());
    audit.close();
}

fn verify(files: &[PathBuf]) -> ChainReport {
    let last = files.iter().find_map(|file| read_chain_end(file).unwrap());
    let mut verifier = ChainVerifier::new(None, last);
    for file in files {
        verifier.read(file.file_name().unwrap().to_str().unwrap(), &mut &*fs::read(file).unwrap()).unwrap();
    }
    verifier.finish()
}

fn notes(report: &ChainReport) -> Vec<NoteKind> {
    report.notes.iter().map(|note| note.kind).collect()
}

fn last_line(path: &Path) -> String {
    fs::read_to_string(path).unwrap().lines().last().unwrap().to_owned()
}

#[test]
fn the_chain_goes_on_over_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log");
    run(&path, 0..3);
    assert_eq!(read_chain_end(&path).unwrap(), Some(LineHash::from_line(last_line(&path).as_bytes())));
    run(&path, 3..6);
    let report = verify(std::slice::from_ref(&path));
    assert!(report.is_whole && report.notes.is_empty(), "{report:?}");
    assert_eq!((report.entries, report.first), (6, Some(LineHash::NONE)));
}

#[test]
fn the_chain_goes_on_in_a_new_file_after_a_rotation_without_a_server() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log");
    run(&path, 0..3);
    let former = directory.path().join("log.1");
    fs::rename(&path, &former).unwrap();
    // A server that writes nothing changes nothing.
    run(&path, 0..0);
    run(&path, 3..5);
    for files in [[former.clone(), path.clone()], [path.clone(), former]] {
        let report = verify(&files);
        assert!(report.is_whole && report.notes.is_empty(), "{report:?}");
        assert_eq!(report.entries, 5);
    }
    assert!(verify(std::slice::from_ref(&path)).is_whole);
}

#[test]
fn the_chain_goes_on_after_a_crash() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log");
    run(&path, 0..3);
    // A server that was killed leaves half a line and no hash beside the log.
    fs::remove_file(chain_end_path(&path)).unwrap();
    OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"time_ms\":12,\"ev").unwrap();
    let report = verify(std::slice::from_ref(&path));
    assert_eq!((report.is_whole, notes(&report)), (true, vec![NoteKind::HalfLine]));
    run(&path, 3..5);
    let report = verify(std::slice::from_ref(&path));
    assert!(report.is_whole, "{report:?}");
    assert_eq!((report.entries, report.files[0].torn, notes(&report)), (6, 1, vec![NoteKind::Cut]));
    // The entry `cut` protects the half line too.
    let text = fs::read_to_string(&path).unwrap().replace("\"ev\n", "\"et\n");
    fs::write(&path, text).unwrap();
    assert_eq!(verify(std::slice::from_ref(&path)).faults[0].kind, BreakKind::OtherCut);
}

#[test]
fn a_restart_says_that_the_last_entries_were_removed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log");
    run(&path, 0..4);
    let text = fs::read_to_string(&path).unwrap();
    let fewer = text.split_inclusive('\n').take(2).collect::<String>();
    fs::write(&path, fewer).unwrap();
    assert_eq!(verify(std::slice::from_ref(&path)).faults[0].kind, BreakKind::OtherLast);
    run(&path, 4..5);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.lines().nth(2).unwrap().contains("\"event\":\"chain\""), "{text}");
    let report = verify(std::slice::from_ref(&path));
    let fault = &report.faults[0];
    assert_eq!(
        (fault.kind, fault.line, fault.after, report.fault_count),
        (BreakKind::OtherHash, 3, Some(2), 1)
    );
}

#[test]
fn a_log_of_a_server_without_a_chain_is_continued() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log");
    fs::write(&path, "{\"time_ms\":1}\n{\"time_ms\":2}\n").unwrap();
    run(&path, 0..2);
    let report = verify(std::slice::from_ref(&path));
    assert!(report.is_whole, "{report:?}");
    assert_eq!((report.entries, report.files[0].unchained), (4, 2));
    assert_eq!(report.first, Some(LineHash::from_line(b"{\"time_ms\":2}")));
}

#[test]
fn rotations_under_load_lose_nothing_and_keep_the_chain() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log");
    let audit = open(&path);
    let signer = {
        let audit = audit.clone();
        std::thread::spawn(move || {
            (0..20_000).filter(|number| sign(&audit, *number).is_ok()).collect::<Vec<_>>()
        })
    };
    let mut files = Vec::new();
    for turn in 0..10 {
        let former = directory.path().join(format!("log.{turn}"));
        fs::rename(&path, &former).unwrap();
        audit.replace(audit.open_again().unwrap());
        files.push(former);
    }
    let accepted = signer.join().unwrap();
    audit.close();
    files.push(path);
    let report = verify(&files);
    assert!(report.is_whole, "{report:?}");
    // Each file that was opened again has an entry that says so. Two rotations at once are one.
    let reopened = files.iter().map(|file| fs::read_to_string(file).unwrap().matches("\"reopen\"").count());
    assert_eq!(report.entries, (accepted.len() + reopened.sum::<usize>()) as u64);
    let text = files.iter().flat_map(|file| fs::read(file).unwrap()).collect::<Vec<_>>();
    assert_eq!(requests(&lines(&text)), accepted);
}

#[test]
fn the_chain_goes_on_if_the_file_is_truncated_in_place() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log");
    let audit = open(&path);
    (0..5).for_each(|number| sign(&audit, number).unwrap());
    while audit.queue_bytes() > 0 {
        std::thread::yield_now();
    }
    // logrotate's `copytruncate`.
    let copy = directory.path().join("log.1");
    fs::copy(&path, &copy).unwrap();
    OpenOptions::new().write(true).truncate(true).open(&path).unwrap();
    (5..8).for_each(|number| sign(&audit, number).unwrap());
    audit.close();
    let report = verify(&[copy, path]);
    assert!(report.is_whole && report.entries == 8, "{report:?}");
}

/// Run this test alone to read its figure: the processor time of all threads is counted.
#[test]
fn prints_the_processor_time_of_a_line() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log");
    let audit = with_queue(directory.path(), 64 << 20, AuditFailure::Stop);
    let lines = 50_000;
    let (began, origin, account) = (cpu_ns(ClockId::ProcessCPUTime), origin(), Arc::default());
    for number in 0..lines {
        audit.reserve(&account, 512).unwrap().commit(&origin, number, &[done("key")]).unwrap();
    }
    // Closing waits a few seconds only, which is too short for a busy machine. The loop here does not count.
    let before_loop = cpu_ns(ClockId::ThreadCPUTime);
    while audit.queue_bytes() > 0 {
        std::thread::yield_now();
    }
    let of_loop = cpu_ns(ClockId::ThreadCPUTime) - before_loop;
    let ns = cpu_ns(ClockId::ProcessCPUTime) - began - of_loop;
    audit.close();
    println!("{} ns of processor time per line", ns / lines as i64);
    let report = verify(std::slice::from_ref(&path));
    assert_eq!((report.is_whole, report.entries), (true, lines));
}

fn cpu_ns(clock: ClockId) -> i64 {
    let time = clock_gettime(clock);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// The disk takes some lines and a part of the next, and then fails. Entries may be lost.
#[test]
fn the_chain_goes_on_after_lost_lines() {
    let (mut reader, writer) = pipe().unwrap();
    let file = File::from(OwnedFd::from(writer));
    fcntl_setfl(&file, OFlags::NONBLOCK).unwrap();
    let audit =
        AuditLog::start(&config(Path::new("a pipe"), AuditFailure::Warn), LogFile::of_pipe(file)).unwrap();
    let many = vec![done("key"); 100];
    let put = |number| {
        let space = audit.reserve(&Arc::default(), QUEUE_HALF).unwrap();
        space.commit(&origin(), number, &many).unwrap();
    };
    let mut number = 0;
    // A full queue would lose entries too, before the disk fails.
    let written = || {
        while audit.queue_bytes() > 0 {
            std::thread::yield_now();
        }
    };
    while audit.lost() == 0 {
        put(number);
        number += 1;
        written();
    }
    let mut text = vec![0; 64 << 10];
    let len = reader.read(&mut text).unwrap();
    text.truncate(len);
    put(number);
    written();
    let rest = std::thread::spawn(move || {
        let mut rest = Vec::new();
        reader.read_to_end(&mut rest).unwrap();
        rest
    });
    audit.close();
    drop(audit);
    text.extend(rest.join().unwrap());
    let mut verifier = ChainVerifier::default();
    verifier.read("pipe", &mut &*text).unwrap();
    let report = verifier.finish();
    assert!(report.is_whole, "{report:?}");
    assert!(report.files[0].torn >= 1, "no line was cut, so the test has tested nothing");
    assert!(notes(&report).contains(&NoteKind::Cut), "{report:?}");
}

const QUEUE_HALF: usize = 1 << 15;

#[test]
fn syslog_gets_the_lines_of_the_file_and_the_count_of_those_that_it_misses() {
    let directory = tempfile::tempdir().unwrap();
    let (path, socket) = (directory.path().join("log"), directory.path().join("syslog"));
    let daemon = UnixDatagram::bind(&socket).unwrap();
    let config = config::AuditConfig { syslog: Some(socket.clone()), ..config(&path, AuditFailure::Stop) };
    let audit = AuditLog::open(Some(&config)).unwrap();
    let mut received = String::new();
    for number in 0..20 {
        sign(&audit, number).unwrap();
        let mut message = [0; 4096];
        let len = daemon.recv(&mut message).unwrap();
        let message = std::str::from_utf8(&message[..len]).unwrap();
        received.push_str(message.split_once("]: ").unwrap().1);
        received.push('\n');
    }
    // Without a daemon the file still gets everything, and requests are served.
    drop(daemon);
    fs::remove_file(&socket).unwrap();
    (20..25).for_each(|number| sign(&audit, number).unwrap());
    audit.close();
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text.split_inclusive('\n').take(20).collect::<String>(), received);
    assert_eq!((text.lines().count(), audit.syslog_lost(), audit.lost()), (25, 5, 0));
    reserve(&audit).unwrap_err();
}
