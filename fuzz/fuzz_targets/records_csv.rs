//! CSV files: every split gives the same rows, nothing is lost, and decryption restores the values.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oarlock_fuzz::check_file;
use oarlock_records::Format;

fuzz_target!(|text: &[u8]| check_file(Format::CSV, text));
