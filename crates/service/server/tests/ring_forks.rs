//! Forks of a process that has open rings and jobs in progress: both continue, and neither sees the other's answers.
//!
//! A program of its own: a forked child keeps connections of other tests open, and locks that their threads hold.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, unsafe_code)]

#[allow(dead_code, unreachable_pub, reason = "the other program of tests uses the rest of it")]
#[path = "suite/test_server/mod.rs"]
mod test_server;

use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use oarlock::keys::held;
use oarlock::{Accelerator, Input, Job, Key, SigningScheme, VerifyingScheme};
use oarlock_wire::{ConnectionPool, JobKeySource, PendingJob, PoolConfig, PoolError, ServerUsers};
use test_server::TestServer;

const SERVE: &str = "OARLOCK_TEST_SERVE";

/// A server in a process of its own: a fork of this one must not have copies of its connections.
struct ServerProcess {
    child: Child,
    socket: PathBuf,
    metrics: String,
}

/// The body of the server's process: not a test of its own.
#[test]
fn child_process() {
    if std::env::var_os(SERVE).is_none() {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let server =
            TestServer::with(|config, _| config.listen.metrics = Some("127.0.0.1:0".parse().unwrap())).await;
        let addresses = &server.addresses;
        println!("\nserves {} {}", addresses.unix.as_ref().unwrap().display(), addresses.metrics.unwrap());
        // Until the parent ends.
        tokio::task::spawn_blocking(|| std::io::stdin().lines().for_each(drop)).await.unwrap();
    });
}

impl ServerProcess {
    fn start() -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "child_process", "--nocapture", "--test-threads=1"]).env(SERVE, "1");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let line = lines.find_map(|line| line.strip_prefix("serves ").map(str::to_owned)).unwrap();
        let (socket, metrics) = line.rsplit_once(' ').unwrap();
        Self { child, socket: socket.into(), metrics: metrics.to_owned() }
    }

    /// Returns the sum of the samples of a metric.
    fn metric(&self, name: &str) -> u64 {
        let mut stream = std::net::TcpStream::connect(&self.metrics).unwrap();
        stream.write_all(b"GET /metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").unwrap();
        let mut page = String::new();
        stream.read_to_string(&mut page).unwrap();
        let samples = page.lines().filter(|line| {
            line.strip_prefix(name).is_some_and(|rest| rest.starts_with(' ') || rest.starts_with('{'))
        });
        samples.map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum()
    }

    fn pool(&self) -> ConnectionPool {
        let path = self.socket.clone();
        let config = PoolConfig {
            path,
            users: ServerUsers::default(),
            patience: Duration::from_secs(60),
            max_idle: 8,
            has_ring: true,
        };
        ConnectionPool::new(config, scalar())
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn scalar() -> Accelerator {
    Accelerator::builder().engines(["scalar"]).threads(1).lazy().build().unwrap()
}

fn start(pool: &ConnectionPool, key: &Key, message: &str) -> PendingJob {
    let job = Job::sign(SigningScheme::ED25519, key, Input::Message(message.as_bytes()));
    pool.start(&job, JobKeySource::Resident { name: "ed25519", fingerprint: None }).unwrap()
}

/// Signs different messages, two at a time.
fn sign_all(pool: &ConnectionPool, key: &Key, who: &str, rounds: usize, mut done: impl FnMut(&str, &[u8])) {
    for round in 0..rounds {
        let messages = [format!("{who} {round}, first"), format!("{who} {round}, second")];
        let pending = messages.each_ref().map(|message| start(pool, key, message));
        for (pending, message) in pending.into_iter().zip(&messages) {
            done(message, pending.wait().unwrap().output.expose());
        }
    }
}

/// Signatures on their way from a child to the parent, which verifies them: the locks of engines may be held by threads
/// that the child does not have.
fn send_signature(mut pipe: &PipeWriter, message: &str, signature: &[u8]) {
    let line = [message.as_bytes(), b"\n", signature].concat();
    // A pipe takes so few bytes at once, although several processes write to it.
    pipe.write_all(&[&[line.len() as u8][..], &line].concat()).unwrap();
}

/// Verifies signatures until all writers of the pipe have ended. Returns their number.
fn verify_signatures(mut pipe: PipeReader, key: &Key) -> usize {
    let (checker, mut count) = (scalar(), 0);
    let mut len = [0];
    while pipe.read(&mut len).unwrap() > 0 {
        let mut line = vec![0; usize::from(len[0])];
        pipe.read_exact(&mut line).unwrap();
        let end = line.iter().position(|byte| *byte == b'\n').unwrap();
        verify(&checker, key, std::str::from_utf8(&line[..end]).unwrap(), &line[end + 1..]);
        count += 1;
    }
    count
}

fn verify(checker: &Accelerator, key: &Key, message: &str, signature: &[u8]) {
    let check = Job::verify(VerifyingScheme::ED25519, key, Input::Message(message.as_bytes()), signature);
    assert!(checker.run_all(&[check]).get(0).is_ok(), "{message}");
}

/// Forks. The child runs an action and ends with its success as the exit code.
fn fork(action: impl FnOnce()) -> libc::pid_t {
    // SAFETY: the child runs the action, which depends on no other thread of this process, and ends without
    // destructors.
    let child = unsafe { libc::fork() };
    assert_ne!(child, -1);
    if child == 0 {
        // SAFETY: alarm takes a number; its signal ends a child that hangs.
        unsafe { libc::alarm(120) };
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(action));
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(i32::from(result.is_err())) };
    }
    child
}

