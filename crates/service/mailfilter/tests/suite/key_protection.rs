//! The protection of keys by DNSSEC, as a validating resolver on this host states it: Unbound with a signed zone, an
//! unsigned one, and one whose record was changed after it was signed. OpenDKIM validates the same zones by itself.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use oarlock::keys::generate;
use oarlock_dkim::DkimVerdict;
use oarlock_mail_files::dns::{ResolverSettings, TxtAnswer, TxtResolver};
use oarlock_mailfilter::{MessageFault, MessageOutcome};
use oarlock_milter::MilterSocket;
use oarlock_milter::protocol::MessageChange;

use crate::opendkim_tables::OpenDkim;
use crate::running_filter::{FilterFiles, RunningFilter, TestMail, connect, scalar, send_as, text};

/// The time after which Unbound counts as hanging.
const HANGS: Duration = Duration::from_secs(60);

const ZONES: [&str; 3] = ["signed.test", "plain.test", "bogus.test"];

/// A resolver that validates, and has the zones itself.
struct Unbound {
    child: Child,
    address: SocketAddr,
}

impl Drop for Unbound {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns true if the programs are installed.
fn is_possible() -> bool {
    let folders = ["/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin"].map(Path::new);
    ["unbound", "dnssec-keygen", "dnssec-signzone"].into_iter().all(|program| {
        let is_there = folders.iter().any(|folder| folder.join(program).is_file());
        if !is_there {
            println!("SKIPPED: {program} is not installed");
        }
        is_there
    })
}

fn run(directory: &Path, program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).current_dir(directory).output().unwrap();
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Writes the zones, and signs two of them. Returns the trust anchors.
fn write_zones(files: &FilterFiles, directory: &Path) -> String {
    let mut anchors = String::new();
    for zone in ZONES {
        let mut text = "$TTL 300\n@ SOA ns admin 1 3600 600 86400 60\n@ NS ns\nns A 127.0.0.1\n".to_owned();
        for line in files.records.lines() {
            let (name, record) = line.split_once(' ').unwrap();
            if let Some(name) = name.strip_suffix(&format!(".{zone}")) {
                let strings: Vec<_> = oarlock_dkim::record_strings(record).collect();
                text += &format!("{name} TXT \"{}\"\n", strings.join("\" \""));
            }
        }
        let file = directory.join(zone);
        if zone == "plain.test" {
            fs::write(file, text).unwrap();
            continue;
        }
        let arguments = ["-q", "-a", "ECDSAP256SHA256", "-f", "KSK", zone];
        let key = run(directory, "dnssec-keygen", &arguments).trim().to_owned();
        let anchor = fs::read_to_string(directory.join(format!("{key}.key"))).unwrap();
        fs::write(&file, text + &anchor).unwrap();
        run(directory, "dnssec-signzone", &["-q", "-z", "-o", zone, "-f", "signed", zone, &key]);
        let signed = fs::read_to_string(directory.join("signed")).unwrap();
        let served = if zone == "bogus.test" { signed.replace("v=DKIM1;", "v=DKIM2;") } else { signed };
        fs::write(file, served).unwrap();
        anchors += &anchor;
    }
    anchors
}

impl Unbound {
    async fn start(files: &FilterFiles) -> Self {
        let directory: PathBuf = files.path("zones");
        fs::create_dir(&directory).unwrap();
        fs::write(directory.join("anchors"), write_zones(files, &directory)).unwrap();
        let port = oarlock_measure::ports::free_ports(1).unwrap()[0];
        let mut conf = format!(
            "server:\n username: \"\"\n chroot: \"\"\n directory: \"{0}\"\n pidfile: \"\"\n use-syslog: no\n\
             \x20interface: 127.0.0.1@{port}\n trust-anchor-file: \"{0}/anchors\"\n local-zone: \"test.\" nodefault\n\
             \x20module-config: \"validator iterator\"\n do-daemonize: no\nremote-control:\n control-enable: no\n",
            directory.display()
        );
        for zone in ZONES {
            conf += &format!(
                "auth-zone:\n name: \"{zone}\"\n zonefile: \"{}\"\n for-downstream: no\n for-upstream: yes\n",
                directory.join(zone).display()
            );
        }
        fs::write(directory.join("unbound.conf"), conf).unwrap();
        let mut command = Command::new("unbound");
        command.args(["-d", "-p", "-c"]).arg(directory.join("unbound.conf"));
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let mut unbound = Self { child, address: SocketAddr::from(([127, 0, 0, 1], port)) };
        unbound.wait().await;
        unbound
    }

    async fn wait(&mut self) {
        let begin = Instant::now();
        loop {
            // A resolver keeps failures, so each attempt has one of its own.
            let resolver = TxtResolver::with_servers(&[self.address], ResolverSettings::default()).unwrap();
            if let TxtAnswer::Records(_) = resolver.lookup("s1._domainkey.plain.test").await {
                return;
            }
            assert!(self.child.try_wait().unwrap().is_none(), "unbound has ended");
            assert!(begin.elapsed() < HANGS, "unbound does not answer");
        }
    }

