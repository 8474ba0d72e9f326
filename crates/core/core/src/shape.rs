//! Shapes: raw operations that may share a batch, because every lane takes the same steps.

mod aead;
mod chain;
mod digest;
mod hash_based;
mod lattice;
mod names;

pub use aead::{AeadAlg, FpeAlg};
pub use chain::{
    ChainOrder, MAX_MTE_FRAGMENT, MAX_MTE_SEALED, MTE_AAD_LEN, mte_fragment_len, mte_sealed_len,
};
pub use digest::DigestAlg;
pub use hash_based::SlhDsaSet;
pub use lattice::{MlDsaSet, MlKemSet};

/// A raw operation with the sizes that fix its steps.
///
/// Jobs of one shape may share a batch, each with its own key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Shape {
    /// `input^d mod n` by the Chinese remainder theorem.
    ///
    /// Input and output have `bits / 8` bytes, rounded up, big-endian, and the input is below n. RFC 8017 5.1.2 and
    /// 5.2.1.
    RsaPrivate {
        /// Modulus length, 512 to 8192.
        bits: u16,
    },
    /// `input^e mod n`, with input and output as for [`Shape::RsaPrivate`]. RFC 8017 5.1.1 and 5.2.2.
    RsaPublic {
        /// Modulus length, 512 to 8192.
        bits: u16,
        /// The class of the exponent.
        exponent: RsaExponent,
    },
    /// `input^x mod n` with a secret exponent and odd n, no CRT (threshold shares).
    ModExp {
        /// Modulus length, 512 to 8192.
        bits: u16,
        /// The bound of the exponent's length in bits. Every exponent of the shape takes the steps of this length.
        exponent_bits: u16,
    },
    /// ECDSA over a digest at the width of the curve. The output is r || s, each at the width of the curve. FIPS
    /// 186-5 6.4.1.
    EcdsaSign {
        /// The curve of key and point.
        curve: Curve,
    },
    /// ECDSA verification of r || s. It takes r and s in [1, n-1], and high and low s alike. FIPS 186-5 6.4.2.
    EcdsaVerify {
        /// The curve of key and point.
        curve: Curve,
    },
    /// Ed25519 over a whole message. The output has 64 bytes. RFC 8032 5.1.6.
    Ed25519Sign,
    /// Ed25519 verification by one exact predicate.
    ///
    /// S is below L, A decodes canonically or not as AWS-LC does it, and `encode([S]B - [h]A)` equals R as bytes
    /// (cofactorless). RFC 8032 5.1.7.
    Ed25519Verify,
    /// X25519 from a 32-byte u-coordinate to 32 bytes. The scheme decides about an all-zero result. RFC 7748 section
    /// 5.
    X25519,
    /// ECDH from a peer's point to the x-coordinate of the product, at the width of the curve.
    ///
    /// The input is an uncompressed point, `04 || x || y`. Every other form, and a point that is not on the curve, is
    /// [`Status::OutOfRange`](crate::Status::OutOfRange). The curves have cofactor 1, so the product is never the
    /// point at infinity. NIST SP 800-56A 5.7.1.2, RFC 8446 7.4.2.
    Ecdh {
        /// The curve of key and point.
        curve: Curve,
    },
    /// The encapsulation key of an ML-KEM private key, computed from its seed. The input is empty. FIPS 203 algorithm
    /// 16.
    MlKemKeygen {
        /// The parameter set of the key.
        set: MlKemSet,
    },
    /// ML-KEM encapsulation from 32 random bytes m. The output is the ciphertext, and behind it the shared secret of
    /// 32 bytes. The same m gives the same output. FIPS 203 algorithm 17.
    ///
    /// The key holds a checked encapsulation key, so that this cannot fail.
    MlKemEncaps {
        /// The parameter set of the key.
        set: MlKemSet,
    },
    /// ML-KEM decapsulation from a ciphertext to the shared secret of 32 bytes. FIPS 203 algorithm 18.
    ///
    /// A ciphertext that was not made for the key gives a secret that depends on the key and the ciphertext alone, and
    /// [`Status::Done`](crate::Status::Done) like every other (implicit rejection).
    MlKemDecaps {
        /// The parameter set of the key.
        set: MlKemSet,
    },
    /// ML-DSA over the message representative mu of 64 bytes, with the 32 bytes rnd as
    /// [`NonceInput::Hedged`](crate::NonceInput::Hedged). The same mu and rnd give the same signature. FIPS 204
    /// algorithm 7 from step 7 on.
    MlDsaSign {
        /// The parameter set of the key.
        set: MlDsaSet,
    },
    /// ML-DSA verification over mu. FIPS 204 algorithm 8 from step 8 on, with the checks of `sigDecode` and of
    /// `HintBitUnpack`.
    MlDsaVerify {
        /// The parameter set of the key.
        set: MlDsaSet,
    },
    /// The public key PK.seed || PK.root of an SLH-DSA private key, computed from SK.seed and PK.seed. The input is
    /// empty. FIPS 205 algorithm 18.
    SlhDsaKeygen {
        /// The parameter set of the key.
        set: SlhDsaSet,
    },
    /// SLH-DSA over a whole encoded message M', with opt_rand in the first n bytes of
    /// [`NonceInput::Hedged`](crate::NonceInput::Hedged). The same M' and opt_rand give the same signature, and PK.seed
    /// as opt_rand the deterministic one. FIPS 205 algorithm 19.
    SlhDsaSign {
        /// The parameter set of the key.
        set: SlhDsaSet,
    },
    /// SLH-DSA verification over a whole encoded message M'. FIPS 205 algorithm 20.
    SlhDsaVerify {
        /// The parameter set of the key.
        set: SlhDsaSet,
    },
    /// Verification of an HSS signature over a whole message. Each level of the key may have types of its own, with one
    /// hash function for all. RFC 8554 section 6.3, SP 800-208 section 4.
    ///
    /// The key names the parameter set, so that the signatures of a batch may have different ones.
    HssVerify,
    /// Verification of an XMSS or XMSS^MT signature over a whole message. RFC 8391 sections 4.1.10 and 4.2.5, with the
    /// hash functions of SP 800-208 section 5.
    XmssVerify,
    /// Block cipher: over whole blocks in CBC mode, and over any number of bytes in CTR mode.
    Cipher {
        /// The cipher.
        alg: BlockCipher,
        /// The mode of operation.
        mode: CipherMode,
        /// Encrypt or decrypt.
        direction: Direction,
    },
    /// Authenticated encryption with a detached tag.
    Aead {
        /// The algorithm.
        alg: AeadAlg,
        /// Encrypt or decrypt.
        direction: Direction,
    },
    /// Encryption that keeps the length and the alphabet of a text. NIST SP 800-38G.
    ///
    /// The input and the output are numerals: one byte each for a radix of up to 256, two bytes, big-endian, for a
    /// larger one. The IV column has the radix in four bytes, big-endian, and the associated data is the tweak. A
    /// numeral that is not below the radix is [`Status::OutOfRange`](crate::Status::OutOfRange). A record has 2 to
    /// [`MAX_FF1_NUMERALS`](crate::MAX_FF1_NUMERALS) numerals and at least 100 possible texts.
    Fpe {
        /// The algorithm.
        alg: FpeAlg,
        /// Encrypt or decrypt.
        direction: Direction,
    },
    /// A message authentication code. The scheme compares it.
    Mac {
        /// The algorithm.
        alg: MacAlg,
    },
    /// A digest of a whole message.
    Digest {
        /// The algorithm.
        alg: DigestAlg,
    },
    /// Whole blocks of a longer message. The chaining state comes in the IV column and goes to the output, so that
    /// many long messages are hashed side by side.
    DigestPart {
        /// The algorithm.
        alg: DigestAlg,
    },
    /// Key wrap. RFC 3394 and RFC 5649.
    Wrap {
        /// The algorithm.
        alg: WrapAlg,
        /// Wrap for `Encrypt`, unwrap for `Decrypt`.
        direction: Direction,
    },
    /// A decryption under one key and an encryption under another. The plaintext exists only in scratch memory of the
    /// engine.
    Translate {
        /// The cipher of the input (key and IV columns).
        from: CipherSpec,
        /// The cipher of the output (second key and second IV columns).
        to: CipherSpec,
    },
    /// A cipher and an HMAC over one record, each under a key of its own: TLS in CBC mode, SSH, ESP. The second key
    /// column has the MAC key. Combinations that [`ChainOrder::joins`] refuses are offered by no engine.
    Chain {
        /// The cipher (key and IV columns).
        cipher: CipherSpec,
        /// The MAC (second key column).
        mac: MacAlg,
        /// The order of the two, and the place of the tag.
        order: ChainOrder,
        /// Seal for `Encrypt`, open for `Decrypt`.
        direction: Direction,
    },
}

