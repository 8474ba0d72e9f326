//! The discovery of mail below paths, before messages are read.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::mbox::{MBOX_BEGINNING, is_mbox};
use super::source::STDIN;
use super::{MailError, MailReader, MailSource, MboxQuoting};

/// The options of reading mail.
#[derive(Clone, Copy, Debug)]
pub struct MailOptions {
    /// The quoting of `From ` in an mbox.
    pub quoting: MboxQuoting,
    /// The maximum length of a message that is read into memory, in bytes.
    pub max_bytes: u64,
}

/// The default maximum length of a message in memory, in bytes.
pub const MAX_BYTES: u64 = 100 << 20;

impl Default for MailOptions {
    fn default() -> Self {
        Self { quoting: MboxQuoting::default(), max_bytes: MAX_BYTES }
    }
}

/// The mail found below paths: messages, mboxes, Maildirs, directories of these, streams.
#[derive(Debug, Default)]
pub struct MailFolders {
    pub(super) entries: Vec<MailEntry>,
    pub(super) totals: MailAmount,
    options: MailOptions,
    /// The directories by device and inode. Each is read once, even if several links lead to it.
    seen: HashSet<(u64, u64)>,
}

/// The amount of mail to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MailAmount {
    /// The number of bytes of all files, without streams.
    pub bytes: u64,
    /// The number of messages in files of their own.
    pub files: u64,
    /// The number of mbox files, each with any number of messages. Empty files are among them.
    pub mboxes: u64,
    /// The number of streams: standard input and pipes.
    pub streams: u64,
    /// The number of unreadable paths.
    pub faults: u64,
}

/// An item to read.
#[derive(Debug)]
pub(super) enum MailEntry {
    Mail { path: Box<Path>, depth: usize, len_bytes: u64 },
    Mbox { path: Box<Path>, depth: usize, len_bytes: u64 },
    Stream(Box<Path>),
    Fault(Box<MailError>),
}

/// Finds the kind of each path:
///
/// - `-` is standard input. Like every path that is neither a file nor a directory, it is a stream: an mbox if it
///   begins like one, otherwise one message.
/// - A directory with `cur`, `new` and `tmp` is a Maildir. Its messages are in `cur` and `new`. Directories in it
///   that are Maildirs too, such as `.Sent`, are also read.
/// - Any other directory is read with everything below it, in the order of names. Hidden entries and special files
///   are skipped.
/// - A file is an mbox if it begins with `From `, perhaps after a byte order mark and empty lines, or is empty.
///   Otherwise it is one message.
///
/// Links are followed, but each directory is read once. Outside Maildirs each file is opened to read its first bytes.
/// The reader returns an error for an unreadable path.
pub fn discover<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>, options: MailOptions) -> MailFolders {
    let mut folders = MailFolders { options, ..MailFolders::default() };
    for path in paths {
        folders.add_path(path.as_ref());
    }
    folders
}

impl MailAmount {
    /// Returns the number of messages, if it is known before they are read.
    #[must_use]
    pub fn messages(&self) -> Option<u64> {
        (self.mboxes == 0 && self.streams == 0).then_some(self.files)
    }
}

impl MailFolders {
    /// Returns the amount of mail to read.
    #[must_use]
    pub fn totals(&self) -> MailAmount {
        self.totals
    }

    /// Returns a reader of the messages.
    #[must_use]
    pub fn mails(self) -> MailReader {
        let options = self.options;
        MailReader::new(self, options)
    }

    fn add_path(&mut self, path: &Path) {
        if path == Path::new(STDIN) {
            return self.stream(path);
        }
        let depth = path.components().count();
        match path.metadata() {
            Err(error) => self.add_fault(path, depth, error),
            Ok(about) if about.is_dir() => self.directory(path, depth, &about),
            Ok(about) if about.is_file() => self.file(path, depth.saturating_sub(1), about.len()),
            Ok(_) => self.stream(path),
        }
    }

    fn directory(&mut self, path: &Path, depth: usize, about: &Metadata) {
        if !self.seen.insert((about.dev(), about.ino())) {
            return;
        }
        if is_maildir(path) {
            return self.maildir(path, depth);
        }
        for name in self.list_names(path, depth) {
            if is_hidden(&name) {
                continue;
            }
            let path = path.join(name);
            match path.metadata() {
                Err(error) => self.add_fault(&path, depth, error),
                Ok(about) if about.is_dir() => self.directory(&path, depth, &about),
                Ok(about) if about.is_file() => self.file(&path, depth, about.len()),
                Ok(_) => {}
            }
        }
    }

    fn maildir(&mut self, path: &Path, depth: usize) {
        for folder in ["cur", "new"] {
            let folder = path.join(folder);
            for name in self.list_names(&folder, depth) {
                let path = folder.join(&name);
                match path.metadata() {
                    _ if is_hidden(&name) => {}
                    Err(error) => self.add_fault(&path, depth, error),
                    Ok(about) if about.is_file() => self.mail(&path, depth, about.len()),
                    Ok(_) => {}
                }
            }
        }
        for name in self.list_names(path, depth) {
            let path = path.join(&name);
            if !MAILDIR.iter().any(|known| name == *known)
                && is_maildir(&path)
                && let Ok(about) = path.metadata()
            {
                self.directory(&path, depth, &about);
            }
        }
    }

    /// Returns the names in a directory, in order.
    fn list_names(&mut self, path: &Path, depth: usize) -> Vec<OsString> {
        let names = fs::read_dir(path)
            .and_then(|entries| entries.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>());
        let mut names = names.unwrap_or_else(|error| {
            self.add_fault(path, depth, error);
            Vec::new()
        });
        names.sort_unstable();
        names
    }

    fn file(&mut self, path: &Path, depth: usize, len_bytes: u64) {
        match begins_as_mbox(path) {
            Err(error) => self.add_fault(path, depth, error),
            Ok(false) if len_bytes > 0 => self.mail(path, depth, len_bytes),
            Ok(_) => {
                self.totals.mboxes += 1;
                self.totals.bytes += len_bytes;
                self.entries.push(MailEntry::Mbox { path: path.into(), depth, len_bytes });
            }
        }
    }

    fn mail(&mut self, path: &Path, depth: usize, len_bytes: u64) {
        self.totals.files += 1;
        self.totals.bytes += len_bytes;
        self.entries.push(MailEntry::Mail { path: path.into(), depth, len_bytes });
    }

    fn stream(&mut self, path: &Path) {
        self.totals.streams += 1;
        self.entries.push(MailEntry::Stream(path.into()));
    }

    fn add_fault(&mut self, path: &Path, depth: usize, error: io::Error) {
        self.totals.faults += 1;
        let error = MailError::new(MailSource::file(path, depth), error);
        self.entries.push(MailEntry::Fault(Box::new(error)));
    }
}

/// The directories of a Maildir.
const MAILDIR: [&str; 3] = ["cur", "new", "tmp"];

fn is_maildir(path: &Path) -> bool {
    MAILDIR.iter().all(|folder| path.join(folder).is_dir())
}

/// Returns the Maildir of a message.
pub(super) fn maildir_of(message: &Path) -> Option<PathBuf> {
    let folder = message.parent()?;
    let is_kept = matches!(folder.file_name()?.to_str(), Some("cur" | "new"));
    folder.parent().filter(|maildir| is_kept && is_maildir(maildir)).map(Path::to_owned)
}

fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

fn begins_as_mbox(path: &Path) -> io::Result<bool> {
    let mut beginning = Vec::new();
    File::open(path)?.take(MBOX_BEGINNING).read_to_end(&mut beginning)?;
    Ok(is_mbox(&beginning))
}
