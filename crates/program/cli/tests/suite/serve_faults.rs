//! Reloads, kills of the server and kills of clients at random, beside clients of every local transport: every answer
//! is right, and every error has a reason.
//!
//! `OARLOCK_FAULT_SECONDS=600` makes it last ten minutes, with a line every ten seconds.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use crate::program::command;
use crate::served::Served;
use oarlock::keys::held;
use oarlock::{Accelerator, Input, Job, Key, SigningScheme, VerifyingScheme};
use oarlock_server::development::Development;
use oarlock_wire::proto::{OpenKey, open_key, request, response};
use oarlock_wire::{
    ConnectionPool, Endpoint, JobKeySource, PoolConfig, RemoteConfig, RemoteHolder, ServerLink, ServerUsers,
    jobs,
};

/// Operations of each client, unless the test has a time.
const OPERATIONS: u64 = 60;

/// Numbers that differ from run to run as little as possible: xorshift64 from a seed.
struct TestRandom(u64);

impl TestRandom {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }

    /// Returns messages that no other operation has. Some do not fit the ring of a pool, and some fit no ring.
    fn messages(&mut self, max_count: u64) -> Vec<Vec<u8>> {
        let count = 1 + self.below(max_count);
        (0..count)
            .map(|_| {
                let len = match self.below(200) {
                    0 => 1_500_000,
                    1..10 => 20_000,
                    _ => 8 + self.below(500),
                };
                let mut message = vec![0; len as usize];
                message[..8].copy_from_slice(&self.below(u64::MAX).to_le_bytes());
                message
            })
            .collect()
    }
}

/// The state that all threads of the test share.
struct FaultTest {
    state: PathBuf,
    /// The text of the configuration.
    config: String,
    /// The running server; `None` while there is none.
    served: Mutex<Option<Served>>,
    /// The number of times that the server went down or up. It is odd while the server is down.
    changes: AtomicU64,
    /// The operations of all clients, and the condition that there are more of them, or that no more will come.
    progress: Mutex<u64>,
    has_progress: Condvar,
    is_done: AtomicBool,
    signed: AtomicU64,
    broken: AtomicU64,
    /// Errors while the server was up all the time.
    unexplained: Mutex<Vec<String>>,
    until: Option<Instant>,
    key: Key,
}

impl FaultTest {
    fn socket(&self) -> PathBuf {
        self.state.join("oarlock.sock")
    }

    fn is_over(&self, number: u64) -> bool {
        self.is_done.load(Ordering::Acquire)
            || self.until.map_or(number >= OPERATIONS, |until| Instant::now() >= until)
    }

    fn add_progress(&self) {
        *self.progress.lock().unwrap() += 1;
        self.has_progress.notify_all();
    }

    /// Waits for more operations. Returns false if there are no more.
    fn wait_for_operations(&self, more: u64) -> bool {
        let mut progress = self.progress.lock().unwrap();
        let end = *progress + more;
        while *progress < end && !self.is_done.load(Ordering::Acquire) {
            progress = self.has_progress.wait(progress).unwrap();
        }
        !self.is_done.load(Ordering::Acquire)
    }

    /// Waits while there is no server.
    fn wait_for_server(&self) {
        let mut progress = self.progress.lock().unwrap();
        while self.changes.load(Ordering::SeqCst) % 2 == 1 && !self.is_done.load(Ordering::Acquire) {
            progress = self.has_progress.wait(progress).unwrap();
        }
    }

    /// Notes that the server goes down or is up again.
    fn change_server(&self) {
        let _progress = self.progress.lock().unwrap();
        self.changes.fetch_add(1, Ordering::SeqCst);
        self.has_progress.notify_all();
    }

    fn end(&self) {
        let _progress = self.progress.lock().unwrap();
        self.is_done.store(true, Ordering::Release);
        self.has_progress.notify_all();
    }