/// The public exponent of an RSA shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RsaExponent {
    /// 65537, the fourth Fermat number.
    F4,
    /// Any other odd exponent of 3 to 2^33 - 1.
    Other,
}

/// A curve for ECDSA and ECDH.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Curve {
    /// NIST P-256, secp256r1.
    P256,
    /// NIST P-384, secp384r1.
    P384,
}

/// A block cipher with its key length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum BlockCipher {
    /// DES, 8-byte key (parity bits ignored).
    Des,
    /// Two-key triple DES, 16-byte key, EDE.
    Tdes2,
    /// Three-key triple DES, 24-byte key, EDE.
    Tdes3,
    /// AES with a 16-byte key.
    Aes128,
    /// AES with a 32-byte key.
    Aes256,
}

/// A mode of operation for [`Shape::Cipher`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum CipherMode {
    /// Cipher block chaining without padding; IV of one block. NIST SP 800-38A 6.2.
    Cbc,
    /// Counter mode, for AES only. The IV is the first counter block, and the whole block counts as one big-endian
    /// number, as in SSH. NIST SP 800-38A 6.5 and RFC 4344 section 4.
    Ctr,
}

/// A cipher in a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CipherSpec {
    /// The cipher.
    pub alg: BlockCipher,
    /// The mode of operation.
    pub mode: CipherMode,
}

