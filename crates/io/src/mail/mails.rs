//! Messages, handed out to any number of threads.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::discover::Entry;
use super::mbox::is_mbox;
use super::quoting::FROM;
use super::source::{Part, STDIN};
use super::{Folders, MailError, MailFault, Mbox, Options, Piece, Source, Totals};
use crate::Stamp;

/// The messages of folders. Threads share a reference and each calls [`Mails::pull`] until there is nothing more, or uses the
/// reference as an iterator. A file is read by the thread that takes it, an mbox in turns.
#[derive(Debug)]
pub struct Mails {
    options: Options,
    totals: Totals,
    bytes_done: AtomicU64,
    turn: Mutex<Turn>,
}

/// A message, or what stands in its place, with its number.
#[derive(Debug)]
pub struct Item {
    /// From 0 on without gaps, in the order of paths and names.
    pub index: u64,
    /// The message.
    pub mail: Result<Mail, MailError>,
}

/// A message.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Mail {
    /// Where it is.
    pub source: Source,
    /// Its bytes, with ends of lines as in the file: see [`to_crlf`](super::to_crlf).
    pub bytes: Vec<u8>,
    /// The `From ` line before it in an mbox, without its end.
    pub envelope: Option<Vec<u8>>,
    /// Of the file when it was opened.
    pub(super) stamp: Option<Stamp>,
}

/// Where reading is.
#[derive(Debug)]
struct Turn {
    entries: std::vec::IntoIter<Entry>,
    index: u64,
    mbox: Option<OpenMbox>,
}

struct OpenMbox {
    source: Source,
    /// `None` for a stream, whose length nobody expects.
    counted: Option<u64>,
    pieces: Mbox<Box<dyn Read + Send>>,
}

/// What was taken while the turn was held.
enum Work {
    Done(Result<Mail, MailError>),
    /// A file to read while others have their turn.
    Read(Source, u64),
}

impl Mails {
    pub(super) fn new(folders: Folders, options: Options) -> Self {
        let turn = Turn { entries: folders.entries.into_iter(), index: 0, mbox: None };
        Self { options, totals: folders.totals, bytes_done: AtomicU64::new(0), turn: Mutex::new(turn) }
    }

    /// How much there was to read at first.
    #[must_use]
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// How many bytes of [`Totals::bytes`] are read.
    #[must_use]
    pub fn bytes_done(&self) -> u64 {
        self.bytes_done.load(Ordering::Relaxed)
    }

    /// The next message, or `None` after the last.
    pub fn pull(&self) -> Option<Item> {
        let mut turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let work = self.work(&mut turn)?;
        let index = turn.index;
        turn.index += 1;
        drop(turn);
        let mail = match work {
            Work::Done(mail) => mail,
            Work::Read(source, len_bytes) => {
                let mail = self.read(&source);
                self.count(len_bytes);
                mail.map_err(|fault| MailError::new(source, fault))
            }
        };
        Some(Item { index, mail })
    }

    fn work(&self, turn: &mut MutexGuard<'_, Turn>) -> Option<Work> {
        loop {
            if let Some(mbox) = &mut turn.mbox {
                match self.piece(mbox) {
                    Some(mail) => return Some(Work::Done(mail)),
                    None => turn.mbox = None,
                }
            }
            match turn.entries.next()? {
                Entry::Mail { path, depth, len_bytes } => {
                    return Some(Work::Read(Source::file(path, depth), len_bytes));
                }
                Entry::Fault(error) => return Some(Work::Done(Err(*error))),
                Entry::Mbox { path, depth, len_bytes } => {
                    let source = Source::file(path, depth);
                    match File::open(source.path()) {
                        Ok(file) => turn.mbox = Some(self.open(source, Some(0), Box::new(file))),
                        Err(error) => {
                            self.count(len_bytes);
                            return Some(Work::Done(Err(MailError::new(source, error))));
                        }
                    }
                }
                Entry::Stream(path) => match self.stream(&path) {
                    Ok(Begun::Mbox(mbox)) => turn.mbox = Some(mbox),
                    Ok(Begun::Mail(mail)) => return Some(Work::Done(Ok(mail))),
                    Err(fault) => {
                        return Some(Work::Done(Err(MailError::new(Source::stream(&path), fault))));
                    }
                },
            }
        }
    }

    fn open(&self, source: Source, counted: Option<u64>, input: Box<dyn Read + Send>) -> OpenMbox {
        OpenMbox { source, counted, pieces: Mbox::new(input, self.options) }
    }

    fn piece(&self, mbox: &mut OpenMbox) -> Option<Result<Mail, MailError>> {
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

    fn mail_of(&self, mbox: &Source, piece: Piece) -> Result<Mail, MailError> {
        let Piece { number, start, len_bytes, envelope, message } = piece;
        let source = mbox.part(Part { number, start, len_bytes, quoting: self.options.quoting });
        match message {
            Some(bytes) => Ok(Mail { source, bytes, envelope: Some(envelope), stamp: None }),
            None => Err(MailError::new(source, self.too_large(len_bytes))),
        }
    }

    fn read(&self, source: &Source) -> Result<Mail, MailFault> {
        let file = File::open(source.path())?;
        let about = file.metadata()?;
        let stamp = Some(Stamp::from(&about));
        let bytes = self.read_to_limit(file, about.len())?;
        Ok(Mail { source: source.clone(), bytes, envelope: None, stamp })
    }

    fn stream(&self, path: &Path) -> Result<Begun, MailFault> {
        let source = Source::stream(path);
        let mut input: Box<dyn Read + Send> = match path == Path::new(STDIN) {
            true => Box::new(io::stdin()),
            false => Box::new(File::open(path)?),
        };
        let mut beginning = Vec::new();
        (&mut input).take(FROM.len() as u64).read_to_end(&mut beginning)?;
        let is_mbox = is_mbox(&beginning);
        let input = Box::new(io::Cursor::new(beginning).chain(input));
        if is_mbox {
            return Ok(Begun::Mbox(self.open(source, None, input)));
        }
        let bytes = self.read_to_limit(input, 0)?;
        Ok(Begun::Mail(Mail { source, bytes, envelope: None, stamp: None }))
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
enum Begun {
    Mbox(OpenMbox),
    Mail(Mail),
}

impl Iterator for &Mails {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        self.pull()
    }
}

impl std::fmt::Debug for OpenMbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenMbox").field("source", &self.source).finish_non_exhaustive()
    }
}
