//! The signatures of a response, all verified in batches.

use std::collections::HashMap;

use oarlock::{Accelerator, JobError};

use super::error::{KeyBundleError, KeyBundleFault};
use super::response::SignedKeyResponse;
use crate::dnskey::{Dnskey, ZonePublicKey};
use crate::messages::Messages;
use crate::rrsig::Rrsig;
use crate::rtype::RecordType;
use crate::verify::{VerifyTask, verify_all};

/// The maximum number of keys of one tag that a signature is tried with, as for zones (CVE-2023-50387).
const MAX_KEYS: usize = 4;

/// A signature with the keys that may have made it.
struct Trial<'r> {
    line: u32,
    rtype: RecordType,
    rrsig: Rrsig<'r>,
    message: usize,
    /// More than one only if keys have the same tag.
    keys: Vec<usize>,
}

impl SignedKeyResponse {
    /// Verifies every signature of every bundle. Times are not compared with the present. Returns the first fault.
    ///
    /// # Errors
    /// An engine failed.
    pub fn verify(&self, accelerator: &Accelerator) -> Result<Option<KeyBundleError>, JobError> {
        let mut keys = BundleKeys::default();
        let mut messages = Messages::default();
        let mut trials = Vec::new();
        for bundle in &self.bundles {
            for set in bundle.sets.iter() {
                let mut data: Vec<&[u8]> = set.data.iter().map(Vec::as_slice).collect();
                // RFC 4034 6.3: signatures cover the records in the order of their data.
                data.sort_unstable();
                for rrsig in set.signatures.iter().filter_map(|data| Rrsig::read(data).ok()) {
                    let write =
                        |out: &mut Vec<u8>| rrsig.write_signed(self.zone(), data.iter().copied(), out);
                    let message = messages.push(rrsig.algorithm.message_digest(), write)?;
                    let keys = keys.find(&bundle.keys().data, &rrsig);
                    trials.push(Trial { line: bundle.line, rtype: set.rtype, rrsig, message, keys });
                }
            }
        }
        messages.hash(accelerator)?;
        let inputs = trials.iter().flat_map(|trial| trial.keys.iter().map(move |key| (trial, *key)));
        let inputs: Vec<VerifyTask<'_>> = inputs
            .map(|(trial, key)| VerifyTask {
                key: Some(&keys.keys[key]),
                algorithm: trial.rrsig.algorithm,
                input: messages.input(trial.message),
                signature: trial.rrsig.signature,
            })
            .collect();
        let mut verdicts = verify_all(accelerator, inputs.into_iter())?.into_iter();
        let bad = trials.iter().find(|trial| {
            // All verdicts of the signature are taken, so that those of the next one follow.
            let verdicts: Vec<bool> = verdicts.by_ref().take(trial.keys.len()).collect();
            !verdicts.contains(&true)
        });
        Ok(bad.map(|Trial { line, rtype, rrsig, .. }| KeyBundleError {
            line: *line,
            fault: KeyBundleFault::BadSignature { rtype: *rtype, tag: rrsig.key_tag },
        }))
    }
}

/// The keys of all bundles, each once.
#[derive(Default)]
struct BundleKeys<'r> {
    keys: Vec<ZonePublicKey>,
    indices: HashMap<&'r [u8], usize>,
}

impl<'r> BundleKeys<'r> {
    /// Returns the indices of the entry points among `records` that may have made a signature.
    fn find(&mut self, records: &'r [Vec<u8>], rrsig: &Rrsig<'_>) -> Vec<usize> {
        let mut found = Vec::new();
        for data in records {
            let Ok(dnskey) = Dnskey::parse(data) else { continue };
            let is_named = dnskey.key_tag() == rrsig.key_tag && dnskey.algorithm == rrsig.algorithm;
            if is_named && dnskey.is_entry_point() && found.len() < MAX_KEYS {
                found.extend(self.index(data, &dnskey));
            }
        }
        found
    }

    fn index(&mut self, data: &'r [u8], dnskey: &Dnskey<'_>) -> Option<usize> {
        if let Some(index) = self.indices.get(data) {
            return Some(*index);
        }
        self.keys.push(dnskey.public_key().ok()?);
        self.indices.insert(data, self.keys.len() - 1);
        Some(self.keys.len() - 1)
    }
}
