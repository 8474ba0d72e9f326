//! The names of shapes and algorithms.

use std::fmt;

use super::{
    AeadAlg, BlockCipher, CipherMode, CipherSpec, Curve, Direction, FpeAlg, MacAlg, MacPadding, RsaExponent,
    Shape, WrapAlg,
};

/// Writes short stable names for the command line and the cost cache: `rsa2048-private`, `tdes3-cbc-encrypt`.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RsaPrivate { bits } => write!(f, "rsa{bits}-private"),
            Self::RsaPublic { bits, exponent: RsaExponent::F4 } => write!(f, "rsa{bits}-public"),
            Self::RsaPublic { bits, exponent: RsaExponent::Other } => write!(f, "rsa{bits}-public-other-e"),
            Self::ModExp { bits, exponent_bits } => write!(f, "modexp{bits}-{exponent_bits}"),
            Self::EcdsaSign { curve } => write!(f, "{curve}-sign"),
            Self::EcdsaVerify { curve } => write!(f, "{curve}-verify"),
            Self::Ed25519Sign => f.write_str("ed25519-sign"),
            Self::Ed25519Verify => f.write_str("ed25519-verify"),
            Self::X25519 => f.write_str("x25519"),
            Self::Ecdh { curve } => write!(f, "{curve}-derive"),
            Self::MlKemKeygen { set } => write!(f, "{set}-keygen"),
            Self::MlKemEncaps { set } => write!(f, "{set}-encaps"),
            Self::MlKemDecaps { set } => write!(f, "{set}-decaps"),
            Self::MlDsaSign { set } => write!(f, "{set}-sign"),
            Self::MlDsaVerify { set } => write!(f, "{set}-verify"),
            Self::SlhDsaKeygen { set } => write!(f, "{set}-keygen"),
            Self::SlhDsaSign { set } => write!(f, "{set}-sign"),
            Self::SlhDsaVerify { set } => write!(f, "{set}-verify"),
            Self::HssVerify => f.write_str("hss-verify"),
            Self::XmssVerify => f.write_str("xmss-verify"),
            Self::Cipher { alg, mode, direction } => {
                write!(f, "{}-{direction}", CipherSpec { alg: *alg, mode: *mode })
            }
            Self::Aead { alg, direction } => write!(f, "{alg}-{direction}"),
            Self::Fpe { alg, direction } => write!(f, "{alg}-{direction}"),
            Self::Mac { alg } => write!(f, "{alg}"),
            Self::Digest { alg } => write!(f, "{alg}"),
            Self::DigestPart { alg } => write!(f, "{alg}-part"),
            Self::Wrap { alg, direction: Direction::Encrypt } => write!(f, "{alg}-wrap"),
            Self::Wrap { alg, direction: Direction::Decrypt } => write!(f, "{alg}-unwrap"),
            Self::Translate { from, to } => write!(f, "translate-{from}-to-{to}"),
            Self::Chain { cipher, mac, order, direction } => write!(f, "{cipher}-{mac}-{order}-{direction}"),
        }
    }
}

impl fmt::Display for CipherSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mode {
            CipherMode::Cbc => write!(f, "{}-cbc", self.alg),
            CipherMode::Ctr => write!(f, "{}-ctr", self.alg),
        }
    }
}

impl fmt::Display for Curve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::P256 => "p256",
            Self::P384 => "p384",
        })
    }
}

impl fmt::Display for BlockCipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Des => "des",
            Self::Tdes2 => "tdes2",
            Self::Tdes3 => "tdes3",
            Self::Aes128 => "aes128",
            Self::Aes256 => "aes256",
        })
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Encrypt => "encrypt",
            Self::Decrypt => "decrypt",
        })
    }
}

impl fmt::Display for AeadAlg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Aes128Gcm => "aes128-gcm",
            Self::Aes256Gcm => "aes256-gcm",
            Self::ChaCha20Poly1305 => "chacha20-poly1305",
            Self::ChaCha20Poly1305Ssh => "chacha20-poly1305-ssh",
            Self::Aes128Siv => "aes128-siv",
            Self::Aes192Siv => "aes192-siv",
            Self::Aes256Siv => "aes256-siv",
            Self::Aes128GcmSiv => "aes128-gcm-siv",
            Self::Aes256GcmSiv => "aes256-gcm-siv",
        })
    }
}

impl fmt::Display for FpeAlg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Aes128Ff1 => "aes128-ff1",
            Self::Aes192Ff1 => "aes192-ff1",
            Self::Aes256Ff1 => "aes256-ff1",
        })
    }
}

impl fmt::Display for MacAlg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DesMac(MacPadding::Zeros) => "des-mac",
            Self::DesMac(MacPadding::OneThenZeros) => "des-mac-pad2",
            Self::RetailMac(MacPadding::Zeros) => "retail-mac",
            Self::RetailMac(MacPadding::OneThenZeros) => "retail-mac-pad2",
            Self::Tdes2Cmac => "tdes2-cmac",
            Self::Tdes3Cmac => "tdes3-cmac",
            Self::Aes128Cmac => "aes128-cmac",
            Self::Aes256Cmac => "aes256-cmac",
            Self::HmacSha1 => "hmac-sha1",
            Self::HmacSha224 => "hmac-sha224",
            Self::HmacSha256 => "hmac-sha256",
            Self::HmacSha384 => "hmac-sha384",
            Self::HmacSha512 => "hmac-sha512",
        })
    }
}

impl fmt::Display for WrapAlg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Aes128Kw => "aes128-kw",
            Self::Aes256Kw => "aes256-kw",
            Self::Aes128Kwp => "aes128-kwp",
            Self::Aes256Kwp => "aes256-kwp",
        })
    }
}