    /// Starts a filter that asks this resolver.
    async fn filter(&self, files: &FilterFiles, more: &str) -> RunningFilter {
        let config = files.config(more);
        let validators = config.validators();
        let settings = ResolverSettings { validators, ..ResolverSettings::default() };
        let resolver = TxtResolver::with_servers(&[self.address], settings).unwrap();
        RunningFilter::open(config, scalar(), Arc::new(resolver)).await
    }
}

/// Returns files with a key for each zone.
fn files() -> FilterFiles {
    let mut files = FilterFiles::new();
    let key = generate::rsa(2048).unwrap();
    let mut table = String::new();
    for zone in ZONES {
        files.key(zone, "s1", zone, &key);
        table += &format!("{zone} s1 {zone}\n");
    }
    files.table(&table);
    files
}

/// Returns a signed message of each zone.
async fn signed_mails(files: &FilterFiles) -> Vec<TestMail> {
    let filter = files.start_filter("").await;
    let mut mails = Vec::new();
    for zone in ZONES {
        let mail = TestMail::plain().from(&format!(" joe@{zone}"));
        mails.push(mail.changed(&filter.receive_from("127.0.0.1", "localhost", &mail).await));
    }
    filter.stopped().await;
    mails
}

#[tokio::test]
async fn results_name_the_protection_that_a_local_resolver_has_found() {
    if !is_possible() {
        return;
    }
    let files = files();
    let unbound = Unbound::start(&files).await;
    let mails = signed_mails(&files).await;
    for (more, states) in [
        ("", ["(2048-bit key) header", "(2048-bit key) header"]),
        ("dns.dnssec = true", ["(2048-bit key, secure) header", "(2048-bit key, unprotected) header"]),
    ] {
        let filter = unbound.filter(&files, more).await;
        for (mail, state) in mails.iter().zip(states) {
            // The second time the key comes from the cache of the filter.
            for _ in 0..2 {
                let results = mail.changed(&filter.receive(mail).await).results();
                assert!(results.contains(&format!("dkim=pass {state}.d=")), "{more}: {results}");
            }
        }
        // The resolver does not pass on a record whose signature is bad.
        let bogus = &mails[2];
        let results = bogus.changed(&filter.receive(bogus).await).results();
        assert!(results.contains("dkim=temperror") && results.contains("SERVFAIL"), "{results}");
        let metrics = filter.service.metrics();
        let expected = match more {
            "" => [("unknown", 2), ("unprotected", 0), ("secure", 0)],
            _ => [("unknown", 0), ("unprotected", 1), ("secure", 1)],
        };
        assert!(metrics.protections().eq(expected), "{:?}", metrics.protections().collect::<Vec<_>>());
        assert_eq!(metrics.messages(MessageOutcome::Faulty(MessageFault::Dns)), 1);
        assert_eq!(metrics.signatures(DkimVerdict::Pass), 4);
        filter.stopped().await;
    }
}

#[tokio::test]
async fn a_filter_may_require_protected_keys() {
    if !is_possible() {
        return;
    }
    let files = files();
    let unbound = Unbound::start(&files).await;
    let mails = signed_mails(&files).await;
    let filter = unbound.filter(&files, "dns.dnssec = true\nverifying.requires_dnssec = true").await;
    for (mail, expected) in mails.iter().zip([
        "dkim=pass (2048-bit key, secure)",
        "dkim=policy (2048-bit key, unprotected) reason=\"the key record is not protected by DNSSEC\"",
        "dkim=temperror",
    ]) {
        let results = mail.changed(&filter.receive(mail).await).results();
        assert!(results.contains(expected), "{results}");
    }
    assert_eq!(filter.service.metrics().messages(MessageOutcome::Faulty(MessageFault::BadSignature)), 1);
    filter.stopped().await;
}

/// Returns the words in the comment of the first result that a filter adds, without the length of the key.
async fn state(socket: &MilterSocket, mail: &TestMail) -> Option<String> {
    let mut client = connect(socket, "192.0.2.9", "client.example").await;
    let answer = send_as(&mut client, b"<joe@example.com>", mail, b"i\0QUEUED\0").await;
    let results = answer.changes.iter().find_map(|change| match change {
        MessageChange::InsertHeader { name, value, .. } => {
            (text(name) == "Authentication-Results").then(|| text(value))
        }
        _ => None,
    })?;
    let (_, rest) = results.split_once("dkim=pass (2048-bit key")?;
    Some(rest.split_once(')')?.0.trim_start_matches([';', ',', ' ']).to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn finds_the_same_protection_as_opendkim() {
    if !is_possible() {
        return;
    }
    let files = files();
    let unbound = Unbound::start(&files).await;
    let mails = signed_mails(&files).await;
    let directory = files.path("zones");
    // OpenDKIM asks by Unbound's library, which validates again.
    let library = format!(
        "server:\n chroot: \"\"\n username: \"\"\n local-zone: \"test.\" nodefault\n do-not-query-localhost: no\n\
         \x20trust-anchor-file: \"{0}/anchors\"\n module-config: \"validator iterator\"\n\
         forward-zone:\n name: \".\"\n forward-addr: 127.0.0.1@{1}\n",
        directory.display(),
        unbound.address.port()
    );
    fs::write(directory.join("library.conf"), library).unwrap();
    let conf = format!(
        "Mode v\nSyslog no\nAuthservID mx.example\nAlwaysAddARHeader yes\nOn-DNSError accept\n\
         TrustAnchorFile {0}/anchors\nResolverConfiguration {0}/library.conf\n",
        directory.display()
    );
    files.write("opendkim.conf", &conf);
    let Some(peer) = OpenDkim::start(&files.path("opendkim.conf"), &files.path("opendkim")).await else {
        return;
    };
    let filter = unbound.filter(&files, "dns.dnssec = true").await;
    for (mail, expected) in mails.iter().zip([Some("secure"), Some("unprotected"), None]) {
        let (theirs, ours) = (state(&peer.socket, mail).await, state(&filter.socket, mail).await);
        assert_eq!((theirs.as_deref(), ours.as_deref()), (expected, expected));
    }
    filter.stopped().await;
}
