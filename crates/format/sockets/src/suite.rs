//! Suites: the cipher, the MAC and the order of both that protect the records of a connection.

use std::fmt;

use oarlock::{
    AeadAlg, BlockCipher, ChainOrder, CipherMode, CipherSpec, DigestAlg, Direction, MacAlg, Shape,
};

/// A record protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Protocol {
    /// TLS 1.2. RFC 5246.
    Tls12,
    /// TLS 1.3. RFC 8446.
    Tls13,
    /// SSH 2. RFC 4253.
    Ssh,
}

/// The protection of the records of one direction of a connection.
///
/// The key exchange of a TLS cipher suite plays no part here, so one value stands for several cipher suites of TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Suite {
    protocol: Protocol,
    transform: RecordTransform,
}

/// The transform of one record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum RecordTransform {
    /// One algorithm encrypts and authenticates.
    Aead(AeadAlg),
    /// A cipher and a MAC, each under its own key.
    Chain { cipher: CipherSpec, mac: MacAlg, order: ChainOrder },
}

const AES_128_CBC: CipherSpec = CipherSpec { alg: BlockCipher::Aes128, mode: CipherMode::Cbc };
const AES_256_CBC: CipherSpec = CipherSpec { alg: BlockCipher::Aes256, mode: CipherMode::Cbc };
const TDES_CBC: CipherSpec = CipherSpec { alg: BlockCipher::Tdes3, mode: CipherMode::Cbc };
const AES_128_CTR: CipherSpec = CipherSpec { alg: BlockCipher::Aes128, mode: CipherMode::Ctr };
const AES_256_CTR: CipherSpec = CipherSpec { alg: BlockCipher::Aes256, mode: CipherMode::Ctr };

const fn aead(protocol: Protocol, alg: AeadAlg) -> Suite {
    Suite { protocol, transform: RecordTransform::Aead(alg) }
}

const fn chain(protocol: Protocol, cipher: CipherSpec, mac: MacAlg, order: ChainOrder) -> Suite {
    Suite { protocol, transform: RecordTransform::Chain { cipher, mac, order } }
}

const fn cbc(cipher: CipherSpec, mac: MacAlg, order: ChainOrder) -> Suite {
    chain(Protocol::Tls12, cipher, mac, order)
}

const fn ssh(cipher: CipherSpec, mac: MacAlg, order: ChainOrder) -> Suite {
    chain(Protocol::Ssh, cipher, mac, order)
}

