//! Keys from files: PEM, encrypted PKCS#8, and BIND's format.

mod foreign;
mod pem;

use oarlock_core::{Key, SlhDsaSet};
use zeroize::Zeroizing;

use super::outline::Structure;
use super::{bounded, expect, pkcs1_private_der, pkcs1_public_der, pkcs8, pkcs8_der, sec1_der, spki_der};
use crate::asn1::AlgorithmId;
use crate::{KeyError, Passphrase, bind, pbes2, text_file};

/// Imports a key in PEM or DER of any supported structure, or in BIND's private key file.
///
/// The passphrase is for encrypted PKCS#8. Other keys ignore it.
///
/// # Errors
/// [`KeyError::Foreign`], [`KeyError::Empty`], [`KeyError::PemBegin`], [`KeyError::DerLength`] or
/// [`KeyError::UnknownFormat`] if the bytes have none of these forms, and all that the named functions return.
pub fn any(bytes: &[u8], passphrase: Option<&Passphrase>) -> Result<Key, KeyError> {
    // DER is tried first because its test is exact: no text is well-formed DER.
    match Structure::from_der(bounded(bytes)?) {
        Ok(found) => structure(found, bytes, passphrase),
        Err(_) if pem::is_pem(bytes) => pem(bytes, passphrase),
        Err(_) if bind::is_bind(bytes) => bind::import(bytes).map(|file| file.key),
        Err(_) => bare_base64(bytes, passphrase),
    }
}

/// Returns the parameter set of an SLH-DSA private key in PEM or DER that is not encrypted. The key itself is not
/// looked at.
///
/// To import such a key, its root is computed, which takes 0.2 ms to 0.3 s. Who imports keys of others asks before.
#[must_use]
pub fn slh_dsa_set(bytes: &[u8]) -> Option<SlhDsaSet> {
    let set = |der: &[u8]| match pkcs8::algorithm(der) {
        Ok(AlgorithmId::SlhDsa(set)) => Some(set),
        _ => None,
    };
    match Structure::from_der(bounded(bytes).ok()?) {
        Ok(_) => set(bytes),
        Err(_) if pem::is_pem(bytes) => set(&pem::first_key(bytes).ok()?.1),
        Err(_) => set(&pem::bare_base64(bytes)?),
    }
}

/// Imports DER in base64, without BEGIN and END lines.
fn bare_base64(text: &[u8], passphrase: Option<&Passphrase>) -> Result<Key, KeyError> {
    let Some(der) = pem::bare_base64(text) else { return Err(foreign::error(text)) };
    match Structure::from_der(&der) {
        Ok(found) => structure(found, &der, passphrase),
        Err(_) => Err(foreign::error_in_base64(text, &der)),
    }
}

/// Returns the name of the format if a file holds or may hold a private key, even one that cannot be read here.
///
/// A directory of keys uses it to find a key under a wrong file name.
#[must_use]
pub fn private_key_format(bytes: &[u8]) -> Option<&'static str> {
    match Structure::from_der(bytes) {
        Ok(Structure::Spki | Structure::Pkcs1Public | Structure::Certificate) => None,
        Ok(_) => Some("a private key in DER"),
        Err(_) => foreign::private_key_format(bytes),
    }
}

/// Imports a key in DER of any supported structure.
///
/// # Errors
/// As for [`any`] if no structure fits, else as the named functions.
pub fn der(bytes: &[u8], passphrase: Option<&Passphrase>) -> Result<Key, KeyError> {
    let found = Structure::from_der(bounded(bytes)?).map_err(|_| foreign::error(bytes))?;
    structure(found, bytes, passphrase)
}

/// Reads the certificates of a text in PEM, in order, as DER. There may be none. The labels are `CERTIFICATE`,
/// `X509 CERTIFICATE` and `TRUSTED CERTIFICATE`, whose trust settings are left out. PEM is read as leniently as for
/// keys. Other blocks are passed over and not decoded.
///
/// # Errors
/// [`KeyError::PemMalformed`], and [`KeyError::Foreign`] for UTF-16.
pub fn certificates(text: &[u8]) -> Result<Vec<Vec<u8>>, KeyError> {
    match text_file::is_utf16(text) {
        true => Err(foreign::error(text)),
        false => pem::certificates(text),
    }
}

/// Imports the first key among PEM blocks.
///
/// # Errors
/// [`KeyError::PemLabel`] if no block holds a key, [`KeyError::Certificate`] if only certificates are there,
/// [`KeyError::SeveralKeys`], [`KeyError::Foreign`], [`KeyError::LegacyPemEncryption`], else as the named functions.
pub fn pem(text: &[u8], passphrase: Option<&Passphrase>) -> Result<Key, KeyError> {
    let (found, bytes) = pem::first_key(bounded(text)?)?;
    structure(found, &bytes, passphrase)
}

