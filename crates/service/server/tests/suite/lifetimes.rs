//! Tests of the ends of connections, of reloads, and of checks of a configuration.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use oarlock::{Input, Job, Key, Scheme};
use oarlock_server::config::{AuditConfig, AuditFailure};
use oarlock_server::pattern::Pattern;
use oarlock_server::{BoundServer, CryptoserverConfig, check};
use oarlock_wire::proto::{KeyInfo, ListKeysRequest, OpenKey, open_key, request, response};
use oarlock_wire::{LinkError, ServerLink, jobs};

use crate::test_server::authority::{ClientAuthority, SpecialProperties};
use crate::test_server::{self, TestServer, open_resident};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Waits until a condition is true. Fails after a minute.
async fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < deadline, "{what} never came");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn write(path: &Path, text: &str) -> PathBuf {
    std::fs::write(path, text).unwrap();
    path.to_owned()
}

/// Starts a server whose clients this authority certifies.
async fn certified_by(authority: &ClientAuthority) -> TestServer {
    TestServer::with(|config, directory| {
        config.tls.as_mut().unwrap().client_ca = write(&directory.join("clients.pem"), &authority.pem);
        config.grants[0].clients.push("dns:client.test".into());
        config.listen.metrics = Some("127.0.0.1:0".parse().unwrap());
    })
    .await
}

async fn keys(link: &ServerLink) -> Result<Vec<KeyInfo>, LinkError> {
    match link.call(request::Body::ListKeys(ListKeysRequest {})).await? {
        response::Body::Keys(list) => Ok(list.keys),
        other => panic!("{other:?}"),
    }
}

/// Returns the error of a client without an answer. TLS 1.3 may report it only after the handshake.
async fn refusal(endpoint: &oarlock_wire::Endpoint) -> String {
    match ServerLink::open(endpoint).await {
        Err(error) => error.to_string(),
        Ok(link) => keys(&link).await.expect_err("a client was served").to_string(),
    }
}

