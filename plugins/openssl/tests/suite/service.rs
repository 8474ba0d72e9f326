//! `openssl` with the provider and a cryptoserver: keys of files, keys of the server, and all failures in between.

use std::io::{Read, Write};
use std::os::unix::net::UnixListener;

use crate::common::server::{ALL_GRANTED, CryptoServer};
use crate::common::{self, KEYS, TestDirectory, configuration, program};
use crate::conformance;
use crate::filter::{self, ForbiddenCall, forbid};
use crate::lives;
use crate::post_quantum;

/// Makes a directory whose provider uses a cryptoserver, which holds a key of every type under its own name.
fn start_with_keys() -> Option<(TestDirectory, CryptoServer)> {
    with_settings(ALL_GRANTED)
}

fn with_settings(settings: &str) -> Option<(TestDirectory, CryptoServer)> {
    program("openssl")?;
    let dir = TestDirectory::new("");
    dir.keys();
    dir.write("message", b"a message");
    let mut server = CryptoServer::with(&dir, settings);
    server.stop();
    for (name, _) in KEYS {
        server.hold(&dir, name, name);
        server.reference(&dir, name, name, &format!("{name}.ref"));
    }
    server.begin();
    dir.write("openssl.cnf", configuration(&server.section()));
    Some((dir, server))
}

/// Signs with the key `with`, and verifies without the provider.
fn signs(dir: &TestDirectory, key: &str, with: &str) {
    if key == "ed25519" {
        dir.openssl(&format!("pkeyutl -sign -rawin -inkey {with} -in message -out signature")).ok();
        dir.plain("pkeyutl -verify -rawin -pubin -inkey ed25519.pub -in message -sigfile signature").ok();
        return;
    }
    dir.openssl(&format!("dgst -sha256 -sign {with} -out signature message")).ok();
    dir.plain(&format!("dgst -sha256 -verify {key}.pub -signature signature message")).ok();
}

#[test]
fn signs_with_keys_by_file_uri_and_reference() {
    let Some((dir, _server)) = start_with_keys() else { return };
    for (key, _) in KEYS {
        signs(&dir, key, key);
        signs(&dir, key, &format!("oarlock:{key}"));
        signs(&dir, key, &format!("{key}.ref"));
    }
    let pss = "-sigopt rsa_padding_mode:pss";
    dir.openssl(&format!("dgst -sha256 {pss} -sign oarlock:rsa -out signature message")).ok();
    dir.plain(&format!("dgst -sha256 {pss} -verify rsa.pub -signature signature message")).ok();
}

#[test]
fn held_keys_decrypt_and_export_only_their_public_half() {
    let Some((dir, _server)) = start_with_keys() else { return };
    dir.plain("pkeyutl -encrypt -pubin -inkey rsa.pub -in message -out cipher").ok();
    dir.openssl("pkeyutl -decrypt -inkey oarlock:rsa -in cipher -out decrypted").ok();
    assert_eq!(dir.read("decrypted"), b"a message");
    for (key, _) in KEYS {
        dir.openssl(&format!("pkey -in oarlock:{key} -pubout -out shown.pub")).ok();
        assert_eq!(dir.read("shown.pub"), dir.read(&format!("{key}.pub")));
        dir.openssl(&format!("pkey -in oarlock:{key} -out shown")).failed();
    }
    // What only the default provider computes needs the key in this process.
    let said = dir.openssl("dgst -md5 -sign oarlock:rsa -out signature message").failed();
    assert!(said.contains("digest md5 is not offered by oarlock"), "{said}");
    dir.plain("dgst -md5 -sign rsa -out signature message").ok();
    dir.openssl("dgst -md5 -prverify oarlock:rsa -signature signature message").ok();
}

#[test]
fn held_ec_keys_agree_on_secrets() {
    let Some((dir, _server)) = start_with_keys() else { return };
    for (key, curve) in [("p256", "P-256"), ("p384", "P-384")] {
        dir.key("peer", &format!("-algorithm EC -pkeyopt ec_paramgen_curve:{curve}"));
        dir.openssl(&format!("pkeyutl -derive -inkey oarlock:{key} -peerkey peer.pub -out secret")).ok();
        dir.plain(&format!("pkeyutl -derive -inkey peer -peerkey {key}.pub -out expected")).ok();
        assert_eq!(dir.read("secret"), dir.read("expected"), "{key}");
    }
}

