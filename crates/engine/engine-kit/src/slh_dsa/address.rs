//! Addresses. FIPS 205 section 4.2.

/// The address of a hash step. FIPS 205 figure 2 and table 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The index of the key among the keys of the engine's steps. It is not part of the encoded address.
    pub key: u32,
    /// The layer of the tree, from 0, the lowest.
    pub layer: u32,
    /// The index of the tree in its layer. FIPS 205 reserves 12 bytes; every set has at most 2^64 trees.
    pub tree: u64,
    /// The meaning of the other fields.
    pub kind: AddressKind,
    /// The index of the one-time or few-time key in its tree; 0 for nodes of Merkle trees.
    pub key_pair: u32,
    /// The index of a chain, or the height of a node.
    pub height: u32,
    /// The index of a step of a chain, or of a node at its height.
    pub index: u32,
}

/// The kind of a hash step. The numbers are those of FIPS 205 table 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressKind {
    /// A step of a WOTS+ chain.
    WotsHash = 0,
    /// The compression of the ends of chains.
    WotsKey = 1,
    /// A node of a tree of the hypertree.
    Tree = 2,
    /// A leaf or a node of a FORS tree.
    ForsTree = 3,
    /// The compression of the roots of FORS trees.
    ForsRoots = 4,
    /// The secret value at the start of a chain.
    WotsSecret = 5,
    /// The secret value of a FORS leaf.
    ForsSecret = 6,
}

impl Address {
    /// The number of bytes of an encoded address.
    pub const LEN: usize = 32;

    /// The number of bytes of a compressed address.
    pub const COMPRESSED_LEN: usize = 22;

    /// Returns the encoded address, for SHAKE. FIPS 205 figure 2.
    #[must_use]
    pub fn encoded(&self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[..4].copy_from_slice(&self.layer.to_be_bytes());
        // The first four of the twelve bytes of the tree stay zero.
        bytes[8..16].copy_from_slice(&self.tree.to_be_bytes());
        bytes[19] = self.kind as u8;
        bytes[20..].copy_from_slice(&self.last_words());
        bytes
    }

    /// Returns the compressed address, for SHA-256 and SHA-512. FIPS 205 figure 18.
    #[must_use]
    pub fn compressed(&self) -> [u8; Self::COMPRESSED_LEN] {
        let mut bytes = [0; Self::COMPRESSED_LEN];
        // Every set has at most 22 layers, so that one byte holds the layer.
        bytes[0] = self.layer as u8;
        bytes[1..9].copy_from_slice(&self.tree.to_be_bytes());
        bytes[9] = self.kind as u8;
        bytes[10..].copy_from_slice(&self.last_words());
        bytes
    }

    fn last_words(&self) -> [u8; 12] {
        let mut bytes = [0; 12];
        bytes[..4].copy_from_slice(&self.key_pair.to_be_bytes());
        bytes[4..8].copy_from_slice(&self.height.to_be_bytes());
        bytes[8..].copy_from_slice(&self.index.to_be_bytes());
        bytes
    }
}
