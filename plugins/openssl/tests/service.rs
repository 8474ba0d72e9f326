//! `openssl` with the provider and a cryptoserver: keys from files, keys that live there, and all that can go wrong between.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;
mod lives;
#[path = "common/server.rs"]
mod server;
mod suite;

use std::io::{Read, Write};
use std::os::unix::net::UnixListener;

use common::{KEYS, Place, configuration, program};
use server::{CryptoServer, EVERYTHING};

/// A place whose provider uses a cryptoserver, which holds every kind of key under its own name.
fn house() -> Option<(Place, CryptoServer)> {
    with_settings(EVERYTHING)
}

fn with_settings(settings: &str) -> Option<(Place, CryptoServer)> {
    program("openssl")?;
    let place = Place::new("");
    place.keys();
    place.write("message", b"a message");
    let mut server = CryptoServer::with(&place, settings);
    server.stop();
    for (name, _) in KEYS {
        server.hold(&place, name, name);
        server.reference(&place, name, name, &format!("{name}.ref"));
    }
    server.begin();
    place.write("openssl.cnf", configuration(&server.section()));
    Some((place, server))
}

/// Signs with what is named and verifies without the provider.
fn signs(place: &Place, key: &str, with: &str) {
    if key == "ed25519" {
        place.openssl(&format!("pkeyutl -sign -rawin -inkey {with} -in message -out signature")).ok();
        place.plain("pkeyutl -verify -rawin -pubin -inkey ed25519.pub -in message -sigfile signature").ok();
        return;
    }
    place.openssl(&format!("dgst -sha256 -sign {with} -out signature message")).ok();
    place.plain(&format!("dgst -sha256 -verify {key}.pub -signature signature message")).ok();
}

#[test]
fn keys_by_file_uri_and_reference_sign() {
    let Some((place, _server)) = house() else { return };
    for (key, _) in KEYS {
        signs(&place, key, key);
        signs(&place, key, &format!("oarlock:{key}"));
        signs(&place, key, &format!("{key}.ref"));
    }
    let pss = "-sigopt rsa_padding_mode:pss";
    place.openssl(&format!("dgst -sha256 {pss} -sign oarlock:rsa -out signature message")).ok();
    place.plain(&format!("dgst -sha256 {pss} -verify rsa.pub -signature signature message")).ok();
}

#[test]
fn held_keys_decrypt_and_show_only_their_public_half() {
    let Some((place, _server)) = house() else { return };
    place.plain("pkeyutl -encrypt -pubin -inkey rsa.pub -in message -out cipher").ok();
    place.openssl("pkeyutl -decrypt -inkey oarlock:rsa -in cipher -out decrypted").ok();
    assert_eq!(place.read("decrypted"), b"a message");
    for (key, _) in KEYS {
        place.openssl(&format!("pkey -in oarlock:{key} -pubout -out shown.pub")).ok();
        assert_eq!(place.read("shown.pub"), place.read(&format!("{key}.pub")));
        place.openssl(&format!("pkey -in oarlock:{key} -out shown")).failed();
    }
}

#[test]
fn servers_shake_hands_with_keys_that_they_do_not_have() {
    let Some((place, _server)) = house() else { return };
    suite::handshakes(&place);
    for (key, _) in KEYS {
        // The file that a program is told to read carries a reference in place of the key.
        place.write(key, place.read(&format!("{key}.ref")));
    }
    for (key, _) in KEYS {
        for version in ["-tls1_3", "-tls1_2"] {
            suite::connect_to(&place, key, version);
        }
    }
    suite::connect_to(&place, "rsa", "-tls1_2 -cipher AES128-GCM-SHA256");
}

#[test]
fn programs_fork_and_have_threads_and_contexts_with_a_cryptoserver() {
    let Some((place, _server)) = house() else { return };
    lives::lead(&place, &["rsa", "rsa.ref"]);
}

#[test]
fn jobs_pause_for_the_cryptoserver_too() {
    let Some((place, _server)) = house() else { return };
    suite::async_jobs(&place);
}

