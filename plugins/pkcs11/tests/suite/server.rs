//! A slot with the keys of a cryptoserver, which comes and goes.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use cryptoki_sys::*;
use oarlock::Accelerator;
use oarlock_server::{BoundServer, CryptoserverConfig};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::call;
use crate::common::forked::in_child;
use crate::common::objects::{gcm_parameters, with_parameter};
use crate::common::raw::{RawModule, attribute, plain};
use crate::common::{self, TestDirectory, isolated};

/// The settings of a slot with this server.
const SERVER: &str =
    "[[slot]]\nkind = \"server\"\naddress = \"server/oarlock.sock\"\nlabel = \"keys of a server\"\n";

/// A cryptoserver in this process, which serves the keys of the test directory.
struct CryptoServer {
    runtime: Runtime,
    running: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
}

impl CryptoServer {
    fn new() -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        Self { runtime, running: None }
    }

    fn begin(&mut self, dir: &TestDirectory) {
        let config = CryptoserverConfig::read(&dir.path("server/oarlock.toml")).unwrap();
        let engines = Accelerator::builder().threads(1).lazy();
        let server = self.runtime.block_on(BoundServer::bind(config, engines)).unwrap();
        let (stop, stopped) = oneshot::channel();
        let run = async {
            let stop = async { drop(stopped.await) };
            server.run(stop).await.unwrap();
        };
        self.running = Some((stop, self.runtime.spawn(run)));
    }

    fn stop(&mut self) {
        if let Some((stop, running)) = self.running.take() {
            drop(stop);
            self.runtime.block_on(running).unwrap();
        }
    }
}

/// The environment variable that makes a test process a child; its value is the task.
const TASK: &str = "OARLOCK_TEST_TASK";

/// The body of a child process: not a test of its own.
#[test]
fn child_process() {
    let Ok(task) = std::env::var(TASK) else { return };
    match task.as_str() {
        "serve" => {
            let mut server = CryptoServer::new();
            server.begin(&TestDirectory::current());
            eprintln!("serves");
            // Until the parent ends.
            std::io::stdin().lines().for_each(drop);
        }
        "sign" => sign_in_a_process(),
        other => panic!("unknown task {other}"),
    }
}