impl Suite {
    /// TLS 1.3 with AES-128-GCM. RFC 8446 B.4.
    pub const TLS13_AES_128_GCM: Self = aead(Protocol::Tls13, AeadAlg::Aes128Gcm);
    /// TLS 1.3 with AES-256-GCM. RFC 8446 B.4.
    pub const TLS13_AES_256_GCM: Self = aead(Protocol::Tls13, AeadAlg::Aes256Gcm);
    /// TLS 1.3 with ChaCha20-Poly1305. RFC 8446 B.4.
    pub const TLS13_CHACHA20_POLY1305: Self = aead(Protocol::Tls13, AeadAlg::ChaCha20Poly1305);
    /// TLS 1.2 with AES-128-GCM. RFC 5288.
    pub const TLS12_AES_128_GCM: Self = aead(Protocol::Tls12, AeadAlg::Aes128Gcm);
    /// TLS 1.2 with AES-256-GCM. RFC 5288.
    pub const TLS12_AES_256_GCM: Self = aead(Protocol::Tls12, AeadAlg::Aes256Gcm);
    /// TLS 1.2 with ChaCha20-Poly1305. RFC 7905.
    pub const TLS12_CHACHA20_POLY1305: Self = aead(Protocol::Tls12, AeadAlg::ChaCha20Poly1305);
    /// TLS 1.2 with AES-128-CBC and HMAC-SHA-1, MAC first. RFC 5246 6.2.3.2.
    pub const TLS12_AES_128_CBC_SHA: Self = cbc(AES_128_CBC, MacAlg::HmacSha1, ChainOrder::MacThenEncrypt);
    /// TLS 1.2 with AES-256-CBC and HMAC-SHA-1, MAC first. RFC 5246 6.2.3.2.
    pub const TLS12_AES_256_CBC_SHA: Self = cbc(AES_256_CBC, MacAlg::HmacSha1, ChainOrder::MacThenEncrypt);
    /// TLS 1.2 with AES-128-CBC and HMAC-SHA-256, MAC first. RFC 5246 6.2.3.2.
    pub const TLS12_AES_128_CBC_SHA256: Self =
        cbc(AES_128_CBC, MacAlg::HmacSha256, ChainOrder::MacThenEncrypt);
    /// TLS 1.2 with AES-256-CBC and HMAC-SHA-256, MAC first. RFC 5246 6.2.3.2.
    pub const TLS12_AES_256_CBC_SHA256: Self =
        cbc(AES_256_CBC, MacAlg::HmacSha256, ChainOrder::MacThenEncrypt);
    /// TLS 1.2 with triple DES in CBC mode and HMAC-SHA-1, MAC first. RFC 5246 6.2.3.2.
    pub const TLS12_3DES_CBC_SHA: Self = cbc(TDES_CBC, MacAlg::HmacSha1, ChainOrder::MacThenEncrypt);
    /// TLS 1.2 with AES-128-CBC and HMAC-SHA-1, encryption first. RFC 7366.
    pub const TLS12_AES_128_CBC_SHA_ETM: Self =
        cbc(AES_128_CBC, MacAlg::HmacSha1, ChainOrder::EncryptThenMac);
    /// TLS 1.2 with AES-256-CBC and HMAC-SHA-1, encryption first. RFC 7366.
    pub const TLS12_AES_256_CBC_SHA_ETM: Self =
        cbc(AES_256_CBC, MacAlg::HmacSha1, ChainOrder::EncryptThenMac);
    /// TLS 1.2 with AES-128-CBC and HMAC-SHA-256, encryption first. RFC 7366.
    pub const TLS12_AES_128_CBC_SHA256_ETM: Self =
        cbc(AES_128_CBC, MacAlg::HmacSha256, ChainOrder::EncryptThenMac);
    /// TLS 1.2 with AES-256-CBC and HMAC-SHA-256, encryption first. RFC 7366.
    pub const TLS12_AES_256_CBC_SHA256_ETM: Self =
        cbc(AES_256_CBC, MacAlg::HmacSha256, ChainOrder::EncryptThenMac);
    /// TLS 1.2 with triple DES in CBC mode and HMAC-SHA-1, encryption first. RFC 7366.
    pub const TLS12_3DES_CBC_SHA_ETM: Self = cbc(TDES_CBC, MacAlg::HmacSha1, ChainOrder::EncryptThenMac);
    /// `chacha20-poly1305@openssh.com`. draft-ietf-sshm-chacha20-poly1305.
    pub const SSH_CHACHA20_POLY1305: Self = aead(Protocol::Ssh, AeadAlg::ChaCha20Poly1305Ssh);
    /// `aes128-gcm@openssh.com`. RFC 5647 section 7.
    pub const SSH_AES_128_GCM: Self = aead(Protocol::Ssh, AeadAlg::Aes128Gcm);
    /// `aes256-gcm@openssh.com`. RFC 5647 section 7.
    pub const SSH_AES_256_GCM: Self = aead(Protocol::Ssh, AeadAlg::Aes256Gcm);
    /// `aes128-ctr` with `hmac-sha2-256`. RFC 4344 section 4 and RFC 6668.
    pub const SSH_AES_128_CTR_SHA256: Self = ssh(AES_128_CTR, MacAlg::HmacSha256, ChainOrder::EncryptAndMac);
    /// `aes256-ctr` with `hmac-sha2-256`.
    pub const SSH_AES_256_CTR_SHA256: Self = ssh(AES_256_CTR, MacAlg::HmacSha256, ChainOrder::EncryptAndMac);
    /// `aes128-ctr` with `hmac-sha2-512`.
    pub const SSH_AES_128_CTR_SHA512: Self = ssh(AES_128_CTR, MacAlg::HmacSha512, ChainOrder::EncryptAndMac);
    /// `aes256-ctr` with `hmac-sha2-512`.
    pub const SSH_AES_256_CTR_SHA512: Self = ssh(AES_256_CTR, MacAlg::HmacSha512, ChainOrder::EncryptAndMac);
    /// `aes128-ctr` with `hmac-sha2-256-etm@openssh.com`.
    pub const SSH_AES_128_CTR_SHA256_ETM: Self =
        ssh(AES_128_CTR, MacAlg::HmacSha256, ChainOrder::EncryptThenMac);
    /// `aes256-ctr` with `hmac-sha2-256-etm@openssh.com`.
    pub const SSH_AES_256_CTR_SHA256_ETM: Self =
        ssh(AES_256_CTR, MacAlg::HmacSha256, ChainOrder::EncryptThenMac);
    /// `aes128-ctr` with `hmac-sha2-512-etm@openssh.com`.
    pub const SSH_AES_128_CTR_SHA512_ETM: Self =
        ssh(AES_128_CTR, MacAlg::HmacSha512, ChainOrder::EncryptThenMac);
    /// `aes256-ctr` with `hmac-sha2-512-etm@openssh.com`.
    pub const SSH_AES_256_CTR_SHA512_ETM: Self =
        ssh(AES_256_CTR, MacAlg::HmacSha512, ChainOrder::EncryptThenMac);
    /// `3des-cbc` with `hmac-sha1`. RFC 4253 6.3 and 6.4.
    pub const SSH_3DES_CBC_SHA1: Self = ssh(TDES_CBC, MacAlg::HmacSha1, ChainOrder::EncryptAndMac);