#[test]
fn without_a_server_keys_that_are_here_go_on_and_that_is_said_once() {
    let Some((place, mut server)) = house() else { return };
    server.stop();
    let said = suite::two_connections(&place, "rsa");
    let expected = "keys that are here are used in this process";
    assert_eq!(said.matches(expected).count(), 1, "{said}");
    signs(&place, "rsa", "rsa");
    let said = place.openssl("dgst -sha256 -sign rsa.ref -out signature message").failed();
    assert!(said.contains("cryptoserver: ") && said.contains("oarlock.sock: cannot connect"), "{said}");
    let said = place.openssl("dgst -sha256 -sign oarlock:rsa -out signature message").failed();
    assert!(said.contains("cannot connect"), "{said}");
    server.begin();
    signs(&place, "rsa", "rsa.ref");
}

#[test]
fn another_key_under_the_same_name_signs_nothing() {
    let Some((place, mut server)) = house() else { return };
    server.stop();
    place.key("other", "-algorithm RSA -pkeyopt rsa_keygen_bits:2048");
    server.hold(&place, "other", "rsa");
    server.begin();
    let said = place.openssl("dgst -sha256 -sign rsa.ref -out signature message").failed();
    assert!(said.contains("not the key that the client expects"), "{said}");
}

#[test]
fn keys_that_the_identity_may_not_use_are_refused_by_name() {
    let settings = "[[grant]]\nkeys = [\"p256\"]\nclients = [\"*\"]\n";
    let Some((place, _server)) = with_settings(settings) else { return };
    signs(&place, "p256", "oarlock:p256");
    for with in ["oarlock:rsa", "rsa.ref"] {
        let said = place.openssl(&format!("dgst -sha256 -sign {with} -out signature message")).failed();
        assert!(said.contains("refused") && said.contains("rsa"), "{said}");
    }
    let said = place.openssl("dgst -sha256 -sign oarlock:nobodys -out signature message").failed();
    assert!(said.contains("nobodys"), "{said}");
}

#[test]
fn a_socket_of_another_user_is_sent_nothing() {
    let Some((place, mut server)) = house() else { return };
    server.stop();
    if !rustix::process::geteuid().is_root() {
        eprintln!("SKIPPED: only root can be another user");
        return;
    }
    let path = server.socket();
    let mut other = place.plain_command("setpriv");
    let script = format!(
        "use IO::Socket::UNIX; my $s = IO::Socket::UNIX->new(Local => '{}', Listen => 5) or die $!; \
         print \"ready\\n\"; close STDOUT; while (my $c = $s->accept) {{ my $n = sysread $c, my $b, 4096; \
         warn \"got $n bytes\\n\" if $n; }}",
        path.display()
    );
    std::os::unix::fs::chown(path.parent().unwrap(), Some(65534), None).unwrap();
    std::fs::set_permissions(
        place.directory.path(),
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
    let said = place.openssl("dgst -sha256 -sign rsa.ref -out signature message").failed();
    // A key that is here is not sent either, and is not used as if the server were only away.
    let brought = place.openssl("dgst -sha256 -sign rsa -out signature message").failed();
    child.kill().unwrap();
    let mut got = String::new();
    child.stderr.take().unwrap().read_to_string(&mut got).unwrap();
    child.wait().unwrap();
    assert!(said.contains("found one of uid 65534"), "{said}");
    assert!(brought.contains("found one of uid 65534"), "{brought}");
    assert!(!got.contains("got "), "{got}");
}

#[test]
fn a_truncated_or_missing_answer_is_an_error_and_no_hang() {
    let Some((place, mut server)) = house() else { return };
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
    let said = place.openssl("dgst -sha256 -sign rsa.ref -out signature message").failed();
    assert!(said.contains("connection ended after") || said.contains("answer"), "{said}");
    let mut command = place.command("openssl");
    command.args("dgst -sha256 -sign rsa.ref -out signature message".split(' '));
    let said = common::Ran::of(command.env("OARLOCK_PATIENCE_MS", "200")).failed();
    assert!(said.contains("no answer within 200 ms"), "{said}");
    drop(thread.join().unwrap());
}

#[test]
fn a_malformed_reference_says_what_is_wrong() {
    let Some((place, _server)) = house() else { return };
    place.write("bad", "-----BEGIN OARLOCK KEY REFERENCE-----\nAAAA\n-----END OARLOCK KEY REFERENCE-----\n");
    let said = place.openssl("dgst -sha256 -sign bad -out signature message").failed();
    assert!(said.contains("oarlock"), "{said}");
    let cut = place.read("rsa.ref");
    place.write("cut", &cut[..cut.len() / 2]);
    place.openssl("dgst -sha256 -sign cut -out signature message").failed();
}