fn start_child(dir: &TestDirectory, task: &str) -> Child {
    let mut command: Command = dir.command(std::env::current_exe().unwrap());
    command.args(["--exact", "server::child_process", "--nocapture", "--test-threads=1"]).env(TASK, task);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// A cryptoserver in a process of its own, which can be killed.
struct ServerProcess(Child);

impl ServerProcess {
    fn start(dir: &TestDirectory) -> Self {
        let mut server = Self(start_child(dir, "serve"));
        let lines = BufReader::new(server.0.stderr.take().unwrap()).lines().map_while(Result::ok);
        let mut said = Vec::new();
        for line in lines {
            if line == "serves" {
                return server;
            }
            said.push(line);
        }
        panic!("the server has ended: {}", said.join("\n"));
    }

    fn signal(&self, signal: i32) {
        // SAFETY: a signal to the child of this process, which has not been waited for.
        assert_eq!(unsafe { libc::kill(self.0.id() as i32, signal) }, 0);
    }
}

impl Drop for ServerProcess {
    /// SIGKILL: the server closes nothing itself.
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

fn prepare(grants: &str) -> impl FnOnce(&TestDirectory) {
    let settings = format!("listen.unix = \"oarlock.sock\"\nkeys.directory = \"../keys\"\n{grants}");
    move |dir| {
        dir.make_keys();
        dir.write("server/oarlock.toml", settings);
    }
}

const ALL_GRANTED: &str = "[[grant]]\nkeys = [\"*\"]\nclients = [\"*\"]\n";

#[test]
fn keys_of_a_server_sign_without_leaving_it() {
    let name = "server::keys_of_a_server_sign_without_leaving_it";
    isolated(name, SERVER, prepare(ALL_GRANTED), |dir| {
        let mut server = CryptoServer::new();
        server.begin(dir);
        let module = RawModule::load();
        assert_eq!(module.initialize(), CKR_OK);
        let session = module.open_read_only(0);
        for (label, kind) in [
            ("rsa", CKM_SHA256_RSA_PKCS),
            ("p256", CKM_ECDSA_SHA256),
            ("p384", CKM_ECDSA_SHA384),
            ("ed25519", CKM_EDDSA),
        ] {
            let private = module.find(session, CKO_PRIVATE_KEY, label).unwrap();
            let public = module.find(session, CKO_PUBLIC_KEY, label).unwrap();
            let signature = module.sign(session, kind, private, b"data").unwrap();
            assert_eq!(module.verify(session, kind, public, b"data", &signature), CKR_OK, "{label}");
            assert_eq!(module.verify(session, kind, public, b"date", &signature), CKR_SIGNATURE_INVALID);
        }
        // The certificate beside the key comes with it; without one, Java shows no private key.
        assert!(module.find(session, CKO_CERTIFICATE, "p256").is_some());
        assert!(module.find(session, CKO_CERTIFICATE, "p384").is_none());
        server.stop();
    });
}

#[test]
fn a_session_without_the_server_fails_and_works_again() {
    let name = "server::a_session_without_the_server_fails_and_works_again";
    isolated(name, SERVER, prepare(ALL_GRANTED), |dir| {
        let mut server = CryptoServer::new();
        server.begin(dir);
        let module = RawModule::load();
        assert_eq!(module.initialize(), CKR_OK);
        let session = module.open_read_only(0);
        let key = module.find(session, CKO_PRIVATE_KEY, "p256").unwrap();
        assert!(module.sign(session, CKM_ECDSA_SHA256, key, b"data").is_ok());
        server.stop();
        let failed = module.sign(session, CKM_ECDSA_SHA256, key, b"data").unwrap_err();
        let gone = [CKR_DEVICE_ERROR, CKR_DEVICE_REMOVED, CKR_TOKEN_NOT_PRESENT];
        assert!(gone.contains(&failed), "{failed:#x}");
        server.begin(dir);
        let mut slot = 99;
        // Waits until the slot has noticed that the server is there: the two changes are one or two events.
        while module.sign(session, CKM_ECDSA_SHA256, key, b"data").is_err() {
            assert_eq!(call!(module, C_WaitForSlotEvent, 0, &mut slot, null_mut()), CKR_OK);
            assert_eq!(slot, 0);
        }
        server.stop();
    });
}

#[test]
fn a_server_that_comes_is_an_event() {
    isolated("server::a_server_that_comes_is_an_event", SERVER, prepare(ALL_GRANTED), |dir| {
        let module = RawModule::load();
        assert_eq!(module.initialize(), CKR_OK);
        let mut count = 0;
        assert_eq!(call!(module, C_GetSlotList, 1, null_mut(), &mut count), CKR_OK);
        assert_eq!(count, 0, "no slot has a token");
        assert_eq!(call!(module, C_GetSlotList, 0, null_mut(), &mut count), CKR_OK);
        assert_eq!(count, 1);
        let (mut session, mut slot) = (0, 99);
        let opened = call!(module, C_OpenSession, 0, CKF_SERIAL_SESSION, null_mut(), None, &mut session);
        assert_eq!(opened, CKR_TOKEN_NOT_PRESENT);
        assert_eq!(call!(module, C_WaitForSlotEvent, CKF_DONT_BLOCK, &mut slot, null_mut()), CKR_NO_EVENT);
        let mut server = CryptoServer::new();
        server.begin(dir);
        assert_eq!(call!(module, C_WaitForSlotEvent, 0, &mut slot, null_mut()), CKR_OK);
        assert_eq!(slot, 0);
        assert_eq!(call!(module, C_GetSlotList, 1, null_mut(), &mut count), CKR_OK);
        assert_eq!(count, 1);
        let session = module.open_read_only(0);
        assert!(module.find(session, CKO_PRIVATE_KEY, "rsa").is_some());
        server.stop();
    });
}

#[test]
fn grants_decide_which_keys_are_there() {
    let grants = "[[grant]]\nkeys = [\"p256\"]\nclients = [\"*\"]\nschemes = [\"ecdsa-*-sign\"]\n";
    isolated("server::grants_decide_which_keys_are_there", SERVER, prepare(grants), |dir| {
        let mut server = CryptoServer::new();
        server.begin(dir);
        let module = RawModule::load();
        assert_eq!(module.initialize(), CKR_OK);
        let session = module.open_read_only(0);
        assert!(module.find(session, CKO_PRIVATE_KEY, "p256").is_some());
        assert!(module.find(session, CKO_PRIVATE_KEY, "rsa").is_none());
        server.stop();
    });
}

/// The return codes of a function that needs a server which is gone.
const GONE: [CK_RV; 2] = [CKR_DEVICE_ERROR, CKR_TOKEN_NOT_PRESENT];

/// Ends this process if a call hangs.
fn limit_time() {
    // SAFETY: alarm takes a number; its signal ends the process.
    unsafe { libc::alarm(120) };
}

/// Eight threads that sign until it fails.
struct SigningThreads<'a> {
    module: &'a RawModule,
    key: CK_OBJECT_HANDLE,
    signed: AtomicUsize,
}

impl SigningThreads<'_> {
    const COUNT: usize = 8;

    /// Signs until a call fails in each thread. Runs `disturb` after some signatures.
    fn run(&self, disturb: impl FnOnce()) {
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..Self::COUNT).map(|_| scope.spawn(|| self.sign_until_error())).collect();
            while self.signed.load(Ordering::Acquire) < 5 * Self::COUNT {
                if threads.iter().any(|thread| thread.is_finished()) {
                    break;
                }
                std::thread::yield_now();
            }
            let early = threads.iter().filter(|thread| thread.is_finished()).count();
            assert_eq!(early, 0, "threads that could not sign before the disturbance");
            disturb();
            for thread in threads {
                let code = thread.join().unwrap();
                assert!(GONE.contains(&code), "{code:#x}");
            }
        });
    }

    fn sign_until_error(&self) -> CK_RV {
        let session = self.module.open_read_only(0);
        loop {
            match self.module.sign(session, CKM_ECDSA_SHA256, self.key, b"data") {
                Ok(_) => self.signed.fetch_add(1, Ordering::AcqRel),
                Err(code) => break code,
            };
        }
    }
}

