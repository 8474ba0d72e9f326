//! A slot with the keys of a cryptoserver, which comes and goes.
#![allow(
    clippy::macro_metavars_in_unsafe,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    unsafe_code
)]

mod common;

use std::ptr::null_mut;

use common::raw::RawModule;
use common::{TestDirectory, isolated};
use cryptoki_sys::*;
use oarlock::Accelerator;
use oarlock_server::{BoundServer, CryptoserverConfig};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

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
    let name = "keys_of_a_server_sign_without_leaving_it";
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
        assert!(module.find(session, CKO_CERTIFICATE, "rsa").is_none());
        server.stop();
    });
}

#[test]
fn a_session_without_the_server_fails_and_works_again() {
    let name = "a_session_without_the_server_fails_and_works_again";
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
    isolated("a_server_that_comes_is_an_event", SERVER, prepare(ALL_GRANTED), |dir| {
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
    isolated("grants_decide_which_keys_are_there", SERVER, prepare(grants), |dir| {
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