fn structure(found: Structure, bytes: &[u8], passphrase: Option<&Passphrase>) -> Result<Key, KeyError> {
    match found {
        Structure::Pkcs8 => pkcs8_der(bytes),
        Structure::EncryptedPkcs8 => {
            encrypted_pkcs8_der(bytes, passphrase.ok_or(KeyError::PassphraseMissing)?)
        }
        Structure::Pkcs1Private => pkcs1_private_der(bytes),
        Structure::Pkcs1Public => pkcs1_public_der(bytes),
        Structure::Sec1 => sec1_der(bytes),
        Structure::Spki => spki_der(bytes),
        Structure::Certificate => Err(KeyError::Certificate),
    }
}

/// Imports a private key in a PEM block `PRIVATE KEY`.
///
/// # Errors
/// [`KeyError::PemLabel`], [`KeyError::PemMalformed`], else as [`pkcs8_der`].
pub fn pkcs8_pem(text: &[u8]) -> Result<Key, KeyError> {
    pkcs8_der(&labelled(Structure::Pkcs8, text)?)
}

/// Imports a private key in encrypted PKCS#8 DER: PBES2 with PBKDF2 or scrypt, and AES-CBC. RFC 5958 section 3, RFC
/// 8018 6.2.
///
/// # Errors
/// [`KeyError::TooCostly`] before any work above the passphrase's limits, [`KeyError::Decryption`],
/// [`KeyError::UnsupportedEncryption`], else as [`pkcs8_der`].
pub fn encrypted_pkcs8_der(bytes: &[u8], passphrase: &Passphrase) -> Result<Key, KeyError> {
    let plain = pbes2::decrypt(expect(Structure::EncryptedPkcs8, bytes)?, passphrase)?;
    // About one wrong passphrase in 256 leaves a well-formed padding. The error must not report a malformed key then.
    match Structure::from_der(&plain) {
        Ok(Structure::Pkcs8) => pkcs8::key(&plain),
        _ => Err(KeyError::Decryption),
    }
}

/// Imports a private key in a PEM block `ENCRYPTED PRIVATE KEY`.
///
/// # Errors
/// [`KeyError::PemLabel`], [`KeyError::PemMalformed`], else as [`encrypted_pkcs8_der`].
pub fn encrypted_pkcs8_pem(text: &[u8], passphrase: &Passphrase) -> Result<Key, KeyError> {
    encrypted_pkcs8_der(&labelled(Structure::EncryptedPkcs8, text)?, passphrase)
}

/// Imports an RSA private key in a PEM block `RSA PRIVATE KEY`.
///
/// # Errors
/// [`KeyError::PemLabel`], [`KeyError::PemMalformed`], [`KeyError::LegacyPemEncryption`], else as
/// [`pkcs1_private_der`].
pub fn pkcs1_private_pem(text: &[u8]) -> Result<Key, KeyError> {
    pkcs1_private_der(&labelled(Structure::Pkcs1Private, text)?)
}

/// Imports an RSA public key in a PEM block `RSA PUBLIC KEY`.
///
/// # Errors
/// [`KeyError::PemLabel`], [`KeyError::PemMalformed`], else as [`pkcs1_public_der`].
pub fn pkcs1_public_pem(text: &[u8]) -> Result<Key, KeyError> {
    pkcs1_public_der(&labelled(Structure::Pkcs1Public, text)?)
}

/// Imports an EC private key in a PEM block `EC PRIVATE KEY`.
///
/// # Errors
/// [`KeyError::PemLabel`], [`KeyError::PemMalformed`], [`KeyError::LegacyPemEncryption`], else as [`sec1_der`].
pub fn sec1_pem(text: &[u8]) -> Result<Key, KeyError> {
    sec1_der(&labelled(Structure::Sec1, text)?)
}

/// Imports a public key in a PEM block `PUBLIC KEY`.
///
/// # Errors
/// [`KeyError::PemLabel`], [`KeyError::PemMalformed`], else as [`spki_der`].
pub fn spki_pem(text: &[u8]) -> Result<Key, KeyError> {
    spki_der(&labelled(Structure::Spki, text)?)
}

/// Imports a SubjectPublicKeyInfo in PEM or DER.
pub(crate) fn public_key(bytes: &[u8]) -> Result<Key, KeyError> {
    match pem::is_pem(bounded(bytes)?) {
        true => spki_pem(bytes),
        false => spki_der(bytes),
    }
}

/// The first PEM block with a label of this crate's own, decoded.
pub(crate) fn own_pem(label: &'static str, text: &[u8]) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    pem::labelled(label, bounded(text)?)
}

fn labelled(wanted: Structure, text: &[u8]) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    pem::block(wanted, bounded(text)?)
}