#[test]
fn tls_servers_use_keys_of_the_cryptoserver() {
    let Some((dir, _server)) = start_with_keys() else { return };
    conformance::handshakes(&dir);
    for (key, _) in KEYS {
        // The file that a program is told to read carries a reference in place of the key.
        dir.write(key, dir.read(&format!("{key}.ref")));
    }
    for (key, _) in KEYS {
        for version in ["-tls1_3", "-tls1_2"] {
            conformance::connect_to(&dir, key, version);
        }
    }
    conformance::connect_to(&dir, "rsa", "-tls1_2 -cipher AES128-GCM-SHA256");
}

#[test]
fn a_cryptoserver_works_with_forks_threads_and_contexts() {
    let Some((dir, _server)) = start_with_keys() else { return };
    lives::lead(&dir, &["rsa", "rsa.ref"]);
}

#[test]
fn jobs_pause_for_the_cryptoserver() {
    let Some((dir, _server)) = start_with_keys() else { return };
    conformance::async_jobs(&dir);
}

#[test]
fn held_post_quantum_keys_sign_and_decapsulate() {
    let Some((dir, mut server)) = start_with_keys() else { return };
    server.stop();
    for (name, algorithm) in [("kem", "ML-KEM-768"), ("mldsa", "ML-DSA-65")] {
        dir.openssl(&format!("genpkey -algorithm {algorithm} -out {name}")).ok();
        server.hold(&dir, name, name);
        server.reference(&dir, name, name, &format!("{name}.ref"));
    }
    server.begin();
    post_quantum::keys::jobs(&dir, &["oarlock:kem", "oarlock:mldsa"]);
    let metrics = server.metrics();
    for operation in ["ml-kem-768-decaps", "ml-dsa-65-sign"] {
        assert!(metrics.contains(operation), "{operation}: {metrics}");
    }
    // The references name the same keys, which never leave.
    post_quantum::keys::jobs(&dir, &["kem.ref", "mldsa.ref"]);
    for name in ["kem", "mldsa"] {
        dir.openssl(&format!("pkey -in oarlock:{name} -pubout -out held.pub")).ok();
        dir.openssl(&format!("pkey -in {name} -pubout -out {name}.pub")).ok();
        assert_eq!(dir.read("held.pub"), dir.read(&format!("{name}.pub")), "{name}");
        dir.openssl(&format!("pkey -in oarlock:{name} -out leaked")).failed();
    }
}

#[test]
fn without_a_server_local_keys_work_with_one_warning() {
    let Some((dir, mut server)) = start_with_keys() else { return };
    server.stop();
    let said = conformance::two_connections(&dir, "rsa");
    let expected = "this process uses its own keys until";
    assert_eq!(said.matches(expected).count(), 1, "{said}");
    signs(&dir, "rsa", "rsa");
    let said = dir.openssl("dgst -sha256 -sign rsa.ref -out signature message").failed();
    assert!(said.contains("cryptoserver: ") && said.contains("oarlock.sock: cannot connect"), "{said}");
    let said = dir.openssl("dgst -sha256 -sign oarlock:rsa -out signature message").failed();
    assert!(said.contains("cannot connect"), "{said}");
    server.begin();
    signs(&dir, "rsa", "rsa.ref");
}

#[test]
fn without_shared_memory_the_socket_serves_with_one_warning() {
    let Some((dir, _server)) = start_with_keys() else { return };
    if !filter::are_filters_possible() {
        return;
    }
    let sign = "dgst -sha256 -sign oarlock:rsa -out signature message";
    let result = dir.openssl_with(sign, |command| forbid(command, ForbiddenCall::SharedMmap));
    let said = result.said();
    result.ok();
    assert_eq!(said.matches("the cryptoserver is asked without shared memory: mmap: ").count(), 1, "{said}");
    dir.plain("dgst -sha256 -verify rsa.pub -signature signature message").ok();
    // A user who turns it off needs no warning.
    let result = dir.openssl_with(sign, |command| {
        command.env("OARLOCK_NO_RING", "1");
    });
    let said = result.said();
    result.ok();
    assert!(!said.contains("shared memory"), "{said}");
}

