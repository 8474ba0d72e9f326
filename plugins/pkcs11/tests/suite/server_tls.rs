//! A slot with the keys of a cryptoserver that is reached by mutual TLS.

use std::net::SocketAddr;
use std::ptr::null_mut;

use cryptoki_sys::*;
use oarlock::Accelerator;
use oarlock_server::development::Development;
use oarlock_server::{BoundServer, CryptoserverConfig};
use tokio::runtime::Runtime;

use crate::call;
use crate::common::raw::RawModule;
use crate::common::{TestDirectory, isolated};

/// The files of a server and of one client of it.
fn prepare(dir: &TestDirectory) {
    assert!(Development::at(dir.path("server")).prepare().unwrap());
}

/// Starts a server on a free port. It ends with the runtime.
fn start(dir: &TestDirectory) -> (Runtime, SocketAddr) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let mut config = CryptoserverConfig::read(&dir.path("server/oarlock.toml")).unwrap();
    config.listen.tcp = Some("127.0.0.1:0".parse().unwrap());
    let engines = Accelerator::builder().threads(1).lazy();
    let server = runtime.block_on(BoundServer::bind(config, engines)).unwrap();
    let address = server.addresses().tcp.unwrap();
    runtime.spawn(server.run(std::future::pending()));
    (runtime, address)
}

/// Writes the settings of a slot with this server. The client is the one of these files.
fn write_settings(dir: &TestDirectory, address: SocketAddr, authority: &str, client: &str) {
    dir.write(
        "pkcs11.toml",
        format!(
            "[[slot]]\nkind = \"server\"\naddress = \"https://{address}\"\nserver_ca = \"{authority}/ca.pem\"\n\
             certificate = \"{client}/client.pem\"\nprivate_key = \"{client}/client-key.pem\"\n"
        ),
    );
}

#[test]
fn keys_of_a_server_sign_over_tls() {
    isolated("server_tls::keys_of_a_server_sign_over_tls", "", prepare, |dir| {
        let (_runtime, address) = start(dir);
        write_settings(dir, address, "server", "server");
        let module = RawModule::load();
        assert_eq!(module.initialize(), CKR_OK);
        let session = module.open_read_only(0);
        for (label, kind) in
            [("rsa2048", CKM_SHA256_RSA_PKCS), ("p256", CKM_ECDSA_SHA256), ("ed25519", CKM_EDDSA)]
        {
            let private = module.find(session, CKO_PRIVATE_KEY, label).unwrap();
            let public = module.find(session, CKO_PUBLIC_KEY, label).unwrap();
            let signature = module.sign(session, kind, private, b"data").unwrap();
            assert_eq!(module.verify(session, kind, public, b"data", &signature), CKR_OK, "{label}");
            assert_eq!(module.verify(session, kind, public, b"date", &signature), CKR_SIGNATURE_INVALID);
        }
        let secret = module.find(session, CKO_SECRET_KEY, "hmac").unwrap();
        let code = module.sign(session, CKM_SHA256_HMAC, secret, b"data").unwrap();
        assert_eq!(module.verify(session, CKM_SHA256_HMAC, secret, b"data", &code), CKR_OK);
        assert_eq!(module.finalize(), CKR_OK);
    });
}

#[test]
fn a_server_or_client_of_another_authority_is_an_empty_slot() {
    isolated(
        "server_tls::a_server_or_client_of_another_authority_is_an_empty_slot",
        "",
        |dir| {
            prepare(dir);
            assert!(Development::at(dir.path("other")).prepare().unwrap());
        },
        |dir| {
            let (_runtime, address) = start(dir);
            let module = RawModule::load();
            for (authority, client) in [("other", "server"), ("server", "other")] {
                write_settings(dir, address, authority, client);
                assert_eq!(module.initialize(), CKR_OK);
                let mut session = 0;
                let opened =
                    call!(module, C_OpenSession, 0, CKF_SERIAL_SESSION, null_mut(), None, &mut session);
                assert_eq!(opened, CKR_TOKEN_NOT_PRESENT, "authority {authority}, client {client}");
                assert_eq!(module.finalize(), CKR_OK);
            }
        },
    );
}

#[test]
fn a_private_key_that_others_may_read_is_rejected() {
    isolated("server_tls::a_private_key_that_others_may_read_is_rejected", "", prepare, |dir| {
        use std::os::unix::fs::PermissionsExt;
        write_settings(dir, "127.0.0.1:1".parse().unwrap(), "server", "server");
        let key = dir.path("server/client-key.pem");
        std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
        let module = RawModule::load();
        assert_eq!(module.initialize(), CKR_GENERAL_ERROR);
        std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(module.initialize(), CKR_OK);
    });
}
