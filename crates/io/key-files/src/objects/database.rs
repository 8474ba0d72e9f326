//! The database of a store: its file, its connections and its transactions.
//!
//! One connection writes, and waits for other processes that write. Readers take a connection of their own out of a
//! pool, and neither wait nor make others wait, because the journal is a write-ahead log.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, fchown};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use oarlock::process::{ProcessLocal, ProcessMark};
use oarlock_files::atomic_file;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use super::error::StoreFault;
use super::process::ProcessUse;
use crate::check_secret_mode;

/// The mark of a token file in the header of the database: "Oarl".
const APPLICATION_ID: i64 = 0x4f61_726c;
/// The format of the tables. A change of the tables or of what is encrypted needs another number.
const FORMAT: i64 = 1;

/// The maximum time to wait for another process that writes.
const PATIENCE: Duration = Duration::from_secs(5);
/// The maximum time to wait for other processes that log in. Each takes a key derivation, one after the other.
const LOGIN_PATIENCE: Duration = Duration::from_secs(60);

/// The tables. An object's number is never used again (AUTOINCREMENT), so that rows of a removed object cannot be given
/// to a new one.
const TABLES: &str = "
CREATE TABLE token (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    serial TEXT NOT NULL,
    label TEXT NOT NULL,
    epoch BLOB NOT NULL,
    changes INTEGER NOT NULL,
    pin_min_bytes INTEGER NOT NULL,
    pin_max_bytes INTEGER NOT NULL,
    max_tries INTEGER NOT NULL
) STRICT;
CREATE TABLE pin (
    role INTEGER PRIMARY KEY,
    tries_left INTEGER NOT NULL,
    log_n INTEGER NOT NULL,
    r INTEGER NOT NULL,
    p INTEGER NOT NULL,
    salt BLOB NOT NULL,
    wrapped BLOB NOT NULL
) STRICT;
CREATE TABLE object (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    version INTEGER NOT NULL,
    private INTEGER NOT NULL,
    seal BLOB NOT NULL
) STRICT;
CREATE TABLE attribute (
    object INTEGER NOT NULL REFERENCES object,
    type INTEGER NOT NULL,
    secret INTEGER NOT NULL,
    value BLOB NOT NULL,
    PRIMARY KEY (object, type)
) STRICT, WITHOUT ROWID;";

/// Settings of each connection. A commit is on disk when it returns (FULL). Removed values are overwritten
/// (secure_delete). Nothing is written into temporary files.
const SETTINGS: &str = "
PRAGMA synchronous = FULL;
PRAGMA foreign_keys = ON;
PRAGMA secure_delete = ON;
PRAGMA cell_size_check = ON;
PRAGMA temp_store = MEMORY;";

/// A database and the connections of the current process.
pub(super) struct Database {
    path: PathBuf,
    connections: ProcessLocal<ConnectionSlot>,
}

type ConnectionSlot = Mutex<Option<Arc<ProcessConnections>>>;

/// The connections of one process.
struct ProcessConnections {
    process: ProcessMark,
    writer: Mutex<Connection>,
    readers: Mutex<Vec<Connection>>,
    watch: Mutex<ChangeWatch>,
}

/// A connection that never writes, so that `PRAGMA data_version` notices every change, by this process too.
struct ChangeWatch {
    connection: Connection,
    /// The last value of the pragma, and the number of changes that was read after it.
    last: Option<(i64, u64)>,
}

/// The lock of all logins into a store. It is held by a database without content, because SQLite's locks have a time
/// limit, end with the process, and are not inherited by a child.
pub(super) struct LoginLock {
    #[expect(dead_code, reason = "its drop releases the lock")]
    connection: Connection,
    #[expect(dead_code, reason = "a fork during a login leaves the child without the store")]
    process: ProcessUse,
}

