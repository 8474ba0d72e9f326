//! The parameter sets of SLH-DSA (FIPS 205).

use std::fmt;

/// A parameter set of SLH-DSA. FIPS 205 section 11.
///
/// The letter behind the security level chooses between small signatures (`s`) and fast signing (`f`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum SlhDsaSet {
    /// SLH-DSA-SHA2-128s, security category 1.
    Sha2_128s,
    /// SLH-DSA-SHA2-128f, security category 1.
    Sha2_128f,
    /// SLH-DSA-SHA2-192s, security category 3.
    Sha2_192s,
    /// SLH-DSA-SHA2-192f, security category 3.
    Sha2_192f,
    /// SLH-DSA-SHA2-256s, security category 5.
    Sha2_256s,
    /// SLH-DSA-SHA2-256f, security category 5.
    Sha2_256f,
    /// SLH-DSA-SHAKE-128s, security category 1.
    Shake128s,
    /// SLH-DSA-SHAKE-128f, security category 1.
    Shake128f,
    /// SLH-DSA-SHAKE-192s, security category 3.
    Shake192s,
    /// SLH-DSA-SHAKE-192f, security category 3.
    Shake192f,
    /// SLH-DSA-SHAKE-256s, security category 5.
    Shake256s,
    /// SLH-DSA-SHAKE-256f, security category 5.
    Shake256f,
}

/// The numbers of a parameter set. FIPS 205 table 2.
struct Row {
    name: &'static str,
    n: usize,
    layers: usize,
    tree_height: usize,
    fors_height: usize,
    fors_trees: usize,
}

const fn row(
    name: &'static str,
    n: usize,
    [layers, tree_height]: [usize; 2],
    [fors_height, fors_trees]: [usize; 2],
) -> Row {
    Row { name, n, layers, tree_height, fors_height, fors_trees }
}

/// In the order of [`SlhDsaSet::ALL`].
const ROWS: [Row; 12] = [
    row("SLH-DSA-SHA2-128s", 16, [7, 9], [12, 14]),
    row("SLH-DSA-SHA2-128f", 16, [22, 3], [6, 33]),
    row("SLH-DSA-SHA2-192s", 24, [7, 9], [14, 17]),
    row("SLH-DSA-SHA2-192f", 24, [22, 3], [8, 33]),
    row("SLH-DSA-SHA2-256s", 32, [8, 8], [14, 22]),
    row("SLH-DSA-SHA2-256f", 32, [17, 4], [9, 35]),
    row("SLH-DSA-SHAKE-128s", 16, [7, 9], [12, 14]),
    row("SLH-DSA-SHAKE-128f", 16, [22, 3], [6, 33]),
    row("SLH-DSA-SHAKE-192s", 24, [7, 9], [14, 17]),
    row("SLH-DSA-SHAKE-192f", 24, [22, 3], [8, 33]),
    row("SLH-DSA-SHAKE-256s", 32, [8, 8], [14, 22]),
    row("SLH-DSA-SHAKE-256f", 32, [17, 4], [9, 35]),
];

impl SlhDsaSet {
    /// Every parameter set, in the order of the object identifiers 2.16.840.1.101.3.4.3.20 to 31.
    pub const ALL: [Self; 12] = [
        Self::Sha2_128s,
        Self::Sha2_128f,
        Self::Sha2_192s,
        Self::Sha2_192f,
        Self::Sha2_256s,
        Self::Sha2_256f,
        Self::Shake128s,
        Self::Shake128f,
        Self::Shake192s,
        Self::Shake192f,
        Self::Shake256s,
        Self::Shake256f,
    ];

    /// The maximum number of bytes of a context. FIPS 205 algorithm 22, step 1.
    pub const MAX_CONTEXT_LEN: usize = 255;

    /// The number of values of a WOTS+ chain, w. FIPS 205 section 5.
    pub const CHAIN_VALUES: usize = 16;

