//! Several processes with one token, killed processes, and full disks.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};

use cryptoki::error::RvError;
use cryptoki::object::Attribute;
use cryptoki::session::Session;

use super::{code, create_secret, loaded, logged_in, prepared, read_secrets};
use crate::common::{STORE, TestDirectory, isolated, said};

/// The environment variable that makes a test process a child; its value is the task.
const TASK: &str = "OARLOCK_TEST_TASK";

/// The exit code of a child that cannot do its task on this machine.
const CANNOT: i32 = 77;

/// The value of an object, which follows from its label. So a half object is recognised.
fn value_of(label: &str) -> Vec<u8> {
    label.bytes().cycle().take(2000).collect()
}

/// Returns the labels of all objects that the tasks have made, and checks that none is half.
fn whole_objects(session: &Session) -> BTreeSet<String> {
    let mut secrets = read_secrets(session).unwrap();
    secrets.retain(|(label, _)| !label.starts_with(SHARED));
    assert!(secrets.iter().all(|(label, value)| *value == value_of(label)));
    secrets.into_iter().map(|(label, _)| label).collect()
}

const SHARED: &str = "shared";

/// The body of a child process: not a test of its own.
#[test]
fn child_process() {
    let Ok(task) = env::var(TASK) else { return };
    match task.as_str() {
        "create for ever" => create(u32::MAX),
        "create 15" => create(15),
        "rename 15" => {
            let session = opened();
            (0..15).for_each(|_| rename_shared(&session));
        }
        "fill the disk" => fill_the_disk(),
        other => panic!("unknown task {other}"),
    }
}

fn opened() -> Session {
    let (client, slot) = loaded();
    logged_in(&client, slot).unwrap()
}

fn create(count: u32) {
    let session = opened();
    eprintln!("begin");
    for number in 0..count {
        let label = format!("{}-{number}", std::process::id());
        create_secret(&session, &label, &value_of(&label)).unwrap();
        eprintln!("created {label}");
    }
}

/// Sets the label of the shared object, which every process finds by its id.
fn rename_shared(session: &Session) {
    let shared = session.find_objects(&[Attribute::Id(b"shared".to_vec())]).unwrap()[0];
    let label = format!("{SHARED} by {}", std::process::id());
    session.update_attributes(shared, &[Attribute::Label(label.into_bytes())]).unwrap();
}

fn child_command(dir: &TestDirectory, task: &str) -> Command {
    let mut command = dir.command(env::current_exe().unwrap());
    command.args(CHILD_ARGUMENTS).env(TASK, task).stdin(Stdio::null()).stdout(Stdio::null());
    command
}

const CHILD_ARGUMENTS: [&str; 4] =
    ["--exact", "store::processes::child_process", "--nocapture", "--test-threads=1"];

/// A child process and its lines on stderr.
struct RunningChild {
    process: Child,
    lines: Lines<BufReader<ChildStderr>>,
}

impl RunningChild {
    fn start(dir: &TestDirectory, task: &str) -> Self {
        let mut process = child_command(dir, task).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(process.stderr.take().unwrap()).lines();
        Self { process, lines }
    }

    /// Returns the labels that the rest of the output reports.
    fn created(&mut self) -> Vec<String> {
        self.lines.by_ref().map_while(Result::ok).filter_map(|line| created_label(&line)).collect()
    }
}

fn created_label(line: &str) -> Option<String> {
    line.strip_prefix("created ").map(|label| label.trim().to_owned())
}

