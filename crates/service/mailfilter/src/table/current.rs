//! The table in use. A new table replaces it as a whole if it has no fault.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use oarlock_files::FileStamp;
use oarlock_service_kit::Current;
use tracing::warn;

use super::{KeyReader, SigningKeyFault, SigningTable, SigningTableError, text};

/// The file of a table and its current content.
#[derive(Debug)]
pub(crate) struct TableFile {
    path: PathBuf,
    current: Current<SigningTable>,
    /// The stamps of the files when they were last read, whether their content was valid or not.
    seen: Mutex<Vec<Option<FileStamp>>>,
}

/// The result of reading a table again.
#[derive(Debug)]
pub enum TableReload {
    /// The file has not changed.
    Unchanged,
    /// A new table is in use.
    Replaced(Arc<SigningTable>),
    /// The new table has a fault, and the old one stays in use.
    Refused(SigningTableError),
}

impl TableFile {
    /// Reads a table. The content of the file shows if it is text or SQLite.
    pub(crate) fn open(path: &Path) -> Result<Self, SigningTableError> {
        let seen = stamps(path);
        let table = read(path, None)?;
        Ok(Self { path: path.to_owned(), current: Current::new(table), seen: Mutex::new(seen) })
    }

    /// Returns the path of the table.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the table in use.
    pub(crate) fn current(&self) -> Arc<SigningTable> {
        self.current.get()
    }

    /// Checks that every key of the table in use can sign. A cryptoserver that does not answer is only logged, because
    /// it may answer later.
    pub(crate) fn check_keys(&self, keys: &KeyReader) -> Result<(), SigningTableError> {
        check_keys(&self.path, &self.current(), keys)
    }

    /// Reads the table again if the file has changed or `is_asked` is true. Changed key files are read again as well.
    /// A new table is used only if all its keys can sign.
    pub(crate) fn reload(&self, is_asked: bool, keys: &KeyReader) -> TableReload {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let now = stamps(&self.path);
        if now == *seen && !is_asked {
            return TableReload::Unchanged;
        }
        // The stamps are stored even if the table is faulty. A fault is then reported once.
        *seen = now;
        let table = read(&self.path, Some(&self.current()));
        match table.and_then(|table| check_keys(&self.path, &table, keys).map(|()| table)) {
            Ok(table) => {
                let table = Arc::new(table);
                self.current.replace(Arc::clone(&table));
                TableReload::Replaced(table)
            }
            Err(error) => TableReload::Refused(error),
        }
    }
}

fn check_keys(path: &Path, table: &SigningTable, keys: &KeyReader) -> Result<(), SigningTableError> {
    let (away, faults): (Vec<_>, Vec<_>) =
        table.check_keys(keys).into_iter().partition(SigningKeyFault::may_recover);
    for fault in away {
        warn!(%fault, "a key at the cryptoserver or in a device is not available: mail that needs it waits");
    }
    if faults.is_empty() { Ok(()) } else { Err(SigningTableError::Keys { path: path.to_owned(), faults }) }
}

/// The first bytes of every SQLite database. <https://www.sqlite.org/fileformat.html> 1.3
const SQLITE: &[u8] = b"SQLite format 3\0";

/// Reads a table. The content of the file shows if it is text or SQLite.
pub(super) fn read(path: &Path, before: Option<&SigningTable>) -> Result<SigningTable, SigningTableError> {
    let unread =
        |error: std::io::Error| SigningTableError::Read { path: path.to_owned(), reason: error.to_string() };
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
                "a SQLite database, but this program was built without the feature sqlite".to_owned();
            Err(SigningTableError::Read { path: path.to_owned(), reason })
        }
    }
}

/// Returns the stamps of the file and of SQLite's write-ahead log beside it.
fn stamps(path: &Path) -> Vec<Option<FileStamp>> {
    let beside = path.as_os_str().to_owned();
    let mut log = beside;
    log.push("-wal");
    [path, Path::new(&log)].map(|path| FileStamp::read(path).ok()).into()
}
