//! XMSS and XMSS^MT: extended Merkle signatures with one tree or with several layers of trees. RFC 8391.

use std::fmt;

use super::{StatefulKeyError, TreeHash, split_u32};

/// A parameter set of XMSS, or of XMSS^MT if it has several layers. SP 800-208 section 5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct XmssSet {
    hash: TreeHash,
    height: u8,
    layers: u8,
}

/// The heights of XMSS, in the order of its identifiers.
const HEIGHTS: [(u8, u8); 3] = [(10, 1), (16, 1), (20, 1)];

/// The heights and layers of XMSS^MT, in the order of its identifiers.
const LAYERED_HEIGHTS: [(u8, u8); 8] =
    [(20, 2), (20, 4), (40, 2), (40, 4), (40, 8), (60, 3), (60, 6), (60, 12)];

/// A family of identifiers in the registry of RFC 8391 section 8 or in SP 800-208 section 5: those of one hash function
/// follow each other.
struct OidFamily {
    /// The function, unless SP 800-208 leaves it out.
    hash: Option<TreeHash>,
    /// The name of the function, and the number of bits of a value.
    name: (&'static str, u16),
    /// The first identifier of XMSS and of XMSS^MT.
    first: [u32; 2],
}

const fn family(hash: Option<TreeHash>, name: (&'static str, u16), first: [u32; 2]) -> OidFamily {
    OidFamily { hash, name, first }
}

const FAMILIES: [OidFamily; 7] = [
    family(Some(TreeHash::Sha256), ("SHA2", 256), [0x01, 0x01]),
    family(None, ("SHA2", 512), [0x04, 0x09]),
    family(None, ("SHAKE", 256), [0x07, 0x11]),
    family(None, ("SHAKE", 512), [0x0a, 0x19]),
    family(Some(TreeHash::Sha256Short), ("SHA2", 192), [0x0d, 0x21]),
    family(Some(TreeHash::Shake256), ("SHAKE256", 256), [0x10, 0x29]),
    family(Some(TreeHash::Shake256Short), ("SHAKE256", 192), [0x13, 0x31]),
];

/// The two schemes, whose identifiers are counted apart.
#[derive(Clone, Copy)]
struct XmssRegistry {
    scheme: &'static str,
    /// The scheme in names of sets.
    prefix: &'static str,
    heights: &'static [(u8, u8)],
    /// The index of the scheme in [`OidFamily::first`].
    index: usize,
}

const SINGLE: XmssRegistry = XmssRegistry { scheme: "XMSS", prefix: "XMSS", heights: &HEIGHTS, index: 0 };
const LAYERED: XmssRegistry =
    XmssRegistry { scheme: "XMSS^MT", prefix: "XMSSMT", heights: &LAYERED_HEIGHTS, index: 1 };

impl XmssRegistry {
    /// Returns the set with an identifier.
    fn find(self, oid: u32) -> Result<XmssSet, StatefulKeyError> {
        let unknown = |name| StatefulKeyError::XmssOid { scheme: self.scheme, found: oid, name };
        let (family, (height, layers)) = FAMILIES
            .iter()
            .find_map(|family| {
                let index = usize::try_from(oid.checked_sub(family.first[self.index])?).ok()?;
                Some((family, *self.heights.get(index)?))
            })
            .ok_or_else(|| unknown(None))?;
        let hash = family.hash.ok_or_else(|| unknown(Some(self.name(family, height, layers))))?;
        Ok(XmssSet { hash, height, layers })
    }

    /// Returns the name of the standard: `XMSS-SHA2_10_256` or `XMSSMT-SHA2_20/2_256`.
    fn name(self, family: &OidFamily, height: u8, layers: u8) -> String {
        let (function, bits) = family.name;
        match layers {
            1 => format!("{}-{function}_{height}_{bits}", self.prefix),
            _ => format!("{}-{function}_{height}/{layers}_{bits}", self.prefix),
        }
    }
}

impl XmssSet {
    /// The number of values of a chain, w. RFC 8391 section 5.2.
    pub const CHAIN_VALUES: usize = 16;

    /// Returns every set of XMSS, and then those of XMSS^MT.
    pub fn all() -> impl Iterator<Item = Self> {
        let heights = HEIGHTS.into_iter().chain(LAYERED_HEIGHTS);
        heights.flat_map(|(height, layers)| TreeHash::ALL.map(|hash| Self { hash, height, layers }))
    }

    /// Returns the name of the standard: `XMSS-SHA2_10_256` or `XMSSMT-SHA2_20/2_256`.
    #[must_use]
    pub fn standard_name(self) -> String {
        let family = FAMILIES.iter().find(|family| family.hash == Some(self.hash)).unwrap_or(&FAMILIES[0]);
        self.registry().name(family, self.height, self.layers)
    }

    fn registry(self) -> XmssRegistry {
        if self.is_layered() { LAYERED } else { SINGLE }
    }

    /// True for XMSS^MT.
    #[must_use]
    pub fn is_layered(self) -> bool {
        self.layers > 1
    }

    /// Returns the hash function.
    #[must_use]
    pub fn hash(self) -> TreeHash {
        self.hash
    }

    /// Returns h, the height of all layers together. A key signs 2^h messages.
    #[must_use]
    pub fn height(self) -> usize {
        self.height.into()
    }

    /// Returns d, the number of layers.
    #[must_use]
    pub fn layers(self) -> usize {
        self.layers.into()
    }

    /// Returns the height of each tree.
    #[must_use]
    pub fn tree_height(self) -> usize {
        self.height() / self.layers()
    }

    /// Returns len, the number of chains of a one-time key: two for each byte of a value, and three for the checksum.
    #[must_use]
    pub fn chains(self) -> usize {
        2 * self.hash.n() + 3
    }

    /// Returns the number of bytes of an index in a signature. RFC 8391 sections 4.1.8 and 4.2.3.
    #[must_use]
    pub fn index_len(self) -> usize {
        if self.is_layered() { self.height().div_ceil(8) } else { 4 }
    }

    /// Returns the number of bytes of a signature.
    #[must_use]
    pub fn signature_len(self) -> usize {
        // The index, the randomizer, and a one-time signature with a path in each layer.
        self.index_len() + (1 + self.layers() * (self.chains() + self.tree_height())) * self.hash.n()
    }

    /// Returns the number of bytes of a public key: the identifier, the root and SEED.
    #[must_use]
    pub fn public_len(self) -> usize {
        4 + 2 * self.hash.n()
    }
}

/// Writes `xmss-sha256-h10` or `xmssmt-sha256-h20-d2`.
impl fmt::Display for XmssSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_layered() {
            true => write!(f, "xmssmt-{}-h{}-d{}", self.hash, self.height, self.layers),
            false => write!(f, "xmss-{}-h{}", self.hash, self.height),
        }
    }
}

