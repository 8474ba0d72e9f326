//! Lines of a key file that hold the same key. The policies of such lines must be safe together.

use std::collections::HashMap;

use oarlock::table::{IvRule, KeyAlgorithm, KeyIdentity, KeyOperation};

/// The rights of a line to its key, as far as another line with the same key can make it unsafe.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineUse {
    /// None if the line allows no encryption.
    encryption: Option<LineEncryption>,
    /// The codes of blocks that the line makes.
    block_mac: Option<KeyAlgorithm>,
    /// True if the line encrypts or decrypts by a cipher that shows blocks.
    shows_blocks: bool,
}

/// The encryption that a line allows its key.
#[derive(Clone, Copy, Debug)]
struct LineEncryption {
    does_gcm: bool,
    /// CBC under IVs that a client chooses or foresees.
    does_foreseen_cbc: bool,
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

/// The uses of lines, by the key that they hold.
#[derive(Debug, Default)]
pub(crate) struct SameKeys(HashMap<KeyIdentity, Vec<(usize, LineUse)>>);

impl LineUse {
    /// Returns the uses that a policy of these parts allows; None if they are safe beside any other.
    pub(crate) fn of(
        operations: &[KeyOperation],
        algorithms: &[KeyAlgorithm],
        ivs: &[IvRule],
        nonce_field: Option<[u8; 4]>,
    ) -> Option<Self> {
        let may = |operation| operations.contains(&operation);
        let does = |algorithm| algorithms.contains(&algorithm);
        let (encrypts, translates) = (may(KeyOperation::Encrypt), may(KeyOperation::TranslateTo));
        // A client foresees a counted IV, which is as bad for CBC as one that the client chooses.
        let foresees_ivs = nonce_field.is_some() || ivs.iter().any(|rule| !matches!(rule, IvRule::Random));
        let encryption = (encrypts || translates).then(|| LineEncryption {
            does_gcm: encrypts && does(KeyAlgorithm::Gcm),
            does_foreseen_cbc: foresees_ivs && does(KeyAlgorithm::Cbc),
            alone: algorithms.iter().copied().find(|algorithm| algorithm.stands_alone()),
            nonce_field,
        });
        let block_mac = algorithms.iter().copied().find(|algorithm| algorithm.is_block_mac());
        let block_mac = block_mac.filter(|_| may(KeyOperation::Mac));
        let is_cipher = operations.iter().any(|operation| *operation != KeyOperation::Mac);
        let shows_blocks = is_cipher && algorithms.iter().any(|algorithm| algorithm.shows_blocks());
        let is_of_concern = encryption.is_some() || block_mac.is_some() || shows_blocks;
        is_of_concern.then_some(Self { encryption, block_mac, shows_blocks })
    }

    fn danger_beside(&self, other: &Self) -> Option<SameKeyDanger> {
        let forges = |own: &Self, other: &Self| {
            own.block_mac
                .is_some_and(|mac| other.shows_blocks || other.block_mac.is_some_and(|own| own != mac))
        };
        if forges(self, other) || forges(other, self) {
            return Some(SameKeyDanger::Forgery);
        }
        let is_endangered =
            self.encryption.zip(other.encryption).is_some_and(|(own, other)| own.endangers(&other));
        is_endangered.then_some(SameKeyDanger::Encryption)
    }
}

impl LineEncryption {
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
    /// Adds the uses of a line. Returns an earlier line that must not be used together with it, and why.
    pub(crate) fn add(
        &mut self,
        key: KeyIdentity,
        line: usize,
        own: LineUse,
    ) -> Option<(usize, SameKeyDanger)> {
        let known = self.0.entry(key).or_default();
        let danger = known.iter().find_map(|(line, other)| Some((*line, own.danger_beside(other)?)));
        known.push((line, own));
        danger
    }
}
