//! Lines of a key file that hold the same key. The policies of such lines must be safe together.

use std::collections::HashMap;

use oarlock::table::{IvRule, KeyAlgorithm, KeyIdentity, KeyOperation};

/// The encryption that a line allows its key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineEncryption {
    does_gcm: bool,
    /// CBC under IVs that a client chooses or foresees.
    does_foreseen_cbc: bool,
    /// The algorithm that must be the only one of its key.
    alone: Option<KeyAlgorithm>,
    /// The bytes that counted nonces begin with; None if they are not counted.
    nonce_field: Option<[u8; 4]>,
}

/// The lines that encrypt, by the key that they hold.
#[derive(Debug, Default)]
pub(crate) struct SameKeys(HashMap<KeyIdentity, Vec<(usize, LineEncryption)>>);

impl LineEncryption {
    /// Returns the encryption that a policy of these parts allows; None if it allows no encryption.
    pub(crate) fn of(
        operations: &[KeyOperation],
        algorithms: &[KeyAlgorithm],
        ivs: &[IvRule],
        nonce_field: Option<[u8; 4]>,
    ) -> Option<Self> {
        let encrypts = operations.contains(&KeyOperation::Encrypt);
        let translates = operations.contains(&KeyOperation::TranslateTo);
        // A client foresees a counted IV, which is as bad for CBC as one that the client chooses.
        let foresees_ivs = nonce_field.is_some() || ivs.iter().any(|rule| !matches!(rule, IvRule::Random));
        (encrypts || translates).then(|| Self {
            does_gcm: encrypts && algorithms.contains(&KeyAlgorithm::Gcm),
            does_foreseen_cbc: foresees_ivs && algorithms.contains(&KeyAlgorithm::Cbc),
            alone: algorithms.iter().copied().find(|algorithm| algorithm.stands_alone()),
            nonce_field,
        })
    }

    /// True if one line does an algorithm that stands alone and the other does not, if nonces may repeat, or if CBC
    /// under one line reveals the key stream of GCM under the other.
    fn endangers(&self, other: &Self) -> bool {
        let fields = [self.nonce_field, other.nonce_field];
        // Random nonces may meet counted ones. Only two counters with different fields are apart for certain.
        let may_share_nonces = fields.contains(&None) || fields[0] == fields[1];
        self.alone != other.alone
            || (self.does_gcm && other.does_gcm && may_share_nonces)
            || (self.does_gcm && other.does_foreseen_cbc)
            || (self.does_foreseen_cbc && other.does_gcm)
    }
}

impl SameKeys {
    /// Adds the encryption of a line. Returns an earlier line that must not be used together with it.
    pub(crate) fn add(&mut self, key: KeyIdentity, line: usize, own: LineEncryption) -> Option<usize> {
        let known = self.0.entry(key).or_default();
        let endangered = known.iter().find(|(_, other)| own.endangers(other)).map(|(line, _)| *line);
        known.push((line, own));
        endangered
    }
}