    /// Runs the operations of a client. A client whose connection stays from one to the next may learn of a server's
    /// end in any later operation.
    fn run_client(
        &self,
        seed: u64,
        keeps_connection: bool,
        mut operate: impl FnMut(&mut TestRandom) -> Result<u64, String>,
    ) {
        let mut random = TestRandom(seed + 1);
        let (mut number, mut since) = (0, self.changes.load(Ordering::SeqCst));
        while !self.is_over(number) {
            if !keeps_connection {
                since = self.changes.load(Ordering::SeqCst);
            }
            match operate(&mut random) {
                Ok(signed) => {
                    self.signed.fetch_add(signed, Ordering::Relaxed);
                    number += 1;
                    self.add_progress();
                }
                Err(error) => {
                    self.broken.fetch_add(1, Ordering::Relaxed);
                    if since % 2 == 0 && self.changes.load(Ordering::SeqCst) == since {
                        self.unexplained.lock().unwrap().push(error);
                        self.add_progress();
                    }
                    self.wait_for_server();
                    since = self.changes.load(Ordering::SeqCst);
                }
            }
        }
    }

    fn verify(&self, checker: &Accelerator, messages: &[Vec<u8>], signatures: &[&[u8]]) {
        assert_eq!(messages.len(), signatures.len());
        for (message, signature) in messages.iter().zip(signatures) {
            let check = Job::verify(VerifyingScheme::ED25519, &self.key, Input::Message(message), signature);
            assert!(checker.run_all(&[check]).get(0).is_ok(), "the answer belongs to another message");
        }
    }

    fn jobs<'m>(&'m self, messages: &'m [Vec<u8>]) -> Vec<Job<'m>> {
        let job = |message| Job::sign(SigningScheme::ED25519, &self.key, Input::Message(message));
        messages.iter().map(|message| job(message)).collect()
    }

    /// Signs over streams, each of which has some operations, several of them at a time.
    fn run_link(&self, seed: u64, has_ring: bool) {
        let checker = scalar();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let mut link: Option<ServerLink> = None;
        self.run_client(seed, true, |random| {
            let used = link.take();
            let batches: Vec<_> = (0..1 + random.below(4)).map(|_| random.messages(16)).collect();
            runtime.block_on(async {
                let open = match used {
                    Some(link) => link,
                    None => open_link(&self.socket(), has_ring).await?,
                };
                let calls = batches.iter().map(|messages| {
                    let jobs = self.jobs(messages);
                    let message = jobs::write(jobs.into_iter().map(|job| (job, 0))).unwrap();
                    open.call(request::Body::Jobs(message))
                });
                let answers = futures_util::future::join_all(calls).await;
                let mut signed = 0;
                for (messages, answer) in batches.iter().zip(answers) {
                    let response::Body::Results(results) = answer.map_err(|error| error.to_string())? else {
                        panic!("results")
                    };
                    let columns = jobs::ResultColumns::read(&results, messages.len()).unwrap();
                    let outputs: Result<Vec<&[u8]>, _> = columns.iter("server").collect();
                    let outputs = outputs.map_err(|error| error.to_string())?;
                    self.verify(&checker, messages, &outputs);
                    signed += messages.len() as u64;
                }
                // Some streams end with their answers, some serve on.
                link = (random.below(8) > 0).then_some(open);
                Ok(signed)
            })
        });
    }

    /// Signs with a pool, which connects again by itself.
    fn run_pool(&self, seed: u64, pool: &ConnectionPool) {
        let checker = scalar();
        let source = JobKeySource::Resident { name: "ed25519", fingerprint: None };
        self.run_client(seed, false, |random| {
            let messages = random.messages(3);
            let pending: Result<Vec<_>, _> =
                self.jobs(&messages).iter().map(|job| pool.start(job, source)).collect();
            let pending = pending.map_err(|error| error.to_string())?;
            for (message, pending) in messages.iter().zip(pending) {
                let signature = pending.wait().map_err(|error| error.to_string())?;
                self.verify(&checker, std::slice::from_ref(message), &[signature.output.expose()]);
            }
            Ok(messages.len() as u64)
        });
    }

