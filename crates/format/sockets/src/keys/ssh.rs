//! Keys of SSH: out of the results of a key exchange.

use std::fmt;

use aws_lc_rs::digest;
use oarlock::{DigestAlg, SecretBytes};

use super::{ConnectionSide, DerivationError, Keys};
use crate::suite::{Protocol, Suite};

/// The results of a key exchange of SSH. RFC 4253 7.2 and 8.
#[derive(Clone, Copy)]
pub struct SshExchange<'a> {
    /// The digest of the key exchange method.
    pub digest: DigestAlg,
    /// The shared secret as it entered the exchange hash, with its length in front: an mpint (see [`encode_mpint`]),
    /// or a string in hybrid methods.
    pub shared_secret: &'a [u8],
    /// The exchange hash of this exchange.
    pub exchange_hash: &'a [u8],
    /// The exchange hash of the first exchange of the connection.
    pub session_id: &'a [u8],
}

/// The direction of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SshFlow {
    /// From the client to the server.
    ToServer,
    /// From the server to the client.
    ToClient,
}

/// The negotiated suites of both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SshAlgorithms {
    /// The suite of packets to the server.
    pub to_server: Suite,
    /// The suite of packets to the client.
    pub to_client: Suite,
}

impl Keys {
    /// Returns the keys of SSH with which `side` writes, and those with which it reads.
    ///
    /// # Errors
    /// [`DerivationError::Protocol`].
    pub fn ssh(
        algorithms: &SshAlgorithms,
        exchange: &SshExchange<'_>,
        side: ConnectionSide,
    ) -> Result<[Self; 2], DerivationError> {
        let to_server = Self::ssh_flow(algorithms.to_server, exchange, SshFlow::ToServer)?;
        let to_client = Self::ssh_flow(algorithms.to_client, exchange, SshFlow::ToClient)?;
        Ok(match side {
            ConnectionSide::Client => [to_server, to_client],
            ConnectionSide::Server => [to_client, to_server],
        })
    }

    /// Derives the keys of one direction. RFC 4253 7.2.
    ///
    /// # Errors
    /// [`DerivationError::Protocol`].
    pub fn ssh_flow(
        suite: Suite,
        exchange: &SshExchange<'_>,
        flow: SshFlow,
    ) -> Result<Self, DerivationError> {
        Self::check_protocol(suite, Protocol::Ssh)?;
        let [iv, key, mac_key] = match flow {
            SshFlow::ToServer => *b"ACE",
            SshFlow::ToClient => *b"BDF",
        };
        Ok(Self {
            suite,
            key: exchange.derive(key, suite.key_len()),
            mac_key: exchange.derive(mac_key, suite.mac_key_len()),
            iv: exchange.derive(iv, suite.iv_len()),
            sequence: None,
            secret: None,
        })
    }
}

impl SshExchange<'_> {
    /// Computes `HASH(K || H || letter || session_id)`, and `HASH(K || H || all of the key before)` as often as the
    /// length asks for. RFC 4253 7.2.
    fn derive(&self, letter: u8, len: usize) -> SecretBytes {
        // The capacity covers the last digest too, so that no grown vector leaves a copy behind.
        let mut key = Vec::with_capacity(len + digest::MAX_OUTPUT_LEN);
        while key.len() < len {
            let mut context = digest::Context::new(self.algorithm());
            context.update(self.shared_secret);
            context.update(self.exchange_hash);
            if key.is_empty() {
                context.update(&[letter]);
                context.update(self.session_id);
            } else {
                context.update(&key);
            }
            key.extend_from_slice(context.finish().as_ref());
        }
        key.truncate(len);
        key.into()
    }

    fn algorithm(&self) -> &'static digest::Algorithm {
        match self.digest {
            DigestAlg::Sha1 => &digest::SHA1_FOR_LEGACY_USE_ONLY,
            DigestAlg::Sha384 => &digest::SHA384,
            DigestAlg::Sha512 => &digest::SHA512,
            _ => &digest::SHA256,
        }
    }
}

impl fmt::Debug for SshExchange<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SshExchange({})", self.digest)
    }
}

/// Encodes a big-endian number as an mpint: with its length, without leading zeros, and with one zero byte if the
/// first bit is set. RFC 4251 section 5.
#[must_use]
pub fn encode_mpint(number: &[u8]) -> SecretBytes {
    let start = number.iter().position(|byte| *byte != 0).unwrap_or(number.len());
    let digits = &number[start..];
    let has_sign_byte = digits.first().is_some_and(|byte| byte & 0x80 != 0);
    // A number of 4 GiB is not a shared secret; the length saturates instead of wrapping.
    let len = u32::try_from(digits.len() + usize::from(has_sign_byte)).unwrap_or(u32::MAX);
    let mut encoded = Vec::with_capacity(5 + digits.len());
    encoded.extend_from_slice(&len.to_be_bytes());
    encoded.extend_from_slice(&[0][..usize::from(has_sign_byte)]);
    encoded.extend_from_slice(digits);
    encoded.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 4251 section 5.
    #[test]
    fn numbers_are_encoded_as_in_the_examples() {
        let cases: [(&[u8], &[u8]); 4] = [
            (&[0, 0], &[0, 0, 0, 0]),
            (&[0x09, 0xa3, 0x78, 0xf9], &[0, 0, 0, 4, 0x09, 0xa3, 0x78, 0xf9]),
            (&[0x80], &[0, 0, 0, 2, 0, 0x80]),
            (&[0, 0, 0x7f], &[0, 0, 0, 1, 0x7f]),
        ];
        for (number, encoded) in cases {
            assert_eq!(encode_mpint(number).expose(), encoded);
        }
    }

    fn exchange() -> SshExchange<'static> {
        SshExchange {
            digest: DigestAlg::Sha256,
            shared_secret: b"\0\0\0\x01\x05",
            exchange_hash: b"hash",
            session_id: b"id",
        }
    }

    #[test]
    fn long_keys_are_continued_with_the_whole_key_before() {
        let first = digest::digest(&digest::SHA256, b"\0\0\0\x01\x05hashCid");
        let tail = [&b"\0\0\0\x01\x05hash"[..], first.as_ref()].concat();
        let second = digest::digest(&digest::SHA256, &tail);
        let keys = Keys::ssh_flow(Suite::SSH_CHACHA20_POLY1305, &exchange(), SshFlow::ToServer).unwrap();
        assert_eq!(keys.expose().key, [first.as_ref(), second.as_ref()].concat());
        assert!(keys.expose().iv.is_empty() && keys.expose().mac_key.is_empty());
    }

    #[test]
    fn sides_mirror_each_other() {
        let suite = Suite::SSH_AES_128_CTR_SHA512_ETM;
        let algorithms = SshAlgorithms { to_server: suite, to_client: Suite::SSH_AES_256_GCM };
        let [client_write, client_read] =
            Keys::ssh(&algorithms, &exchange(), ConnectionSide::Client).unwrap();
        let [server_write, server_read] =
            Keys::ssh(&algorithms, &exchange(), ConnectionSide::Server).unwrap();
        assert_eq!(client_write.expose().mac_key, server_read.expose().mac_key);
        assert_eq!(client_read.expose().key, server_write.expose().key);
        assert_ne!(client_write.expose().iv, client_read.expose().iv);
        assert_eq!(client_write.expose().iv.len(), 16);
    }
}