/// The direction of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// Encryption, sealing or wrapping.
    Encrypt,
    /// Decryption, opening or unwrapping.
    Decrypt,
}

/// A MAC algorithm. A tag column that is shorter than the full length keeps the leading bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum MacAlg {
    /// ISO/IEC 9797-1 algorithm 1 with DES: the last block of CBC under a zero IV.
    DesMac(MacPadding),
    /// ISO/IEC 9797-1 algorithm 3 with DES (ANSI X9.19 retail MAC), 16-byte key.
    RetailMac(MacPadding),
    /// CMAC with two-key triple DES. NIST SP 800-38B.
    Tdes2Cmac,
    /// CMAC with three-key triple DES. NIST SP 800-38B.
    Tdes3Cmac,
    /// CMAC with AES-128. NIST SP 800-38B.
    Aes128Cmac,
    /// CMAC with AES-256. NIST SP 800-38B.
    Aes256Cmac,
    /// HMAC with SHA-1. RFC 2104.
    HmacSha1,
    /// HMAC with SHA-224. RFC 4231.
    HmacSha224,
    /// HMAC with SHA-256. RFC 2104.
    HmacSha256,
    /// HMAC with SHA-384. RFC 4231.
    HmacSha384,
    /// HMAC with SHA-512. RFC 4231.
    HmacSha512,
}

/// The padding of the last block of a DES MAC. ISO/IEC 9797-1 section 6.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MacPadding {
    /// Method 1: zeros up to a whole block; an empty message becomes one zero block.
    Zeros,
    /// Method 2: one bit 1, then zeros; always added.
    OneThenZeros,
}

