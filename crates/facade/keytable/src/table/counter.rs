//! Counters that make IVs. A value is stored as used before it is used, so none comes twice, not even after a crash.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use oarlock::process::{ProcessLocal, ProcessMark, count_forks};

/// The storage of a counter.
pub trait CounterStore: fmt::Debug + Send + Sync {
    /// Reserves `count` consecutive values and returns the first.
    ///
    /// No value is ever returned twice. If the store [is persistent](CounterStore::is_persistent), this holds after a
    /// crash too, because the reservation is on disk before the call returns.
    ///
    /// # Errors
    /// The reservation could not be stored, or too few values are left.
    fn reserve(&self, count: u64) -> io::Result<u64>;

    /// True if a reservation outlives the process and the machine's power.
    fn is_persistent(&self) -> bool;
}

/// A counter that makes IVs.
///
/// The last eight bytes of an IV are the value, big-endian. In an IV of 12 bytes or more, a fixed field stands before
/// them (SP 800-38D 8.2.1). Such IVs never repeat under keys that share the counter, and anyone can predict them. They
/// are right for GCM. For CBC they are right only if a protocol asks for them, because SP 800-38A appendix C wants
/// unpredictable IVs.
///
/// A forked process makes other values than its parent. A copy of the machine does not: a snapshot of a virtual machine
/// that is resumed twice, a clone, or a restored disk repeats values, and neither this counter nor its file can notice.
/// Give each copy another fixed field before it makes an IV, or draw IVs at random.
#[derive(Debug)]
pub struct IvCounter {
    store: Arc<dyn CounterStore>,
    fixed: [u8; 4],
    block: u64,
    /// The values that are reserved and not used yet. A forked child inherits none: they are its parent's.
    reserved: ProcessLocal<Mutex<Range<u64>>>,
}

impl IvCounter {
    /// Values reserved at once, unless [`IvCounter::reserving`] says otherwise.
    pub const BLOCK: u64 = 65_536;

    /// Creates a counter over `store`. The fixed field distinguishes this device or sender from others with the same
    /// key.
    #[must_use]
    pub fn new(store: Arc<dyn CounterStore>, fixed: [u8; 4]) -> Self {
        count_forks();
        Self { store, fixed, block: Self::BLOCK, reserved: ProcessLocal::new() }
    }

    /// Sets the number of values that are reserved at once. A crash loses at most this number, and the disk is
    /// written once for it.
    #[must_use]
    pub fn reserving(mut self, block: u64) -> Self {
        self.block = block.max(1);
        self
    }

    /// True if its values are never repeated, after a crash neither.
    #[must_use]
    pub fn is_persistent(&self) -> bool {
        self.store.is_persistent()
    }

    /// Writes the next IV.
    pub(crate) fn write_next(&self, iv: &mut [u8]) -> io::Result<()> {
        let start = iv.len().checked_sub(8).ok_or(io::ErrorKind::InvalidInput)?;
        let value = self.next()?;
        iv.fill(0);
        if let Some(fixed) = iv[..start].first_chunk_mut() {
            *fixed = self.fixed;
        }
        iv[start..].copy_from_slice(&value.to_be_bytes());
        Ok(())
    }

    fn next(&self) -> io::Result<u64> {
        // Not even the child of a bare `clone` may repeat a value.
        let reserved = self.reserved.get_for(ProcessMark::current(), |_| Mutex::new(0..0));
        let mut values = reserved.lock().unwrap_or_else(PoisonError::into_inner);
        if values.is_empty() {
            let first = self.store.reserve(self.block)?;
            *values = first..first.checked_add(self.block).ok_or_else(exhausted)?;
        }
        values.next().ok_or_else(exhausted)
    }
}

/// A counter that is forgotten with the process. It may not make IVs for GCM.
#[derive(Debug, Default)]
pub struct MemoryCounter(AtomicU64);

impl MemoryCounter {
    /// A counter from zero.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl CounterStore for MemoryCounter {
    fn reserve(&self, count: u64) -> io::Result<u64> {
        // Relaxed, because no other memory depends on the count. `checked_add` keeps it from wrapping around
        // to old values.
        let taken = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |next| next.checked_add(count));
        taken.map_err(|_| exhausted())
    }

    fn is_persistent(&self) -> bool {
        false
    }
}

/// A counter in a file, which holds the first value that nobody has reserved.
///
/// Several processes may share it. Every reservation holds a lock on a file beside it (`.lock`), writes a new file,
/// syncs it and renames it over the old one.
#[derive(Debug)]
pub struct FileCounter {
    path: PathBuf,
}

impl FileCounter {
    /// Starts a new counter at `first`.
    ///
    /// # Errors
    /// The file exists (a counter is never started over), or cannot be written.
    pub fn create(path: impl Into<PathBuf>, first: u64) -> io::Result<Self> {
        let counter = Self { path: path.into() };
        let _lock = counter.lock()?;
        if counter.path.try_exists()? {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        counter.write(first)?;
        Ok(counter)
    }

    /// Continues with a counter that [`FileCounter::create`] started.
    ///
    /// # Errors
    /// There is no such file, or it does not hold a counter.
    pub fn open(path: impl Into<PathBuf>) -> io::Result<Self> {
        let counter = Self { path: path.into() };
        counter.read()?;
        Ok(counter)
    }

    fn beside(&self, extension: &str) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(extension);
        name.into()
    }