#[test]
fn a_process_killed_in_create_object_leaves_whole_objects_only() {
    isolated(
        "store::processes::a_process_killed_in_create_object_leaves_whole_objects_only",
        STORE,
        |_| (),
        |dir| {
            drop(prepared().0.finalize());
            let mut reported = BTreeSet::new();
            for round in 1..=12 {
                let mut child = RunningChild::start(dir, "create for ever");
                let mut seen = 0;
                // Another number of objects each time, so that the log of the database is in another state.
                while seen < 3 * round {
                    let line = child.lines.next().expect("the child creates objects").unwrap();
                    if let Some(label) = created_label(&line) {
                        reported.insert(label);
                        seen += 1;
                    }
                }
                // SIGKILL, probably in the middle of the next C_CreateObject.
                child.process.kill().unwrap();
                child.process.wait().unwrap();
                reported.extend(child.created());
                let (client, slot) = loaded();
                let found = whole_objects(&logged_in(&client, slot).unwrap());
                client.finalize().unwrap();
                assert!(found.is_superset(&reported), "an object that was reported is there");
                // One per round may be complete without its report.
                assert!(found.len() - reported.len() <= round, "{} of {}", found.len(), reported.len());
            }
        },
    );
}

#[test]
fn two_processes_that_write_lose_nothing() {
    isolated(
        "store::processes::two_processes_that_write_lose_nothing",
        STORE,
        |_| (),
        |dir| {
            let (client, slot) = prepared();
            let session = logged_in(&client, slot).unwrap();
            let shared = create_secret(&session, SHARED, b"0123456789abcdef").unwrap();
            session.update_attributes(shared, &[Attribute::Id(b"shared".to_vec())]).unwrap();
            let mut children =
                ["create 15", "create 15", "rename 15"].map(|task| RunningChild::start(dir, task));
            let mut labels = BTreeSet::new();
            for number in 0..15 {
                let label = format!("own-{number}");
                create_secret(&session, &label, &value_of(&label)).unwrap();
                // The same object as another process changes.
                rename_shared(&session);
                labels.insert(label);
            }
            for child in &mut children {
                labels.extend(child.created());
                assert!(child.process.wait().unwrap().success());
            }
            assert_eq!(labels.len(), 45);
            assert_eq!(whole_objects(&session), labels);
        },
    );
}

#[test]
fn a_full_disk_changes_nothing() {
    let settings = STORE.replace("\"token\"", "\"disk/token\"");
    let name = "store::processes::a_full_disk_changes_nothing";
    isolated(
        name,
        &settings,
        |dir| fs::create_dir(dir.path("disk")).unwrap(),
        |dir| {
            // A file system of 500 KiB in a mount namespace of its own, which ends with the process.
            let script = format!(
                "mount -t tmpfs -o size=500k,mode=0700 tmpfs '{}' || exit {CANNOT}; exec \"$0\" \"$@\"",
                dir.path("disk").display()
            );
            let mut command = dir.command("unshare");
            command.args(["--mount", "sh", "-c", &script]).arg(env::current_exe().unwrap());
            match command.args(CHILD_ARGUMENTS).env(TASK, "fill the disk").output() {
                Ok(output) if output.status.success() => {}
                Ok(output) if is_refused(&output) => {
                    println!("SKIPPED: this machine allows no mount namespaces");
                }
                Ok(output) => panic!("{}", said(&output)),
                Err(error) => println!("SKIPPED: unshare: {error}"),
            }
        },
    );
}

fn is_refused(output: &std::process::Output) -> bool {
    output.status.code() == Some(CANNOT) || said(output).contains("unshare: ")
}

fn fill_the_disk() {
    let filler = Path::new("disk/filler");
    fs::write(filler, vec![1; 40_000]).unwrap();
    let (client, slot) = prepared();
    let session = logged_in(&client, slot).unwrap();
    let mut made = BTreeSet::new();
    let fault = loop {
        let label = format!("full-{}", made.len());
        match create_secret(&session, &label, &value_of(&label)) {
            Ok(_) => made.insert(label),
            Err(fault) => break fault,
        };
    };
    assert_eq!(fault, RvError::DeviceMemory);
    assert!(made.len() > 3);
    assert_eq!(whole_objects(&session), made);
    // What needs no space continues.
    let again = client.open_ro_session(slot).map_err(code).unwrap();
    assert_eq!(whole_objects(&again), made);
    fs::remove_file(filler).unwrap();
    create_secret(&session, "more", &value_of("more")).unwrap();
    made.insert("more".to_owned());
    assert_eq!(whole_objects(&session), made);
}