/// A key-wrap algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum WrapAlg {
    /// AES-KW under a 16-byte key: input of 16 bytes or more, whole half-blocks. RFC 3394.
    Aes128Kw,
    /// AES-KW under a 32-byte key. RFC 3394.
    Aes256Kw,
    /// AES-KWP under a 16-byte key: input of any length from 1 byte. RFC 5649.
    Aes128Kwp,
    /// AES-KWP under a 32-byte key. RFC 5649.
    Aes256Kwp,
}

impl Shape {
    /// Every public-key shape with a fixed name: the four common RSA sizes, both curves with ECDSA and
    /// ECDH, Ed25519, X25519, and every parameter set of ML-KEM, ML-DSA and SLH-DSA, HSS and XMSS.
    #[must_use]
    pub fn public_key() -> Vec<Self> {
        let mut shapes = Vec::new();
        // The sizes for which self tests have known answers; others run on the next larger proof.
        for bits in [1024, 2048, 3072, 4096] {
            shapes.push(Self::RsaPrivate { bits });
            shapes.push(Self::RsaPublic { bits, exponent: RsaExponent::F4 });
            shapes.push(Self::RsaPublic { bits, exponent: RsaExponent::Other });
            shapes.push(Self::ModExp { bits, exponent_bits: bits });
        }
        for curve in Curve::ALL {
            shapes.push(Self::EcdsaSign { curve });
            shapes.push(Self::EcdsaVerify { curve });
            shapes.push(Self::Ecdh { curve });
        }
        shapes.extend([Self::Ed25519Sign, Self::Ed25519Verify, Self::X25519]);
        for set in MlKemSet::ALL {
            shapes.extend([Self::MlKemKeygen { set }, Self::MlKemEncaps { set }, Self::MlKemDecaps { set }]);
        }
        for set in MlDsaSet::ALL {
            shapes.extend([Self::MlDsaSign { set }, Self::MlDsaVerify { set }]);
        }
        for set in SlhDsaSet::ALL {
            let verify = Self::SlhDsaVerify { set };
            shapes.extend([Self::SlhDsaKeygen { set }, Self::SlhDsaSign { set }, verify]);
        }
        shapes.extend([Self::HssVerify, Self::XmssVerify]);
        shapes
    }

    /// Every record shape except translations, which are pairs of ciphers.
    #[must_use]
    pub fn records() -> Vec<Self> {
        let mut shapes = Vec::new();
        for direction in Direction::ALL {
            shapes.extend(CipherSpec::all().map(|CipherSpec { alg, mode }| Self::Cipher {
                alg,
                mode,
                direction,
            }));
            shapes.extend(AeadAlg::ALL.map(|alg| Self::Aead { alg, direction }));
            shapes.extend(FpeAlg::ALL.map(|alg| Self::Fpe { alg, direction }));
            shapes.extend(WrapAlg::ALL.map(|alg| Self::Wrap { alg, direction }));
        }
        shapes.extend(MacAlg::ALL.map(|alg| Self::Mac { alg }));
        shapes.extend(DigestAlg::ALL.map(|alg| Self::Digest { alg }));
        shapes.extend(DigestAlg::ALL.map(|alg| Self::DigestPart { alg }));
        shapes.extend(Self::chains());
        shapes
    }

    /// Every [`Shape::Chain`] that [`ChainOrder::joins`] allows.
    #[must_use]
    pub fn chains() -> Vec<Self> {
        let mut shapes = Vec::new();
        for order in ChainOrder::ALL {
            for cipher in CipherSpec::all() {
                for mac in MacAlg::ALL.into_iter().filter(|mac| order.joins(cipher, *mac)) {
                    let chain = |direction| Self::Chain { cipher, mac, order, direction };
                    shapes.extend(Direction::ALL.map(chain));
                }
            }
        }
        shapes
    }

    /// True if the parts of the shape belong together. No engine offers any other shape.
    #[must_use]
    pub fn is_possible(self) -> bool {
        match self {
            Self::Cipher { alg, mode, .. } => CipherSpec { alg, mode }.is_possible(),
            Self::Translate { from, to } => [from, to].iter().all(|spec| spec.mode == CipherMode::Cbc),
            Self::Chain { cipher, mac, order, .. } => order.joins(cipher, mac),
            _ => true,
        }
    }

