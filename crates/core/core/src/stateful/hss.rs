//! HSS and LMS: trees of Leighton and Micali, one below the other. RFC 8554.

use std::fmt;

use super::{StatefulKeyError, TreeHash, split_u32};

/// The types of an LMS tree and of its one-time signatures. Both have the same hash function. SP 800-208 section 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LmsSet {
    hash: TreeHash,
    height: u8,
    digit_bits: u8,
}

/// The heights of trees, in the order of their codes.
const HEIGHTS: [u8; 5] = [5, 10, 15, 20, 25];

/// The numbers of bits of a digit, in the order of their codes.
const DIGIT_BITS: [u8; 4] = [1, 2, 4, 8];

/// LMS_SHA256_M32_H5, the first code. SP 800-208 section 4.
const FIRST_LMS: u32 = 5;

/// LMOTS_SHA256_N32_W1, the first code.
const FIRST_LM_OTS: u32 = 1;

impl LmsSet {
    /// Returns the types with two codes: of the tree, and of the one-time signatures.
    ///
    /// # Errors
    /// [`StatefulKeyError::LmsType`], [`StatefulKeyError::LmOtsType`], [`StatefulKeyError::HashFunctions`].
    pub fn from_codes(lms: u32, lm_ots: u32) -> Result<Self, StatefulKeyError> {
        let (tree, height) =
            find_type(&HEIGHTS, FIRST_LMS, lms).ok_or(StatefulKeyError::LmsType { found: lms })?;
        let (hash, digit_bits) = find_type(&DIGIT_BITS, FIRST_LM_OTS, lm_ots)
            .ok_or(StatefulKeyError::LmOtsType { found: lm_ots })?;
        if tree != hash {
            return Err(StatefulKeyError::HashFunctions { lms: tree, lm_ots: hash });
        }
        Ok(Self { hash, height, digit_bits })
    }

    /// Returns every pair of types.
    pub fn all() -> impl Iterator<Item = Self> {
        let sets = TreeHash::ALL.into_iter().flat_map(|hash| HEIGHTS.map(|height| (hash, height)));
        sets.flat_map(|(hash, height)| DIGIT_BITS.map(|digit_bits| Self { hash, height, digit_bits }))
    }

    /// Returns the hash function.
    #[must_use]
    pub fn hash(self) -> TreeHash {
        self.hash
    }

    /// Returns h, the height of the tree, which has 2^h one-time keys.
    #[must_use]
    pub fn height(self) -> usize {
        self.height.into()
    }

    /// Returns w, the number of bits that a chain signs: 1, 2, 4 or 8.
    #[must_use]
    pub fn digit_bits(self) -> usize {
        self.digit_bits.into()
    }

    /// Returns the number of chains that sign the hash of the message.
    #[must_use]
    pub fn message_chains(self) -> usize {
        8 * self.hash.n() / self.digit_bits()
    }

    /// Returns p, the number of chains with those of the checksum. RFC 8554 appendix B.
    #[must_use]
    pub fn chains(self) -> usize {
        let max_sum = self.message_chains() * ((1 << self.digit_bits()) - 1);
        self.message_chains() + (max_sum.ilog2() as usize + 1).div_ceil(self.digit_bits())
    }

    /// Returns the number of bytes of an LMS signature. RFC 8554 section 5.4.
    #[must_use]
    pub fn signature_len(self) -> usize {
        // q, and the types of both parts; the randomizer, a value of each chain, and one of each height.
        12 + (1 + self.chains() + self.height()) * self.hash.n()
    }

    /// Returns the number of bytes of an LMS public key: both types, I, and the root. RFC 8554 section 5.3.
    #[must_use]
    pub fn public_len(self) -> usize {
        8 + IDENTIFIER_LEN + self.hash.n()
    }
}

/// Finds the hash function and the parameter of a code: the codes count up through the parameters of each function.
fn find_type(parameters: &[u8], first: u32, code: u32) -> Option<(TreeHash, u8)> {
    let index = usize::try_from(code.checked_sub(first)?).ok()?;
    let hash = TreeHash::ALL.get(index / parameters.len())?;
    Some((*hash, parameters[index % parameters.len()]))
}

/// Writes `sha256-192-h5-w8`.
impl fmt::Display for LmsSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-h{}-w{}", self.hash, self.height, self.digit_bits)
    }
}

/// The number of levels of an HSS key, and the types of its highest tree. Lower trees may have other heights and
/// digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HssSet {
    levels: u8,
    top: LmsSet,
}

impl HssSet {
    /// The most levels. RFC 8554 section 6.
    pub const MAX_LEVELS: u32 = 8;

    /// Returns the number of trees from the highest one down to that which signs messages, 1 to 8.
    #[must_use]
    pub fn levels(self) -> usize {
        self.levels.into()
    }

    /// Returns the types of the highest tree.
    #[must_use]
    pub fn top(self) -> LmsSet {
        self.top
    }
}

