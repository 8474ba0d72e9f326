//! Counters in the child of a fork that copied a held lock.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::time::Duration;

use oarlock::{Accelerator, AeadAlg, Status};
use oarlock_keytable::{
    BatchBuilder, BatchEntry, BatchTask, CounterStore, EntryIv, FileCounter, IvCounter, IvRule, KeyAlgorithm,
    KeyOperation, KeyPolicy, KeyTable, KeyType,
};

/// The time after which a child counts as hung. It needs milliseconds.
const PATIENCE: Duration = Duration::from_secs(20);

/// The error of a child that hangs, which is passed on as a number: ETIMEDOUT of errno(3) on Linux.
const HANGS: i32 = 110;

/// Held by each test: the child of another one would have copies of descriptors.
static FORKS: Mutex<()> = Mutex::new(());

/// A key whose IVs a counter makes, one reservation for each.
struct CountedKey {
    accelerator: Accelerator,
    table: KeyTable,
    key: u32,
}

impl CountedKey {
    fn new(store: impl CounterStore + 'static) -> Arc<Self> {
        let counter = IvCounter::new(Arc::new(store), [0; 4]).reserving(1);
        let policy = KeyPolicy::new().allow([KeyOperation::Encrypt]).with([KeyAlgorithm::Gcm]);
        let policy = policy.ivs([IvRule::Counter(Arc::new(counter))]);
        let table = KeyTable::new();
        let key = table.insert("k", KeyType::Aes128, [1; 16].to_vec(), policy).unwrap().index;
        let accelerator = Accelerator::builder().engines(["scalar"]).threads(1).lazy().build().unwrap();
        Arc::new(Self { accelerator, table, key })
    }

    /// Encrypts a record under the next IV.
    fn encrypt(&self) -> Status {
        let task = BatchTask::seal(AeadAlg::Aes128Gcm);
        let mut builder = BatchBuilder::new();
        builder.add(BatchEntry::new(task).key(self.key).iv(EntryIv::Generated).input(b"x")).unwrap();
        self.table.run(&self.accelerator, &builder.batch()).unwrap().statuses()[0]
    }
}

/// Runs `action` in a forked child. The error says if it returned false or hangs.
#[allow(unsafe_code, reason = "pre_exec is how a test runs code in a forked child")]
fn run_in_child(action: impl Fn() -> bool + Send + Sync + 'static) -> io::Result<()> {
    let action = Arc::new(action);
    let run = move || {
        let ((sender, receiver), action) = (mpsc::channel(), Arc::clone(&action));
        std::thread::spawn(move || sender.send(action()));
        match receiver.recv_timeout(PATIENCE) {
            Ok(true) => Ok(()),
            Ok(false) => Err(io::Error::other("the child went wrong")),
            Err(_) => Err(io::Error::from_raw_os_error(HANGS)),
        }
    };
    let mut command = Command::new("true");
    // SAFETY: the closure allocates and starts a thread, which glibc allows in a forked child. It takes no lock that the
    // other threads of this test hold, which is what the test is about.
    unsafe { command.pre_exec(run) };
    command.status().map(drop)
}

/// A store whose reservations wait in the process that made it, once it is slow.
#[derive(Debug)]
struct SlowStore {
    process: u32,
    next: AtomicU64,
    /// Met by a reservation that has begun, and by one that may end.
    gate: Arc<Barrier>,
}

impl CounterStore for SlowStore {
    fn reserve(&self, count: u64) -> io::Result<u64> {
        let first = self.next.fetch_add(count, Ordering::SeqCst);
        // The first reservation is fast.
        if first > 0 && std::process::id() == self.process {
            self.gate.wait();
            self.gate.wait();
        }
        Ok(first)
    }

    fn is_persistent(&self) -> bool {
        true
    }
}

#[test]
fn a_child_counts_although_a_thread_of_its_parent_was_reserving() {
    let _forks = FORKS.lock();
    let gate = Arc::new(Barrier::new(2));
    let store = SlowStore { process: std::process::id(), next: AtomicU64::new(0), gate: Arc::clone(&gate) };
    let key = CountedKey::new(store);
    assert_eq!(key.encrypt(), Status::Done);
    std::thread::scope(|scope| {
        let parent = scope.spawn(|| key.encrypt());
        gate.wait();
        let in_child = Arc::clone(&key);
        let child = run_in_child(move || in_child.encrypt() == Status::Done);
        // Before anything can fail: the parent's thread would wait for ever.
        gate.wait();
        child.unwrap();
        assert_eq!(parent.join().unwrap(), Status::Done);
    });
}

#[test]
fn a_child_takes_the_file_lock_that_a_thread_of_its_parent_held() {
    let _forks = FORKS.lock();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ivs");
    let key = CountedKey::new(FileCounter::create(&path, 0).unwrap());
    assert_eq!(key.encrypt(), Status::Done);
    let draft = slow_draft(&path);
    std::thread::scope(|scope| {
        let parent = scope.spawn(|| key.encrypt());
        await_lock(&folder.path().join("ivs.lock"));
        let in_child = Arc::clone(&key);
        let child = run_in_child(move || {
            // The parent's thread writes as soon as somebody reads, fails, and gives the lock back.
            let reader = File::open(&draft);
            reader.and_then(|_reader| fs::remove_file(&draft)).is_ok() && in_child.encrypt() == Status::Done
        });
        child.unwrap();
        assert_eq!(parent.join().unwrap(), Status::NoIv, "a pipe cannot be synced");
    });
    assert_eq!(key.encrypt(), Status::Done);
}

/// Makes the next write of a counter wait for a reader.
fn slow_draft(path: &Path) -> PathBuf {
    let draft = path.with_extension("new");
    assert!(Command::new("mkfifo").arg(&draft).status().unwrap().success());
    draft
}

/// Returns when another file description holds the lock.
fn await_lock(path: &Path) {
    let file = File::options().write(true).open(path).unwrap();
    while !matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
        file.unlock().unwrap();
        std::thread::yield_now();
    }
}