    /// True if the shape writes a tag apart from its output, into the tag column's span of the output buffer.
    #[must_use]
    pub fn is_sealing(self) -> bool {
        self.detached_tag_direction() == Some(Direction::Encrypt)
    }

    /// True if the shape compares a tag, which the tag column's span of the data states.
    #[must_use]
    pub fn is_opening(self) -> bool {
        self.detached_tag_direction() == Some(Direction::Decrypt)
    }

    fn detached_tag_direction(self) -> Option<Direction> {
        match self {
            Self::Aead { direction, .. } => Some(direction),
            Self::Chain { order, direction, .. } if order.has_detached_tag() => Some(direction),
            _ => None,
        }
    }

    /// Returns the shape in the other direction, or None if the shape has none.
    #[must_use]
    pub fn reversed(self) -> Option<Self> {
        match self {
            Self::Cipher { alg, mode, direction } => {
                Some(Self::Cipher { alg, mode, direction: direction.reversed() })
            }
            Self::Aead { alg, direction } => Some(Self::Aead { alg, direction: direction.reversed() }),
            Self::Fpe { alg, direction } => Some(Self::Fpe { alg, direction: direction.reversed() }),
            Self::Wrap { alg, direction } => Some(Self::Wrap { alg, direction: direction.reversed() }),
            Self::Chain { cipher, mac, order, direction } => {
                Some(Self::Chain { cipher, mac, order, direction: direction.reversed() })
            }
            _ => None,
        }
    }

    /// Returns the direction of a shape that has one.
    #[must_use]
    pub fn direction(self) -> Option<Direction> {
        match self {
            Self::Cipher { direction, .. }
            | Self::Aead { direction, .. }
            | Self::Fpe { direction, .. }
            | Self::Wrap { direction, .. }
            | Self::Chain { direction, .. } => Some(direction),
            _ => None,
        }
    }

    /// True if the shape's jobs are [`Records`](crate::Records), false if they are operations.
    #[must_use]
    pub fn is_record(self) -> bool {
        matches!(
            self,
            Self::Cipher { .. }
                | Self::Aead { .. }
                | Self::Fpe { .. }
                | Self::Mac { .. }
                | Self::Digest { .. }
                | Self::DigestPart { .. }
                | Self::Wrap { .. }
                | Self::Translate { .. }
                | Self::Chain { .. }
        )
    }

    /// Returns the number of result bytes per operation.
    ///
    /// It is 0 for verifications, whose status is the answer, and for record shapes, whose output column names the
    /// places.
    #[must_use]
    pub fn output_len(self) -> usize {
        match self {
            Self::RsaPrivate { bits } | Self::RsaPublic { bits, .. } | Self::ModExp { bits, .. } => {
                modulus_len(bits)
            }
            Self::EcdsaSign { curve } => 2 * curve.scalar_len(),
            Self::Ed25519Sign => 64,
            Self::X25519 => 32,
            Self::Ecdh { curve } => curve.scalar_len(),
            Self::MlKemKeygen { set } => set.public_len(),
            Self::MlKemEncaps { set } => set.ciphertext_len() + MlKemSet::SECRET_LEN,
            Self::MlKemDecaps { .. } => MlKemSet::SECRET_LEN,
            Self::MlDsaSign { set } => set.signature_len(),
            Self::SlhDsaKeygen { set } => set.public_len(),
            Self::SlhDsaSign { set } => set.signature_len(),
            _ => 0,
        }
    }

    /// True if results must not outlive their use: plaintexts, shared secrets, unwrapped keys.
    #[must_use]
    pub fn result_is_secret(self) -> bool {
        match self {
            // Signatures are public in the end, but the same operation decrypts, and shares of a threshold key
            // become public only after their release checks.
            Self::RsaPrivate { .. }
            | Self::ModExp { .. }
            | Self::X25519
            | Self::Ecdh { .. }
            | Self::MlKemEncaps { .. }
            | Self::MlKemDecaps { .. } => true,
            _ => self.direction() == Some(Direction::Decrypt),
        }
    }