/// Waits for the next event of the only slot.
fn wait_for_event(module: &RawModule) {
    let mut slot = 99;
    assert_eq!(call!(module, C_WaitForSlotEvent, 0, &mut slot, null_mut()), CKR_OK);
    assert_eq!(slot, 0);
}

fn is_present(module: &RawModule) -> bool {
    let mut count = 0;
    assert_eq!(call!(module, C_GetSlotList, 1, null_mut(), &mut count), CKR_OK);
    count == 1
}

#[test]
fn a_server_killed_in_sign_ends_the_calls_and_works_after_its_restart() {
    let name = "server::a_server_killed_in_sign_ends_the_calls_and_works_after_its_restart";
    isolated(name, SERVER, prepare(ALL_GRANTED), |dir| {
        limit_time();
        let server = ServerProcess::start(dir);
        let module = RawModule::load();
        assert_eq!(module.initialize(), CKR_OK);
        let session = module.open_read_only(0);
        let key = module.find(session, CKO_PRIVATE_KEY, "p256").unwrap();
        let threads = SigningThreads { module: &module, key, signed: AtomicUsize::new(0) };
        threads.run(|| drop(server));
        wait_for_event(&module);
        assert!(!is_present(&module), "the first event is that the server went");
        let failed = module.sign(session, CKM_ECDSA_SHA256, key, b"data").unwrap_err();
        assert!(GONE.contains(&failed), "{failed:#x}");

        let server = ServerProcess::start(dir);
        wait_for_event(&module);
        assert!(is_present(&module), "the second event is that it came back");
        let public = module.find(session, CKO_PUBLIC_KEY, "p256").unwrap();
        for _ in 0..3 {
            let signature = module.sign(session, CKM_ECDSA_SHA256, key, b"data").unwrap();
            assert_eq!(module.verify(session, CKM_ECDSA_SHA256, public, b"data", &signature), CKR_OK);
        }
        // And once more, with all threads.
        threads.signed.store(0, Ordering::Release);
        threads.run(|| drop(server));
    });
}

/// A stopped process accepts connections and answers nothing, as a server does that hangs.
#[test]
fn a_server_that_hangs_in_sign_ends_the_calls() {
    let name = "server::a_server_that_hangs_in_sign_ends_the_calls";
    isolated(name, SERVER, prepare(ALL_GRANTED), |dir| {
        limit_time();
        let server = ServerProcess::start(dir);
        let module = RawModule::load();
        assert_eq!(module.initialize(), CKR_OK);
        let session = module.open_read_only(0);
        let key = module.find(session, CKO_PRIVATE_KEY, "p256").unwrap();
        let threads = SigningThreads { module: &module, key, signed: AtomicUsize::new(0) };
        threads.run(|| server.signal(libc::SIGSTOP));
        server.signal(libc::SIGCONT);
        // Each try fails within the patience, or the slot says that the server is there again.
        while module.sign(session, CKM_ECDSA_SHA256, key, b"data").is_err() {}
    });
}

