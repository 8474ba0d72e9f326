//! `oarlock sockets bench`: what it prints, its errors, and its counts beside those of strace.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::program::{LAB, code, command, lab, rows, stderr, text};
use crate::served::Served;

/// Set by `cargo xtask kernel-test`: every way has to be there.
const REQUIRED: &str = "OARLOCK_REQUIRE_KERNEL_TLS";

#[test]
fn the_bench_prints_the_documented_fields_and_a_plot() {
    let directory = tempfile::tempdir().unwrap();
    let plot = directory.path().join("ways.svg");
    let output = lab(&[
        "--json",
        "sockets",
        "bench",
        "--ways",
        "user,device,kernel,sendfile,plain",
        "--sizes",
        "4k,16k",
        "--bytes",
        "1M",
        "--suite",
        "aes128-gcm,chacha20-poly1305",
        "--streams",
        "1,4",
        "--frames",
        "whole,piecemeal",
        "--turns",
        "1",
        "--plot",
        plot.to_str().unwrap(),
    ]);
    let rows = rows(&output);
    assert_eq!(rows.len(), 5 * 2 * 2 * 2 * 2);
    for row in &rows {
        let fields = [
            "way",
            "suite",
            "size",
            "streams",
            "frames",
            "seconds",
            "cpu_seconds",
            "calls_per_buffer",
            "border_bytes_per_byte",
            "copied_bytes_per_byte",
            "gb_per_cpu_s",
            "available",
            "why_not",
        ];
        assert!(fields.iter().all(|field| row.get(field).is_some()), "{row}");
        assert_eq!(row["available"].as_bool().unwrap(), row["why_not"].is_null(), "{row}");
        assert_eq!(row["available"].as_bool().unwrap(), row["seconds"].is_f64(), "{row}");
    }
    let user = rows.iter().find(|row| row["way"] == "user").unwrap();
    assert_eq!(user["calls_per_buffer"].as_f64(), Some(2.0), "{user}");
    assert!(fs::read_to_string(&plot).unwrap().starts_with("<svg"));
    let shown = text(&lab(&["sockets", "bench", "--bytes", "200k", "--turns", "1"]));
    assert!(shown.contains("calls/buffer") && shown.contains("32.79"), "{shown}");
}