impl Database {
    /// Creates the file with tables that `fill` fills. The file appears complete or not at all.
    pub(super) fn create(
        path: &Path,
        fill: impl FnOnce(&Transaction<'_>) -> Result<(), StoreFault>,
    ) -> Result<(), StoreFault> {
        let _use = ProcessUse::begin()?;
        if path.symlink_metadata().is_ok() {
            return Err(StoreFault::Exists);
        }
        let folder = atomic_file::folder_of(path);
        // The mode of a temporary file is 0600. It is closed before SQLite opens it: closing it later would release
        // SQLite's locks (fcntl(2)).
        let draft = tempfile::Builder::new().prefix(".oarlock-").suffix(".part").tempfile_in(folder);
        let draft = draft.map_err(fault_of_creation)?.into_temp_path();
        let mut connection = connect(&draft)?;
        let transaction = connection.transaction()?;
        transaction.execute_batch(TABLES)?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", FORMAT)?;
        fill(&transaction)?;
        transaction.commit()?;
        use_write_ahead_log(&connection)?;
        connection.close().map_err(|(_, error)| error)?;
        draft.persist_noclobber(path).map_err(|error| fault_of_creation(error.error))?;
        Ok(atomic_file::sync_folder(path)?)
    }

    /// Opens a file, whose permissions and format are checked.
    pub(super) fn open(path: &Path) -> Result<Self, StoreFault> {
        let process = ProcessUse::begin()?;
        let database = Self { path: path.to_owned(), connections: ProcessLocal::new() };
        database.connections(&process)?;
        Ok(database)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Runs a reading transaction: `read` sees one state of the store.
    pub(super) fn read<T>(
        &self,
        read: impl FnOnce(&Transaction<'_>) -> Result<T, StoreFault>,
    ) -> Result<T, StoreFault> {
        let process = ProcessUse::begin()?;
        let connections = self.connections(&process)?;
        let idle = lock(&connections.readers).pop();
        let mut reader = match idle {
            Some(reader) => reader,
            None => connect(&self.path)?,
        };
        let result = read_once(&mut reader, read);
        lock(&connections.readers).push(reader);
        result
    }

    /// Runs a writing transaction. It is on disk when this returns; after an error nothing is changed.
    pub(super) fn write<T>(
        &self,
        write: impl FnOnce(&Transaction<'_>) -> Result<T, StoreFault>,
    ) -> Result<T, StoreFault> {
        let process = ProcessUse::begin()?;
        let connections = self.connections(&process)?;
        let mut writer = lock(&connections.writer);
        // Immediate: a transaction that begins as a reader fails if another process writes before it.
        let transaction = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let result = write(&transaction)?;
        transaction.commit()?;
        Ok(result)
    }

    /// Returns the number of changes of objects. It is read again only if the file has changed.
    pub(super) fn changes(&self) -> Result<u64, StoreFault> {
        let process = ProcessUse::begin()?;
        let connections = self.connections(&process)?;
        lock(&connections.watch).changes()
    }

    /// Moves the write-ahead log into the file and empties it, so that replaced values do not stay in the log. This is
    /// best effort: the change is complete, and a later change moves the log if this fails.
    pub(super) fn empty_log(&self) {
        let emptied = || -> Result<(), StoreFault> {
            let process = ProcessUse::begin()?;
            let connections = self.connections(&process)?;
            let writer = lock(&connections.writer);
            Ok(writer.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?)
        };
        let _ = emptied();
    }

    /// Waits until no other thread or process logs in, and keeps them waiting.
    pub(super) fn lock_logins(&self) -> Result<LoginLock, StoreFault> {
        LoginLock::take(&self.path)
    }

    /// Returns the connections of this process, and opens them at first use.
    fn connections(&self, _: &ProcessUse) -> Result<Arc<ProcessConnections>, StoreFault> {
        let mut slot = lock(self.slot());
        match &*slot {
            Some(connections) => Ok(connections.clone()),
            None => Ok(slot.insert(Arc::new(ProcessConnections::open(&self.path)?)).clone()),
        }
    }

    /// Returns the connections of this process, if they are open. A child first closes those of its parent.
    fn slot(&self) -> &ConnectionSlot {
        self.connections.get(|parent| {
            // No thread of the parent held the lock: this is within a use. SQLite would take locks that the parent's
            // connections held for locks of this process.
            parent.into_iter().for_each(|parent| *lock(parent) = None);
            Mutex::default()
        })
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // Otherwise a thread of the parent was inside SQLite: closing might wait for its locks for ever.
        if let Ok(_use) = ProcessUse::begin() {
            *lock(self.slot()) = None;
        }
    }
}

impl ProcessConnections {
    fn open(path: &Path) -> Result<Self, StoreFault> {
        check_file(path)?;
        let writer = connect(path)?;
        check_format(&writer)?;
        use_write_ahead_log(&writer)?;
        let watch = ChangeWatch { connection: connect(path)?, last: None };
        let process = ProcessMark::counted();
        Ok(Self { process, writer: Mutex::new(writer), readers: Mutex::default(), watch: Mutex::new(watch) })
    }

    fn all(&mut self) -> impl Iterator<Item = &mut Connection> {
        let writer = self.writer.get_mut().unwrap_or_else(PoisonError::into_inner);
        let watch = self.watch.get_mut().unwrap_or_else(PoisonError::into_inner);
        let readers = self.readers.get_mut().unwrap_or_else(PoisonError::into_inner);
        [writer, &mut watch.connection].into_iter().chain(readers)
    }
}

impl Drop for ProcessConnections {
    fn drop(&mut self) {
        if self.process == ProcessMark::counted() {
            return;
        }
        // The parent still uses the log. A child that closes its copies must not move it into the file and remove it.
        for connection in self.all() {
            let _ = connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
        }
    }
}

impl ChangeWatch {
    fn changes(&mut self) -> Result<u64, StoreFault> {
        // Prepared once: parsing the statement costs more than running it.
        let mut query = self.connection.prepare_cached("PRAGMA data_version")?;
        let version = query.query_row([], |row| row.get(0))?;
        drop(query);
        match self.last {
            Some((last, changes)) if last == version => Ok(changes),
            _ => {
                let changes = read_changes(&self.connection)?;
                self.last = Some((version, changes));
                Ok(changes)
            }
        }
    }
}

impl LoginLock {
    fn take(path: &Path) -> Result<Self, StoreFault> {
        let process = ProcessUse::begin()?;
        let mut name = OsString::from(path);
        name.push("-login");
        make_lock_file(path, Path::new(&name)).map_err(fault_of_creation)?;
        let connection = Connection::open_with_flags(&name, flags())?;
        connection.busy_timeout(LOGIN_PATIENCE)?;
        // In memory: a lock needs no journal file.
        connection.execute_batch("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE")?;
        Ok(Self { connection, process })
    }
}

/// Makes the file of the login lock, if it does not exist. It has the owner of the store, also if root makes it, and is
/// made again if the store has got another owner.
fn make_lock_file(path: &Path, name: &Path) -> io::Result<()> {
    let store = fs::metadata(path)?;
    match fs::symlink_metadata(name) {
        Ok(lock) if lock.uid() == store.uid() => return Ok(()),
        Ok(_) => fs::remove_file(name)?,
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(name) {
        Ok(file) if rustix::process::geteuid().is_root() => {
            fchown(&file, Some(store.uid()), Some(store.gid()))
        }
        // Another process was faster.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        made => made.map(drop),
    }
}

/// Reads the number of changes of objects.
pub(super) fn read_changes(connection: &Connection) -> Result<u64, StoreFault> {
    let changes: i64 = connection.query_row("SELECT changes FROM token", [], |row| row.get(0))?;
    Ok(changes.cast_unsigned())
}

fn read_once<T>(
    reader: &mut Connection,
    read: impl FnOnce(&Transaction<'_>) -> Result<T, StoreFault>,
) -> Result<T, StoreFault> {
    let transaction = reader.transaction()?;
    let result = read(&transaction)?;
    transaction.finish()?;
    Ok(result)
}

/// Checks that a file exists and that no other user may read or write it. The file is not opened: closing it would
/// release SQLite's locks.
fn check_file(path: &Path) -> Result<(), StoreFault> {
    let about = match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(StoreFault::Missing),
        about => about?,
    };
    if !about.is_file() {
        return Err(StoreFault::NotAStore);
    }
    check_secret_mode(path, &about).map_err(StoreFault::Exposed)
}

fn check_format(connection: &Connection) -> Result<(), StoreFault> {
    let number = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    if number("application_id")? != APPLICATION_ID {
        return Err(StoreFault::NotAStore);
    }
    match number("user_version")? {
        FORMAT => Ok(()),
        found => Err(StoreFault::Format { found, expected: FORMAT }),
    }
}

fn use_write_ahead_log(connection: &Connection) -> Result<(), StoreFault> {
    let mode: String = connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))?;
    // The mode stays another one if the file system has no shared memory, as on a network.
    if mode == "wal" { Ok(()) } else { Err(StoreFault::Database(format!("no write-ahead log, but {mode}"))) }
}

fn connect(path: &Path) -> Result<Connection, StoreFault> {
    let connection = Connection::open_with_flags(path, flags())?;
    connection.busy_timeout(PATIENCE)?;
    // A file is not trusted: it may have views and triggers in place of tables.
    for (setting, value) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
    ] {
        connection.set_db_config(setting, value)?;
    }
    connection.execute_batch(SETTINGS)?;
    Ok(connection)
}

fn flags() -> OpenFlags {
    // Without a mutex of SQLite: a connection is used by one thread at a time.
    OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX
}

fn fault_of_creation(error: io::Error) -> StoreFault {
    match error.kind() {
        ErrorKind::AlreadyExists => StoreFault::Exists,
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => StoreFault::Full,
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => StoreFault::ReadOnly,
        _ => StoreFault::Io(error),
    }
}

/// Locks a mutex. A panic of another thread leaves no half change behind: its transaction is rolled back.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::chown;
    use std::sync::Barrier;
    use std::thread;

    use tempfile::TempDir;

    use super::*;

    fn database() -> (TempDir, Database) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        Database::create(&path, |transaction| {
            let row = "INSERT INTO token VALUES (1, 's', 'l', x'00', 0, 4, 255, 10)";
            transaction.execute_batch(row).map_err(Into::into)
        })
        .unwrap();
        let database = Database::open(&path).unwrap();
        (folder, database)
    }