    /// True if the inputs of operations must not outlive their use. The shared secret of an encapsulation follows from
    /// its random bytes and the public key.
    #[must_use]
    pub fn input_is_secret(self) -> bool {
        matches!(self, Self::MlKemEncaps { .. })
    }

    /// Returns the number of input bytes per operation if the shape fixes it.
    #[must_use]
    pub fn input_len(self) -> Option<usize> {
        match self {
            Self::RsaPrivate { bits } | Self::RsaPublic { bits, .. } | Self::ModExp { bits, .. } => {
                Some(modulus_len(bits))
            }
            Self::EcdsaSign { curve } | Self::EcdsaVerify { curve } => Some(curve.scalar_len()),
            Self::X25519 => Some(32),
            Self::Ecdh { curve } => Some(curve.point_len()),
            Self::MlKemKeygen { .. } | Self::SlhDsaKeygen { .. } => Some(0),
            Self::MlKemEncaps { .. } => Some(MlKemSet::RANDOM_LEN),
            Self::MlKemDecaps { set } => Some(set.ciphertext_len()),
            Self::MlDsaSign { .. } | Self::MlDsaVerify { .. } => Some(MlDsaSet::MU_LEN),
            _ => None,
        }
    }

    /// Returns the number of signature bytes that accompany the input of a verifying shape, if the shape fixes it.
    #[must_use]
    pub fn signature_len(self) -> Option<usize> {
        match self {
            Self::EcdsaVerify { curve } => Some(2 * curve.scalar_len()),
            Self::Ed25519Verify => Some(64),
            Self::MlDsaVerify { set } => Some(set.signature_len()),
            Self::SlhDsaVerify { set } => Some(set.signature_len()),
            _ => None,
        }
    }

    /// True if one operation takes so long, up to a second, that it must not hold a thread for which other jobs wait,
    /// and that its engine asks in between whether it is still wanted
    /// ([`Operation::is_cancelled`](crate::Operation::is_cancelled)).
    #[must_use]
    pub fn is_long(self) -> bool {
        matches!(self, Self::SlhDsaKeygen { .. } | Self::SlhDsaSign { .. })
    }
}

fn modulus_len(bits: u16) -> usize {
    usize::from(bits).div_ceil(8)
}

impl Curve {
    /// Every curve.
    pub const ALL: [Self; 2] = [Self::P256, Self::P384];

    /// Returns the number of bytes of a scalar or coordinate.
    #[must_use]
    pub fn scalar_len(self) -> usize {
        match self {
            Self::P256 => 32,
            Self::P384 => 48,
        }
    }

    /// Returns the number of bytes of an uncompressed point, `04 || x || y`. SEC 1 2.3.3.
    #[must_use]
    pub fn point_len(self) -> usize {
        1 + 2 * self.scalar_len()
    }
}

impl BlockCipher {
    /// Every block cipher.
    pub const ALL: [Self; 5] = [Self::Des, Self::Tdes2, Self::Tdes3, Self::Aes128, Self::Aes256];

    /// Returns the number of bytes of a block, and of a CBC IV.
    #[must_use]
    pub fn block_len(self) -> usize {
        match self {
            Self::Des | Self::Tdes2 | Self::Tdes3 => 8,
            Self::Aes128 | Self::Aes256 => 16,
        }
    }

    /// Returns the number of bytes of a key.
    #[must_use]
    pub fn key_len(self) -> usize {
        match self {
            Self::Des => 8,
            Self::Tdes2 | Self::Aes128 => 16,
            Self::Tdes3 => 24,
            Self::Aes256 => 32,
        }
    }
}

impl CipherSpec {
    /// Returns every cipher in every mode that it has.
    pub fn all() -> impl Iterator<Item = Self> {
        let in_modes = |alg| CipherMode::ALL.map(|mode| Self { alg, mode });
        BlockCipher::ALL.into_iter().flat_map(in_modes).filter(|spec| spec.is_possible())
    }

