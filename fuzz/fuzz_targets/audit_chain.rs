//! Files of audit logs: nothing panics, a chain that the server could have written is whole, and one changed byte
//! breaks it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oarlock_server::audit_chain::{ChainReport, ChainVerifier, LineHash, append_chained};

fuzz_target!(|input: &[u8]| {
    // The position of the byte to change, and how; then one or two files.
    let Some(([high, low, flip], text)) = input.split_first_chunk() else { return };
    let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
    let (one, two) = text.split_at(end);
    for files in [&[one][..], &[one, two], &[two, one]] {
        let report = verify(files, None, None);
        assert_eq!(report.is_whole, report.fault_count == 0);
        assert!(report.faults.len() as u64 <= report.fault_count);
        assert!(
            report.faults.len() <= ChainReport::MAX_LISTED && report.notes.len() <= ChainReport::MAX_LISTED
        );
    }
    let (mut log, mut last) = (Vec::new(), LineHash::NONE);
    for (number, bytes) in one.split(|byte| *byte == b'\n').enumerate() {
        let text = bytes.escape_ascii().to_string();
        last =
            append_chained(&mut log, format!("{{\"time_ms\":{number},\"key\":{text:?}}}").as_bytes(), last);
    }
    assert!(verify(&[&log], Some(LineHash::NONE), Some(last)).is_whole);
    if *flip != 0 {
        let at = usize::from(u16::from_be_bytes([*high, *low])) % log.len();
        log[at] ^= flip;
        assert!(!verify(&[&log], Some(LineHash::NONE), Some(last)).is_whole, "byte {at}");
    }
});

fn verify(files: &[&[u8]], first: Option<LineHash>, last: Option<LineHash>) -> ChainReport {
    let mut verifier = ChainVerifier::new(first, last);
    for file in files {
        verifier.read("file", &mut &**file).expect("memory can be read");
    }
    verifier.finish()
}
