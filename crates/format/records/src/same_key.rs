//! Lines of a key file that hold the same key. The policies of such lines must be safe together.

use std::collections::HashMap;
use std::sync::Arc;

use oarlock_keytable::{KeyAlgorithm, KeyIdentity, KeyOperation, KeyPolicy};

/// A line with the rights that it gives its key.
#[derive(Debug)]
pub(crate) struct SameKeyLine {
    /// The line, from 1.
    pub(crate) number: usize,
    pub(crate) policy: Arc<KeyPolicy>,
    /// None if the line allows no encryption.
    pub(crate) encryption: Option<LineEncryption>,
}

/// The encryption that a line allows its key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineEncryption {
    does_gcm: bool,
    /// The algorithm that must be the only one of its key.
    alone: Option<KeyAlgorithm>,
    /// The bytes that counted nonces begin with; None if they are not counted.
    nonce_field: Option<[u8; 4]>,
}

/// The danger of two lines with the same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SameKeyDanger {
    /// Nonces may repeat, or one line shows what the other encrypts.
    Encryption,
    /// One line forges the codes of the other.
    Forgery,
}

/// The lines by the key that they hold.
#[derive(Debug, Default)]
pub(crate) struct SameKeys(HashMap<KeyIdentity, Vec<SameKeyLine>>);

impl SameKeyLine {
    fn danger_beside(&self, other: &Self) -> Option<SameKeyDanger> {
        let breach = self.policy.breaks(&other.policy).or_else(|| other.policy.breaks(&self.policy));
        if let Some(breach) = breach {
            let is_forgery = breach.broken.is_block_mac();
            return Some(if is_forgery { SameKeyDanger::Forgery } else { SameKeyDanger::Encryption });
        }
        let is_endangered =
            self.encryption.zip(other.encryption).is_some_and(|(ours, other)| ours.endangers(&other));
        is_endangered.then_some(SameKeyDanger::Encryption)
    }
}

impl LineEncryption {
    /// Returns the encryption that a policy of these parts allows; None if it allows no encryption.
    pub(crate) fn from_policy(
        operations: &[KeyOperation],
        algorithms: &[KeyAlgorithm],
        nonce_field: Option<[u8; 4]>,
    ) -> Option<Self> {
        let encrypts = operations.contains(&KeyOperation::Encrypt);
        let translates = operations.contains(&KeyOperation::TranslateTo);
        (encrypts || translates).then(|| Self {
            does_gcm: encrypts && algorithms.contains(&KeyAlgorithm::Gcm),
            alone: algorithms.iter().copied().find(|algorithm| algorithm.stands_alone()),
            nonce_field,
        })
    }

    /// True if one line does an algorithm that stands alone and the other does not, or if nonces may repeat.
    fn endangers(&self, other: &Self) -> bool {
        let fields = [self.nonce_field, other.nonce_field];
        // Random nonces may meet counted ones. Only two counters with different fields are apart for certain.
        let may_share_nonces = fields.contains(&None) || fields[0] == fields[1];
        self.alone != other.alone || (self.does_gcm && other.does_gcm && may_share_nonces)
    }
}

impl SameKeys {
    /// Adds a line. Returns an earlier line that must not be used together with it, and why.
    pub(crate) fn add(&mut self, key: KeyIdentity, line: SameKeyLine) -> Option<(usize, SameKeyDanger)> {
        let known = self.0.entry(key).or_default();
        let danger = known.iter().find_map(|other| Some((other.number, line.danger_beside(other)?)));
        known.push(line);
        danger
    }
}