    // The enum has no values of its own, so that they count from 0 in the order of `ALL`.
    fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// Returns the name of the standard: `SLH-DSA-SHA2-128s`.
    #[must_use]
    pub fn standard_name(self) -> &'static str {
        self.row().name
    }

    /// Returns n, the number of bytes of a hash value: 16, 24 or 32.
    #[must_use]
    pub fn n(self) -> usize {
        self.row().n
    }

    /// Returns d, the number of layers of the hypertree.
    #[must_use]
    pub fn layers(self) -> usize {
        self.row().layers
    }

    /// Returns h', the height of each tree of the hypertree.
    #[must_use]
    pub fn tree_height(self) -> usize {
        self.row().tree_height
    }

    /// Returns a, the height of each FORS tree.
    #[must_use]
    pub fn fors_height(self) -> usize {
        self.row().fors_height
    }

    /// Returns k, the number of FORS trees.
    #[must_use]
    pub fn fors_trees(self) -> usize {
        self.row().fors_trees
    }

    /// Returns len, the number of chains of a WOTS+ key: two for each byte of a hash value, and three for the checksum.
    /// FIPS 205 equations 5.2 to 5.4.
    #[must_use]
    pub fn chains(self) -> usize {
        2 * self.n() + 3
    }

    /// Returns m, the number of bytes of the digest of a message: the FORS indices, the index of the tree and that of
    /// the leaf, each in whole bytes. FIPS 205 equation 11.1.
    #[must_use]
    pub fn digest_len(self) -> usize {
        let indices = (self.fors_height() * self.fors_trees()).div_ceil(8);
        let tree = (self.tree_height() * (self.layers() - 1)).div_ceil(8);
        indices + tree + self.tree_height().div_ceil(8)
    }

    /// True if the hash functions are those of SHAKE256, false for SHA-256 and SHA-512. FIPS 205 sections 11.1 and
    /// 11.2.
    #[must_use]
    pub fn is_shake(self) -> bool {
        self as usize >= Self::Shake128s as usize
    }

    /// Returns the security category: 1, 3 or 5.
    #[must_use]
    pub fn category(self) -> u8 {
        match self.n() {
            16 => 1,
            24 => 3,
            _ => 5,
        }
    }

    /// Returns the number of bytes of a public key, PK.seed || PK.root.
    #[must_use]
    pub fn public_len(self) -> usize {
        2 * self.n()
    }

    /// Returns the number of bytes of a private key, SK.seed || SK.prf || PK.seed || PK.root.
    #[must_use]
    pub fn private_len(self) -> usize {
        4 * self.n()
    }

    /// Returns the number of bytes of a signature. FIPS 205 table 2.
    #[must_use]
    pub fn signature_len(self) -> usize {
        let fors = self.fors_trees() * (1 + self.fors_height());
        let hypertree = self.layers() * (self.tree_height() + self.chains());
        (1 + fors + hypertree) * self.n()
    }

    /// Returns the number of hash computations of a signature, by which costs are predicted: chains of every leaf of
    /// one tree per layer, leaves and nodes of the FORS trees.
    #[must_use]
    pub fn signing_hashes(self) -> usize {
        self.layers() * self.root_hashes() + self.fors_trees() * (3 << self.fors_height())
    }

    /// Returns the number of hash computations of a key pair: one tree.
    #[must_use]
    pub fn root_hashes(self) -> usize {
        (self.chains() * Self::CHAIN_VALUES + 1) << self.tree_height()
    }

    /// Returns the mean number of hash computations of a verification: half of each chain, and one path per tree.
    #[must_use]
    pub fn verifying_hashes(self) -> usize {
        let layer = self.chains() * Self::CHAIN_VALUES / 2 + self.tree_height();
        self.layers() * layer + self.fors_trees() * (1 + self.fors_height())
    }
}

/// Writes short stable names: `slh-dsa-sha2-128s`.
impl fmt::Display for SlhDsaSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.standard_name().to_ascii_lowercase())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_those_of_the_standard() {
        // FIPS 205 table 2: n, h, m, bytes of a public key and of a signature.
        let table = [
            (16, 63, 30, 32, 7_856),
            (16, 66, 34, 32, 17_088),
            (24, 63, 39, 48, 16_224),
            (24, 66, 42, 48, 35_664),
            (32, 64, 47, 64, 29_792),
            (32, 68, 49, 64, 49_856),
        ];
        for (set, row) in SlhDsaSet::ALL.into_iter().zip(table.iter().cycle()) {
            let height = set.layers() * set.tree_height();
            let found = (set.n(), height, set.digest_len(), set.public_len(), set.signature_len());
            assert_eq!(found, *row, "{set}");
        }
    }

    #[test]
    fn names_and_hash_functions_belong_together() {
        for set in SlhDsaSet::ALL {
            assert_eq!(set.to_string().contains("shake"), set.is_shake(), "{set}");
            assert!(set.to_string().contains(&(8 * set.n()).to_string()), "{set}");
        }
        assert_eq!(SlhDsaSet::Shake256f.to_string(), "slh-dsa-shake-256f");
    }
}
