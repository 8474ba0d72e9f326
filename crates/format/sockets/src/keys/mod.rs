//! Keys of one direction of a connection.

mod ssh;
mod tls12;
mod tls13;

use std::fmt;

use oarlock::SecretBytes;

use crate::suite::{Protocol, RecordTransform, Suite};

pub use self::ssh::{SshAlgorithms, SshExchange, SshFlow, encode_mpint};
pub use self::tls12::KeyBlock;
pub(crate) use self::tls13::TrafficSecret;

/// One end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConnectionSide {
    /// The side that connected.
    Client,
    /// The side that accepted.
    Server,
}

/// The keys of one direction of a connection, with the number of its next record.
///
/// They are zeroized on drop and never printed.
#[derive(Clone)]
pub struct Keys {
    pub(crate) suite: Suite,
    pub(crate) key: SecretBytes,
    pub(crate) mac_key: SecretBytes,
    pub(crate) iv: SecretBytes,
    /// None: 0 for TLS, and the number that the connection has reached for SSH.
    pub(crate) sequence: Option<u64>,
    /// The secret of TLS 1.3 from which KeyUpdate derives the next one.
    pub(crate) secret: Option<TrafficSecret>,
}

/// The parts of [`Keys`], for the kernel or for another implementation.
///
/// The caller must zeroize every copy.
#[derive(Clone, Copy)]
pub struct ExposedKeys<'a> {
    /// The key of the cipher.
    pub key: &'a [u8],
    /// The key of the MAC, empty for an AEAD.
    pub mac_key: &'a [u8],
    /// The IV from the key exchange: as long as [`Suite::iv_len`] says.
    pub iv: &'a [u8],
    /// The sequence number of the next record.
    pub sequence: u64,
}

/// The reason why keys cannot be made. It is always the caller's fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum DerivationError {
    /// A part has the wrong length.
    #[error("{suite}: the {what} has {found} bytes, expected {expected}")]
    Length {
        suite: Suite,
        /// The name of the part.
        what: &'static str,
        /// The length that fits.
        expected: usize,
        /// The length that was given.
        found: usize,
    },
    /// The suite belongs to another protocol.
    #[error("{suite} is not a suite of {wanted}")]
    Protocol {
        suite: Suite,
        /// The protocol of the derivation.
        wanted: Protocol,
    },
    /// The library that derives keys refused the parameters.
    #[error("{suite}: the key derivation failed")]
    Derivation { suite: Suite },
}

impl Keys {
    /// Takes keys that another implementation derived. `sequence` is the number of the next record.
    ///
    /// # Errors
    /// [`DerivationError::Length`].
    pub fn new(suite: Suite, material: &ExposedKeys<'_>) -> Result<Self, DerivationError> {
        let lengths = [
            ("key", suite.key_len(), material.key),
            ("MAC key", suite.mac_key_len(), material.mac_key),
            ("IV", suite.iv_len(), material.iv),
        ];
        for (what, expected, bytes) in lengths {
            if bytes.len() != expected {
                return Err(DerivationError::Length { suite, what, expected, found: bytes.len() });
            }
        }
        Ok(Self {
            suite,
            key: material.key.into(),
            mac_key: material.mac_key.into(),
            iv: material.iv.into(),
            sequence: Some(material.sequence),
            secret: None,
        })
    }

    /// Sets the sequence number of the next record.
    ///
    /// SSH counts on across key exchanges, so the default keeps the number that a sealer or an opener has reached. With
    /// OpenSSH's strict key exchange every exchange sets it to 0.
    #[must_use]
    pub fn with_sequence(mut self, sequence: u64) -> Self {
        self.sequence = Some(sequence);
        self
    }

    /// Returns the suite.
    #[must_use]
    pub fn suite(&self) -> Suite {
        self.suite
    }

    /// Returns the secret parts, for a hand-over to the kernel.
    #[must_use]
    pub fn expose(&self) -> ExposedKeys<'_> {
        ExposedKeys {
            key: self.key.expose(),
            mac_key: self.mac_key.expose(),
            iv: self.iv.expose(),
            sequence: self.sequence.unwrap_or(0),
        }
    }

    fn check_protocol(suite: Suite, wanted: Protocol) -> Result<(), DerivationError> {
        if suite.protocol() == wanted { Ok(()) } else { Err(DerivationError::Protocol { suite, wanted }) }
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind =
            if matches!(self.suite.transform(), RecordTransform::Aead(_)) { "key" } else { "two keys" };
        write!(f, "Keys({}, {kind})", self.suite)
    }
}

impl fmt::Debug for ExposedKeys<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ExposedKeys({} and {} bytes)", self.key.len(), self.mac_key.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_the_wrong_length_are_refused_by_name() {
        let material = ExposedKeys { key: &[1; 16], mac_key: &[2; 20], iv: &[], sequence: 0 };
        assert!(Keys::new(Suite::TLS12_AES_128_CBC_SHA, &material).is_ok());
        let error = Keys::new(Suite::TLS12_AES_256_CBC_SHA, &material).err().map(|error| error.to_string());
        let expected = "TLS 1.2 aes256-cbc hmac-sha1 mac-then-encrypt: the key has 16 bytes, expected 32";
        assert_eq!(error.as_deref(), Some(expected));
    }

    #[test]
    fn debug_prints_no_secret() {
        let material = ExposedKeys { key: &[0xAB; 16], mac_key: &[], iv: &[0xCD; 12], sequence: 7 };
        let keys = Keys::new(Suite::TLS13_AES_128_GCM, &material).unwrap();
        assert_eq!(
            format!("{keys:?} {material:?}"),
            "Keys(TLS 1.3 aes128-gcm, key) ExposedKeys(16 and 0 bytes)"
        );
    }
}
