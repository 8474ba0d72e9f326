//! Zone files of any bytes: the reader finds the same records in a whole file and in blocks, and they survive printing
//! and parsing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oarlock_dnssec::ZoneRecords;
use oarlock_dnssec::zone::{EntryError, ZoneReader, write_record};

fuzz_target!(|input: &[u8]| {
    let Some((size, text)) = input.split_first() else { return };
    let (whole, faults) = read(text, text.len().max(1));
    let (cut, cut_faults) = read(text, usize::from(*size).max(1));
    assert_eq!(lines(&cut), lines(&whole));
    assert_eq!(cut_faults, faults);
    let lines = lines(&whole);
    let (again, faults) = read(&lines, lines.len().max(1));
    assert!(faults.is_empty(), "{faults:?}");
    assert_eq!(again.len(), whole.len());
    for (one, two) in whole.iter().zip(again.iter()) {
        assert_eq!((one.owner, one.rtype, one.ttl, one.data), (two.owner, two.rtype, two.ttl, two.data));
    }
});

/// The first byte of a path names the type of the file.
fn include(path: &str) -> Result<Vec<u8>, String> {
    match path.as_bytes() {
        [b'a', ..] => Ok(b"a 1 A 192.0.2.1\n".to_vec()),
        [b'b', ..] => Ok(b"$INCLUDE b\n A (".to_vec()),
        _ => Err("no".to_owned()),
    }
}

fn read(text: &[u8], size: usize) -> (ZoneRecords, Vec<(u32, EntryError)>) {
    let mut records = ZoneRecords::new();
    let mut include = include;
    let mut reader = ZoneReader::new(None, &mut include).with_max_generated(64);
    let (mut start, mut end) = (0, 0);
    while end < text.len() {
        end = text.len().min(end + size);
        start += reader.read(&text[start..end], end == text.len(), &mut records);
    }
    assert_eq!(start, text.len());
    let faults = reader.faults().iter().map(|fault| (fault.line, fault.error.clone())).collect();
    (records, faults)
}

fn lines(records: &ZoneRecords) -> Vec<u8> {
    let mut out = Vec::new();
    records.iter().for_each(|record| write_record(&record, &mut out));
    out
}
