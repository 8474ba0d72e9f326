//! The files of certificates.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use oarlock_files::FileStamp;

use super::error::CertificateFault;

/// The endings of files with chains.
const CHAIN_ENDINGS: [&str; 3] = ["pem", "crt", "cer"];

/// The names in a directory of one certificate, as ACME clients write them.
const CHAIN_NAME: &str = "fullchain.pem";
const KEY_NAME: &str = "privkey.pem";
const STAPLE_NAME: &str = "staple.ocsp";

/// The place of certificates: a directory, or one file with chain and key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateSource {
    /// The file or the directory.
    pub path: PathBuf,
}

/// The files of one certificate, with their stamps. Equal values mean that nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFiles {
    /// The chain, which may contain the key.
    pub(super) chain: PathBuf,
    /// The key, if the chain does not contain it.
    pub(super) key: PathBuf,
    /// The OCSP response.
    pub(super) staple: PathBuf,
    /// The stamps of the files; None for a file that does not exist.
    stamps: [Option<FileStamp>; 3],
}

impl CertificateFiles {
    fn beside(chain: PathBuf) -> Self {
        let (key, staple) = (chain.with_extension("key"), chain.with_extension("ocsp"));
        Self::new(chain, key, staple)
    }

    fn in_directory(directory: &Path) -> Self {
        Self::new(directory.join(CHAIN_NAME), directory.join(KEY_NAME), directory.join(STAPLE_NAME))
    }

    fn new(chain: PathBuf, key: PathBuf, staple: PathBuf) -> Self {
        // The stamps are read before the files, so that a change in between is found the next time.
        let stamps = [&chain, &key, &staple].map(|path| FileStamp::read(path).ok());
        Self { chain, key, staple, stamps }
    }

    /// Returns the file that has the key.
    pub(super) fn key_path(&self) -> &Path {
        if self.has_key_file() { &self.key } else { &self.chain }
    }

    pub(super) fn has_key_file(&self) -> bool {
        self.stamps[1].is_some()
    }

    pub(super) fn has_staple(&self) -> bool {
        self.stamps[2].is_some()
    }

    /// Returns the file name without its ending, or the name of the certificate's directory.
    #[must_use]
    pub fn name(&self) -> &str {
        let name = match self.chain.file_name() {
            Some(name) if name == CHAIN_NAME => self.chain.parent().and_then(Path::file_name),
            _ => self.chain.file_stem(),
        };
        name.and_then(OsStr::to_str).unwrap_or_default()
    }

    /// Returns the path of the chain.
    #[must_use]
    pub fn chain(&self) -> &Path {
        &self.chain
    }
}

/// Lists the certificates of a directory, sorted by their paths. Names that begin with a dot are skipped.
pub(crate) fn list_certificates(
    source: &CertificateSource,
) -> Result<Vec<CertificateFiles>, CertificateFault> {
    let failed = |error| CertificateFault::Read { path: source.path.clone(), error };
    if !fs::metadata(&source.path).map_err(failed)?.is_dir() {
        return Ok(vec![CertificateFiles::beside(source.path.clone())]);
    }
    let entries = fs::read_dir(&source.path).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let mut paths: Vec<PathBuf> = entries.map_err(failed)?.iter().map(fs::DirEntry::path).collect();
    paths.sort();
    let is_hidden =
        |path: &PathBuf| path.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
    paths.retain(|path| !is_hidden(path));
    Ok(paths.into_iter().filter_map(certificate_at).collect())
}

fn certificate_at(path: PathBuf) -> Option<CertificateFiles> {
    let is_chain =
        path.extension().and_then(OsStr::to_str).is_some_and(|ending| CHAIN_ENDINGS.contains(&ending));
    if is_chain {
        return Some(CertificateFiles::beside(path));
    }
    // Files with other endings are keys, OCSP responses, or a README.
    path.join(CHAIN_NAME).exists().then(|| CertificateFiles::in_directory(&path))
}