    /// Signs with an accelerator whose keys live at the server.
    fn run_holder(&self, seed: u64) {
        let checker = scalar();
        let config = RemoteConfig::new("servers", vec![Endpoint::unix(self.socket())]);
        let remote = RemoteHolder::new(config, checker.clone()).unwrap();
        let builder = Accelerator::builder().engines(["scalar"]).holder(Arc::new(remote));
        let client = builder.lazy().build().unwrap();
        self.run_client(seed, true, |random| {
            let messages = random.messages(16);
            let answers = client.run_all(&self.jobs(&messages));
            let outputs: Result<Vec<&[u8]>, _> = answers.iter().collect();
            self.verify(&checker, &messages, &outputs.map_err(|error| error.to_string())?);
            Ok(messages.len() as u64)
        });
    }

    /// Starts clients in processes of their own and kills them in the middle of their work. Returns their number.
    fn kill_clients(&self) -> u64 {
        let (mut random, mut killed) = (TestRandom(99), 0);
        loop {
            let mut client = self.start_load();
            let goes_on = self.wait_for_operations(10 + random.below(60));
            client.kill().unwrap();
            client.wait().unwrap();
            killed += 1;
            if !goes_on {
                return killed;
            }
        }
    }

    fn start_load(&self) -> Child {
        let mut load = command(&["load", "--op", "p256-sign", "--clients", "4", "--seconds"]);
        load.args(["600", "--in-flight", "4", "--batch", "16", "--server"]).arg(self.socket());
        load.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Kills and stops the server, and starts it again, until the clients are done. Returns the number of its ends.
    fn restart_server(&self) -> u64 {
        let (mut random, mut ends) = (TestRandom(77), 0);
        while self.wait_for_operations(40 + random.below(80)) {
            self.change_server();
            let mut served = self.served.lock().unwrap();
            let mut old = served.take().unwrap();
            // Every fourth one stops by itself, the others are killed.
            old.signal(if random.below(4) == 0 { "-TERM" } else { "-KILL" });
            old.child.wait().unwrap();
            fs::write(Development::at(&self.state).config(), &self.config).unwrap();
            *served = Some(start(&self.state));
            self.change_server();
            ends += 1;
        }
        ends
    }

    /// Reloads with a key more, and with a configuration that cannot be read. Returns the number of reloads.
    fn reload_server(&self) -> u64 {
        let config = Development::at(&self.state).config();
        let (good, mut reloads) = (&self.config, 0);
        while self.wait_for_operations(15) {
            let served = self.served.lock().unwrap();
            let key = self.state.join("keys");
            fs::copy(key.join("p256.pem"), key.join(format!("p256-{}.pem", reloads % 5))).unwrap();
            // The running server keeps its configuration if it cannot read the new one.
            fs::write(&config, if reloads % 3 == 2 { "not toml" } else { good }).unwrap();
            served.as_ref().unwrap().signal("-HUP");
            reloads += 1;
        }
        reloads
    }

    /// Says every ten seconds how far a long run is.
    fn report(&self) {
        let mut progress = self.progress.lock().unwrap();
        while !self.is_done.load(Ordering::Acquire) {
            let waited = self.has_progress.wait_timeout_while(progress, Duration::from_secs(10), |_| {
                !self.is_done.load(Ordering::Acquire)
            });
            progress = waited.unwrap().0;
            eprintln!("{} operations", *progress);
        }
    }
}

/// Ends the test if a thread panics. Otherwise others would wait for it.
struct EndAtPanic<'t>(&'t FaultTest);

impl Drop for EndAtPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.end();
        }
    }
}

async fn open_link(socket: &Path, has_ring: bool) -> Result<ServerLink, String> {
    let endpoint = Endpoint::unix(socket);
    let opened = match has_ring {
        true => ServerLink::open(&endpoint).await,
        false => ServerLink::open_without_ring(&endpoint, "the other transport").await,
    };
    let link = opened.map_err(|error| error.to_string())?;
    let source = Some(open_key::Source::Resident("ed25519".into()));
    let open = request::Body::OpenKey(OpenKey { handle: 0, source, ..OpenKey::default() });
    link.call(open).await.map_err(|error| error.to_string())?;
    Ok(link)
}

