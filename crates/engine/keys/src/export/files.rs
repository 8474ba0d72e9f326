//! Keys as text of files: PEM, and PKCS#8 under a passphrase.

use std::num::NonZeroU32;

use oarlock_core::Key;
use pem_rfc7468::LineEnding;
use zeroize::Zeroizing;

use super::{private_pkcs8_der, spki_der};
use crate::asn1::not_encoded;
use crate::pbes2::{self, KeyDerivation};
use crate::{KeyError, Passphrase, random};

/// The derivation of the encryption key of a private key from a passphrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Protection {
    /// scrypt with `N = 2^log_n`, `128 * N * r` bytes of memory. RFC 7914.
    Scrypt {
        /// Logarithm of the cost N, 1 to 63.
        log_n: u8,
        /// Block size, from 1.
        r: u32,
        /// Parallelization, from 1.
        p: u32,
    },
    /// PBKDF2 with HMAC-SHA-256. RFC 8018 5.2.
    Pbkdf2 {
        /// The number of iterations of PBKDF2.
        iterations: NonZeroU32,
    },
}

/// scrypt at 16 MiB, as OpenSSL writes it. By default OpenSSL reads no more than 32 MiB.
impl Default for Protection {
    fn default() -> Self {
        Self::Scrypt { log_n: 14, r: 8, p: 1 }
    }
}

/// The public half as a PEM block `PUBLIC KEY`.
///
/// # Errors
/// As [`spki_der`].
pub fn spki_pem(key: &Key) -> Result<String, KeyError> {
    pem_rfc7468::encode_string("PUBLIC KEY", LineEnding::LF, &spki_der(key)?).map_err(not_encoded)
}

/// The private key, unencrypted, as a PEM block `PRIVATE KEY`.
///
/// # Errors
/// As [`private_pkcs8_der`].
pub fn private_pkcs8_pem(key: &Key) -> Result<Zeroizing<String>, KeyError> {
    let der = private_pkcs8_der(key)?;
    pem_rfc7468::encode_string("PRIVATE KEY", LineEnding::LF, &der).map(Zeroizing::new).map_err(not_encoded)
}

/// The private key encrypted with AES-256-CBC under a key from the passphrase, as PKCS#8.
///
/// The passphrase's limits bound `protection` too, so that what is written can be read back.
///
/// # Errors
/// As [`private_pkcs8_der`], and [`KeyError::TooCostly`] or [`KeyError::EncryptionParameter`] for `protection`.
pub fn encrypted_pkcs8_der(
    key: &Key,
    passphrase: &Passphrase,
    protection: Protection,
) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    encrypted(&private_pkcs8_der(key)?, passphrase, protection)
}

/// `plain` in an EncryptedPrivateKeyInfo.
pub(crate) fn encrypted(
    plain: &[u8],
    passphrase: &Passphrase,
    protection: Protection,
) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    let salt: [u8; 16] = random::draw_bytes()?;
    let kdf = match protection {
        Protection::Scrypt { log_n, r, p } => KeyDerivation::scrypt(&salt, log_n, r, p)?,
        Protection::Pbkdf2 { iterations } => KeyDerivation::pbkdf2_sha256(&salt, iterations),
    };
    pbes2::encrypt(plain, passphrase, &kdf).map(Zeroizing::new)
}

/// The private key, encrypted as by [`encrypted_pkcs8_der`], as a PEM block `ENCRYPTED PRIVATE KEY`.
///
/// # Errors
/// As [`encrypted_pkcs8_der`].
pub fn encrypted_pkcs8_pem(
    key: &Key,
    passphrase: &Passphrase,
    protection: Protection,
) -> Result<Zeroizing<String>, KeyError> {
    let der = encrypted_pkcs8_der(key, passphrase, protection)?;
    let pem = pem_rfc7468::encode_string("ENCRYPTED PRIVATE KEY", LineEnding::LF, &der);
    pem.map(Zeroizing::new).map_err(not_encoded)
}