/// A public key of XMSS or XMSS^MT: the identifier of its set, the root and SEED. RFC 8391 sections 4.1.7 and 4.2.2.
#[derive(Clone, PartialEq, Eq)]
pub struct XmssPublicKey {
    set: XmssSet,
    bytes: Vec<u8>,
}

impl XmssPublicKey {
    /// Reads a key of XMSS.
    ///
    /// # Errors
    /// [`StatefulKeyError::Length`], [`StatefulKeyError::XmssOid`].
    pub fn parse(bytes: &[u8]) -> Result<Self, StatefulKeyError> {
        Self::parse_of(SINGLE, bytes)
    }

    /// Reads a key of XMSS^MT.
    ///
    /// # Errors
    /// [`StatefulKeyError::Length`], [`StatefulKeyError::XmssOid`].
    pub fn parse_layered(bytes: &[u8]) -> Result<Self, StatefulKeyError> {
        Self::parse_of(LAYERED, bytes)
    }

    fn parse_of(registry: XmssRegistry, bytes: &[u8]) -> Result<Self, StatefulKeyError> {
        let length =
            |expected| StatefulKeyError::Length { scheme: registry.scheme, expected, found: bytes.len() };
        let (oid, _) = split_u32(bytes).ok_or(length(4))?;
        let set = registry.find(oid)?;
        if bytes.len() != set.public_len() {
            return Err(length(set.public_len()));
        }
        Ok(Self { set, bytes: bytes.to_vec() })
    }

