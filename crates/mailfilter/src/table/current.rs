//! The table in use, replaced as a whole where a new one is good.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use oarlock_io::FileStamp;
use tracing::warn;

use super::{KeyFault, KeyReader, SigningTable, TableError, text};

/// A table's file, and what was read of it last.
#[derive(Debug)]
pub(crate) struct Tables {
    path: PathBuf,
    current: RwLock<Arc<SigningTable>>,
    /// What the files were when they were read last, whether what was in them was good or not.
    seen: Mutex<Vec<Option<FileStamp>>>,
}

/// What came of looking at a table again.
#[derive(Debug)]
pub enum Reload {
    /// It is what it was.
    Unchanged,
    /// A new one is in use.
    Replaced(Arc<SigningTable>),
    /// The new one is no good; the old one stays in use.
    Refused(TableError),
}

impl Tables {
    /// Reads a table: in SQLite where the file is of that kind.
    pub(crate) fn open(path: &Path) -> Result<Self, TableError> {
        let seen = stamps(path);
        let table = read(path, None)?;
        Ok(Self { path: path.to_owned(), current: RwLock::new(Arc::new(table)), seen: Mutex::new(seen) })
    }

    /// The table's file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The table in use.
    pub(crate) fn current(&self) -> Arc<SigningTable> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Makes sure that every key of the table in use can sign. What a cryptoserver does not answer now it may answer later: that is
    /// only said.
    pub(crate) fn check_keys(&self, keys: &KeyReader) -> Result<(), TableError> {
        check_keys(&self.path, &self.current(), keys)
    }

    /// Looks again, where the file has changed or it `is_asked` for: then key files that have changed are read again, too. A new table
    /// is used only if all its keys can sign.
    pub(crate) fn reload(&self, is_asked: bool, keys: &KeyReader) -> Reload {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let now = stamps(&self.path);
        if now == *seen && !is_asked {
            return Reload::Unchanged;
        }
        *seen = now;
        let table = read(&self.path, Some(&self.current()));
        match table.and_then(|table| check_keys(&self.path, &table, keys).map(|()| table)) {
            Ok(table) => {
                let table = Arc::new(table);
                *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&table);
                Reload::Replaced(table)
            }
            Err(error) => Reload::Refused(error),
        }
    }
}

fn check_keys(path: &Path, table: &SigningTable, keys: &KeyReader) -> Result<(), TableError> {
    let (away, faults): (Vec<_>, Vec<_>) = table.check_keys(keys).into_iter().partition(KeyFault::is_server);
    for fault in away {
        warn!(%fault, "a key at the cryptoserver cannot be asked for now: mail that needs it waits");
    }
    if faults.is_empty() { Ok(()) } else { Err(TableError::Keys { path: path.to_owned(), faults }) }
}

/// The first bytes of every SQLite database: <https://www.sqlite.org/fileformat.html> 1.3
const SQLITE: &[u8] = b"SQLite format 3\0";

fn read(path: &Path, before: Option<&SigningTable>) -> Result<SigningTable, TableError> {
    let unread =
        |error: std::io::Error| TableError::Read { path: path.to_owned(), reason: error.to_string() };
    let mut start = Vec::new();
    let file = std::fs::File::open(path).map_err(unread)?;
    std::io::Read::read_to_end(&mut std::io::Read::take(file, SQLITE.len() as u64), &mut start)
        .map_err(unread)?;
    match start == SQLITE {
        false => text::read(path, before),
        #[cfg(feature = "sqlite")]
        true => super::sqlite::read(path, before),
        #[cfg(not(feature = "sqlite"))]
        true => {
            let reason =
                "a SQLite database, and this program was built without the feature sqlite".to_owned();
            Err(TableError::Read { path: path.to_owned(), reason })
        }
    }
}

/// Of the file, and of where SQLite keeps what is not yet in it.
fn stamps(path: &Path) -> Vec<Option<FileStamp>> {
    let beside = path.as_os_str().to_owned();
    let mut log = beside;
    log.push("-wal");
    [path, Path::new(&log)].map(|path| FileStamp::of(path).ok()).into()
}
