//! A file of TXT records: accepted records are found by their names, and survive writing as a zone.
#![no_main]

use std::fmt::Write;

use libfuzzer_sys::fuzz_target;
use oarlock_mail_files::dns::{KeysFile, TxtAnswer};

fuzz_target!(|text: &[u8]| {
    let Ok(file) = KeysFile::parse(text) else { return };
    let mut zone = String::new();
    for (name, records) in file.records() {
        assert_eq!(file.lookup(name), TxtAnswer::Records(records.clone()));
        for record in &records.records {
            write!(zone, "{name}. {} IN TXT (\n\"", records.ttl_s).expect("memory can be written");
            for byte in record {
                write!(zone, "\\{byte:03}").expect("memory can be written");
            }
            zone.push_str("\" )\n");
        }
    }
    let back = KeysFile::parse(zone.as_bytes()).expect("what is written can be read");
    assert!(back.records().eq(file.records()));
});