/// The end of the library does not wait for a server, and its threads get an error of the end.
#[test]
fn the_library_ends_while_threads_sign_at_a_server() {
    let name = "server::the_library_ends_while_threads_sign_at_a_server";
    isolated(name, SERVER, prepare(ALL_GRANTED), |dir| {
        limit_time();
        let _server = ServerProcess::start(dir);
        let module = RawModule::load();
        let ended = AtomicBool::new(false);
        for _ in 0..5 {
            assert_eq!(module.initialize(), CKR_OK);
            ended.store(false, Ordering::Release);
            let session = module.open_read_only(0);
            let key = module.find(session, CKO_PRIVATE_KEY, "p256").unwrap();
            let signed = AtomicUsize::new(0);
            std::thread::scope(|scope| {
                for _ in 0..SigningThreads::COUNT {
                    scope.spawn(|| {
                        let session = module.open_read_only(0);
                        while module.sign(session, CKM_ECDSA_SHA256, key, b"data").is_ok() {
                            signed.fetch_add(1, Ordering::AcqRel);
                        }
                        assert!(ended.load(Ordering::Acquire), "a signature failed before the end");
                    });
                }
                while signed.load(Ordering::Acquire) < 5 * SigningThreads::COUNT {
                    std::thread::yield_now();
                }
                ended.store(true, Ordering::Release);
                assert_eq!(module.finalize(), CKR_OK);
            });
        }
    });
}

#[test]
fn eight_processes_share_a_server() {
    isolated("server::eight_processes_share_a_server", SERVER, prepare(ALL_GRANTED), |dir| {
        limit_time();
        let _server = ServerProcess::start(dir);
        let children: Vec<_> = (0..8).map(|_| start_child(dir, "sign")).collect();
        for child in children {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", common::said(&output));
        }
    });
}

/// Signs with two keys and verifies in this process.
fn sign_in_a_process() {
    limit_time();
    let module = RawModule::load();
    assert_eq!(module.initialize(), CKR_OK);
    std::thread::scope(|scope| {
        for (label, kind) in [("rsa", CKM_SHA256_RSA_PKCS), ("p256", CKM_ECDSA_SHA256)] {
            let module = &module;
            scope.spawn(move || {
                let session = module.open_read_only(0);
                let private = module.find(session, CKO_PRIVATE_KEY, label).unwrap();
                let public = module.find(session, CKO_PUBLIC_KEY, label).unwrap();
                for round in 0_u8..12 {
                    let data = [round, std::process::id() as u8];
                    let signature = module.sign(session, kind, private, &data).unwrap();
                    assert_eq!(module.verify(session, kind, public, &data, &signature), CKR_OK);
                }
            });
        }
    });
    assert_eq!(module.finalize(), CKR_OK);
}

/// The thread of the connections is the parent's, so a child has connections of its own.
#[test]
fn a_child_of_a_fork_has_its_own_connection() {
    let name = "server::a_child_of_a_fork_has_its_own_connection";
    isolated(name, SERVER, prepare(ALL_GRANTED), |dir| {
        limit_time();
        let _server = ServerProcess::start(dir);
        let module = RawModule::load();
        assert_eq!(module.initialize(), CKR_OK);
        let session = module.open_read_only(0);
        let private = module.find(session, CKO_PRIVATE_KEY, "p256").unwrap();
        let public = module.find(session, CKO_PUBLIC_KEY, "p256").unwrap();
        let signs = || {
            let Ok(signature) = module.sign(session, CKM_ECDSA_SHA256, private, b"data") else {
                return false;
            };
            module.verify(session, CKM_ECDSA_SHA256, public, b"data", &signature) == CKR_OK
        };
        // A fork before the first connection, and forks after it.
        assert!(in_child(|| (0..3).all(|_| signs())));
        assert!(signs());
        assert!(in_child(|| (0..3).all(|_| signs()) && in_child(signs) && signs()));
        assert!(signs());
    });
}

/// Symmetric keys of a server, with the published keys of SP 800-38A, RFC 4231 and the paper of GCM.
const SECRETS: &str = concat!(
    r#"{"name":"cbc","type":"aes256","hex":"603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4","algorithms":["cbc"],"ivs":["column-cbc","zero"]}"#,
    "\n",
    r#"{"name":"cmac","type":"aes128","hex":"2b7e151628aed2a6abf7158809cf4f3c","operations":["mac"]}"#,
    "\n",
    r#"{"name":"gcm","type":"aes256","hex":"0000000000000000000000000000000000000000000000000000000000000000","algorithms":["gcm"],"ivs":["column"]}"#,
    "\n",
    r#"{"name":"mac","type":"hmac","hex":"0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b"}"#,
    "\n",
    r#"{"name":"old","type":"tdes2","hex":"0123456789abcdeffedcba9876543210"}"#,
    "\n",
);