    /// Returns the parameter set.
    #[must_use]
    pub fn set(&self) -> XmssSet {
        self.set
    }

    /// Returns the whole key.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the root of the highest tree.
    #[must_use]
    pub fn root(&self) -> &[u8] {
        &self.bytes[4..4 + self.set.hash.n()]
    }

    /// Returns SEED, the public seed of all keys and masks.
    #[must_use]
    pub fn seed(&self) -> &[u8] {
        &self.bytes[4 + self.set.hash.n()..]
    }
}

impl fmt::Debug for XmssPublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "XmssPublicKey({})", self.set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(oid: u32, len: usize) -> Vec<u8> {
        let mut key = oid.to_be_bytes().to_vec();
        key.resize(len, 7);
        key
    }

    /// RFC 8391 section 8 and SP 800-208 section 5: names and lengths of signatures of the first and the last sets.
    #[test]
    fn identifiers_have_the_sets_of_the_standard() {
        for (oid, name, len) in [
            (0x01, "XMSS-SHA2_10_256", 2_500),
            (0x02, "XMSS-SHA2_16_256", 2_692),
            (0x03, "XMSS-SHA2_20_256", 2_820),
            (0x0d, "XMSS-SHA2_10_192", 1_492),
            (0x12, "XMSS-SHAKE256_20_256", 2_820),
            (0x13, "XMSS-SHAKE256_10_192", 1_492),
            (0x15, "XMSS-SHAKE256_20_192", 1_732),
        ] {
            let set = SINGLE.find(oid).unwrap();
            assert_eq!((set.standard_name().as_str(), set.signature_len()), (name, len));
        }
        for (oid, name, len) in [
            (0x01, "XMSSMT-SHA2_20/2_256", 4_963),
            (0x02, "XMSSMT-SHA2_20/4_256", 9_251),
            (0x08, "XMSSMT-SHA2_60/12_256", 27_688),
            (0x21, "XMSSMT-SHA2_20/2_192", 2_955),
            (0x2a, "XMSSMT-SHAKE256_20/4_256", 9_251),
            (0x38, "XMSSMT-SHAKE256_60/12_192", 16_160),
        ] {
            let set = LAYERED.find(oid).unwrap();
            assert_eq!((set.standard_name().as_str(), set.signature_len()), (name, len));
        }
        let known = |registry: XmssRegistry| (0..0x40).filter(|oid| registry.find(*oid).is_ok()).count();
        assert_eq!((known(SINGLE), known(LAYERED), XmssSet::all().count()), (12, 32, 44));
    }

    #[test]
    fn other_sets_of_rfc_8391_are_refused_by_name() {
        let text = |result: Result<XmssPublicKey, StatefulKeyError>| result.unwrap_err().to_string();
        for (oid, single, layered) in [
            (0x0a, "XMSS-SHAKE_10_512", "XMSSMT-SHA2_20/4_512"),
            (0x19, "0x00000019", "XMSSMT-SHAKE_20/2_512"),
            (0x39, "0x00000039", "0x00000039"),
        ] {
            assert!(text(XmssPublicKey::parse(&key(oid, 68))).ends_with(single), "{oid}");
            assert!(text(XmssPublicKey::parse_layered(&key(oid, 68))).ends_with(layered), "{oid}");
        }
    }

    #[test]
    fn a_key_of_another_length_is_refused() {
        for (oid, right) in [(0x01, 68), (0x0d, 52)] {
            let key_of = |len| XmssPublicKey::parse(&key(oid, len));
            assert_eq!(key_of(right).unwrap().seed().len(), (right - 4) / 2);
            for found in (4..right).chain(right + 1..right + 20) {
                let length = StatefulKeyError::Length { scheme: "XMSS", expected: right, found };
                assert_eq!(key_of(found), Err(length));
            }
        }
        let cut = StatefulKeyError::Length { scheme: "XMSS^MT", expected: 4, found: 3 };
        assert_eq!(XmssPublicKey::parse_layered(&[0; 3]), Err(cut));
    }
}