    fn count_change(transaction: &Transaction<'_>) -> Result<(), StoreFault> {
        Ok(transaction.execute_batch("UPDATE token SET changes = changes + 1")?)
    }

    /// Returns the connections as the current process has them.
    fn connections_of(database: &Database) -> Arc<ProcessConnections> {
        database.connections(&ProcessUse::begin().unwrap()).unwrap()
    }

    #[test]
    fn a_writer_gives_up_and_readers_read_while_another_process_writes() {
        let (_folder, database) = database();
        let other = connect(database.path()).unwrap();
        other.execute_batch("BEGIN IMMEDIATE; UPDATE token SET changes = 7").unwrap();
        lock(&connections_of(&database).writer).busy_timeout(Duration::ZERO).unwrap();
        assert!(matches!(database.write(count_change), Err(StoreFault::Busy)));
        assert_eq!(database.read(|read| read_changes(read)).unwrap(), 0);
        other.execute_batch("COMMIT").unwrap();
        database.write(count_change).unwrap();
        assert_eq!(database.changes().unwrap(), 8);
    }

    #[test]
    fn a_full_database_keeps_its_old_state() {
        let (_folder, database) = database();
        {
            let writer = &connections_of(&database).writer;
            let pages: i64 = lock(writer).pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
            lock(writer).pragma_update(None, "max_page_count", pages).unwrap();
        }
        let fault = database.write(|transaction| {
            count_change(transaction)?;
            Ok(transaction.execute_batch("INSERT INTO object VALUES (1, 1, 1, zeroblob(100000))")?)
        });
        assert!(matches!(fault, Err(StoreFault::Full)), "{fault:?}");
        assert_eq!(database.changes().unwrap(), 0);
        database.write(count_change).unwrap();
    }

