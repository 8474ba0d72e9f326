//! Messages with a header field before them, written to files.

use std::fs::{self, FileTimes};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::{Path, PathBuf};

use memchr::memchr_iter;
use oarlock_dkim::LineEnding;
use oarlock_files::FileStamp;
use oarlock_files::atomic_file::{AtomicFile, sync_folder};

use super::border::ends_in_date;
use super::discover::maildir_of;
use super::quoting::FROM;
use super::{MailError, MailFault, StoredMail};

/// Writes a message with header fields before it. The fields end their lines with CRLF, and get the line ending of
/// the message.
///
/// # Errors
/// Those of the writer.
pub fn write_signed(out: &mut impl Write, header: &[u8], message: &[u8]) -> io::Result<()> {
    match LineEnding::detect(message) {
        LineEnding::CrLf => out.write_all(header)?,
        LineEnding::Lf => out.write_all(&without_cr(header))?,
    }
    out.write_all(message)
}

/// Writes a message with header fields before it in the form of an mbox (mboxrd): after a `From ` line, quoted, and
/// with an empty line after it. Without an `envelope` the line names an unknown sender. One that does not end in a date
/// gets one, so that every reader finds the message.
///
/// # Errors
/// Those of the writer.
pub fn write_mbox(
    out: &mut impl Write,
    envelope: Option<&[u8]>,
    header: &[u8],
    message: &[u8],
) -> io::Result<()> {
    let end = LineEnding::detect(message).as_bytes();
    let mut signed = Vec::with_capacity(header.len() + message.len());
    write_signed(&mut signed, header, message)?;
    let envelope = envelope.unwrap_or(b"From MAILER-DAEMON");
    out.write_all(envelope.trim_ascii_end())?;
    if !ends_in_date(envelope) {
        out.write_all(b" Thu Jan  1 00:00:00 1970")?;
    }
    out.write_all(end)?;
    for line in signed.split_inclusive(|byte| *byte == b'\n') {
        let quotes = line.iter().take_while(|byte| **byte == b'>').count();
        if line[quotes..].starts_with(FROM) {
            out.write_all(b">")?;
        }
        out.write_all(line)?;
    }
    if !signed.is_empty() && !signed.ends_with(b"\n") {
        out.write_all(end)?;
    }
    out.write_all(end)
}

/// The destination of signed messages. Files appear complete or not at all.
#[derive(Clone, Debug)]
pub enum MailDestination {
    /// A directory, with the same relative paths as below the given directory. A message of an mbox becomes
    /// `mbox.17.eml`, one of a stream `stream`. No file is ever replaced.
    Directory(PathBuf),
    /// The file of the message itself. It keeps its owner, its permissions, and in a Maildir its delivery time.
    InPlace,
}

impl MailDestination {
    /// Writes a message with header fields before it, as [`write_signed`] does, and returns its path.
    ///
    /// # Errors
    /// The destination exists; the message cannot be written in place, or has changed since it was read; or the
    /// system fails.
    pub fn write(&self, mail: &StoredMail, header: &[u8]) -> Result<PathBuf, MailError> {
        let written = match self {
            Self::Directory(directory) => into_directory(directory, mail, header),
            Self::InPlace => in_place(mail, header),
        };
        written.map_err(|fault| MailError::new(mail.source.clone(), fault))
    }
}

fn into_directory(directory: &Path, mail: &StoredMail, header: &[u8]) -> Result<PathBuf, MailFault> {
    let path = directory.join(mail.source.below());
    let folder = path.parent().unwrap_or(directory);
    fs::create_dir_all(folder)?;
    let file = written(folder, mail, header)?;
    if mail.source.is_file() {
        file.file().set_permissions(fs::metadata(mail.source.path())?.permissions())?;
    }
    match file.create_new(&path) {
        Ok(()) => Ok(path),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(MailFault::Exists(path)),
        Err(error) => Err(error.into()),
    }
}

fn in_place(mail: &StoredMail, header: &[u8]) -> Result<PathBuf, MailFault> {
    let (true, Some(stamp)) = (mail.source.is_file(), mail.stamp) else { return Err(MailFault::NotInPlace) };
    // The file behind a link is replaced, not the link.
    let path = mail.source.path().canonicalize().map_err(as_change)?;
    let folder = path.parent().ok_or(MailFault::NotInPlace)?;
    let maildir = maildir_of(&path);
    if maildir.is_some() && has_size(&path) {
        return Err(MailFault::SizeInName);
    }
    let scratch = maildir.as_ref().map_or(folder.to_owned(), |maildir| maildir.join("tmp"));
    let file = written(&scratch, mail, header)?;
    let about = fs::metadata(&path).map_err(as_change)?;
    let draft = file.file().metadata()?;
    if (draft.uid(), draft.gid()) != (about.uid(), about.gid()) {
        fchown(file.file(), Some(about.uid()), Some(about.gid()))?;
    }
    // The permissions come after the owner, because a change of owner clears bits.
    file.file().set_permissions(about.permissions())?;
    if maildir.is_some() {
        file.file().set_times(FileTimes::new().set_modified(about.modified()?))?;
    }
    file.sync()?;
    // The check comes last, to leave little time in which a mail program may rename a message that it marks as read.
    if FileStamp::read(&path).map_err(as_change)? != stamp {
        return Err(MailFault::Changed);
    }
    file.replace(&path)?;
    sync_folder(&path)?;
    Ok(path)
}

fn written(folder: &Path, mail: &StoredMail, header: &[u8]) -> io::Result<AtomicFile> {
    let mut file = AtomicFile::create(folder, 0o600)?;
    write_signed(&mut file, header, &mail.bytes)?;
    Ok(file)
}

fn as_change(error: io::Error) -> MailFault {
    match error.kind() {
        io::ErrorKind::NotFound => MailFault::Changed,
        _ => error.into(),
    }
}

/// Returns true if the name contains the length of the message, as Maildir++ and Dovecot write it.
fn has_size(path: &Path) -> bool {
    path.file_name().is_some_and(|name| memchr::memmem::find(name.as_encoded_bytes(), b",S=").is_some())
}

fn without_cr(header: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(header.len());
    let mut from = 0;
    for at in memchr_iter(b'\n', header) {
        let line = &header[from..at];
        out.extend_from_slice(line.strip_suffix(b"\r").unwrap_or(line));
        out.push(b'\n');
        from = at + 1;
    }
    out.extend_from_slice(&header[from..]);
    out
}