async fn get(server: &TestServer, page: &'static str) -> String {
    let address = server.addresses.metrics.unwrap();
    let asked = tokio::task::spawn_blocking(move || {
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        write!(stream, "GET {page} HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    });
    asked.await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn ends_a_connection_with_its_certificate() {
    let authority = ClientAuthority::new();
    let server = certified_by(&authority).await;
    let endpoint =
        authority.client(&server, &SpecialProperties { lasts: Some(DAY), ..SpecialProperties::default() });
    let link = ServerLink::open(&endpoint).await.unwrap();
    assert!(!keys(&link).await.unwrap().is_empty());
    let other = ServerLink::open(&server.unix()).await.unwrap();
    assert!(!keys(&other).await.unwrap().is_empty());
    server.clock.advance(DAY / 2);
    assert!(!keys(&link).await.unwrap().is_empty());
    server.clock.advance(DAY / 2 + Duration::from_secs(60));
    eventually("the end of the connection", || link.is_closed()).await;
    let lost = keys(&link).await.unwrap_err().to_string();
    assert!(lost.contains("the client's certificate has expired"), "{lost}");
    let refused = refusal(&endpoint).await;
    assert!(refused.contains("CertificateExpired"), "{refused}");
    // A day is the maximum of every connection. A client without a certificate connects again.
    eventually("the end of the other", || other.is_closed()).await;
    let again = ServerLink::open(&server.unix()).await.unwrap();
    assert!(!keys(&again).await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_requests_under_way_when_a_connection_ends() {
    let server = TestServer::with(|config, _| {
        config.limits.max_connection_seconds = 1000;
        config.limits.max_drain_seconds = 600;
        config.listen.metrics = Some("127.0.0.1:0".parse().unwrap());
        config.grants[0].clients.push("loopback".into());
    })
    .await;
    for endpoint in [server.unix(), server.plaintext()] {
        let link = ServerLink::open(&endpoint).await.unwrap();
        let info = open_resident(&link, 0, "rsa2048").await;
        let key: Key = oarlock::keys::import::spki_der(&info.public_key).unwrap();
        let scheme = Scheme::RsaPkcs1Sign { digest: oarlock::DigestAlg::Sha256 };
        let job = Job::with_scheme(scheme, &key, Input::Message(b"message"), &[]);
        let before = requests(&server).await;
        let message = jobs::write((0..300).map(|_| (job, 0))).unwrap();
        let clock = server.clock.clone();
        let ask = link.call(request::Body::Jobs(message));
        let end = async {
            while requests(&server).await == before {}
            clock.advance(Duration::from_secs(1001));
        };
        let (answer, ()) = tokio::join!(ask, end);
        let response::Body::Results(results) = answer.unwrap() else { panic!("no results") };
        assert_eq!(results.outputs.len(), 300 * 256, "{endpoint}");
        eventually("the end of the connection", || link.is_closed()).await;
        let lost = keys(&link).await.unwrap_err().to_string();
        assert!(lost.contains("this connection has reached its maximum age"), "{lost}");
    }
}

async fn requests(server: &TestServer) -> String {
    let page = get(server, "/metrics").await;
    page.lines().find(|line| line.starts_with("oarlock_requests_total ")).unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn reports_the_reason_to_refused_clients() {
    let (authority, stranger) = (ClientAuthority::new(), ClientAuthority::new());
    let server = certified_by(&authority).await;
    let special = SpecialProperties::default;
    for (endpoint, alert) in [
        (
            authority.client(&server, &SpecialProperties { is_expired: true, ..special() }),
            "CertificateExpired",
        ),
        (
            authority.client(&server, &SpecialProperties { is_nameless: true, ..special() }),
            "CertificateUnknown",
        ),
        (
            authority.client(&server, &SpecialProperties { is_for_servers: true, ..special() }),
            "UnsupportedCertificate",
        ),
        (stranger.client(&server, &special()), "UnknownCA"),
    ] {
        let refused = refusal(&endpoint).await;
        assert!(refused.contains(alert), "expected {alert}: {refused}");
    }
    let link = ServerLink::open(&authority.client(&server, &special())).await.unwrap();
    assert!(!keys(&link).await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn ends_connections_of_a_withdrawn_authority() {
    let (old, new) = (ClientAuthority::new(), ClientAuthority::new());
    let server = certified_by(&old).await;
    let (before, stays) = (
        old.client(&server, &SpecialProperties::default()),
        new.client(&server, &SpecialProperties::default()),
    );
    let link = ServerLink::open(&before).await.unwrap();
    keys(&link).await.unwrap();
    let file = server.config.tls.as_ref().unwrap().client_ca.clone();
    // Without a signal, the files of a certificate manager are found within a second.
    write(&file, &format!("{}{}", old.pem, new.pem));
    let both = async || ServerLink::open(&stays).await.is_ok() && refused(&stays).await.is_none();
    let deadline = Instant::now() + Duration::from_secs(60);
    while !both().await {
        assert!(Instant::now() < deadline, "the new authority was never trusted");
    }
    assert!(!link.is_closed(), "the old one is trusted still");
    let kept = ServerLink::open(&stays).await.unwrap();
    write(&file, &new.pem);
    server.reloads.reload(server.config.clone()).await.unwrap();
    eventually("the end of the connection", || link.is_closed()).await;
    let lost = keys(&link).await.unwrap_err().to_string();
    assert!(lost.contains("no longer trusts the authority"), "{lost}");
    assert!(!keys(&kept).await.unwrap().is_empty());
    assert!(refusal(&before).await.contains("UnknownCA"));
}

async fn refused(endpoint: &oarlock_wire::Endpoint) -> Option<LinkError> {
    keys(&ServerLink::open(endpoint).await.ok()?).await.err()
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_a_certificate_behind_a_changed_link() {
    let directory = tempfile::tempdir().unwrap();
    let links = directory.path().to_owned();
    let server = TestServer::with(|config, folder| {
        let tls = config.tls.as_mut().unwrap();
        // The kubelet does it like this: files are links into a directory that is a link, and this link is replaced.
        std::os::unix::fs::symlink(folder, links.join("..data")).unwrap();
        for path in [&mut tls.certificate, &mut tls.private_key, &mut tls.client_ca] {
            let link = links.join(path.file_name().unwrap());
            let target = Path::new("..data").join(path.file_name().unwrap());
            std::os::unix::fs::symlink(target, &link).unwrap();
            *path = link;
        }
    })
    .await;
    keys(&ServerLink::open(&server.tls()).await.unwrap()).await.unwrap();
    // Another set of certificates, with other authorities on both sides.
    let other = oarlock_server::development::Development::at(directory.path().join("other"));
    other.prepare().unwrap();
    std::os::unix::fs::symlink(directory.path().join("other"), links.join("..new")).unwrap();
    std::fs::rename(links.join("..new"), links.join("..data")).unwrap();
    let credentials = oarlock_wire::Credentials {
        server_ca: std::fs::read(other.ca()).unwrap(),
        certificate: std::fs::read(other.client_certificate()).unwrap(),
        private_key: std::fs::read(other.client_key()).unwrap().into(),
    };
    let url = format!("https://{}", server.addresses.tcp.unwrap());
    await_service(&oarlock_wire::Endpoint::Grpc { url, credentials: Some(credentials) }).await;
}

/// Waits until a client with these credentials is served.
async fn await_service(endpoint: &oarlock_wire::Endpoint) {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        if let Ok(link) = ServerLink::open(endpoint).await
            && keys(&link).await.is_ok()
        {
            return;
        }
        assert!(Instant::now() < deadline, "the new certificates were never used");
    }
}

/// Engines are tested between the first reading of the certificates and the first check for changes.
#[tokio::test(flavor = "multi_thread")]
async fn reads_certificates_again_that_change_during_the_start() {
    use oarlock_server::development::Development;
    let (directory, new) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (development, renewed) = (Development::at(directory.path()), Development::at(new.path()));
    development.prepare().unwrap();
    renewed.prepare().unwrap();
    let mut config = CryptoserverConfig::read(&development.config()).unwrap();
    config.listen.tcp = Some("127.0.0.1:0".parse().unwrap());
    let server = BoundServer::bind(config.clone(), test_server::engines()).await.unwrap();
    let tls = config.tls.as_ref().unwrap();
    for path in [&tls.certificate, &tls.private_key, &tls.client_ca] {
        test_server::write_secret(path, std::fs::read(new.path().join(path.file_name().unwrap())).unwrap());
    }
    let url = format!("https://{}", server.addresses().tcp.unwrap());
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let running = tokio::spawn(server.run(async { drop(stopped.await) }));
    let credentials = oarlock_wire::Credentials {
        server_ca: std::fs::read(renewed.ca()).unwrap(),
        certificate: std::fs::read(renewed.client_certificate()).unwrap(),
        private_key: std::fs::read(renewed.client_key()).unwrap().into(),
    };
    await_service(&oarlock_wire::Endpoint::Grpc { url, credentials: Some(credentials) }).await;
    stop.send(()).unwrap();
    running.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_everything_or_nothing_at_a_reload() {
    let server =
        TestServer::with(|config, directory| config.audit = Some(audit_at(&directory.join("audit.log"))))
            .await;
    let link = ServerLink::open(&server.unix()).await.unwrap();
    let all = keys(&link).await.unwrap().len();
    let mut fewer = server.config.clone();
    fewer.grants[0].keys = vec![Pattern::from("ed*")];
    let audit = |name: &str| std::fs::read_to_string(server.directory.path().join(name)).unwrap();
    std::fs::rename(server.directory.path().join("audit.log"), server.directory.path().join("audit.log.1"))
        .unwrap();
    for damage in [
        |config: &mut CryptoserverConfig| config.grants[0].schemes = vec!["ed25519-sing".into()],
        |config: &mut CryptoserverConfig| config.tls.as_mut().unwrap().certificate = "/dev/null".into(),
        |config: &mut CryptoserverConfig| config.keys.records = Some("absent/keys".into()),
        |config: &mut CryptoserverConfig| config.keys.directory = Some("absent/keys".into()),
    ] {
        let mut damaged = fewer.clone();
        damage(&mut damaged);
        server.reloads.reload(damaged).await.unwrap_err();
        assert_eq!(keys(&link).await.unwrap().len(), all);
        // Entries still go to the former file.
        let refused = audit("audit.log.1").matches("\"event\":\"operation\"").count();
        open_missing(&link).await;
        eventually("the entry of a refusal", || {
            audit("audit.log.1").matches("\"event\":\"operation\"").count() == refused + 1
        })
        .await;
        assert!(!audit("audit.log.1").contains("\"reopen\""));
    }
    // If the log cannot be opened again, nothing changes either.
    let log = server.directory.path().join("audit.log");
    let _ = std::fs::remove_file(&log);
    std::fs::create_dir(&log).unwrap();
    server.reloads.reload(fewer.clone()).await.unwrap_err();
    assert_eq!(keys(&link).await.unwrap().len(), all);
    std::fs::remove_dir(&log).unwrap();
    server.reloads.reload(fewer).await.unwrap();
    eventually("the entry in the new file", || audit("audit.log").contains("\"event\":\"reopen\"")).await;
    open_missing(&link).await;
    eventually("an entry of a client", || audit("audit.log").contains("\"event\":\"operation\"")).await;
    let left = keys(&link).await.unwrap();
    assert_eq!(left.iter().map(|key| &*key.name).collect::<Vec<_>>(), ["ed25519"]);
    server.reloads.reload(server.config.clone()).await.unwrap();
    assert_eq!(keys(&link).await.unwrap().len(), all);
}

/// Causes an audit entry.
async fn open_missing(link: &ServerLink) {
    let source = Some(open_key::Source::Resident("missing".into()));
    link.call(request::Body::OpenKey(OpenKey { handle: 0, source, ..OpenKey::default() })).await.unwrap_err();
}

/// The first line of the reloaded file needs a counter, and the second line is invalid. Later the directory cannot be
/// listed.
#[tokio::test(flavor = "multi_thread")]
async fn keeps_counters_and_passphrase_when_a_reload_fails() {
    let server = TestServer::with(|config, directory| {
        config.keys.passphrase_file = Some(directory.join("passphrase"));
        test_server::write_secret(&directory.join("passphrase"), "right\n");
        let key = oarlock::keys::generate::ed25519().unwrap();
        let iterations = std::num::NonZeroU32::new(10_000).unwrap();
        let protection = oarlock::keys::export::Protection::Pbkdf2 { iterations };
        let passphrase = oarlock::keys::Passphrase::new(b"right".to_vec());
        let sealed = oarlock::keys::export::encrypted_pkcs8_pem(&key, &passphrase, protection);
        test_server::write_secret(&directory.join("keys/sealed.pem"), sealed.unwrap().as_bytes());
    })
    .await;
    let link = ServerLink::open(&server.unix()).await.unwrap();
    let has_sealed = async || keys(&link).await.unwrap().iter().any(|key| key.name == "sealed");
    assert!(has_sealed().await);
    let (directory, records) = (server.directory.path(), server.config.keys.records.clone().unwrap());
    let kept = std::fs::read_to_string(&records).unwrap();
    let counted = "{\"name\":\"counted\",\"type\":\"aes128\",\"hex\":\"000102030405060708090a0b0c0d0e0f\",\
                   \"operations\":[\"encrypt\"],\"algorithms\":[\"cbc\"],\"counter\":\"count\"}\n";
    test_server::write_secret(&records, format!("{kept}{counted}no key\n"));
    server.reloads.reload(server.config.clone()).await.unwrap_err();
    assert!(!directory.join("count").exists());
    // The passphrase changes and the directory is missing. The former passphrase must still open the keys when they
    // return.
    test_server::write_secret(&records, kept);
    test_server::write_secret(&directory.join("passphrase"), "wrong\n");
    std::fs::rename(directory.join("keys"), directory.join("gone")).unwrap();
    server.reloads.reload(server.config.clone()).await.unwrap_err();
    let text = std::fs::read(directory.join("gone/sealed.pem")).unwrap();
    test_server::write_secret(&directory.join("gone/other.pem"), text);
    std::fs::rename(directory.join("gone"), directory.join("keys")).unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while !keys(&link).await.unwrap().iter().any(|key| key.name == "other") {
        assert!(Instant::now() < deadline, "the former passphrase was lost");
    }
    assert!(has_sealed().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn reports_bad_health_while_requests_are_refused() {
    use tonic_health::pb::health_check_response::ServingStatus;
    use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};
    let server = TestServer::with(|config, _| {
        let (file, on_failure) = ("/dev/full".into(), AuditFailure::Stop);
        config.audit = Some(AuditConfig::at(file, on_failure));
        config.listen.metrics = Some("127.0.0.1:0".parse().unwrap());
        config.grants[0].clients.push("loopback".into());
    })
    .await;
    let url = format!("http://{}", server.addresses.plaintext.unwrap());
    let channel = tonic::transport::Channel::from_shared(url).unwrap().connect().await.unwrap();
    let mut health = HealthClient::new(channel);
    // The entry of the start meets the full disk.
    let deadline = Instant::now() + Duration::from_secs(60);
    while !get(&server, "/metrics").await.contains("\noarlock_requests_refused 1\n") {
        assert!(Instant::now() < deadline, "requests were never refused");
    }
    let bad = get(&server, "/healthz").await;
    assert!(bad.starts_with("HTTP/1.1 503") && bad.ends_with("the audit log cannot be written\n"), "{bad}");
    let link = ServerLink::open(&server.unix()).await.unwrap();
    assert!(matches!(keys(&link).await, Err(LinkError::Refused(_))));
    for service in ["", "oarlock.v1.Cryptoserver"] {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let asked = health.check(HealthCheckRequest { service: service.into() }).await.unwrap();
            if asked.into_inner().status() == ServingStatus::NotServing {
                break;
            }
            assert!(Instant::now() < deadline, "{service:?} was healthy all the time");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn reports_the_ends_of_certificates_as_metrics() {
    let server = certified_by(&ClientAuthority::new()).await;
    assert!(get(&server, "/healthz").await.ends_with("\r\n\r\nok\n"));
    let page = get(&server, "/metrics").await;
    assert!(page.contains("\noarlock_requests_refused 0\n"));
    let mut left = page.lines().filter(|line| line.starts_with("oarlock_certificate_seconds_left{"));
    let sample = left.clone().find(|line| line.contains("setting=\"certificate\"")).unwrap();
    let seconds: i64 = sample.rsplit(' ').next().unwrap().parse().unwrap();
    assert!(seconds > 365 * 86_400, "{sample}");
    assert!(
        left.any(|line| line.contains("setting=\"client_ca\"") && line.contains("the clients' authority"))
    );
}

/// Returns every file below a directory with its length.
fn files(directory: &Path) -> Vec<(PathBuf, u64)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => found.push((path.clone(), path.symlink_metadata().unwrap().len())),
        }
    }
    found.sort();
    found
}

fn checked(change: impl FnOnce(&mut CryptoserverConfig, &Path)) -> Result<Vec<String>, String> {
    let directory = tempfile::tempdir().unwrap();
    let development = oarlock_server::development::Development::at(directory.path());
    development.prepare().unwrap();
    let mut config = CryptoserverConfig::read(&development.config()).unwrap();
    change(&mut config, directory.path());
    let before = files(directory.path());
    let checked = check(&config, test_server::engines()).map_err(|error| error.to_string());
    assert_eq!(files(directory.path()), before, "a check changed something");
    checked
}

#[test]
fn changes_nothing_in_a_check() {
    let warnings = checked(|config, directory| {
        let (file, on_failure) = (directory.join("audit.jsonl"), AuditFailure::Stop);
        config.audit = Some(AuditConfig::at(file, on_failure));
        let counted = "{\"name\":\"counted\",\"type\":\"aes128\",\"hex\":\"000102030405060708090a0b0c0d0e0f\",\
                   \"operations\":[\"encrypt\"],\"algorithms\":[\"cbc\"],\"counter\":\"count\"}\n";
        let path = config.keys.records.clone().unwrap();
        let kept = std::fs::read_to_string(&path).unwrap();
        write(&path, &format!("{kept}{counted}"));
    });
    assert_eq!(warnings, Ok(vec![]));
}

#[test]
fn reports_patterns_that_never_match_in_a_check() {
    let named = |change: fn(&mut CryptoserverConfig, &Path), expected: &str| {
        let error = checked(change).expect_err(expected);
        assert!(error.contains(expected), "{error}");
    };
    named(|config, _| config.grants[0].clients.push("sna:foo".into()), "[[grant]] 1, clients: expected dns:");
    named(|config, _| config.grants[0].clients = vec!["san:a.test".into()], "write \"dns:a.test\"");
    named(
        |config, _| config.grants[0].schemes = vec!["rsa-pkcs1-sha256-sgin".into()],
        "near to it: rsa-pkcs1-sha256-sign",
    );
    named(
        |config, directory| config.listen.unix = Some(directory.join("ca.pem")),
        "a file that is not a socket has this name",
    );
    named(|config, directory| config.audit = Some(audit_at(&directory.join("no/a.log"))), "[audit]");
    let warnings = checked(|config, _| config.grants[0].keys = vec!["mial-*".into(), "rsa*".into()]).unwrap();
    assert_eq!(warnings, ["[[grant]] 1, keys: no key has a name that \"mial-*\" fits"]);
}

fn audit_at(file: &Path) -> AuditConfig {
    AuditConfig::at(file.to_owned(), AuditFailure::Stop)
}

#[test]
fn reports_certificates_that_no_client_accepts_in_a_check() {
    use rcgen::{CertificateParams, ExtendedKeyUsagePurpose, KeyPair, date_time_ymd};
    let with = |names: &[&str], usage: ExtendedKeyUsagePurpose, end: Option<Duration>, year: i32| {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.extended_key_usages = vec![usage];
        params.not_before = date_time_ymd(2000, 1, 1);
        params.not_after = match end {
            Some(end) => (std::time::SystemTime::now() + end).into(),
            None => date_time_ymd(year, 1, 1),
        };
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        checked(move |config, _| {
            let tls = config.tls.as_ref().unwrap();
            write(&tls.certificate, &pem);
            write(&tls.private_key, &key.serialize_pem());
        })
    };
    use ExtendedKeyUsagePurpose::{ClientAuth, ServerAuth};
    let expired = with(&["a.test"], ServerAuth, None, 2020).unwrap_err();
    assert!(expired.contains("server.pem: the certificate") && expired.contains("has expired"), "{expired}");
    assert!(with(&[], ServerAuth, None, 4000).unwrap_err().contains("no DNS name or IP address"));
    assert!(with(&["a.test"], ClientAuth, None, 4000).unwrap_err().contains("serverAuth"));
    assert_eq!(with(&["a.test"], ServerAuth, None, 4000), Ok(vec![]));
    let soon = with(&["a.test"], ServerAuth, Some(DAY * 9 + DAY / 2), 0).unwrap();
    assert!(soon[0].contains("expires in 9 days"), "{soon:?}");
}

#[test]
fn refuses_every_secret_that_other_users_may_read() {
    use std::os::unix::fs::PermissionsExt;
    let open = |path: &Path| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644)).unwrap();
    };
    let records = checked(|config, _| open(config.keys.records.as_ref().unwrap())).unwrap_err();
    assert!(records.contains("[keys] records") && records.contains("`chmod 600 "), "{records}");
    let tls = checked(|config, _| open(&config.tls.as_ref().unwrap().private_key)).unwrap_err();
    assert!(tls.contains("server-key.pem") && tls.contains("`chmod 600 "), "{tls}");
    let passphrase = checked(|config, directory| {
        config.keys.passphrase_file = Some(write(&directory.join("passphrase"), "open sesame\n"));
        open(config.keys.passphrase_file.as_ref().unwrap());
    });
    assert!(passphrase.unwrap_err().contains("[keys] passphrase_file"));
    let key = checked(|config, _| open(&config.keys.directory.as_ref().unwrap().join("p256.pem"))).unwrap();
    assert!(key.len() == 1 && key[0].contains("p256.pem: others may read this private key"), "{key:?}");
}

/// Packages give secrets to a service with `root:oarlock 0640`. Root checks them before the service starts.
#[tokio::test(flavor = "multi_thread")]
async fn accepts_group_readable_secrets_in_root_s_check_but_not_in_its_server() {
    use std::os::unix::fs::{PermissionsExt, chown};
    let directory = tempfile::tempdir().unwrap();
    let development = oarlock_server::development::Development::at(directory.path());
    development.prepare().unwrap();
    let mut config = CryptoserverConfig::read(&development.config()).unwrap();
    config.listen.tcp = Some("127.0.0.1:0".parse().unwrap());
    let files = [
        config.tls.as_ref().unwrap().private_key.clone(),
        config.keys.records.clone().unwrap(),
        config.keys.directory.clone().unwrap().join("p256.pem"),
    ];
    // A group of this number has no name.
    let group = u32::MAX - 7;
    if files.iter().any(|file| chown(file, Some(0), Some(group)).is_err()) {
        println!("SKIPPED: only root can give files to another group");
        return;
    }
    for file in &files {
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o640)).unwrap();
    }
    let warnings = check(&config, test_server::engines()).unwrap();
    for file in &files {
        let expected = format!("{}: the group {group} may read this private file", file.display());
        assert!(warnings.iter().any(|warning| warning.starts_with(&expected)), "{warnings:?}");
    }
    assert_eq!(warnings.len(), files.len(), "{warnings:?}");
    let refused = BoundServer::bind(config.clone(), test_server::engines()).await.unwrap_err().to_string();
    assert!(refused.contains("server-key.pem: others may read this private file"), "{refused}");
    // A check too refuses secrets that root does not own or that other users may read.
    chown(&files[0], Some(65_534), None).unwrap();
    assert!(check(&config, test_server::engines()).is_err());
    chown(&files[0], Some(0), None).unwrap();
    std::fs::set_permissions(&files[0], std::fs::Permissions::from_mode(0o644)).unwrap();
    assert!(check(&config, test_server::engines()).is_err());
}

#[test]
fn warns_about_a_certificate_that_does_not_belong_to_the_server_s_chain() {
    let warnings = checked(|config, _| {
        let path = &config.tls.as_ref().unwrap().certificate;
        let leaf = std::fs::read_to_string(path).unwrap();
        let mut params = rcgen::CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(rcgen::DnType::CommonName, "another authority");
        let other = params.self_signed(&rcgen::KeyPair::generate().unwrap()).unwrap().pem();
        drop(write(path, &(leaf + &other)));
    });
    let warnings = warnings.unwrap();
    let expected = "(CN=another authority) is not that of the issuer of the one before";
    assert!(
        warnings.len() == 1 && warnings[0].starts_with("[tls] certificate: certificate "),
        "{warnings:?}"
    );
    assert!(warnings[0].contains(expected), "{warnings:?}");
}

#[test]
fn warns_about_an_authority_that_has_expired_or_expires_soon() {
    let warned = |lasts: Duration, is_over: bool| {
        let mut params = rcgen::CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(rcgen::DnType::CommonName, "the clients' authority");
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        params.not_before = rcgen::date_time_ymd(2000, 1, 1);
        params.not_after = match is_over {
            true => rcgen::date_time_ymd(2020, 1, 1),
            false => (std::time::SystemTime::now() + lasts).into(),
        };
        let pem = params.self_signed(&rcgen::KeyPair::generate().unwrap()).unwrap().pem();
        checked(|config, _| drop(write(&config.tls.as_ref().unwrap().client_ca, &pem))).unwrap()
    };
    let ended = warned(DAY, true);
    assert!(ended.len() == 1 && ended[0].contains("[tls] client_ca"), "{ended:?}");
    assert!(ended[0].contains("has expired"), "{ended:?}");
    let soon = warned(DAY * 9 + DAY / 2, false);
    assert!(soon[0].contains("[tls] client_ca") && soon[0].contains("expires in 9 days"), "{soon:?}");
    assert_eq!(warned(DAY * 300, false), [""; 0]);
}
