//! The keys of certificates: in files, at the cryptoserver, or in devices.

use std::fmt;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use oarlock::Accelerator;
use oarlock_key_files::check_secret_mode;
use oarlock_key_files::sealed::is_sealed;
use oarlock_rustls::{load_signing_key, signing_key};
use oarlock_service_kit::{HeldKeyFault, HeldKeyName, KeyHolders};
use rustls::pki_types::CertificateDer;
use rustls::sign::SigningKey;
use x509_parser::prelude::{FromDer, X509Certificate};

use super::directory::CertificateFiles;
use super::error::CertificateFault;
use super::read::read_file;

/// The units that compute with the keys of certificates.
#[derive(Clone)]
pub struct CertificateKeySources {
    /// The accelerator, which knows the holders.
    pub accelerator: Accelerator,
    /// The holders of keys that files only name.
    pub holders: KeyHolders,
}

/// A key, and true if it lives at the cryptoserver or in a device.
type FoundKey = (Arc<dyn SigningKey>, bool);

impl CertificateKeySources {
    /// Returns the key of a certificate whose chain was read. A key file precedes a key in the chain's file.
    pub(super) fn key_of_files(
        &self,
        files: &CertificateFiles,
        chain: &[u8],
        certificate: &CertificateDer<'_>,
    ) -> Result<FoundKey, CertificateFault> {
        let path = files.key_path();
        if files.has_key_file() {
            return self.key_in(path, &read_file(path)?, certificate);
        }
        match private_blocks(chain).next().is_some() || name_in(path, chain)?.is_some() {
            true => self.key_in(path, chain, certificate),
            false => Err(CertificateFault::NoKey { path: path.to_owned(), key: files.key.clone() }),
        }
    }

    /// Returns the key of a certificate that a setting names: by its file, or by the URI of a key in a device.
    pub(crate) fn key_at(
        &self,
        path: &Path,
        certificate: &CertificateDer<'_>,
    ) -> Result<Arc<dyn SigningKey>, CertificateFault> {
        match HeldKeyName::from_path(path).map_err(|error| held(path, error.into()))? {
            Some(name) => self.held_key(path, &name, certificate),
            None => self.key_in(path, &read_file(path)?, certificate).map(|(key, _)| key),
        }
    }

    /// Returns the key in a file, or the one that the file names.
    fn key_in(
        &self,
        path: &Path,
        bytes: &[u8],
        certificate: &CertificateDer<'_>,
    ) -> Result<FoundKey, CertificateFault> {
        if let Some(name) = name_in(path, bytes)? {
            return Ok((self.held_key(path, &name, certificate)?, true));
        }
        let mut blocks = private_blocks(bytes);
        let key = match (blocks.next(), blocks.next()) {
            (Some(block), None) => self.local_key(path, block),
            // DER, several keys, or something that the parser describes.
            _ => self.local_key(path, bytes),
        };
        Ok((key?, false))
    }

    fn local_key(&self, path: &Path, bytes: &[u8]) -> Result<Arc<dyn SigningKey>, CertificateFault> {
        // Everybody may read a sealed file. The parser names the way to open it.
        if !is_sealed(bytes) {
            let about = File::open(path).and_then(|file| file.metadata());
            check_secret_mode(
                path,
                &about.map_err(|error| CertificateFault::Read { path: path.to_owned(), error })?,
            )?;
        }
        load_signing_key(&self.accelerator, bytes, None)
            .map_err(|error| CertificateFault::Key { path: path.to_owned(), error })
    }

    fn held_key(
        &self,
        path: &Path,
        name: &HeldKeyName,
        certificate: &CertificateDer<'_>,
    ) -> Result<Arc<dyn SigningKey>, CertificateFault> {
        let parsed = X509Certificate::from_der(certificate).ok();
        let certified = parsed.as_ref().map(|(_, certificate)| certificate.public_key().raw);
        let key = self.holders.key(name, certified).map_err(|fault| held(path, fault))?;
        signing_key(&self.accelerator, key)
            .map_err(|error| CertificateFault::Key { path: path.to_owned(), error })
    }
}

impl fmt::Debug for CertificateKeySources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CertificateKeySources({:?})", self.holders)
    }
}

fn name_in(path: &Path, bytes: &[u8]) -> Result<Option<HeldKeyName>, CertificateFault> {
    HeldKeyName::from_file(bytes).map_err(|fault| held(path, fault))
}

fn held(path: &Path, fault: HeldKeyFault) -> CertificateFault {
    CertificateFault::Held { path: path.to_owned(), fault }
}

/// Returns the PEM blocks with private keys.
fn private_blocks(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    PemBlocks(bytes).filter(|(label, _)| label.ends_with(b"PRIVATE KEY")).map(|(_, block)| block)
}

const BEGIN: &[u8] = b"-----BEGIN ";
const END: &[u8] = b"-----END ";
const DASHES: &[u8] = b"-----";

/// The PEM blocks of a file, with their labels, from BEGIN to the end of the END line. Nothing is decoded or copied.
struct PemBlocks<'a>(&'a [u8]);

impl<'a> Iterator for PemBlocks<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let start = position(self.0, BEGIN)?;
        let block = &self.0[start..];
        let label = &block[BEGIN.len()..];
        let label = &label[..position(label, DASHES)?];
        // A block without an end goes to the end of the file, and the decoder rejects it.
        let end = position(block, END).map(|end| end + END.len() + label.len() + DASHES.len());
        let (block, rest) = block.split_at(end.unwrap_or(block.len()).min(block.len()));
        self.0 = rest;
        Some((label, block))
    }
}

fn position(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}
