//! Captures, logs and dnstap files: events lie within the input, and every stream ends, with an error or without.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oarlock_capacity::capture::{CaptureEvent, read};

fuzz_target!(|bytes: &[u8]| {
    let mut events = 0;
    let report = read(bytes, &mut |event| {
        events += 1;
        if let CaptureEvent::Message { bytes: message, .. } = event {
            assert!(message.len() <= bytes.len());
        }
    });
    assert_eq!(report.events, events);
    if let Some(fault) = report.fault {
        assert!(!fault.to_string().is_empty());
    }
});
