//! The times in key files: what is read survives writing, other lines stay, and phases agree with their names.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oarlock_dnssec::{KeyTimes, TimedFile};

fuzz_target!(|bytes: &[u8]| {
    let Some((first, text)) = bytes.split_first() else { return };
    let form = if first & 1 == 0 { TimedFile::Private } else { TimedFile::Public };
    let Ok(times) = KeyTimes::read_file(text, form) else { return };
    let mut written = Vec::new();
    times.write_file(text, form, &mut written);
    assert!(written.len() <= text.len() + KeyTimes::MAX_WRITTEN);
    assert_eq!(KeyTimes::read_file(&written, form), Ok(times));
    // Written again, the text stays as it is.
    let mut again = Vec::new();
    times.write_file(&written, form, &mut again);
    assert_eq!(again, written);
    for now in [0, 1_800_000_000, u32::MAX] {
        let phase = times.phase(now);
        assert!(!times.is_empty() || phase.signs() && phase.is_published());
    }
    assert!(times.contradictions().count() <= 6);
});