    /// Every suite.
    pub const ALL: [Self; 28] = [
        Self::TLS13_AES_128_GCM,
        Self::TLS13_AES_256_GCM,
        Self::TLS13_CHACHA20_POLY1305,
        Self::TLS12_AES_128_GCM,
        Self::TLS12_AES_256_GCM,
        Self::TLS12_CHACHA20_POLY1305,
        Self::TLS12_AES_128_CBC_SHA,
        Self::TLS12_AES_256_CBC_SHA,
        Self::TLS12_AES_128_CBC_SHA256,
        Self::TLS12_AES_256_CBC_SHA256,
        Self::TLS12_3DES_CBC_SHA,
        Self::TLS12_AES_128_CBC_SHA_ETM,
        Self::TLS12_AES_256_CBC_SHA_ETM,
        Self::TLS12_AES_128_CBC_SHA256_ETM,
        Self::TLS12_AES_256_CBC_SHA256_ETM,
        Self::TLS12_3DES_CBC_SHA_ETM,
        Self::SSH_CHACHA20_POLY1305,
        Self::SSH_AES_128_GCM,
        Self::SSH_AES_256_GCM,
        Self::SSH_AES_128_CTR_SHA256,
        Self::SSH_AES_256_CTR_SHA256,
        Self::SSH_AES_128_CTR_SHA512,
        Self::SSH_AES_256_CTR_SHA512,
        Self::SSH_AES_128_CTR_SHA256_ETM,
        Self::SSH_AES_256_CTR_SHA256_ETM,
        Self::SSH_AES_128_CTR_SHA512_ETM,
        Self::SSH_AES_256_CTR_SHA512_ETM,
        Self::SSH_3DES_CBC_SHA1,
    ];

    /// Returns the suite that protects the records of a TLS cipher suite, by its number in the registry of IANA.
    ///
    /// `is_etm` is true if both sides agreed on encrypt-then-MAC (RFC 7366). It has an effect on CBC suites only.
    #[must_use]
    pub fn from_tls(code: u16, is_etm: bool) -> Option<Self> {
        let suite = match code {
            0x1301 => Self::TLS13_AES_128_GCM,
            0x1302 => Self::TLS13_AES_256_GCM,
            0x1303 => Self::TLS13_CHACHA20_POLY1305,
            // RSA, DHE_RSA, ECDHE_ECDSA and ECDHE_RSA in this order.
            0x009C | 0x009E | 0xC02B | 0xC02F => Self::TLS12_AES_128_GCM,
            0x009D | 0x009F | 0xC02C | 0xC030 => Self::TLS12_AES_256_GCM,
            // ECDHE_RSA, ECDHE_ECDSA and DHE_RSA.
            0xCCA8..=0xCCAA => Self::TLS12_CHACHA20_POLY1305,
            0x002F | 0x0033 | 0xC009 | 0xC013 => Self::TLS12_AES_128_CBC_SHA,
            0x0035 | 0x0039 | 0xC00A | 0xC014 => Self::TLS12_AES_256_CBC_SHA,
            0x003C | 0x0067 | 0xC023 | 0xC027 => Self::TLS12_AES_128_CBC_SHA256,
            // The ECDHE suites of this cipher have SHA-384, which is not offered.
            0x003D | 0x006B => Self::TLS12_AES_256_CBC_SHA256,
            0x000A | 0x0016 | 0xC008 | 0xC012 => Self::TLS12_3DES_CBC_SHA,
            _ => return None,
        };
        Some(if is_etm { suite.with_encrypt_then_mac() } else { suite })
    }

    fn with_encrypt_then_mac(self) -> Self {
        match self.transform {
            RecordTransform::Chain { cipher, mac, .. } => cbc(cipher, mac, ChainOrder::EncryptThenMac),
            RecordTransform::Aead(_) => self,
        }
    }

