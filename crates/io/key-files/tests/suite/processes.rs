//! Several threads and processes, killed processes, full disks.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::thread;

use oarlock_key_files::objects::{
    ChangedObject, ObjectId, ObjectStore, PinLevel, PinRole, StoreFault, StoreLogin, StoredObject,
    StoredValue, UnstoredObject,
};

use super::{Fixture, LABEL, USER_PIN, VALUE, VENDOR, object, plain, private_key, secret};

/// The environment variables that make a test process a child: what it does, and with which store.
const TASK: &str = "OARLOCK_TEST_TASK";
const STORE: &str = "OARLOCK_TEST_STORE";
/// The exit code of a child that cannot do its task on this machine.
const CANNOT: i32 = 77;

/// Returns an object whose secret depends on its label, so that a half object is recognised.
fn numbered(number: u32) -> UnstoredObject {
    let value = number.to_be_bytes().repeat(500);
    object(true, [(LABEL, plain(&number.to_be_bytes())), (VALUE, secret(&value)), (VENDOR, plain(&value))])
}

fn is_whole(object: &StoredObject) -> bool {
    let number = |value: &StoredValue| Some(u32::from_be_bytes(value.bytes()?.try_into().ok()?));
    let number = object.attributes.get(&LABEL).and_then(number);
    number.is_some_and(|number| object.attributes == numbered(number).attributes)
}

/// Reads all objects with their secrets, and checks that none is half.
fn whole_objects(store: &ObjectStore, user: &StoreLogin) -> BTreeSet<ObjectId> {
    let objects = store.list(Some(user)).unwrap().objects;
    for object in &objects {
        assert!(is_whole(&store.read(Some(user), object.id).unwrap()), "object {}", object.id);
    }
    objects.iter().map(|object| object.id).collect()
}

/// The body of a child process: not a test of its own.
#[test]
fn child_process() {
    let (Ok(task), Some(path)) = (env::var(TASK), env::var_os(STORE)) else { return };
    let path = Path::new(&path);
    match task.as_str() {
        "insert for ever" => insert(path, u32::MAX),
        "insert 40" => insert(path, 40),
        "insert 400" => insert(path, 400),
        "count 25" => count(path, 25),
        "fill the disk" => fill_the_disk(path),
        other => panic!("unknown task {other}"),
    }
}

fn open(path: &Path) -> (ObjectStore, StoreLogin) {
    let store = ObjectStore::open(path).unwrap();
    let user = store.login(PinRole::User, USER_PIN).unwrap();
    (store, user)
}

fn insert(path: &Path, count: u32) {
    let (store, user) = open(path);
    eprintln!("begin");
    for number in 0..count {
        let object = store.insert(Some(&user), numbered(number)).unwrap();
        eprintln!("inserted {}", object.id);
    }
}

/// Adds one to a number in the first object, `count` times.
fn count(path: &Path, count: u32) {
    let (store, user) = open(path);
    let mut conflicts = 0;
    for _ in 0..count {
        while let Err(error) = add_one(&store, &user) {
            assert!(matches!(error, StoreFault::Conflict { .. }), "{error}");
            conflicts += 1;
        }
    }
    eprintln!("{conflicts} conflicts");
}

fn add_one(store: &ObjectStore, user: &StoreLogin) -> Result<(), StoreFault> {
    let id = ObjectId(1);
    let old = store.read(Some(user), id).unwrap();
    let number = u32::from_be_bytes(old.attributes[&LABEL].bytes().unwrap().try_into().unwrap());
    let set = [(LABEL, plain(&(number + 1).to_be_bytes()))].into();
    let old = ChangedObject { id, version: old.version };
    store.update(Some(user), old, set, vec![]).map(drop).map_err(|error| error.fault)
}

fn child_command(program: &Path, task: &str, path: &Path) -> Command {
    let mut command = Command::new(program);
    command.env(TASK, task).env(STORE, path).stdin(Stdio::null()).stdout(Stdio::null());
    command
}

fn this_program() -> std::path::PathBuf {
    env::current_exe().unwrap()
}

const CHILD_ARGUMENTS: [&str; 3] = ["--exact", "processes::child_process", "--nocapture"];

/// A child process and its lines on stderr.
struct RunningChild {
    process: Child,
    lines: Lines<BufReader<ChildStderr>>,
}

