//! Record data of any type in wire format: valid data survives printing and parsing, and invalid data is rejected as
//! text too.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oarlock_dnssec::rdata::canonical;
use oarlock_dnssec::zone::{ZoneReader, write_record};
use oarlock_dnssec::{DomainName, RecordType, ZoneRecords, ZoneRecordsError};

fuzz_target!(|input: &[u8]| {
    let [high, low, data @ ..] = input else { return };
    let rtype = RecordType(u16::from_be_bytes([*high, *low]));
    if rtype.is_meta() || data.len() > 4096 {
        return;
    }
    let text = text(rtype, data);
    let mut records = ZoneRecords::new();
    let mut include = |_: &str| Err(String::new());
    let mut reader = ZoneReader::new(None, &mut include);
    assert_eq!(reader.read(&text, true, &mut records), text.len());
    let mut good = Vec::new();
    match canonical(rtype, data, &mut good) {
        Ok(()) => assert_eq!(records.get(0).data, good, "{}", String::from_utf8_lossy(&text)),
        Err(error) => assert!(records.is_empty(), "{error}: {}", String::from_utf8_lossy(&text)),
    }
});

fn text(rtype: RecordType, data: &[u8]) -> Vec<u8> {
    let mut records = ZoneRecords::new();
    let owner = records.add_owner(DomainName::ROOT).expect("a new table has space");
    let write = |out: &mut Vec<u8>| {
        out.extend_from_slice(data);
        Ok::<_, ZoneRecordsError>(())
    };
    records.add(owner, rtype, 1, 0, write).expect("it is short");
    let mut text = Vec::new();
    write_record(&records.get(0), &mut text);
    text
}