#[test]
fn wrong_options_are_errors_of_usage() {
    for (arguments, expected) in [
        (&["sockets"][..], "Usage: oarlock-lab sockets"),
        (&["sockets", "bench", "--ways", "card"], "oarlock: invalid value 'card'"),
        (&["sockets", "bench", "--suite", "rc4"], "oarlock: invalid value 'rc4'"),
        (&["sockets", "bench", "--sizes", "4q"], "oarlock: invalid value '4q'"),
        (&["sockets", "bench", "--sizes", "17k"], "oarlock: sockets: --sizes: expected 1 to 16k"),
        (&["sockets", "bench", "--sizes", "0"], "oarlock: sockets: --sizes: expected 1 to 16k"),
        (&["sockets", "bench", "--bytes", "5G"], "oarlock: sockets: --bytes: expected 1 to 4G"),
        (&["sockets", "bench", "--streams", "0"], "oarlock: invalid value '0'"),
        (&["sockets", "bench", "--frames", "half"], "oarlock: invalid value 'half'"),
        (&["sockets", "bench", "--records-per-call", "65"], "oarlock: invalid value '65'"),
        (&["sockets", "bench", "--plot", "/nowhere/a.svg"], "oarlock: sockets: cannot write /nowhere/a.svg"),
    ] {
        let output = lab(arguments);
        assert_eq!(code(&output), 2, "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(expected), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn a_cryptoserver_is_the_device_of_a_kernel_without_af_alg() {
    let state = tempfile::tempdir().unwrap();
    let served = Served::start(state.path());
    let (socket, nowhere) = (served.socket(), state.path().join("nowhere"));
    let bench = |suite, socket: &Path| {
        let options = [
            "--json", "sockets", "bench", "--ways", "device", "--bytes", "100k", "--turns", "1", "--sizes",
            "16k",
        ];
        let output = command(&options).args(["--suite", suite, "--device-socket"]).arg(socket).output();
        rows(&output.unwrap())[0].clone()
    };
    let row = bench("aes256-gcm", &socket);
    assert_eq!(row["available"], true, "{row}");
    if row["calls"]["sendmsg"]["calls"] != 0 {
        println!("SKIPPED: this kernel has AF_ALG");
        return;
    }
    // To the server and to the connection, for each of seven records.
    assert_eq!(row["calls"]["sendto"]["calls"], 14, "{row}");
    let row = bench("chacha20-poly1305", &socket);
    assert!(row["why_not"].as_str().unwrap().contains("does not seal chacha20-poly1305"), "{row}");
    let row = bench("aes128-gcm", &nowhere);
    assert!(row["why_not"].as_str().unwrap().contains("nowhere: No such file"), "{row}");
}

/// The calls that a sender may make, as strace names them.
const CALLS: [&str; 4] = ["read", "sendto", "sendmsg", "sendfile"];

/// The program also reads its libraries, and checks each way with the start of the file, but as much for a long file as
/// for a short one. So the differences are the sender's, and have to be what it counted itself.
#[test]
fn the_counts_equal_those_of_strace() {
    let directory = tempfile::tempdir().unwrap();
    if let Some(reason) = strace_fault(directory.path()) {
        println!("SKIPPED: {reason}");
        return;
    }
    for way in ["user", "device", "kernel", "sendfile"] {
        for streams in ["1", "3"] {
            let lengths = if way == "sendfile" { ["1M", "18M"] } else { ["256k", "1M"] };
            let [short, long] = lengths.map(|bytes| traced(directory.path(), way, streams, bytes));
            let (Some(short), Some(long)) = (short, long) else {
                assert!(std::env::var_os(REQUIRED).is_none(), "{way} is not there");
                println!("SKIPPED: {way} is not there");
                continue;
            };
            for name in CALLS {
                let of = |calls: &Calls| calls.get(name).copied().unwrap_or(0);
                let (counted, strace) = (of(&long.0) - of(&short.0), of(&long.1) - of(&short.1));
                assert_eq!(counted, strace, "{way}, {streams} streams: {name}");
            }
            println!("{way}, {streams} streams: {:?} own, {:?} strace", long.0, long.1);
        }
    }
}

type Calls = BTreeMap<String, i64>;

fn strace(directory: &Path) -> Command {
    let mut command = Command::new("strace");
    command.args(["-f", "-c", "-e"]).arg(format!("trace={}", CALLS.join(","))).arg("-o");
    command.arg(directory.join("calls")).stdin(Stdio::null());
    command
}

/// Returns the reason that strace cannot be used here, if there is one.
fn strace_fault(directory: &Path) -> Option<String> {
    match strace(directory).arg("true").output() {
        Err(error) => Some(format!("strace: {error}")),
        Ok(output) if !output.status.success() => Some(format!("strace: {}", stderr(&output))),
        Ok(_) => None,
    }
}

/// Returns the counts of the program and of strace. None if the way is not there.
fn traced(directory: &Path, way: &str, streams: &str, bytes: &str) -> Option<(Calls, Calls)> {
    let mut command = strace(directory);
    command.arg(LAB).args(["--json", "sockets", "bench", "--ways", way]);
    command.args(["--sizes", "4k", "--turns", "1", "--streams", streams, "--bytes", bytes]);
    command.env("OARLOCK_PROGRESS_SECONDS", "0");
    let rows = rows(&command.output().unwrap());
    let counts = rows[0]["calls"].as_object()?;
    let counted =
        counts.iter().map(|(name, count)| (name.clone(), count["calls"].as_i64().unwrap())).collect();
    let table = fs::read_to_string(directory.join("calls")).unwrap();
    Some((counted, strace_calls(&table)))
}

/// Reads the table of `strace -c`: shares, seconds, time of a call, calls, perhaps errors, the name.
fn strace_calls(table: &str) -> Calls {
    let mut calls = Calls::new();
    for line in table.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let (Some(name), Some(Ok(count))) = (words.last(), words.get(3).map(|word| word.parse())) {
            calls.insert((*name).to_owned(), count);
        }
    }
    calls
}
