//! What paths are, before messages are read.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::mbox::is_mbox;
use super::quoting::FROM;
use super::source::STDIN;
use super::{MailError, MailReader, MailSource, MboxQuoting};

/// How mail is read.
#[derive(Clone, Copy, Debug)]
pub struct MailOptions {
    /// How an mbox quotes `From `.
    pub quoting: MboxQuoting,
    /// The longest message that is taken into memory, in bytes.
    pub max_bytes: u64,
}

/// The longest message that is taken into memory unless told, in bytes.
pub const MAX_BYTES: u64 = 100 << 20;

impl Default for MailOptions {
    fn default() -> Self {
        Self { quoting: MboxQuoting::default(), max_bytes: MAX_BYTES }
    }
}

/// What paths are: messages, mboxes, Maildirs, directories of these, streams.
#[derive(Debug, Default)]
pub struct MailFolders {
    pub(super) entries: Vec<MailEntry>,
    pub(super) totals: MailTotals,
    options: MailOptions,
    /// Directories by device and inode: each is read once, however many links lead to it.
    seen: HashSet<(u64, u64)>,
}

/// How much there is to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MailTotals {
    /// Bytes of all files; what comes as a stream is not counted.
    pub bytes: u64,
    /// Messages in files of their own.
    pub files: u64,
    /// Files that hold any number of messages one after the other. Empty files are among them, with no message.
    pub mboxes: u64,
    /// Standard input and pipes.
    pub streams: u64,
    /// Paths that cannot be read.
    pub faults: u64,
}

/// One thing to read.
#[derive(Debug)]
pub(super) enum MailEntry {
    Mail { path: Box<Path>, depth: usize, len_bytes: u64 },
    Mbox { path: Box<Path>, depth: usize, len_bytes: u64 },
    Stream(Box<Path>),
    Fault(Box<MailError>),
}

/// Finds what each path is:
///
/// - `-` is standard input, and what is neither file nor directory a stream: an mbox where it begins with `From `, else one message;
/// - a directory with `cur`, `new` and `tmp` is a Maildir: messages are in `cur` and `new`, and other directories in it that are
///   Maildirs too, as `.Sent`, are read as well;
/// - any other directory is read with all below it, in the order of names; what is hidden or no file is passed over;
/// - a file is an mbox where it begins with `From ` or is empty, else one message.
///
/// Links are followed, but each directory is read once. Outside Maildirs each file is opened, for its first bytes. What cannot be read
/// becomes an error in the place of its messages.
pub fn discover<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>, options: MailOptions) -> MailFolders {
    let mut folders = MailFolders { options, ..MailFolders::default() };
    for path in paths {
        folders.given(path.as_ref());
    }
    folders
}

impl MailTotals {
    /// The number of messages, where it is known before they are read.
    #[must_use]
    pub fn messages(&self) -> Option<u64> {
        (self.mboxes == 0 && self.streams == 0).then_some(self.files)
    }
}

impl MailFolders {
    /// How much there is to read.
    #[must_use]
    pub fn totals(&self) -> MailTotals {
        self.totals
    }

    /// The messages.
    #[must_use]
    pub fn mails(self) -> MailReader {
        let options = self.options;
        MailReader::new(self, options)
    }

    fn given(&mut self, path: &Path) {
        if path == Path::new(STDIN) {
            return self.stream(path);
        }
        let depth = path.components().count();
        match path.metadata() {
            Err(error) => self.fault(path, depth, error),
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
        for name in self.names(path, depth) {
            if is_hidden(&name) {
                continue;
            }
            let path = path.join(name);
            match path.metadata() {
                Err(error) => self.fault(&path, depth, error),
                Ok(about) if about.is_dir() => self.directory(&path, depth, &about),
                Ok(about) if about.is_file() => self.file(&path, depth, about.len()),
                Ok(_) => {}
            }
        }
    }

    fn maildir(&mut self, path: &Path, depth: usize) {
        for folder in ["cur", "new"] {
            let folder = path.join(folder);
            for name in self.names(&folder, depth) {
                let path = folder.join(&name);
                match path.metadata() {
                    _ if is_hidden(&name) => {}
                    Err(error) => self.fault(&path, depth, error),
                    Ok(about) if about.is_file() => self.mail(&path, depth, about.len()),
                    Ok(_) => {}
                }
            }
        }
        for name in self.names(path, depth) {
            let path = path.join(&name);
            if !MAILDIR.iter().any(|own| name == *own)
                && is_maildir(&path)
                && let Ok(about) = path.metadata()
            {
                self.directory(&path, depth, &about);
            }
        }
    }

    /// The names in a directory, in order.
    fn names(&mut self, path: &Path, depth: usize) -> Vec<OsString> {
        let names = fs::read_dir(path)
            .and_then(|entries| entries.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>());
        let mut names = names.unwrap_or_else(|error| {
            self.fault(path, depth, error);
            Vec::new()
        });
        names.sort_unstable();
        names
    }

    fn file(&mut self, path: &Path, depth: usize, len_bytes: u64) {
        match begins_as_mbox(path) {
            Err(error) => self.fault(path, depth, error),
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

    fn fault(&mut self, path: &Path, depth: usize, error: io::Error) {
        self.totals.faults += 1;
        let error = MailError::new(MailSource::file(path, depth), error);
        self.entries.push(MailEntry::Fault(Box::new(error)));
    }
}

/// What a Maildir consists of.
const MAILDIR: [&str; 3] = ["cur", "new", "tmp"];

fn is_maildir(path: &Path) -> bool {
    MAILDIR.iter().all(|folder| path.join(folder).is_dir())
}

/// The Maildir that a message lies in.
pub(super) fn maildir_of(message: &Path) -> Option<PathBuf> {
    let folder = message.parent()?;
    let is_kept = matches!(folder.file_name()?.to_str(), Some("cur" | "new"));
    folder.parent().filter(|maildir| is_kept && is_maildir(maildir)).map(Path::to_owned)
}

fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

fn begins_as_mbox(path: &Path) -> io::Result<bool> {
    let mut beginning = Vec::with_capacity(FROM.len());
    File::open(path)?.take(FROM.len() as u64).read_to_end(&mut beginning)?;
    Ok(is_mbox(&beginning))
}
