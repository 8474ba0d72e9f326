//! The suites of measured records.

use clap::ValueEnum;
use oarlock_kernel_tls::KernelCipher;
use oarlock_sockets::Suite;
use serde::Serialize;

/// The most content of a record of TLS (RFC 8446 5.1).
pub const MAX_CONTENT: usize = 1 << 14;

/// A cipher and MAC of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
pub enum SocketSuite {
    /// AES-128-GCM, TLS 1.3
    #[value(name = "aes128-gcm")]
    #[serde(rename = "aes128-gcm")]
    Aes128Gcm,
    /// AES-256-GCM, TLS 1.3
    #[value(name = "aes256-gcm")]
    #[serde(rename = "aes256-gcm")]
    Aes256Gcm,
    /// ChaCha20-Poly1305, TLS 1.3
    #[value(name = "chacha20-poly1305")]
    #[serde(rename = "chacha20-poly1305")]
    ChaCha20Poly1305,
    /// Triple DES in CBC mode and HMAC-SHA-1, TLS 1.2: the paper's
    #[value(name = "3des-cbc-sha1")]
    #[serde(rename = "3des-cbc-sha1")]
    TdesCbcSha1,
}

impl SocketSuite {
    /// All suites.
    pub const ALL: [Self; 4] = [Self::Aes128Gcm, Self::Aes256Gcm, Self::ChaCha20Poly1305, Self::TdesCbcSha1];

    /// Returns the name as the command line has it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Aes128Gcm => "aes128-gcm",
            Self::Aes256Gcm => "aes256-gcm",
            Self::ChaCha20Poly1305 => "chacha20-poly1305",
            Self::TdesCbcSha1 => "3des-cbc-sha1",
        }
    }

    /// Returns the kernel's cipher. It has none for suites of CBC.
    #[must_use]
    pub fn kernel_cipher(self) -> Option<KernelCipher> {
        match self {
            Self::Aes128Gcm => Some(KernelCipher::Aes128Gcm),
            Self::Aes256Gcm => Some(KernelCipher::Aes256Gcm),
            Self::ChaCha20Poly1305 => Some(KernelCipher::ChaCha20Poly1305),
            Self::TdesCbcSha1 => None,
        }
    }

    /// Returns the suite of the records that user space seals.
    #[must_use]
    pub(crate) fn record_suite(self) -> Suite {
        match self {
            Self::Aes128Gcm => Suite::TLS13_AES_128_GCM,
            Self::Aes256Gcm => Suite::TLS13_AES_256_GCM,
            Self::ChaCha20Poly1305 => Suite::TLS13_CHACHA20_POLY1305,
            Self::TdesCbcSha1 => Suite::TLS12_3DES_CBC_SHA,
        }
    }
}