/// Writes the settings of a provider that verifies at the server.
fn verify_at_server(dir: &TestDirectory, server: &CryptoServer) {
    dir.write("openssl.cnf", configuration(&format!("{}\nverify_at = server", server.section())));
}

#[test]
fn the_server_verifies_if_the_settings_say_so() {
    let Some((dir, mut server)) = start_with_keys() else { return };
    conformance::signatures(&dir);
    assert!(!server.metrics().contains("verify"), "{}", server.metrics());
    verify_at_server(&dir, &server);
    conformance::signatures(&dir);
    conformance::handshakes(&dir);
    let page = server.metrics();
    for operation in [
        "rsa-pkcs1-sha256-verify",
        "rsa-pss-sha256-verify",
        "ecdsa-p256-sha256-verify",
        "ecdsa-p384-sha384-verify",
        "ed25519-verify",
    ] {
        for code in ["DONE", "REJECTED"] {
            let sample = format!("oarlock_operations_total{{operation=\"{operation}\",code=\"{code}\"}}");
            assert!(page.contains(&sample), "{sample}\n{page}");
        }
    }
    // Without a server this process verifies, and says so.
    dir.openssl("dgst -sha256 -sign p256 -out signature message").ok();
    server.stop();
    let result = dir.openssl("dgst -sha256 -verify p256.pub -signature signature message");
    let said = result.said();
    result.ok();
    assert_eq!(said.matches("this process uses its own keys until").count(), 1, "{said}");
    dir.write("message", b"another message");
    dir.openssl("dgst -sha256 -verify p256.pub -signature signature message").failed();
}

#[test]
fn the_process_verifies_what_the_server_refuses() {
    let settings = format!("limits.may_bring_keys = false\n{ALL_GRANTED}");
    let Some((dir, server)) = with_settings(&settings) else { return };
    verify_at_server(&dir, &server);
    dir.plain("dgst -sha256 -sign p256 -out signature message").ok();
    let verify = "dgst -sha256 -verify p256.pub -signature signature message";
    let result = dir.openssl(verify);
    let said = result.said();
    result.ok();
    let warning = "may_bring_keys is false); this process verifies what the cryptoserver refuses to verify";
    assert_eq!(said.matches(warning).count(), 1, "{said}");
    dir.write("message", b"another message");
    dir.openssl(verify).failed();
}

#[test]
fn jobs_pause_while_the_server_verifies() {
    let Some((dir, server)) = start_with_keys() else { return };
    verify_at_server(&dir, &server);
    dir.openssl("speed -async_jobs 16 -seconds 1 ecdsap256").ok();
    assert!(
        server.metrics().contains("operation=\"ecdsa-p256-sha256-verify\",code=\"DONE\""),
        "{}",
        server.metrics()
    );
}

#[test]
fn rejects_another_key_under_the_same_name() {
    let Some((dir, mut server)) = start_with_keys() else { return };
    server.stop();
    dir.key("other", "-algorithm RSA -pkeyopt rsa_keygen_bits:2048");
    server.hold(&dir, "other", "rsa");
    server.begin();
    let said = dir.openssl("dgst -sha256 -sign rsa.ref -out signature message").failed();
    assert!(said.contains("not the key that the client expects"), "{said}");
}

#[test]
fn names_a_key_that_the_client_may_not_use() {
    let settings = "[[grant]]\nkeys = [\"p256\"]\nclients = [\"*\"]\n";
    let Some((dir, _server)) = with_settings(settings) else { return };
    signs(&dir, "p256", "oarlock:p256");
    for with in ["oarlock:rsa", "rsa.ref"] {
        let said = dir.openssl(&format!("dgst -sha256 -sign {with} -out signature message")).failed();
        assert!(said.contains("refused") && said.contains("rsa"), "{said}");
    }
    let said = dir.openssl("dgst -sha256 -sign oarlock:nobodys -out signature message").failed();
    assert!(said.contains("nobodys"), "{said}");
}

