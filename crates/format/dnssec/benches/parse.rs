//! `cargo bench -p oarlock-dnssec --bench parse -- [read|domain|write] [DELEGATIONS]`: the records per second of CPU
//! time that this crate and the `domain` crate read from the text of a signed zone like that of a top-level domain,
//! and that this crate writes.
#![allow(clippy::expect_used, reason = "a bench that cannot run says why and ends")]

use std::fmt::Write;
use std::hint::black_box;

use bytes::BufMut;
use cpu_time::ProcessTime;
use domain::zonefile::inplace::{Entry, Zonefile};
use oarlock_dnssec::ZoneRecords;
use oarlock_dnssec::zone::{ZoneReader, write_record};

/// The delegations and the turns of a run. As a test, a short run shows that the program works.
const DELEGATIONS: usize = 100_000;
const TEST_DELEGATIONS: usize = 500;
const TURNS: usize = 5;
/// The length of the text that the reader gets at a time.
const BLOCK: usize = 4 << 20;

fn main() {
    let usual = if is_bench() { DELEGATIONS } else { TEST_DELEGATIONS };
    let count = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(usual);
    let is_wanted = |name: &str| {
        let mut names =
            std::env::args().skip(1).filter(|name| name.chars().all(char::is_alphabetic)).peekable();
        names.peek().is_none() || names.any(|wanted| wanted == name)
    };
    let zone = zone(count);
    let records = ours(zone.as_bytes());
    let line = zone.len() as f64 / records.len() as f64;
    println!("{} records, {line:.1} bytes of text each", records.len());
    let runs: [(&str, &dyn Fn() -> usize); 3] = [
        ("read", &|| ours(zone.as_bytes()).len()),
        ("domain", &|| theirs(zone.as_bytes())),
        ("write", &|| write(&records)),
    ];
    let mut read = None;
    for (name, run) in runs.into_iter().filter(|(name, _)| is_wanted(name)) {
        let rate = best(run);
        let ratio = read.map_or(String::new(), |read| format!(", {:.2} of read", rate / read));
        println!("{name:7} {:6.2} M RR/s, {:5.0} MB/s{ratio}", rate / 1e6, rate / 1e6 * line);
        read.get_or_insert(rate);
    }
}

/// True if `cargo bench` runs this program, and not `cargo test`.
fn is_bench() -> bool {
    std::env::args().any(|argument| argument == "--bench")
}

/// Returns the items per second of CPU time in the fastest of several runs.
fn best(run: &dyn Fn() -> usize) -> f64 {
    let rate = |_| {
        let start = ProcessTime::now();
        let items = run();
        items as f64 / start.elapsed().as_secs_f64()
    };
    (0..if is_bench() { TURNS } else { 1 }).map(rate).fold(0.0, f64::max)
}

fn ours(zone: &[u8]) -> ZoneRecords {
    let mut records = ZoneRecords::new();
    let include = &mut |_: &str| Err(String::new());
    let mut reader = ZoneReader::new(None, include);
    let mut start = 0;
    while start < zone.len() {
        let end = zone.len().min(start + BLOCK);
        start += reader.read(&zone[start..end], end == zone.len(), &mut records);
    }
    assert!(reader.faults().is_empty(), "{:?}", reader.faults().first());
    records
}

fn theirs(zone: &[u8]) -> usize {
    let mut file = Zonefile::with_capacity(zone.len());
    file.put_slice(zone);
    let mut count = 0;
    while let Some(entry) = file.next_entry().expect("the zone is good") {
        if let Entry::Record(record) = entry {
            black_box(&record);
            count += 1;
        }
    }
    count
}

fn write(records: &ZoneRecords) -> usize {
    let mut out = Vec::with_capacity(BLOCK + (1 << 17));
    for record in records.iter() {
        write_record(&record, &mut out);
        if out.len() > BLOCK {
            black_box(&out);
            out.clear();
        }
    }
    records.len()
}

/// Makes a zone. Each delegation has two name servers and a signed NSEC, and six of ten have a DS with its signature.
fn zone(delegations: usize) -> String {
    let mut random = fastrand::Rng::with_seed(8);
    let mut text =
        String::from("example. 3600 IN SOA ns1.example. hostmaster.example. 1 7200 900 1209600 300\n");
    for number in 0..delegations {
        let name = name(number, &mut random);
        for server in 1..=2 {
            line(&mut text, &name, &format!("NS ns{server}.{}.net.", &name[..name.len() - 9]));
        }
        if number % 10 < 6 {
            let digest: String = (0..32).map(|_| format!("{:02X}", random.u8(..))).collect();
            line(&mut text, &name, &format!("DS {} 13 2 {digest}", random.u16(..)));
            signature(&mut text, &name, "DS", &mut random);
        }
        line(&mut text, &name, &format!("NSEC {name} NS DS RRSIG NSEC"));
        signature(&mut text, &name, "NSEC", &mut random);
    }
    text
}

fn name(number: usize, random: &mut fastrand::Rng) -> String {
    let letters: String = (0..random.usize(3..12)).map(|_| random.lowercase()).collect();
    format!("{letters}{number}.example.")
}

fn line(text: &mut String, owner: &str, data: &str) {
    // unreachable because writing to memory does not fail
    let _ = writeln!(text, "{owner}\t3600\tIN\t{data}");
}

fn signature(text: &mut String, owner: &str, rtype: &str, random: &mut fastrand::Rng) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut signature: String = (0..85).map(|_| char::from(DIGITS[random.usize(..64)])).collect();
    // The last digit of base64 for 64 bytes encodes two bits. Its other four bits must be zero.
    signature.push_str("Q==");
    let times = format!("202612{:02}{:02}0000 20261101000000", random.u8(1..29), random.u8(..24));
    line(text, owner, &format!("RRSIG {rtype} 13 2 3600 {times} 12345 example. {signature}"));
}