    /// True if the cipher has the mode: CBC for all, and CTR for AES.
    #[must_use]
    pub fn is_possible(self) -> bool {
        self.mode == CipherMode::Cbc || matches!(self.alg, BlockCipher::Aes128 | BlockCipher::Aes256)
    }

    /// Returns the number that divides every input length: the block length in CBC mode, and 1 in CTR mode.
    #[must_use]
    pub fn granularity(self) -> usize {
        match self.mode {
            CipherMode::Cbc => self.alg.block_len(),
            CipherMode::Ctr => 1,
        }
    }
}

impl CipherMode {
    /// Every mode.
    pub const ALL: [Self; 2] = [Self::Cbc, Self::Ctr];
}

impl Direction {
    /// Both directions.
    pub const ALL: [Self; 2] = [Self::Encrypt, Self::Decrypt];

    /// Returns the other direction.
    #[must_use]
    pub fn reversed(self) -> Self {
        match self {
            Self::Encrypt => Self::Decrypt,
            Self::Decrypt => Self::Encrypt,
        }
    }
}

impl MacAlg {
    /// Every MAC algorithm with every padding.
    pub const ALL: [Self; 13] = [
        Self::DesMac(MacPadding::Zeros),
        Self::DesMac(MacPadding::OneThenZeros),
        Self::RetailMac(MacPadding::Zeros),
        Self::RetailMac(MacPadding::OneThenZeros),
        Self::Tdes2Cmac,
        Self::Tdes3Cmac,
        Self::Aes128Cmac,
        Self::Aes256Cmac,
        Self::HmacSha1,
        Self::HmacSha224,
        Self::HmacSha256,
        Self::HmacSha384,
        Self::HmacSha512,
    ];

    /// Returns the number of bytes of a key, or None for HMAC, which takes any length.
    #[must_use]
    pub fn key_len(self) -> Option<usize> {
        match self {
            Self::DesMac(_) => Some(8),
            Self::RetailMac(_) | Self::Tdes2Cmac | Self::Aes128Cmac => Some(16),
            Self::Tdes3Cmac => Some(24),
            Self::Aes256Cmac => Some(32),
            Self::HmacSha1 | Self::HmacSha224 | Self::HmacSha256 | Self::HmacSha384 | Self::HmacSha512 => {
                None
            }
        }
    }

    /// Returns the number of bytes of the untruncated tag.
    #[must_use]
    pub fn tag_len(self) -> usize {
        match self {
            Self::DesMac(_) | Self::RetailMac(_) | Self::Tdes2Cmac | Self::Tdes3Cmac => 8,
            Self::Aes128Cmac | Self::Aes256Cmac => 16,
            Self::HmacSha1 => 20,
            Self::HmacSha224 => 28,
            Self::HmacSha256 => 32,
            Self::HmacSha384 => 48,
            Self::HmacSha512 => 64,
        }
    }

    /// Returns the digest of an HMAC.
    #[must_use]
    pub fn hmac_digest(self) -> Option<DigestAlg> {
        match self {
            Self::HmacSha1 => Some(DigestAlg::Sha1),
            Self::HmacSha224 => Some(DigestAlg::Sha224),
            Self::HmacSha256 => Some(DigestAlg::Sha256),
            Self::HmacSha384 => Some(DigestAlg::Sha384),
            Self::HmacSha512 => Some(DigestAlg::Sha512),
            _ => None,
        }
    }
}

impl WrapAlg {
    /// Every key-wrap algorithm.
    pub const ALL: [Self; 4] = [Self::Aes128Kw, Self::Aes256Kw, Self::Aes128Kwp, Self::Aes256Kwp];

    /// Returns the number of bytes of the wrapping key.
    #[must_use]
    pub fn key_len(self) -> usize {
        match self {
            Self::Aes128Kw | Self::Aes128Kwp => 16,
            Self::Aes256Kw | Self::Aes256Kwp => 32,
        }
    }
}

#[cfg(test)]
mod tests;
