//! NDJSON files: every split gives the same rows, nothing is lost, and decryption restores the values.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oarlock_fuzz::check_file;
use oarlock_records::FileFormat;

fuzz_target!(|text: &[u8]| check_file(FileFormat::Ndjson, text));