fn scalar() -> Accelerator {
    Accelerator::builder().engines(["scalar"]).threads(1).lazy().build().unwrap()
}

/// Starts a server whose log nobody reads.
fn start(state: &Path) -> Served {
    Served::start_with(state, |command| {
        command.stderr(Stdio::null());
    })
}

fn metric(page: &str, name: &str) -> u64 {
    let line = page.lines().find(|line| line.starts_with(&format!("{name} "))).unwrap();
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

#[test]
fn every_answer_among_reloads_and_kills_is_right_and_every_error_is_explained() {
    let seconds = std::env::var("OARLOCK_FAULT_SECONDS").ok().and_then(|text| text.parse().ok());
    let folder = tempfile::tempdir().unwrap();
    let served = crate::served::with_metrics(folder.path(), "", |command| {
        command.stderr(Stdio::null());
    });
    let patience = Duration::from_secs(60);
    let path = served.socket();
    let pool_config =
        PoolConfig { path, users: ServerUsers::default(), patience, max_idle: 4, has_ring: true };
    let pool = ConnectionPool::new(pool_config, scalar());
    let info = pool.key_info("ed25519").unwrap();
    let test = FaultTest {
        state: folder.path().to_owned(),
        config: fs::read_to_string(Development::at(folder.path()).config()).unwrap(),
        served: Mutex::new(Some(served)),
        changes: AtomicU64::new(0),
        progress: Mutex::new(0),
        has_progress: Condvar::new(),
        is_done: AtomicBool::new(false),
        signed: AtomicU64::new(0),
        broken: AtomicU64::new(0),
        unexplained: Mutex::default(),
        until: seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds)),
        key: held::from_spki(&info.public_key, "servers", "ed25519").unwrap(),
    };
    std::thread::scope(|scope| {
        let (test, pool) = (&test, &pool);
        let disturbances = [FaultTest::kill_clients, FaultTest::restart_server, FaultTest::reload_server];
        let disturbances = disturbances.map(|disturb| {
            scope.spawn(move || {
                let _end = EndAtPanic(test);
                disturb(test)
            })
        });
        scope.spawn(|| test.report());
        let mut clients = vec![
            scope.spawn(|| test.run_link(1, true)),
            scope.spawn(|| test.run_link(2, true)),
            scope.spawn(|| test.run_link(3, false)),
            scope.spawn(|| test.run_holder(4)),
        ];
        clients.extend([5, 6].map(|seed| scope.spawn(move || test.run_pool(seed, pool))));
        let ends: Vec<_> = clients.into_iter().map(|client| client.join()).collect();
        test.end();
        let [killed, restarts, reloads] = disturbances.map(|thread| thread.join().unwrap());
        ends.into_iter().for_each(|end| end.unwrap());
        eprintln!(
            "{} signatures, {} errors; {restarts} ends of the server, {reloads} reloads, {killed} clients killed",
            test.signed.load(Ordering::Relaxed),
            test.broken.load(Ordering::Relaxed),
        );
        assert!(restarts > 0 && reloads > 0 && killed > 0);
    });
    let unexplained = test.unexplained.into_inner().unwrap();
    assert!(unexplained.is_empty(), "{unexplained:?}");
    let source = JobKeySource::Resident { name: "ed25519", fingerprint: None };
    let job = Job::sign(SigningScheme::ED25519, &test.key, Input::Message(b"the last"));
    pool.start(&job, source).unwrap().wait().unwrap();
    drop(pool);
    // Nothing of any client is left.
    let served = test.served.into_inner().unwrap().unwrap();
    let names = ["oarlock_rings_open", "oarlock_connections_open", "oarlock_held_bytes"];
    while names.iter().any(|name| metric(&served.metrics(), name) > 0) {
        std::thread::yield_now();
    }
}