fn prepare_secrets(grants: &str) -> impl FnOnce(&TestDirectory) {
    let settings = format!("listen.unix = \"oarlock.sock\"\nkeys.records = \"records.keys\"\n{grants}");
    move |dir| {
        dir.write("server/records.keys", SECRETS);
        dir.write("server/oarlock.toml", settings);
    }
}

/// Encrypts or decrypts in one part.
fn run_cipher(
    module: &RawModule,
    session: CK_SESSION_HANDLE,
    mechanism: &mut CK_MECHANISM,
    key: CK_OBJECT_HANDLE,
    (data, is_encryption): (&[u8], bool),
) -> Result<Vec<u8>, CK_RV> {
    let begun = match is_encryption {
        true => call!(module, C_EncryptInit, session, mechanism, key),
        false => call!(module, C_DecryptInit, session, mechanism, key),
    };
    if begun != CKR_OK {
        return Err(begun);
    }
    let (mut out, mut len) = (vec![0; data.len() + 32], data.len() as CK_ULONG + 32);
    let (input, input_len) = (data.as_ptr().cast_mut(), data.len() as CK_ULONG);
    let ended = match is_encryption {
        true => call!(module, C_Encrypt, session, input, input_len, out.as_mut_ptr(), &mut len),
        false => call!(module, C_Decrypt, session, input, input_len, out.as_mut_ptr(), &mut len),
    };
    out.truncate(len as usize);
    if ended == CKR_OK { Ok(out) } else { Err(ended) }
}

fn hex(text: &str) -> Vec<u8> {
    let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(byte).collect()
}

