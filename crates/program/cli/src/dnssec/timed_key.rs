//! The files of a key with its times, read and changed.

use std::fs;
use std::path::{Path, PathBuf};

use oarlock::keys::bind;
use oarlock_dnssec::{Dnskey, DomainNameBuf, KeyTimes, RecordType, TimedFile};
use oarlock_files::output::replace_file;
use zeroize::Zeroizing;

use super::key_files::{self, SigningKeyError};
use super::{DnssecError, key_text};
use crate::keys::KeyInput;

/// The files of a key: BIND's private key with times in it, or a DNSKEY with times in comments and a private key of
/// another format, elsewhere, or nowhere.
pub(super) struct TimedKey {
    pub(super) zone: DomainNameBuf,
    /// The data of the DNSKEY.
    pub(super) dnskey: Vec<u8>,
    pub(super) times: KeyTimes,
    /// The file of the DNSKEY.
    pub(super) public: PathBuf,
    public_text: Vec<u8>,
    private: Option<PrivateFile>,
}

/// BIND's private key.
struct PrivateFile {
    path: PathBuf,
    text: Zeroizing<Vec<u8>>,
}

impl TimedKey {
    /// Reads the files of a key. `path` may be each of them, or lack the ending.
    ///
    /// # Errors
    /// A file cannot be read, others may read the private key, or a time is malformed.
    pub(super) fn read(path: &Path) -> Result<Self, DnssecError> {
        let (private, public) = key_files::paths(path);
        let unread = |error| DnssecError::Read { path: public.clone(), error };
        let public_text = fs::read(&public).map_err(unread)?;
        let private = private.map(|path| read_private(&path)).transpose()?.flatten();
        let fault = |error| key_files::key_fault(&public, error);
        let records = key_text::records(&public_text);
        let record = records.iter().find(|record| record.rtype == RecordType::DNSKEY);
        let record = record.ok_or_else(|| fault(SigningKeyError::NoRecord))?;
        let (zone, dnskey) = (record.owner.to_buf(), record.data.to_vec());
        Dnskey::parse(&dnskey)?;
        let times = match &private {
            Some(file) => times_in(&file.path, &file.text, TimedFile::Private)?,
            None => times_in(&public, &public_text, TimedFile::Public)?,
        };
        Ok(Self { zone, dnskey, times, public, public_text, private })
    }

    /// Returns the file in which the times count.
    pub(super) fn timed_file(&self) -> &Path {
        self.private.as_ref().map_or(&self.public, |file| &file.path)
    }

    /// Writes the times into both files. Each file is replaced as a whole, with its permissions and its owner.
    ///
    /// # Errors
    /// A file cannot be replaced, or has no times because of its format.
    pub(super) fn write(&self, times: &KeyTimes) -> Result<(), DnssecError> {
        if let Some(file) = &self.private {
            rewrite(&file.path, &file.text, times, TimedFile::Private)?;
        }
        rewrite(&self.public, &self.public_text, times, TimedFile::Public)
    }
}

/// Reads BIND's private key. Returns None for another format, which has no times.
fn read_private(path: &Path) -> Result<Option<PrivateFile>, DnssecError> {
    let input = KeyInput::read(path)?;
    key_files::check_mode(path, &input)?;
    Ok(bind::is_bind(&input.bytes).then(|| PrivateFile { path: path.to_owned(), text: input.bytes }))
}

fn times_in(path: &Path, text: &[u8], form: TimedFile) -> Result<KeyTimes, DnssecError> {
    let fault = |error| SigningKeyError::Times { path: path.to_owned(), error };
    KeyTimes::read_file(text, form).map_err(|error| key_files::key_fault(path, fault(error)))
}

fn rewrite(path: &Path, text: &[u8], times: &KeyTimes, form: TimedFile) -> Result<(), DnssecError> {
    // The capacity suffices, so no copy of a private key stays in memory that was freed.
    let mut changed = Zeroizing::new(Vec::with_capacity(text.len() + KeyTimes::MAX_WRITTEN));
    times.write_file(text, form, &mut changed);
    if times_in(path, &changed, form)? != *times {
        return Err(key_files::key_fault(path, SigningKeyError::OldFormat));
    }
    Ok(replace_file(path, &changed)?)
}
