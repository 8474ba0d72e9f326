//! Keys of TLS 1.2: the key block out of the master secret.

use std::fmt;

use aws_lc_rs::tls_prf;
use oarlock::{DigestAlg, SecretBytes};

use super::{ConnectionSide, DerivationError, Keys};
use crate::suite::{Protocol, Suite};

/// The bytes of which TLS 1.2 cuts the keys of both directions. RFC 5246 6.3.
#[derive(Clone)]
pub struct KeyBlock {
    suite: Suite,
    bytes: SecretBytes,
}

impl KeyBlock {
    /// Derives the key block from the master secret and the random values of both hellos. RFC 5246 section 5 and 6.3.
    ///
    /// The PRF has the digest of [`Suite::digest`].
    ///
    /// # Errors
    /// [`DerivationError::Protocol`], [`DerivationError::Derivation`].
    pub fn derive(
        suite: Suite,
        master_secret: &[u8; 48],
        client_random: &[u8; 32],
        server_random: &[u8; 32],
    ) -> Result<Self, DerivationError> {
        let mut seed = [0; 64];
        seed[..32].copy_from_slice(server_random);
        seed[32..].copy_from_slice(client_random);
        let bytes = prf(suite, master_secret, b"key expansion", &seed, Self::len(suite))?;
        Self::new(suite, bytes)
    }

    /// Takes a key block that another implementation derived.
    ///
    /// # Errors
    /// [`DerivationError::Protocol`], [`DerivationError::Length`].
    pub fn new(suite: Suite, bytes: SecretBytes) -> Result<Self, DerivationError> {
        Keys::check_protocol(suite, Protocol::Tls12)?;
        let expected = Self::len(suite);
        if bytes.len() < expected {
            return Err(DerivationError::Length { suite, what: "key block", expected, found: bytes.len() });
        }
        Ok(Self { suite, bytes })
    }

    /// Returns the number of bytes that the keys of both directions need.
    #[must_use]
    pub fn len(suite: Suite) -> usize {
        2 * (suite.mac_key_len() + suite.key_len() + suite.iv_len())
    }

    /// Cuts the keys of the client's and of the server's records, in the order of RFC 5246 6.3: MAC keys, keys, IVs.
    fn cut(&self) -> [Keys; 2] {
        let suite = self.suite;
        let mut rest = self.bytes.expose();
        let mut take = |len: usize| {
            let (part, behind) = rest.split_at(len.min(rest.len()));
            rest = behind;
            SecretBytes::from(part)
        };
        let [client_mac, server_mac] = [suite.mac_key_len(); 2].map(&mut take);
        let [client_key, server_key] = [suite.key_len(); 2].map(&mut take);
        let [client_iv, server_iv] = [suite.iv_len(); 2].map(&mut take);
        let keys = |mac_key, key, iv| Keys { suite, key, mac_key, iv, sequence: Some(0), secret: None };
        [keys(client_mac, client_key, client_iv), keys(server_mac, server_key, server_iv)]
    }
}

impl Keys {
    /// Returns the keys of TLS 1.2 with which `side` writes, and those with which it reads.
    #[must_use]
    pub fn tls12(block: &KeyBlock, side: ConnectionSide) -> [Self; 2] {
        let [client, server] = block.cut();
        match side {
            ConnectionSide::Client => [client, server],
            ConnectionSide::Server => [server, client],
        }
    }
}

impl fmt::Debug for KeyBlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyBlock({}, {} bytes)", self.suite, self.bytes.len())
    }
}

/// Computes the pseudorandom function of TLS 1.2. RFC 5246 section 5.
fn prf(
    suite: Suite,
    secret: &[u8],
    label: &[u8],
    seed: &[u8],
    len: usize,
) -> Result<SecretBytes, DerivationError> {
    let algorithm = match suite.digest() {
        DigestAlg::Sha384 => &tls_prf::P_SHA384,
        _ => &tls_prf::P_SHA256,
    };
    let failed = |_| DerivationError::Derivation { suite };
    let secret = tls_prf::Secret::new(algorithm, secret).map_err(failed)?;
    Ok(secret.derive(label, seed, len).map_err(failed)?.as_ref().into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_bytes::bytes_of_hex as hex;

    /// The vectors that were published on the IETF TLS mailing list for the PRF of TLS 1.2, 2009-02-09.
    #[test]
    fn computes_the_published_outputs_of_the_prf() {
        let secret = hex("9bbe436ba940f017b17652849a71db35");
        let seed = hex("a0ba9f936cda311827a6f796ffd5198c");
        let output = prf(Suite::TLS12_AES_128_GCM, &secret, b"test label", &seed, 100).unwrap();
        let expected = "e3f229ba727be17b8d122620557cd453c2aab21d07c3d495329b52d4e61edb5a6b301791e90d35c9c9a46b4e14baf9af\
                        0fa022f7077def17abfd3797c0564bab4fbc91666e9def9b97fce34f796789baa48082d122ee42c5a72e5a5110fff701\
                        87347b66";
        assert_eq!(output.expose(), hex(expected));

        let secret = hex("b80b733d6ceefcdc71566ea48e5567df");
        let seed = hex("cd665cf6a8447dd6ff8b27555edb7465");
        let output = prf(Suite::TLS12_AES_256_GCM, &secret, b"test label", &seed, 148).unwrap();
        let expected = "7b0c18e9ced410ed1804f2cfa34a336a1c14dffb4900bb5fd7942107e81c83cde9ca0faa60be9fe34f82b1233c9146a0\
                        e534cb400fed2700884f9dc236f80edd8bfa961144c9e8d792eca722a7b32fc3d416d473ebc2c5fd4abfdad05d918425\
                        9b5bf8cd4d90fa0d31e2dec479e4f1a26066f2eea9a69236a3e52655c9e9aee691c8f3a26854308d5eaa3be85e0990703\
                        d73e56f";
        assert_eq!(output.expose(), hex(expected));
    }

    #[test]
    fn keys_are_cut_in_the_order_of_the_standard() {
        let suite = Suite::TLS12_AES_128_GCM;
        let block = KeyBlock::new(suite, (0..40).collect::<Vec<u8>>().into()).unwrap();
        let [write, read] = Keys::tls12(&block, ConnectionSide::Client);
        assert_eq!(write.expose().key, (0..16).collect::<Vec<u8>>());
        assert_eq!(read.expose().key, (16..32).collect::<Vec<u8>>());
        assert_eq!((write.expose().iv, read.expose().iv), (&[32, 33, 34, 35][..], &[36, 37, 38, 39][..]));
        let [server_write, _] = Keys::tls12(&block, ConnectionSide::Server);
        assert_eq!(server_write.expose().key, read.expose().key);
    }

    #[test]
    fn a_short_block_and_a_suite_of_another_protocol_are_refused() {
        let short = KeyBlock::new(Suite::TLS12_AES_128_CBC_SHA, vec![0; 71].into());
        assert!(matches!(short, Err(DerivationError::Length { expected: 72, found: 71, .. })));
        let other = KeyBlock::new(Suite::TLS13_AES_128_GCM, vec![0; 100].into());
        assert!(matches!(other, Err(DerivationError::Protocol { wanted: Protocol::Tls12, .. })));
    }
}