    /// Returns the suite of an SSH cipher and an SSH MAC, by their names. The MAC of an AEAD cipher is ignored. RFC
    /// 5647 5.1.
    #[must_use]
    pub fn from_ssh(cipher: &str, mac: &str) -> Option<Self> {
        Self::ALL.into_iter().filter(|suite| suite.protocol == Protocol::Ssh).find(|suite| {
            suite.ssh_cipher_name() == cipher && suite.ssh_mac_name().is_none_or(|suite_mac| suite_mac == mac)
        })
    }

    /// Returns the protocol.
    #[must_use]
    pub fn protocol(self) -> Protocol {
        self.protocol
    }

    /// Returns the shape that seals (`Encrypt`) or opens (`Decrypt`) records of the suite.
    #[must_use]
    pub fn shape(self, direction: Direction) -> Shape {
        match self.transform {
            RecordTransform::Aead(alg) => Shape::Aead { alg, direction },
            RecordTransform::Chain { cipher, mac, order } => Shape::Chain { cipher, mac, order, direction },
        }
    }

    /// Returns the number of bytes of the cipher's key.
    #[must_use]
    pub fn key_len(self) -> usize {
        match self.transform {
            RecordTransform::Aead(alg) => alg.key_len(),
            RecordTransform::Chain { cipher, .. } => cipher.alg.key_len(),
        }
    }

    /// Returns the number of bytes of the MAC's key, 0 for an AEAD.
    #[must_use]
    pub fn mac_key_len(self) -> usize {
        match self.transform {
            RecordTransform::Aead(_) => 0,
            RecordTransform::Chain { mac, .. } => mac.tag_len(),
        }
    }

    /// Returns the number of bytes of the IV that comes from the key exchange.
    ///
    /// A CBC record of TLS 1.2 carries its own IV, and `chacha20-poly1305@openssh.com` has none.
    #[must_use]
    pub fn iv_len(self) -> usize {
        match (self.protocol, self.transform) {
            (Protocol::Ssh, RecordTransform::Aead(AeadAlg::ChaCha20Poly1305Ssh)) => 0,
            (Protocol::Tls12, RecordTransform::Aead(AeadAlg::Aes128Gcm | AeadAlg::Aes256Gcm)) => 4,
            (_, RecordTransform::Aead(_)) => 12,
            (Protocol::Ssh, RecordTransform::Chain { cipher, .. }) => cipher.alg.block_len(),
            (_, RecordTransform::Chain { .. }) => 0,
        }
    }

    /// Returns the number of bytes of the IV that each record carries.
    #[must_use]
    pub fn explicit_iv_len(self) -> usize {
        match (self.protocol, self.transform) {
            (Protocol::Tls12, RecordTransform::Aead(AeadAlg::Aes128Gcm | AeadAlg::Aes256Gcm)) => 8,
            (Protocol::Tls12, RecordTransform::Chain { cipher, .. }) => cipher.alg.block_len(),
            _ => 0,
        }
    }

    /// Returns the largest number of bytes by which a record is longer than its payload, without chosen padding.
    #[must_use]
    pub fn max_overhead(self) -> usize {
        let block = match self.transform {
            RecordTransform::Aead(alg) => match self.protocol {
                Protocol::Tls12 => 0,
                Protocol::Tls13 => 1,
                Protocol::Ssh if alg == AeadAlg::ChaCha20Poly1305Ssh => 8,
                Protocol::Ssh => 16,
            },
            RecordTransform::Chain { cipher, mac, order } => {
                let mac_inside = if order == ChainOrder::MacThenEncrypt { mac.tag_len() } else { 0 };
                cipher.alg.block_len() + mac_inside
            }
        };
        // TLS: the header, and the inner type or padding. SSH: the length, the padding's length, and up to three bytes
        // more than a block of padding.
        let around = if self.protocol == Protocol::Ssh { 4 + 1 + 3 } else { 5 };
        around + self.explicit_iv_len() + block + self.tag_len()
    }

    /// Returns the digest of the key derivation of TLS.
    ///
    /// For SSH the key exchange decides, see [`SshExchange`](crate::SshExchange), and this is SHA-256.
    #[must_use]
    pub fn digest(self) -> DigestAlg {
        match self.transform {
            RecordTransform::Aead(AeadAlg::Aes256Gcm) if self.protocol != Protocol::Ssh => DigestAlg::Sha384,
            _ => DigestAlg::Sha256,
        }
    }