/// Writes `hss-2-sha256-h5-w8` for two levels.
impl fmt::Display for HssSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "hss-{}-{}", self.levels, self.top)
    }
}

/// The number of bytes of I, which names a tree. RFC 8554 section 5.3.
const IDENTIFIER_LEN: usize = 16;

/// A public key of HSS: the number of levels, and the public key of the highest tree. RFC 8554 section 6.1.
#[derive(Clone, PartialEq, Eq)]
pub struct HssPublicKey {
    set: HssSet,
    bytes: Vec<u8>,
}

impl HssPublicKey {
    /// Reads a key.
    ///
    /// # Errors
    /// [`StatefulKeyError`], with the field that is wrong.
    pub fn parse(bytes: &[u8]) -> Result<Self, StatefulKeyError> {
        let length = |expected| StatefulKeyError::Length { scheme: "HSS", expected, found: bytes.len() };
        let (levels, tree) = split_u32(bytes).ok_or(length(12))?;
        let (lms, rest) = split_u32(tree).ok_or(length(12))?;
        let (lm_ots, _) = split_u32(rest).ok_or(length(12))?;
        let in_range = u8::try_from(levels).ok().filter(|_| (1..=HssSet::MAX_LEVELS).contains(&levels));
        let levels = in_range.ok_or(StatefulKeyError::Levels { found: levels })?;
        let top = LmsSet::from_codes(lms, lm_ots)?;
        if tree.len() != top.public_len() {
            return Err(length(4 + top.public_len()));
        }
        Ok(Self { set: HssSet { levels, top }, bytes: bytes.to_vec() })
    }

    /// Returns the levels and types.
    #[must_use]
    pub fn set(&self) -> HssSet {
        self.set
    }

    /// Returns the whole key.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the public key of the highest tree: both types, I, and the root. RFC 8554 section 5.3.
    #[must_use]
    pub fn tree(&self) -> &[u8] {
        &self.bytes[4..]
    }
}

impl fmt::Debug for HssPublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HssPublicKey({})", self.set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(levels: u32, lms: u32, lm_ots: u32, len: usize) -> Vec<u8> {
        let mut key = [levels, lms, lm_ots].map(u32::to_be_bytes).concat();
        key.resize(len, 7);
        key
    }

    /// SP 800-208 section 4: the first and last code of each function, and p.
    #[test]
    fn codes_have_the_types_of_the_standard() {
        let set = |lms, lm_ots| LmsSet::from_codes(lms, lm_ots).unwrap();
        for (lms, lm_ots, name, chains) in [
            (0x05, 0x01, "sha256-h5-w1", 265),
            (0x09, 0x02, "sha256-h25-w2", 133),
            (0x09, 0x03, "sha256-h25-w4", 67),
            (0x09, 0x04, "sha256-h25-w8", 34),
            (0x0a, 0x05, "sha256-192-h5-w1", 200),
            (0x0e, 0x06, "sha256-192-h25-w2", 101),
            (0x0e, 0x07, "sha256-192-h25-w4", 51),
            (0x0e, 0x08, "sha256-192-h25-w8", 26),
            (0x0f, 0x09, "shake256-h5-w1", 265),
            (0x13, 0x0c, "shake256-h25-w8", 34),
            (0x14, 0x0d, "shake256-192-h5-w1", 200),
            (0x18, 0x10, "shake256-192-h25-w8", 26),
        ] {
            assert_eq!((set(lms, lm_ots).to_string().as_str(), set(lms, lm_ots).chains()), (name, chains));
        }
        assert_eq!((set(5, 4).signature_len(), set(5, 4).public_len()), (1292, 56));
        assert_eq!(LmsSet::all().count(), 80);
    }

    #[test]
    fn a_key_names_the_field_that_is_wrong() {
        let fault = |bytes: &[u8]| HssPublicKey::parse(bytes).unwrap_err();
        assert_eq!(HssPublicKey::parse(&key(2, 5, 4, 60)).unwrap().set().to_string(), "hss-2-sha256-h5-w8");
        for levels in [0, 9, 256, 257, u32::MAX] {
            assert_eq!(fault(&key(levels, 5, 4, 60)), StatefulKeyError::Levels { found: levels });
        }
        for found in [0, 1, 4, 0x19, u32::MAX] {
            assert_eq!(fault(&key(1, found, 4, 60)), StatefulKeyError::LmsType { found });
        }
        for found in [0, 0x11, u32::MAX] {
            assert_eq!(fault(&key(1, 5, found, 60)), StatefulKeyError::LmOtsType { found });
        }
        assert!(matches!(fault(&key(1, 5, 8, 60)), StatefulKeyError::HashFunctions { .. }));
        for (lms, lm_ots, right) in [(5, 4, 60), (10, 8, 52)] {
            for found in (0..12).chain(12..right).chain(right + 1..right + 20) {
                let expected = if found < 12 { 12 } else { right };
                let length = StatefulKeyError::Length { scheme: "HSS", expected, found };
                assert_eq!(fault(&key(1, lms, lm_ots, found)), length);
            }
        }
    }
}
