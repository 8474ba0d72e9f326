//! Messages, distributed to any number of threads.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use oarlock_files::FileStamp;

use super::discover::MailEntry;
use super::mbox::{MBOX_BEGINNING, is_mbox};
use super::source::STDIN;
use super::{
    MailAmount, MailError, MailFault, MailFolders, MailOptions, MailSource, MboxBorder, MboxMessage,
    MboxReader,
};

/// A reader of messages for several threads. Threads share a reference, and each calls [`MailReader::pull`] until it
/// returns None, or uses the reference as an iterator. The thread that takes a file reads it; the threads take turns
/// at an mbox.
#[derive(Debug)]
pub struct MailReader {
    options: MailOptions,
    totals: MailAmount,
    bytes_done: AtomicU64,
    turn: Mutex<ReadTurn>,
    borders: Mutex<(Vec<BorderWarning>, u64)>,
}

/// A line of an mbox of which it is not certain whether a message begins there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{mbox}: {border}")]
pub struct BorderWarning {
    /// The location of the mbox.
    pub mbox: MailSource,
    /// The line.
    pub border: MboxBorder,
}

/// The number of warnings that are kept. All are counted.
const MAX_BORDERS: usize = 5;

/// A message or an error, with its number.
#[derive(Debug)]
pub struct MailItem {
    /// The number, from 0 on without gaps, in the order of paths and names.
    pub index: u64,
    /// The message or its error.
    pub mail: Result<StoredMail, MailError>,
}

/// A message in memory.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StoredMail {
    /// The location of the message.
    pub source: MailSource,
    /// The bytes, with the line endings of the file: see [`to_crlf`](oarlock_dkim::to_crlf).
    pub bytes: Vec<u8>,
    /// The `From ` line before it in an mbox, without its end.
    pub envelope: Option<Vec<u8>>,
    /// The stamp of the file when it was opened.
    pub(super) stamp: Option<FileStamp>,
}

/// The position of the reader.
#[derive(Debug)]
struct ReadTurn {
    entries: std::vec::IntoIter<MailEntry>,
    index: u64,
    mbox: Option<OpenMbox>,
}

struct OpenMbox {
    source: MailSource,
    /// The number of bytes counted so far; None for a stream, whose length is not in the totals.
    counted: Option<u64>,
    pieces: MboxReader<Box<dyn Read + Send>>,
}

/// An item that a thread has taken in its turn.
enum PendingRead {
    Done(Result<StoredMail, MailError>),
    /// A file that is read after the turn has ended.
    Read(MailSource, u64),
}

impl MailReader {
    pub(super) fn new(folders: MailFolders, options: MailOptions) -> Self {
        let turn = ReadTurn { entries: folders.entries.into_iter(), index: 0, mbox: None };
        let (bytes_done, borders) = (AtomicU64::new(0), Mutex::default());
        Self { options, totals: folders.totals, bytes_done, turn: Mutex::new(turn), borders }
    }

    /// Returns the amount of mail at the start.
    #[must_use]
    pub fn totals(&self) -> MailAmount {
        self.totals
    }

    /// Returns the number of the bytes in [`MailAmount::bytes`] that have been read.
    #[must_use]
    pub fn bytes_done(&self) -> u64 {
        self.bytes_done.load(Ordering::Relaxed)
    }