    #[test]
    fn an_error_of_the_caller_rolls_back() {
        let (_folder, database) = database();
        let fault = database.write(|transaction| {
            count_change(transaction)?;
            Err::<(), _>(StoreFault::LoginEnded)
        });
        assert!(matches!(fault, Err(StoreFault::LoginEnded)));
        assert_eq!(database.changes().unwrap(), 0);
    }

    /// Returns a database with connections of another process, as a child finds it.
    fn inherited(path: &Path) -> Database {
        const PARENT: ProcessMark = ProcessMark::imaginary(1);
        let database = Database { path: path.to_owned(), connections: ProcessLocal::new() };
        let mut parent = ProcessConnections::open(path).unwrap();
        parent.process = PARENT;
        database.connections.get_for(PARENT, |_| Mutex::new(Some(Arc::new(parent))));
        database
    }

    #[test]
    fn a_child_opens_connections_of_its_own_and_leaves_the_log_to_its_parent() {
        let (folder, database) = database();
        database.write(count_change).unwrap();
        let path = database.path().to_owned();
        drop(database);
        let database = inherited(&path);
        assert_eq!(database.changes().unwrap(), 1);
        assert_eq!(connections_of(&database).process, ProcessMark::counted());
        database.write(count_change).unwrap();
        let log = folder.path().join("token-wal");
        assert!(log.metadata().unwrap().len() > 0);
        let unused = inherited(&path);
        drop(database);
        // A child that ends without any use.
        drop(unused);
        assert!(log.metadata().unwrap().len() > 0, "the parent's log stays");
    }

    #[test]
    fn the_lock_of_logins_belongs_to_the_owner_of_the_store() {
        let (folder, database) = database();
        let lock = folder.path().join("token-login");
        drop(database.lock_logins().unwrap());
        if !rustix::process::geteuid().is_root() {
            println!("SKIPPED: only root can give files to others");
            return;
        }
        for owner in [4711, 0] {
            chown(database.path(), Some(owner), Some(owner)).unwrap();
            drop(database.lock_logins().unwrap());
            let about = lock.metadata().unwrap();
            assert_eq!((about.uid(), about.gid(), about.mode() & 0o777), (owner, owner, 0o600));
        }
    }

    #[test]
    fn logins_stand_in_line() {
        let (folder, database) = database();
        let (start, other) = (Barrier::new(2), Database::open(database.path()).unwrap());
        let held = database.lock_logins().unwrap();
        assert_eq!(folder.path().join("token-login").metadata().unwrap().len(), 0);
        let waited = thread::scope(|scope| {
            let waiter = scope.spawn(|| {
                start.wait();
                other.lock_logins().map(drop)
            });
            start.wait();
            assert!(!waiter.is_finished());
            drop(held);
            waiter.join().unwrap()
        });
        waited.unwrap();
    }
}
