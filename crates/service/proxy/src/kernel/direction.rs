//! The keys of one direction of a connection, in the forms of the kernel and of this process.

use std::io;

use oarlock_kernel_tls::{KernelCipher, KernelKeys, KernelTlsVersion};
use oarlock_sockets::{DerivationError, ExposedKeys, Keys, Suite};
use rustls::ConnectionTrafficSecrets;

/// The number of KeyUpdates before the hand-over that are followed.
const MAX_GENERATIONS: usize = 64;

/// The keys of one direction.
pub(crate) struct DirectionKeys {
    version: KernelTlsVersion,
    cipher: KernelCipher,
    kernel: KernelKeys,
    keys: Keys,
}

impl DirectionKeys {
    /// Takes the keys that rustls gives, with the number of the next record. With the first traffic secret of the
    /// direction they can be updated.
    ///
    /// # Errors
    /// The kernel does not know the cipher.
    pub(crate) fn new(
        suite: Suite,
        version: KernelTlsVersion,
        (sequence, exported): (u64, &ConnectionTrafficSecrets),
        first_secret: Option<&[u8]>,
    ) -> io::Result<Self> {
        let (cipher, key, iv) = parts(exported)?;
        let kernel = kernel_keys(version, cipher, key, iv, sequence)?;
        let updatable = first_secret.and_then(|secret| find_generation(suite, secret, key));
        let keys = match updatable {
            Some(keys) => keys.with_sequence(sequence),
            None => {
                // In TLS 1.2, the kernel's IV of AES-GCM has the explicit part behind the fixed one.
                let iv = iv.get(..suite.iv_len()).ok_or_else(|| io::Error::other("the IV is too short"))?;
                let material = ExposedKeys { key, mac_key: &[], iv, sequence };
                Keys::new(suite, &material).map_err(io::Error::other)?
            }
        };
        Ok(Self { version, cipher, kernel, keys })
    }

    /// Returns the keys in the kernel's form.
    pub(crate) fn for_kernel(&self) -> &KernelKeys {
        &self.kernel
    }

    /// Returns the keys that follow a KeyUpdate. RFC 8446 7.2.
    ///
    /// # Errors
    /// The version is 1.2, or the traffic secret is not known.
    pub(crate) fn next_generation(&self) -> io::Result<Self> {
        let &Self { version, cipher, .. } = self;
        let keys = self.keys.next_generation().map_err(io::Error::other)?;
        let exposed = keys.expose();
        let kernel = kernel_keys(version, cipher, exposed.key, exposed.iv, exposed.sequence)?;
        Ok(Self { version, cipher, kernel, keys })
    }

    /// Returns the keys for an opener in this process.
    pub(crate) fn into_keys(self) -> Keys {
        self.keys
    }
}

/// Returns the keys that a traffic secret has led to, or None if no number of KeyUpdates gives this key.
fn find_generation(suite: Suite, secret: &[u8], key: &[u8]) -> Option<Keys> {
    let mut keys: Result<Keys, DerivationError> = Keys::tls13(suite, secret);
    for _ in 0..=MAX_GENERATIONS {
        let found = keys.ok()?;
        if found.expose().key == key {
            return Some(found);
        }
        keys = found.next_generation();
    }
    None
}

fn kernel_keys(
    version: KernelTlsVersion,
    cipher: KernelCipher,
    key: &[u8],
    iv: &[u8],
    sequence: u64,
) -> io::Result<KernelKeys> {
    let iv = iv.try_into().map_err(|_| io::Error::other("the IV does not have 12 bytes"))?;
    KernelKeys::new(version, cipher, key, iv, sequence).map_err(io::Error::other)
}

fn parts(secrets: &ConnectionTrafficSecrets) -> io::Result<(KernelCipher, &[u8], &[u8])> {
    Ok(match secrets {
        ConnectionTrafficSecrets::Aes128Gcm { key, iv } => {
            (KernelCipher::Aes128Gcm, key.as_ref(), iv.as_ref())
        }
        ConnectionTrafficSecrets::Aes256Gcm { key, iv } => {
            (KernelCipher::Aes256Gcm, key.as_ref(), iv.as_ref())
        }
        ConnectionTrafficSecrets::Chacha20Poly1305 { key, iv } => {
            (KernelCipher::ChaCha20Poly1305, key.as_ref(), iv.as_ref())
        }
        _ => return Err(io::Error::other("the kernel does not know the suite")),
    })
}

#[cfg(test)]
mod tests {
    use rustls::crypto::cipher::{AeadKey, Iv};

    use super::*;

    const SUITE: Suite = Suite::TLS13_CHACHA20_POLY1305;

    /// Returns keys as rustls gives them.
    fn exported(keys: &Keys) -> ConnectionTrafficSecrets {
        let exposed = keys.expose();
        ConnectionTrafficSecrets::Chacha20Poly1305 {
            key: AeadKey::from(*exposed.key.as_array::<32>().unwrap()),
            iv: Iv::copy(exposed.iv.as_array::<12>().unwrap()),
        }
    }

    #[test]
    fn keys_are_updated_from_the_generation_that_they_have() {
        let first = Keys::tls13(SUITE, &[7; 32]).unwrap();
        let third = first.next_generation().unwrap().next_generation().unwrap();
        let new = |secret| DirectionKeys::new(SUITE, KernelTlsVersion::Tls13, (9, &exported(&third)), secret);
        let direction = new(Some(&[7; 32])).unwrap();
        assert_eq!((direction.keys.expose().key, direction.keys.expose().sequence), (third.expose().key, 9));
        let next = direction.next_generation().unwrap();
        let expected = third.next_generation().unwrap();
        assert_eq!((next.keys.expose().key, next.keys.expose().sequence), (expected.expose().key, 0));
        // Another connection's secret, and none.
        for secret in [Some(&[8; 32][..]), None] {
            let direction = new(secret).unwrap();
            assert_eq!(direction.keys.expose().key, third.expose().key);
            assert!(direction.next_generation().is_err());
        }
    }
}