impl RunningChild {
    fn start(task: &str, path: &Path) -> Self {
        let mut command = child_command(&this_program(), task, path);
        let mut process = command.args(CHILD_ARGUMENTS).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(process.stderr.take().unwrap()).lines();
        Self { process, lines }
    }

    /// Returns the objects that the rest of the output reports as inserted.
    fn inserted(&mut self) -> Vec<ObjectId> {
        self.lines.by_ref().map_while(Result::ok).filter_map(|line| inserted_id(&line)).collect()
    }
}

fn inserted_id(line: &str) -> Option<ObjectId> {
    line.strip_prefix("inserted ")?.trim().parse().ok().map(ObjectId)
}

#[test]
fn a_killed_process_leaves_whole_objects_only() {
    let fixture = Fixture::new();
    let mut reported = BTreeSet::new();
    for round in 1..=8 {
        let mut child = RunningChild::start("insert for ever", &fixture.path());
        let mut seen = 0;
        while seen < round {
            let line = child.lines.next().unwrap().unwrap();
            if let Some(id) = inserted_id(&line) {
                reported.insert(id);
                seen += 1;
            }
        }
        // SIGKILL, probably in the middle of the next insertion.
        child.process.kill().unwrap();
        child.process.wait().unwrap();
        reported.extend(child.inserted());
        let (store, user) = open(&fixture.path());
        let found = whole_objects(&store, &user);
        assert!(found.is_superset(&reported), "an object that was reported is there");
        // One per round may be complete without its report.
        assert!(found.len() - reported.len() <= round, "{} of {}", found.len(), reported.len());
        store.remove(Some(&user), *found.first().unwrap()).unwrap();
        reported.remove(found.first().unwrap());
    }
}

#[test]
fn a_process_killed_during_a_login_gets_no_more_tries() {
    let fixture = Fixture::new();
    let before = fixture.store.pin_state(PinRole::User).unwrap().tries_left;
    // The login lock is free again after the process has died, and at most one try is gone.
    for _ in 0..3 {
        let mut child = RunningChild::start("insert for ever", &fixture.path());
        child.process.kill().unwrap();
        child.process.wait().unwrap();
        let left = fixture.store.pin_state(PinRole::User).unwrap().tries_left;
        assert!((before - 1..=before).contains(&left), "{left} of {before}");
        fixture.store.login(PinRole::User, USER_PIN).unwrap();
        assert_eq!(fixture.store.pin_state(PinRole::User).unwrap().level(), PinLevel::Full);
    }
}

#[test]
fn processes_that_insert_at_the_same_time_lose_nothing() {
    let fixture = Fixture::new();
    let mut children = [(); 2].map(|()| RunningChild::start("insert 40", &fixture.path()));
    let mut ids: Vec<ObjectId> = (0..40).map(|number| fixture.insert(numbered(number)).id).collect();
    for child in &mut children {
        ids.extend(child.inserted());
        assert!(child.process.wait().unwrap().success());
    }
    assert_eq!(ids.len(), 120);
    assert_eq!(whole_objects(&fixture.store, &fixture.user), ids.into_iter().collect());
}

#[test]
fn processes_that_change_the_same_object_overwrite_no_change() {
    let fixture = Fixture::new();
    let counter = fixture.insert(object(true, [(LABEL, plain(&0_u32.to_be_bytes())), (VALUE, secret(b"x"))]));
    assert_eq!(counter.id, ObjectId(1));
    let children = [(); 2].map(|()| RunningChild::start("count 25", &fixture.path()));
    for _ in 0..25 {
        while add_one(&fixture.store, &fixture.user).is_err() {}
    }
    for mut child in children {
        child.lines.by_ref().for_each(drop);
        assert!(child.process.wait().unwrap().success());
    }
    let read = fixture.store.read(Some(&fixture.user), counter.id).unwrap();
    assert_eq!(read.attributes[&LABEL], plain(&75_u32.to_be_bytes()));
}

#[test]
fn threads_read_while_others_write() {
    let fixture = Fixture::new();
    let (store, user) = (&fixture.store, &fixture.user);
    let first = fixture.insert(private_key(b"first")).id;
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                (0..30).for_each(|_| {
                    fixture.insert(private_key(b"more"));
                });
            });
        }
        for _ in 0..4 {
            scope.spawn(move || {
                let mut before = 0;
                for _ in 0..60 {
                    let count = store.list(Some(user)).unwrap().objects.len();
                    assert!(count >= before);
                    before = count;
                    assert_eq!(store.read(Some(user), first).unwrap().attributes[&VALUE], secret(b"first"));
                }
            });
        }
    });
    assert_eq!(store.list(Some(user)).unwrap().objects.len(), 61);
}

