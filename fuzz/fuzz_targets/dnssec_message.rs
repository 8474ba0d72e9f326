//! DNS messages: the walk ends, or stops with an error, and finds the same signatures each time.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oarlock_capacity::{Traffic, TrafficLimits, walk_message};

fuzz_target!(|message: &[u8]| {
    let mut seen = Vec::new();
    let walked = walk_message(message, &mut |signature| seen.push(signature));
    let mut again = Vec::new();
    assert_eq!(walked, walk_message(message, &mut |signature| again.push(signature)));
    assert_eq!(seen, again);
    if let Ok(walked) = walked {
        assert_eq!(walked.signatures as usize, seen.len());
    }
    let mut traffic = Traffic::new(TrafficLimits { seconds: 2, cache_entries: 2 });
    traffic.message(Some(0), message);
    assert!(traffic.totals().verified <= traffic.totals().signatures);
});