#[test]
fn sends_nothing_to_a_socket_of_another_user() {
    let Some((dir, mut server)) = start_with_keys() else { return };
    server.stop();
    if !rustix::process::geteuid().is_root() {
        eprintln!("SKIPPED: only root can be another user");
        return;
    }
    let path = server.socket();
    let mut other = dir.plain_command("setpriv");
    let script = format!(
        "use IO::Socket::UNIX; my $s = IO::Socket::UNIX->new(Local => '{}', Listen => 5) or die $!; \
         print \"ready\\n\"; close STDOUT; while (my $c = $s->accept) {{ my $n = sysread $c, my $b, 4096; \
         warn \"got $n bytes\\n\" if $n; }}",
        path.display()
    );
    std::os::unix::fs::chown(path.parent().unwrap(), Some(65534), None).unwrap();
    std::fs::set_permissions(
        dir.directory.path(),
        <std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755),
    )
    .unwrap();
    other.args(["--reuid=65534", "--clear-groups", "perl", "-e", &script]);
    other.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let Ok(mut child) = other.spawn() else {
        eprintln!("SKIPPED: setpriv is not installed");
        return;
    };
    let mut ready = [0; 6];
    child.stdout.take().unwrap().read_exact(&mut ready).unwrap();
    let said = dir.openssl("dgst -sha256 -sign rsa.ref -out signature message").failed();
    // A key that is here is not sent either, and is not used as if the server were only away.
    let brought = dir.openssl("dgst -sha256 -sign rsa -out signature message").failed();
    child.kill().unwrap();
    let mut got = String::new();
    child.stderr.take().unwrap().read_to_string(&mut got).unwrap();
    child.wait().unwrap();
    assert!(said.contains("found one of uid 65534"), "{said}");
    assert!(brought.contains("found one of uid 65534"), "{brought}");
    assert!(!got.contains("got "), "{got}");
}

#[test]
fn a_truncated_or_missing_answer_is_an_error() {
    let Some((dir, mut server)) = start_with_keys() else { return };
    server.stop();
    let listener = UnixListener::bind(server.socket()).unwrap();
    // The first client hears half a frame, those behind it nothing.
    let thread = std::thread::spawn(move || {
        let mut kept = Vec::new();
        for stream in listener.incoming().take(2) {
            let mut stream = stream.unwrap();
            let mut question = [0; 4096];
            let _ = stream.read(&mut question).unwrap();
            if kept.is_empty() {
                stream.write_all(&[0xFF, 0, 0, 0, 1, 2]).unwrap();
                stream.shutdown(std::net::Shutdown::Both).unwrap();
            }
            kept.push(stream);
        }
        kept
    });
    let said = dir.openssl("dgst -sha256 -sign rsa.ref -out signature message").failed();
    assert!(said.contains("connection ended after") || said.contains("answer"), "{said}");
    let mut command = dir.command("openssl");
    command.args("dgst -sha256 -sign rsa.ref -out signature message".split(' '));
    let said = common::ProgramResult::from_command(command.env("OARLOCK_PATIENCE_MS", "200")).failed();
    assert!(said.contains("no answer within 200 ms"), "{said}");
    drop(thread.join().unwrap());
}

#[test]
fn reports_a_malformed_reference() {
    let Some((dir, _server)) = start_with_keys() else { return };
    dir.write("bad", "-----BEGIN OARLOCK KEY REFERENCE-----\nAAAA\n-----END OARLOCK KEY REFERENCE-----\n");
    let said = dir.openssl("dgst -sha256 -sign bad -out signature message").failed();
    assert!(said.contains("oarlock"), "{said}");
    let cut = dir.read("rsa.ref");
    dir.write("cut", &cut[..cut.len() / 2]);
    dir.openssl("dgst -sha256 -sign cut -out signature message").failed();
}
