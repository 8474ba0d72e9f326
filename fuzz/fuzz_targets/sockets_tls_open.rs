//! Records of TLS: nothing panics, every split gives the same answers, and what is sealed is opened.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use oarlock::Accelerator;
use oarlock_fuzz::sockets::{open_stream, opener, sealer, suites};
use oarlock_sockets::{Content, Protocol, Suite};

static SUITES: LazyLock<Vec<Suite>> = LazyLock::new(|| suites(|protocol| protocol != Protocol::Ssh));
static ACCELERATOR: LazyLock<Accelerator> =
    LazyLock::new(|| Accelerator::builder().engines(["scalar"]).build().expect("the scalar engine"));

fuzz_target!(|bytes: &[u8]| {
    let [suite, step, flip, bytes @ ..] = bytes else { return };
    let suite = SUITES[usize::from(*suite) % SUITES.len()];

    // The input as it is.
    let whole = open_stream(&mut opener(&ACCELERATOR, suite), bytes, bytes.len().max(1));
    assert_eq!(whole, open_stream(&mut opener(&ACCELERATOR, suite), bytes, usize::from(*step).max(1)));

    // The input as content, whole and with one byte changed.
    let mut sealer = sealer(&ACCELERATOR, suite);
    let mut wire = Vec::new();
    for piece in bytes.chunks(1 + usize::from(*step)) {
        sealer.seal(Content::ApplicationData, &[piece], &mut wire).expect("short pieces");
    }
    let (records, error) = open_stream(&mut opener(&ACCELERATOR, suite), &wire, wire.len().max(1));
    assert_eq!(error, None);
    assert_eq!(records.concat(), bytes);
    if let Some(byte) = wire.get_mut(usize::from(*flip)) {
        *byte ^= 1 | *step;
        let (damaged, _) = open_stream(&mut opener(&ACCELERATOR, suite), &wire, wire.len());
        assert!(records.starts_with(&damaged), "a changed record is never opened");
    }
});
