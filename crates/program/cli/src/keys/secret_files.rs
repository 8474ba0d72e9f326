//! Options that name the files of passphrases and identities.

use std::path::{Path, PathBuf};

use clap::Args;
use oarlock::keys::Passphrase;
use oarlock_key_files::sealed::AgeIdentities;
use oarlock_key_files::{SecretReader, read_private_passphrase};

use super::KeysError;
use crate::key_path::key_path;

/// The passphrase of the keys that a command reads.
#[derive(Args, Clone, Debug)]
pub(crate) struct KeyPassphrase {
    /// File whose first line is the passphrase of encrypted keys
    #[arg(long, value_name = "FILE", value_parser = key_path())]
    passphrase_file: Option<PathBuf>,
}

/// The passphrase of the key that a command reads to write it again.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct InputPassphrase {
    /// File whose first line is the passphrase of the encrypted key
    #[arg(long, value_name = "FILE", value_parser = key_path())]
    in_passphrase_file: Option<PathBuf>,
}

/// The passphrase of the private keys that a command writes.
#[derive(Args, Clone, Debug)]
pub(crate) struct NewPassphrase {
    /// Encrypt the written private key under the first line of this file
    #[arg(long, value_name = "FILE", value_parser = key_path())]
    passphrase_file: Option<PathBuf>,
}

/// The identity that opens what a command reads.
#[derive(Args, Clone, Debug)]
pub(crate) struct SealIdentity {
    /// File with the identity that opens sealed files, as age-keygen writes it
    #[arg(long, value_name = "FILE", value_parser = key_path())]
    identity: Option<PathBuf>,
}

impl KeyPassphrase {
    pub(crate) fn read(&self) -> Result<Option<Passphrase>, KeysError> {
        self.passphrase_file.as_deref().map(read_passphrase).transpose()
    }
}

impl InputPassphrase {
    pub(crate) fn read(&self) -> Result<Option<Passphrase>, KeysError> {
        self.in_passphrase_file.as_deref().map(read_passphrase).transpose()
    }
}

impl NewPassphrase {
    pub(crate) fn is_given(&self) -> bool {
        self.passphrase_file.is_some()
    }

    pub(crate) fn read(&self) -> Result<Option<Passphrase>, KeysError> {
        self.passphrase_file.as_deref().map(read_passphrase).transpose()
    }
}

impl SealIdentity {
    pub(crate) fn is_given(&self) -> bool {
        self.identity.is_some()
    }

    pub(crate) fn read(&self) -> Result<Option<AgeIdentities>, KeysError> {
        self.identity.as_deref().map(read_identities).transpose()
    }
}

fn read_passphrase(path: &Path) -> Result<Passphrase, KeysError> {
    read_private_passphrase(path).map_err(|error| KeysError::Read { path: path.to_owned(), error })
}

pub(super) fn read_identities(path: &Path) -> Result<AgeIdentities, KeysError> {
    AgeIdentities::read(path, SecretReader::ThisProcess)
        .map_err(|error| KeysError::Identity { path: path.to_owned(), error })
}