    /// Takes the lock, which holds between threads and processes, after forks too.
    fn lock(&self) -> io::Result<CounterLock> {
        let file = File::options().create(true).truncate(false).write(true).open(self.beside(".lock"))?;
        file.lock()?;
        Ok(CounterLock(file))
    }

    fn read(&self) -> io::Result<u64> {
        let text = fs::read_to_string(&self.path)?;
        let digits = text.strip_suffix('\n').unwrap_or_default();
        digits.parse().map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "not a counter"))
    }

    /// The new value is on disk, under its name, when this returns.
    fn write(&self, next: u64) -> io::Result<()> {
        let draft = self.beside(".new");
        let mut file = File::create(&draft)?;
        writeln!(file, "{next}")?;
        // The content must be on disk before the name: after a crash, a renamed empty file would be no
        // counter.
        file.sync_all()?;
        fs::rename(&draft, &self.path)?;
        // The rename is durable only once the directory is synced.
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
    }
}

impl CounterStore for FileCounter {
    fn reserve(&self, count: u64) -> io::Result<u64> {
        let _lock = self.lock()?;
        let first = self.read()?;
        // Stored before it is handed out. A crash in between loses values and repeats none.
        self.write(first.checked_add(count).ok_or_else(exhausted)?)?;
        Ok(first)
    }

    fn is_persistent(&self) -> bool {
        true
    }
}

/// A held lock of a file.
struct CounterLock(File);

impl Drop for CounterLock {
    fn drop(&mut self) {
        // Closing the file is not enough: a child that was forked meanwhile has a copy of the descriptor, which would
        // keep the lock for as long as the child lives. flock(2).
        let _ = self.0.unlock();
    }
}

fn exhausted() -> io::Error {
    io::Error::other("the counter is at its end")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(counter: &IvCounter) -> u64 {
        let mut iv = [0; 8];
        counter.write_next(&mut iv).unwrap();
        u64::from_be_bytes(iv)
    }

    #[test]
    fn a_value_is_on_disk_as_used_before_it_is_used() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ivs");
        let counter = IvCounter::new(Arc::new(FileCounter::create(&path, 5).unwrap()), [0; 4]).reserving(3);
        for expected in 5..12 {
            assert_eq!(value(&counter), expected);
            assert!(FileCounter::open(&path).unwrap().read().unwrap() > expected);
        }
    }

    #[test]
    fn after_a_crash_nothing_comes_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ivs");
        FileCounter::create(&path, 0).unwrap();
        let mut seen = std::collections::BTreeSet::new();
        for uses in 1..20 {
            // A crash leaves the file, and perhaps a draft that was not renamed.
            fs::write(folder.path().join("ivs.new"), "7").unwrap();
            let counter = IvCounter::new(Arc::new(FileCounter::open(&path).unwrap()), [0; 4]).reserving(4);
            for _ in 0..uses {
                assert!(seen.insert(value(&counter)), "a value came twice");
            }
        }
    }

    #[test]
    fn processes_and_threads_that_share_a_file_share_no_value() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ivs");
        FileCounter::create(&path, 0).unwrap();
        let seen = Mutex::new(std::collections::BTreeSet::new());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let counter =
                        IvCounter::new(Arc::new(FileCounter::open(&path).unwrap()), [0; 4]).reserving(2);
                    for _ in 0..10 {
                        assert!(seen.lock().unwrap().insert(value(&counter)));
                    }
                });
            }
        });
        assert_eq!(seen.lock().unwrap().len(), 40);
    }

    #[test]
    fn a_counter_is_never_started_over_nor_guessed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ivs");
        assert_eq!(FileCounter::open(&path).unwrap_err().kind(), io::ErrorKind::NotFound);
        FileCounter::create(&path, 0).unwrap();
        assert_eq!(FileCounter::create(&path, 0).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        for broken in ["", "\n", "12", "12 \n", "-1\n", "99999999999999999999\n"] {
            fs::write(&path, broken).unwrap();
            assert_eq!(
                FileCounter::open(&path).unwrap_err().kind(),
                io::ErrorKind::InvalidData,
                "{broken:?}"
            );
        }
        fs::write(&path, format!("{}\n", u64::MAX - 1)).unwrap();
        let full = FileCounter::open(&path).unwrap();
        assert!(full.reserve(2).is_err() && full.reserve(1).is_ok() && full.reserve(1).is_err());
    }

    #[test]
    fn a_counter_that_cannot_be_kept_gives_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ivs");
        let counter = IvCounter::new(Arc::new(FileCounter::create(&path, 0).unwrap()), [0; 4]).reserving(1);
        assert_eq!(value(&counter), 0);
        drop(folder);
        assert!(counter.write_next(&mut [0; 12]).is_err());
    }

    #[test]
    fn values_end_an_iv_and_the_fixed_field_begins_it() {
        let counter = IvCounter::new(Arc::new(MemoryCounter(AtomicU64::new(0x0102))), [9, 8, 7, 6]);
        let mut ivs = ([0xFF; 8], [0xFF; 12], [0xFF; 16]);
        counter.write_next(&mut ivs.0).unwrap();
        counter.write_next(&mut ivs.1).unwrap();
        counter.write_next(&mut ivs.2).unwrap();
        assert_eq!(ivs.0, [0, 0, 0, 0, 0, 0, 1, 2]);
        assert_eq!(ivs.1, [9, 8, 7, 6, 0, 0, 0, 0, 0, 0, 1, 3]);
        assert_eq!(ivs.2, [9, 8, 7, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 4]);
        assert!(counter.write_next(&mut [0; 4]).is_err());
    }
}