    /// Returns the first warnings about borders of messages so far, and the number of all of them.
    #[must_use]
    pub fn border_warnings(&self) -> (Vec<BorderWarning>, u64) {
        self.borders.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the next message, or None after the last.
    pub fn pull(&self) -> Option<MailItem> {
        let mut turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let work = self.take_next(&mut turn)?;
        let index = turn.index;
        turn.index += 1;
        drop(turn);
        let mail = match work {
            PendingRead::Done(mail) => mail,
            PendingRead::Read(source, len_bytes) => {
                let mail = self.read(&source);
                self.add_done(len_bytes);
                mail.map_err(|fault| MailError::new(source, fault))
            }
        };
        Some(MailItem { index, mail })
    }

    fn take_next(&self, turn: &mut MutexGuard<'_, ReadTurn>) -> Option<PendingRead> {
        loop {
            if let Some(mbox) = &mut turn.mbox {
                match self.read_mbox_message(mbox) {
                    Some(mail) => return Some(PendingRead::Done(mail)),
                    None => turn.mbox = None,
                }
            }
            match turn.entries.next()? {
                MailEntry::Mail { path, depth, len_bytes } => {
                    return Some(PendingRead::Read(MailSource::file(path, depth), len_bytes));
                }
                MailEntry::Fault(error) => return Some(PendingRead::Done(Err(*error))),
                MailEntry::Mbox { path, depth, len_bytes } => {
                    let source = MailSource::file(path, depth);
                    match File::open(source.path()) {
                        Ok(file) => turn.mbox = Some(self.open_mbox(source, Some(0), Box::new(file))),
                        Err(error) => {
                            self.add_done(len_bytes);
                            return Some(PendingRead::Done(Err(MailError::new(source, error))));
                        }
                    }
                }
                MailEntry::Stream(path) => match self.stream(&path) {
                    Ok(OpenedStream::Mbox(mbox)) => turn.mbox = Some(mbox),
                    Ok(OpenedStream::Mail(mail)) => return Some(PendingRead::Done(Ok(mail))),
                    Err(fault) => {
                        return Some(PendingRead::Done(Err(MailError::new(
                            MailSource::stream(&path),
                            fault,
                        ))));
                    }
                },
            }
        }
    }

    fn open_mbox(&self, source: MailSource, counted: Option<u64>, input: Box<dyn Read + Send>) -> OpenMbox {
        OpenMbox { source, counted, pieces: MboxReader::new(input, self.options) }
    }

    fn read_mbox_message(&self, mbox: &mut OpenMbox) -> Option<Result<StoredMail, MailError>> {
        let piece = mbox.pieces.next();
        self.keep_borders(&mbox.source, mbox.pieces.take_borders());
        if let Some(counted) = &mut mbox.counted {
            let done_bytes = mbox.pieces.done_bytes();
            self.add_done(done_bytes - std::mem::replace(counted, done_bytes));
        }
        match piece? {
            Ok(piece) => Some(self.mail_of(&mbox.source, piece)),
            Err(error) => Some(Err(MailError::new(mbox.source.clone(), error))),
        }
    }

    fn keep_borders(&self, mbox: &MailSource, borders: Vec<MboxBorder>) {
        if borders.is_empty() {
            return;
        }
        let mut kept = self.borders.lock().unwrap_or_else(PoisonError::into_inner);
        kept.1 += borders.len() as u64;
        let free = MAX_BORDERS.saturating_sub(kept.0.len());
        let warning = |border| BorderWarning { mbox: mbox.clone(), border };
        kept.0.extend(borders.into_iter().take(free).map(warning));
    }

    fn mail_of(&self, mbox: &MailSource, piece: MboxMessage) -> Result<StoredMail, MailError> {
        let MboxMessage { number, len_bytes, envelope, message, .. } = piece;
        let source = mbox.part(number);
        match message {
            Some(bytes) => Ok(StoredMail { source, bytes, envelope: Some(envelope), stamp: None }),
            None => Err(MailError::new(source, self.too_large(len_bytes))),
        }
    }

    fn read(&self, source: &MailSource) -> Result<StoredMail, MailFault> {
        let file = File::open(source.path())?;
        let about = file.metadata()?;
        let stamp = Some(FileStamp::from(&about));
        let bytes = self.read_to_limit(file, about.len())?;
        Ok(StoredMail { source: source.clone(), bytes, envelope: None, stamp })
    }

    fn stream(&self, path: &Path) -> Result<OpenedStream, MailFault> {
        let source = MailSource::stream(path);
        let mut input: Box<dyn Read + Send> = match path == Path::new(STDIN) {
            true => Box::new(io::stdin()),
            false => Box::new(File::open(path)?),
        };
        let mut beginning = Vec::new();
        (&mut input).take(MBOX_BEGINNING).read_to_end(&mut beginning)?;
        let is_mbox = is_mbox(&beginning);
        let input = Box::new(io::Cursor::new(beginning).chain(input));
        if is_mbox {
            return Ok(OpenedStream::Mbox(self.open_mbox(source, None, input)));
        }
        let bytes = self.read_to_limit(input, 0)?;
        Ok(OpenedStream::Mail(StoredMail { source, bytes, envelope: None, stamp: None }))
    }

    /// Reads an input of about `len_bytes`, which may be longer.
    fn read_to_limit(&self, input: impl Read, len_bytes: u64) -> Result<Vec<u8>, MailFault> {
        let max_bytes = self.options.max_bytes;
        if len_bytes > max_bytes {
            return Err(self.too_large(len_bytes));
        }
        // One byte more than expected, so that the end is found without growing the buffer.
        let mut bytes = Vec::with_capacity(usize::try_from(len_bytes).unwrap_or(0).saturating_add(1));
        input.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
        match bytes.len() as u64 {
            len_bytes if len_bytes > max_bytes => Err(self.too_large(len_bytes)),
            _ => Ok(bytes),
        }
    }

    fn too_large(&self, len_bytes: u64) -> MailFault {
        MailFault::TooLarge { len_bytes, max_bytes: self.options.max_bytes }
    }

    fn add_done(&self, len_bytes: u64) {
        self.bytes_done.fetch_add(len_bytes, Ordering::Relaxed);
    }
}

/// The kind of a stream after its first bytes.
enum OpenedStream {
    Mbox(OpenMbox),
    Mail(StoredMail),
}

impl Iterator for &MailReader {
    type Item = MailItem;

    fn next(&mut self) -> Option<MailItem> {
        self.pull()
    }
}

impl std::fmt::Debug for OpenMbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenMbox").field("source", &self.source).finish_non_exhaustive()
    }
}
