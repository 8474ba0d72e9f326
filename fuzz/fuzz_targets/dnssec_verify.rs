//! Zone files of any bytes, verified as whole zones under their own anchors: each zone has a verdict, and the verdict
//! by name is the same.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use oarlock::Accelerator;
use oarlock_dnssec::zone::ZoneReader;
use oarlock_dnssec::{
    RecordSets, RecordType, Rrsig, TrustAnchor, VerifyReport, VerifySettings, ZoneRecords, ZoneVerifier,
};

const MAX_TEXT: usize = 64 << 10;
const MAX_ANCHORS: usize = 4;

static SCALAR: LazyLock<Accelerator> = LazyLock::new(|| {
    Accelerator::builder().engines(["scalar"]).lazy().build().expect("the scalar engine is here")
});

fuzz_target!(|text: &[u8]| {
    if text.len() > MAX_TEXT {
        return;
    }
    let records = read(text);
    let sets = RecordSets::new(&records);
    // More iterations and signatures would repeat the same work.
    let settings =
        VerifySettings { max_signatures: 4, max_iterations: 4, ..VerifySettings::at(time(&records)) };
    let Ok(verifier) = ZoneVerifier::new(&sets, settings) else { return };
    let names = verifier.check_names(&SCALAR, 0..verifier.name_count()).expect("the scalar engine verifies");
    assert!(names.counts.good_signatures <= names.counts.verifications);
    let alone = name_by_name(&verifier);
    assert_eq!((alone.counts, alone.failures()), (names.counts, names.failures()));
    let whole = verifier.check_whole(&SCALAR).expect("the scalar engine hashes");
    let anchors: Vec<TrustAnchor> =
        records.iter().filter_map(|record| TrustAnchor::from_record(&record)).take(MAX_ANCHORS).collect();
    let anchored = verifier.check_anchors(&SCALAR, &anchors).expect("the scalar engine hashes");
    for finding in [names, whole, anchored].iter().flat_map(|report| &report.findings) {
        assert!(!finding.reason.to_string().is_empty());
        assert!(finding.row.is_none_or(|row| (row as usize) < records.len()));
    }
});

fn read(text: &[u8]) -> ZoneRecords {
    let mut records = ZoneRecords::new();
    let mut include = |_: &str| Err(String::new());
    ZoneReader::new(None, &mut include).with_max_generated(64).read(text, true, &mut records);
    records
}

/// The time at which the first signature becomes valid, so that some signatures are verified.
fn time(records: &ZoneRecords) -> u32 {
    let mut signatures = records.iter().filter(|record| record.rtype == RecordType::RRSIG);
    signatures.find_map(|record| Rrsig::read(record.data).ok()).map_or(0, |rrsig| rrsig.inception)
}

fn name_by_name(verifier: &ZoneVerifier<'_>) -> VerifyReport {
    let mut report = VerifyReport::default();
    for name in 0..verifier.name_count() {
        report.merge(verifier.check_names(&SCALAR, name..name + 1).expect("the scalar engine verifies"));
    }
    report
}