fn has_succeeded(child: libc::pid_t) -> bool {
    let mut status = 0;
    // SAFETY: a child of this process, and a place for its status.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0
}

/// Returns a pool with idle connections, all of which have rings, and the key.
fn pool_with_rings(server: &ServerProcess, connections: usize) -> (ConnectionPool, Key) {
    let pool = server.pool();
    let info = pool.key_info("ed25519").unwrap();
    let key = held::from_spki(&info.public_key, "servers", "ed25519").unwrap();
    let first: Vec<_> = (0..connections).map(|_| start(&pool, &key, "to connect")).collect();
    first.into_iter().for_each(|pending| drop(pending.wait().unwrap()));
    assert_eq!((pool.idle(), pool.idle_with_ring()), (connections, connections));
    (pool, key)
}

#[test]
fn parent_and_child_use_rings_of_their_own_with_jobs_under_way() {
    let server = ServerProcess::start();
    let (pool, key) = pool_with_rings(&server, 4);
    let before = server.metric("oarlock_operations_total");
    let messages: Vec<String> = (0..3).map(|number| format!("in progress {number}")).collect();
    let mut pending: Vec<_> = messages.iter().map(|message| start(&pool, &key, message)).collect();
    assert_eq!(pool.idle(), 1, "one connection is idle while the process forks");
    let (results, pipe) = std::io::pipe().unwrap();
    let child = fork(|| {
        let send = |message: &str, signature: &[u8]| send_signature(&pipe, message, signature);
        for operation in &mut pending {
            assert!(matches!(operation.try_take(), Err(PoolError::Forked)));
        }
        sign_all(&pool, &key, "child", 40, send);
        assert_eq!((pool.idle(), pool.idle_with_ring()), (2, 2));
        // A child of the child, and again with a job in progress.
        let operation = start(&pool, &key, "the child's");
        let grandchild = fork(|| sign_all(&pool, &key, "grandchild", 20, send));
        send("the child's", operation.wait().unwrap().output.expose());
        sign_all(&pool, &key, "child again", 20, send);
        assert!(has_succeeded(grandchild));
        // The answers of the parent are dropped here, which must not end its connections.
        pending.clear();
    });
    drop(pipe);
    let checker = scalar();
    let check = |message: &str, signature: &[u8]| verify(&checker, &key, message, signature);
    sign_all(&pool, &key, "parent", 40, check);
    for (pending, message) in pending.into_iter().zip(&messages) {
        check(message, pending.wait().unwrap().output.expose());
    }
    assert_eq!(verify_signatures(results, &key), 2 * (40 + 20 + 20) + 1);
    assert!(has_succeeded(child));
    sign_all(&pool, &key, "parent again", 10, check);
    // 3 in progress, 1 of the child, and two in each round: nothing was done twice.
    let expected = 3 + 1 + 2 * (40 + 20 + 20 + 40 + 10);
    assert_eq!(server.metric("oarlock_operations_total") - before, expected);
    drop(pool);
    // The connections of the children ended with them, and those of the parent with its pool.
    while server.metric("oarlock_rings_open") > 0 {
        std::thread::yield_now();
    }
}

/// The lock of the idle connections and the rings may be in use by other threads when the process forks.
#[test]
fn forks_while_other_threads_use_their_rings() {
    let server = ServerProcess::start();
    let (pool, key) = pool_with_rings(&server, 4);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let (pool, key, is_over) = (&pool, &key, &is_over);
            scope.spawn(move || {
                let checker = scalar();
                while !is_over.load(Ordering::Relaxed) {
                    let check = |message: &str, signature: &[u8]| verify(&checker, key, message, signature);
                    sign_all(pool, key, &format!("thread {thread}"), 5, check);
                }
            });
        }
        for number in 0..20 {
            let (results, pipe) = std::io::pipe().unwrap();
            let child = fork(|| {
                sign_all(&pool, &key, &format!("fork {number}"), 3, |message, signature| {
                    send_signature(&pipe, message, signature);
                });
            });
            drop(pipe);
            assert_eq!(verify_signatures(results, &key), 6, "fork {number}");
            assert!(has_succeeded(child), "fork {number}");
        }
        is_over.store(true, Ordering::Relaxed);
    });
    drop(pool);
    while server.metric("oarlock_rings_open") > 0 {
        std::thread::yield_now();
    }
}
