//! Messages, handed out to any number of threads.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::discover::MailEntry;
use super::mbox::is_mbox;
use super::quoting::FROM;
use super::source::{MboxPart, STDIN};
use super::{
    MailError, MailFault, MailFolders, MailOptions, MailSource, MailTotals, MboxMessage, MboxReader,
};
use crate::FileStamp;

/// The messages of folders. Threads share a reference and each calls [`MailReader::pull`] until there is nothing more, or uses the
/// reference as an iterator. A file is read by the thread that takes it, an mbox in turns.
#[derive(Debug)]
pub struct MailReader {
    options: MailOptions,
    totals: MailTotals,
    bytes_done: AtomicU64,
    turn: Mutex<ReadTurn>,
}

/// A message, or what stands in its place, with its number.
#[derive(Debug)]
pub struct MailItem {
    /// From 0 on without gaps, in the order of paths and names.
    pub index: u64,
    /// The message.
    pub mail: Result<MailMessage, MailError>,
}

/// A message.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MailMessage {
    /// Where it is.
    pub source: MailSource,
    /// Its bytes, with ends of lines as in the file: see [`to_crlf`](super::to_crlf).
    pub bytes: Vec<u8>,
    /// The `From ` line before it in an mbox, without its end.
    pub envelope: Option<Vec<u8>>,
    /// Of the file when it was opened.
    pub(super) stamp: Option<FileStamp>,
}

/// Where reading is.
#[derive(Debug)]
struct ReadTurn {
    entries: std::vec::IntoIter<MailEntry>,
    index: u64,
    mbox: Option<OpenMbox>,
}

struct OpenMbox {
    source: MailSource,
    /// `None` for a stream, whose length nobody expects.
    counted: Option<u64>,
    pieces: MboxReader<Box<dyn Read + Send>>,
}

/// What was taken while the turn was held.
enum PendingRead {
    Done(Result<MailMessage, MailError>),
    /// A file to read while others have their turn.
    Read(MailSource, u64),
}

impl MailReader {
    pub(super) fn new(folders: MailFolders, options: MailOptions) -> Self {
        let turn = ReadTurn { entries: folders.entries.into_iter(), index: 0, mbox: None };
        Self { options, totals: folders.totals, bytes_done: AtomicU64::new(0), turn: Mutex::new(turn) }
    }

    /// How much there was to read at first.
    #[must_use]
    pub fn totals(&self) -> MailTotals {
        self.totals
    }

    /// How many bytes of [`MailTotals::bytes`] are read.
    #[must_use]
    pub fn bytes_done(&self) -> u64 {
        self.bytes_done.load(Ordering::Relaxed)
    }

    /// The next message, or `None` after the last.
    pub fn pull(&self) -> Option<MailItem> {
        let mut turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let work = self.work(&mut turn)?;
        let index = turn.index;
        turn.index += 1;
        drop(turn);
        let mail = match work {
            PendingRead::Done(mail) => mail,
            PendingRead::Read(source, len_bytes) => {
                let mail = self.read(&source);
                self.count(len_bytes);
                mail.map_err(|fault| MailError::new(source, fault))
            }
        };
        Some(MailItem { index, mail })
    }

    fn work(&self, turn: &mut MutexGuard<'_, ReadTurn>) -> Option<PendingRead> {
        loop {
            if let Some(mbox) = &mut turn.mbox {
                match self.piece(mbox) {
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
                        Ok(file) => turn.mbox = Some(self.open(source, Some(0), Box::new(file))),
                        Err(error) => {
                            self.count(len_bytes);
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

    fn open(&self, source: MailSource, counted: Option<u64>, input: Box<dyn Read + Send>) -> OpenMbox {
        OpenMbox { source, counted, pieces: MboxReader::new(input, self.options) }
    }

    fn piece(&self, mbox: &mut OpenMbox) -> Option<Result<MailMessage, MailError>> {
        let piece = mbox.pieces.next();
        if let Some(counted) = &mut mbox.counted {
            let done_bytes = mbox.pieces.done_bytes();
            self.count(done_bytes - std::mem::replace(counted, done_bytes));
        }
        match piece? {
            Ok(piece) => Some(self.mail_of(&mbox.source, piece)),
            Err(error) => Some(Err(MailError::new(mbox.source.clone(), error))),
        }
    }

    fn mail_of(&self, mbox: &MailSource, piece: MboxMessage) -> Result<MailMessage, MailError> {
        let MboxMessage { number, start, len_bytes, envelope, message } = piece;
        let source = mbox.part(MboxPart { number, start, len_bytes, quoting: self.options.quoting });
        match message {
            Some(bytes) => Ok(MailMessage { source, bytes, envelope: Some(envelope), stamp: None }),
            None => Err(MailError::new(source, self.too_large(len_bytes))),
        }
    }

    fn read(&self, source: &MailSource) -> Result<MailMessage, MailFault> {
        let file = File::open(source.path())?;
        let about = file.metadata()?;
        let stamp = Some(FileStamp::from(&about));
        let bytes = self.read_to_limit(file, about.len())?;
        Ok(MailMessage { source: source.clone(), bytes, envelope: None, stamp })
    }

    fn stream(&self, path: &Path) -> Result<OpenedStream, MailFault> {
        let source = MailSource::stream(path);
        let mut input: Box<dyn Read + Send> = match path == Path::new(STDIN) {
            true => Box::new(io::stdin()),
            false => Box::new(File::open(path)?),
        };
        let mut beginning = Vec::new();
        (&mut input).take(FROM.len() as u64).read_to_end(&mut beginning)?;
        let is_mbox = is_mbox(&beginning);
        let input = Box::new(io::Cursor::new(beginning).chain(input));
        if is_mbox {
            return Ok(OpenedStream::Mbox(self.open(source, None, input)));
        }
        let bytes = self.read_to_limit(input, 0)?;
        Ok(OpenedStream::Mail(MailMessage { source, bytes, envelope: None, stamp: None }))
    }

    /// Reads what is expected to have `len_bytes`, and may have more.
    fn read_to_limit(&self, input: impl Read, len_bytes: u64) -> Result<Vec<u8>, MailFault> {
        let max_bytes = self.options.max_bytes;
        if len_bytes > max_bytes {
            return Err(self.too_large(len_bytes));
        }
        // One more than expected, so that the end is seen without growing.
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

    fn count(&self, len_bytes: u64) {
        self.bytes_done.fetch_add(len_bytes, Ordering::Relaxed);
    }
}

/// What a stream turned out to be.
enum OpenedStream {
    Mbox(OpenMbox),
    Mail(MailMessage),
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