    /// True if cipher blocks have 64 bits.
    pub(crate) fn has_short_blocks(self) -> bool {
        matches!(self.transform, RecordTransform::Chain { cipher, .. } if cipher.alg == BlockCipher::Tdes3)
    }

    pub(crate) fn transform(self) -> RecordTransform {
        self.transform
    }

    /// Returns the number of bytes of the detached tag.
    pub(crate) fn tag_len(self) -> usize {
        match self.transform {
            RecordTransform::Aead(_) => 16,
            RecordTransform::Chain { order: ChainOrder::MacThenEncrypt, .. } => 0,
            RecordTransform::Chain { mac, .. } => mac.tag_len(),
        }
    }

    fn ssh_cipher_name(self) -> &'static str {
        match self.transform {
            RecordTransform::Aead(AeadAlg::Aes128Gcm) => "aes128-gcm@openssh.com",
            RecordTransform::Aead(AeadAlg::Aes256Gcm) => "aes256-gcm@openssh.com",
            RecordTransform::Aead(_) => "chacha20-poly1305@openssh.com",
            RecordTransform::Chain { cipher, .. } if cipher == AES_128_CTR => "aes128-ctr",
            RecordTransform::Chain { cipher, .. } if cipher == AES_256_CTR => "aes256-ctr",
            RecordTransform::Chain { .. } => "3des-cbc",
        }
    }

    fn ssh_mac_name(self) -> Option<&'static str> {
        let RecordTransform::Chain { mac, order, .. } = self.transform else { return None };
        Some(match (mac, order) {
            (MacAlg::HmacSha256, ChainOrder::EncryptThenMac) => "hmac-sha2-256-etm@openssh.com",
            (MacAlg::HmacSha512, ChainOrder::EncryptThenMac) => "hmac-sha2-512-etm@openssh.com",
            (MacAlg::HmacSha256, _) => "hmac-sha2-256",
            (MacAlg::HmacSha512, _) => "hmac-sha2-512",
            _ => "hmac-sha1",
        })
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tls12 => "TLS 1.2",
            Self::Tls13 => "TLS 1.3",
            Self::Ssh => "SSH",
        })
    }
}

/// Writes the protocol and the algorithms: `TLS 1.2 aes128-cbc hmac-sha1 encrypt-then-mac`, `SSH aes128-ctr
/// hmac-sha2-256`.
impl fmt::Display for Suite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.protocol == Protocol::Ssh {
            write!(f, "SSH {}", self.ssh_cipher_name())?;
            return self.ssh_mac_name().map_or(Ok(()), |mac| write!(f, " {mac}"));
        }
        match self.transform {
            RecordTransform::Aead(alg) => write!(f, "{} {alg}", self.protocol),
            RecordTransform::Chain { cipher, mac, order } => {
                let order = match order {
                    ChainOrder::EncryptThenMac => "encrypt-then-mac",
                    _ => "mac-then-encrypt",
                };
                write!(f, "{} {cipher} {mac} {order}", self.protocol)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique() {
        let names: BTreeSet<String> = Suite::ALL.iter().map(ToString::to_string).collect();
        assert_eq!(names.len(), Suite::ALL.len());
    }

    #[test]
    fn ssh_names_find_their_suite() {
        for suite in Suite::ALL.into_iter().filter(|suite| suite.protocol() == Protocol::Ssh) {
            let mac = suite.ssh_mac_name().unwrap_or("none");
            assert_eq!(Suite::from_ssh(suite.ssh_cipher_name(), mac), Some(suite));
        }
        assert_eq!(Suite::from_ssh("aes128-ctr", "hmac-md5"), None);
        assert_eq!(Suite::from_ssh("aes128-cbc", "hmac-sha1"), None);
    }

    #[test]
    fn numbers_of_tls_find_their_suite() {
        assert_eq!(Suite::from_tls(0x002F, false), Some(Suite::TLS12_AES_128_CBC_SHA));
        assert_eq!(Suite::from_tls(0x002F, true), Some(Suite::TLS12_AES_128_CBC_SHA_ETM));
        assert_eq!(Suite::from_tls(0xC030, true), Some(Suite::TLS12_AES_256_GCM));
        assert_eq!(Suite::from_tls(0x1304, false), None, "CCM is not offered");
    }

    #[test]
    fn every_suite_has_a_possible_shape() {
        for suite in Suite::ALL {
            assert!(
                Direction::ALL.into_iter().all(|direction| suite.shape(direction).is_possible()),
                "{suite}"
            );
        }
    }
}