#[test]
fn symmetric_keys_of_a_server_compute_without_leaving_it() {
    let name = "server::symmetric_keys_of_a_server_compute_without_leaving_it";
    isolated(name, SERVER, prepare_secrets(ALL_GRANTED), |dir| {
        limit_time();
        let mut server = CryptoServer::new();
        server.begin(dir);
        let module = RawModule::load();
        assert_eq!(module.initialize(), CKR_OK);
        let session = module.open_read_only(0);
        let [cbc, cmac, gcm, mac, old] = ["cbc", "cmac", "gcm", "mac", "old"]
            .map(|label| module.find(session, CKO_SECRET_KEY, label).unwrap_or_else(|| panic!("{label}")));

        // RFC 4231 4.2, in one part and in pieces.
        let expected = hex("b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
        assert_eq!(module.sign(session, CKM_SHA256_HMAC, mac, b"Hi There").unwrap(), expected);
        assert_eq!(module.verify(session, CKM_SHA256_HMAC, mac, b"Hi There", &expected), CKR_OK);
        let wrong = module.verify(session, CKM_SHA256_HMAC, mac, b"hi There", &expected);
        assert_eq!(wrong, CKR_SIGNATURE_INVALID);
        let (mut mechanism, mut out, mut len) = (plain(CKM_SHA256_HMAC), [0; 32], 32);
        assert_eq!(call!(module, C_SignInit, session, &mut mechanism, mac), CKR_OK);
        for piece in [&b"Hi "[..], b"There"] {
            let len = piece.len() as CK_ULONG;
            assert_eq!(call!(module, C_SignUpdate, session, piece.as_ptr().cast_mut(), len), CKR_OK);
        }
        assert_eq!(call!(module, C_SignFinal, session, out.as_mut_ptr(), &mut len), CKR_OK);
        assert_eq!(out[..], expected);

        // SP 800-38A F.2.5 and F.1.5; RFC 4493 section 4.
        let block = hex("6bc1bee22e409f96e93d7e117393172a");
        let iv: [u8; 16] = std::array::from_fn(|at| at as u8);
        let mut mechanism = with_parameter(CKM_AES_CBC, &iv);
        let encrypted = run_cipher(&module, session, &mut mechanism, cbc, (&block, true)).unwrap();
        assert_eq!(encrypted, hex("f58c4c04d6e5f1ba779eabfb5f7bfbd6"));
        let decrypted = run_cipher(&module, session, &mut mechanism, cbc, (&encrypted, false)).unwrap();
        assert_eq!(decrypted, block);
        let mut padded = with_parameter(CKM_AES_CBC_PAD, &iv);
        let encrypted = run_cipher(&module, session, &mut padded, cbc, (b"a text", true)).unwrap();
        let decrypted = run_cipher(&module, session, &mut padded, cbc, (&encrypted, false)).unwrap();
        assert_eq!(decrypted, b"a text");
        let twice = [&block[..], &block].concat();
        let encrypted = run_cipher(&module, session, &mut plain(CKM_AES_ECB), cbc, (&twice, true)).unwrap();
        assert_eq!(encrypted, hex("f3eed1bdb5d2a03c064b5a7e3db181f8").repeat(2));
        let code = module.sign(session, CKM_AES_CMAC, cmac, &block).unwrap();
        assert_eq!(code, hex("070a16b46b4d4144f79bdd9dd04a287c"));

        // McGrew and Viega, test case 14.
        let iv = [0; 12];
        let parameters = gcm_parameters(&iv);
        let mut mechanism = with_parameter(CKM_AES_GCM, &parameters);
        let mut sealed = run_cipher(&module, session, &mut mechanism, gcm, (&[0; 16], true)).unwrap();
        assert_eq!(sealed, hex("cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919"));
        assert_eq!(run_cipher(&module, session, &mut mechanism, gcm, (&sealed, false)).unwrap(), [0; 16]);
        sealed[31] ^= 1;
        let opened = run_cipher(&module, session, &mut mechanism, gcm, (&sealed, false));
        assert_eq!(opened, Err(CKR_AEAD_DECRYPT_FAILED));
        // The key's policy at the server allows one algorithm.
        let cbc_iv = [0_u8; 16];
        let mut mechanism = with_parameter(CKM_AES_CBC, &cbc_iv);
        let refused = run_cipher(&module, session, &mut mechanism, gcm, (&block, true));
        assert_eq!(refused, Err(CKR_KEY_FUNCTION_NOT_PERMITTED));

        // A key whose type has no mechanism here is shown with its type.
        let mut key_type: CK_ULONG = 0;
        let mut query = attribute(CKA_KEY_TYPE, (&raw mut key_type).cast(), size_of::<CK_ULONG>());
        assert_eq!(call!(module, C_GetAttributeValue, session, old, &mut query, 1), CKR_OK);
        assert_eq!(key_type, CKK_DES2);
        let begun = call!(module, C_EncryptInit, session, &mut mechanism, old);
        assert_eq!(begun, CKR_KEY_TYPE_INCONSISTENT);
        let mut value = [0; 64];
        let mut query = attribute(CKA_VALUE, value.as_mut_ptr().cast(), 64);
        let read = call!(module, C_GetAttributeValue, session, cbc, &mut query, 1);
        assert_eq!(read, CKR_ATTRIBUTE_SENSITIVE);

        server.stop();
        let failed = module.sign(session, CKM_SHA256_HMAC, mac, b"Hi There").unwrap_err();
        assert!(GONE.contains(&failed), "{failed:#x}");
    });
}

#[test]
fn grants_decide_about_the_uses_of_symmetric_keys() {
    let grants = "[[grant]]\nkeys = [\"cbc\"]\nclients = [\"*\"]\nschemes = [\"aes256-cbc-encrypt\"]\n";
    let name = "server::grants_decide_about_the_uses_of_symmetric_keys";
    isolated(name, SERVER, prepare_secrets(grants), |dir| {
        let mut server = CryptoServer::new();
        server.begin(dir);
        let module = RawModule::load();
        assert_eq!(module.initialize(), CKR_OK);
        let session = module.open_read_only(0);
        assert!(module.find(session, CKO_SECRET_KEY, "gcm").is_none());
        let key = module.find(session, CKO_SECRET_KEY, "cbc").unwrap();
        let iv = [0_u8; 16];
        let mut mechanism = with_parameter(CKM_AES_CBC, &iv);
        assert!(run_cipher(&module, session, &mut mechanism, key, (&[1; 16], true)).is_ok());
        let decrypted = run_cipher(&module, session, &mut mechanism, key, (&[1; 16], false));
        assert_eq!(decrypted, Err(CKR_KEY_FUNCTION_NOT_PERMITTED));
        let signed = module.sign(session, CKM_AES_CMAC, key, b"data");
        assert_eq!(signed, Err(CKR_KEY_FUNCTION_NOT_PERMITTED));
        server.stop();
    });
}