#[test]
fn an_insertion_waits_for_the_disk_once_unless_the_log_is_full() {
    const COUNT: usize = 400;
    let fixture = Fixture::new();
    let trace = fixture.folder.path().join("trace");
    let mut command = child_command(Path::new("strace"), "insert 400", &fixture.path());
    command.args(["-f", "-e", "trace=fsync,fdatasync,write", "-o"]).arg(&trace).arg(this_program());
    let output = command.args(CHILD_ARGUMENTS).output();
    if !output.as_ref().is_ok_and(|output| output.status.success()) {
        println!("SKIPPED: strace cannot trace a process here");
        return;
    }
    let syncs = syncs_per_insertion(&fs::read_to_string(trace).unwrap());
    assert_eq!(syncs.len(), COUNT);
    // A log of 1000 pages is moved into the file: the log and the file are synced too, and then the log's new header.
    let longer = syncs.iter().filter(|count| **count > 1).count();
    assert!(syncs.iter().all(|count| (1..=3).contains(count)), "{syncs:?}");
    assert!((1..=COUNT / 50).contains(&longer), "{syncs:?}");
    println!("fsync calls of {COUNT} insertions: {}", syncs.iter().sum::<usize>());
}

/// Returns the number of syncs before each line that reports an insertion.
fn syncs_per_insertion(trace: &str) -> Vec<usize> {
    let lines = trace.lines().skip_while(|line| !line.contains("\"begin")).skip(1);
    let (mut counts, mut count) = (Vec::new(), 0);
    for line in lines {
        count += usize::from(line.contains("sync("));
        if line.contains("inserted ") {
            counts.push(std::mem::take(&mut count));
        }
    }
    counts
}

#[test]
fn a_full_disk_changes_nothing() {
    let program = this_program();
    let folder = tempfile::tempdir().unwrap();
    // A file system of 400 KiB in a mount namespace of its own, which ends with the process.
    let script = format!(
        "mount -t tmpfs -o size=400k,mode=0700 tmpfs '{}' || exit {CANNOT}; exec \"$0\" \"$@\"",
        folder.path().display()
    );
    let mut command = child_command(Path::new("unshare"), "fill the disk", &folder.path().join("token"));
    command.args(["--mount", "sh", "-c", &script]).arg(program).args(CHILD_ARGUMENTS);
    match command.output() {
        Ok(output) if output.status.success() => {}
        Ok(output) if is_refused(&output) => println!("SKIPPED: this machine allows no mount namespaces"),
        Ok(output) => panic!("{}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => println!("SKIPPED: unshare: {error}"),
    }
}

fn is_refused(output: &std::process::Output) -> bool {
    output.status.code() == Some(CANNOT) || String::from_utf8_lossy(&output.stderr).contains("unshare: ")
}

fn fill_the_disk(path: &Path) {
    let filler = path.with_file_name("filler");
    fs::write(&filler, vec![1; 40_000]).unwrap();
    let store = ObjectStore::create(path, "full", super::SO_PIN, Default::default()).unwrap();
    store.init_pin(&store.login(PinRole::SecurityOfficer, super::SO_PIN).unwrap(), USER_PIN).unwrap();
    let user = store.login(PinRole::User, USER_PIN).unwrap();
    let mut inserted = BTreeSet::new();
    let fault = loop {
        match store.insert(Some(&user), numbered(inserted.len() as u32)) {
            Ok(object) => inserted.insert(object.id),
            Err(error) => break error.fault,
        };
    };
    assert!(matches!(fault, StoreFault::Full), "{fault}");
    assert!(inserted.len() > 3);
    assert_eq!(whole_objects(&store, &user), inserted);
    // A login writes too, and a PIN that cannot be counted is not tried.
    let login = store.login(PinRole::User, USER_PIN).map(drop);
    assert!(login.is_ok() || matches!(&login.as_ref().unwrap_err().fault, StoreFault::Full), "{login:?}");
    fs::remove_file(filler).unwrap();
    inserted.insert(store.insert(Some(&user), numbered(99)).unwrap().id);
    drop(store);
    assert_eq!(whole_objects(&ObjectStore::open(path).unwrap(), &user), inserted);
}
