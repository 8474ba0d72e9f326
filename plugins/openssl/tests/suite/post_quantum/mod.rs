//! Groups of TLS 1.3 with ML-KEM, in unchanged servers and clients of OpenSSL 3.0, beside Go and rustls.

mod hello;
pub mod keys;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use rustls::NamedGroup;
use rustls::crypto::aws_lc_rs::kx_group;

use self::hello::{Hello, Share, cut_into_packets, cut_into_records, whole};
use crate::common::{ProgramResult, TestDirectory, program};
use crate::conformance::Server;
use crate::peers::{Visit, apache, haproxy, nginx, postfix, test_directory};

/// The groups of the documentation.
const GROUPS: &str = "X25519MLKEM768:X25519:prime256v1";

/// The groups, by the names of OpenSSL and Go.
const HYBRIDS: [&str; 3] = ["X25519MLKEM768", "SecP256r1MLKEM768", "SecP384r1MLKEM1024"];

/// A certificate and its key.
const PAIR: (&str, &str) = ("p256.crt", "p256");

/// The program of Go.
struct GoPeer(PathBuf);

impl GoPeer {
    /// Builds the program in a test's directory. Prints SKIPPED and returns None without Go 1.26.
    fn build(dir: &TestDirectory) -> Option<Self> {
        let built = dir.path("peer");
        if built.is_file() {
            return Some(Self(built));
        }
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/post_quantum/peer.go");
        let mut build = Command::new(program("go")?);
        build.current_dir(&dir.directory).arg("build").arg("-o").arg(&built).arg(source);
        let result = ProgramResult::from_command(&mut build);
        if !result.output.status.success() {
            eprintln!("SKIPPED: Go does not build the peer: {}", result.said());
            return None;
        }
        Some(Self(built))
    }

    /// Connects to a server. Spaces separate the options.
    fn connect(&self, dir: &TestDirectory, port: u16, options: &str) -> ProgramResult {
        let mut command = dir.plain_command(&self.0);
        command.arg("-connect").arg(format!("127.0.0.1:{port}"));
        command.args(["-authority", PAIR.0]).args(options.split_whitespace());
        ProgramResult::from_command(&mut command)
    }

    /// Starts a server with Go's default groups, for two connections.
    fn serve(&self, dir: &TestDirectory) -> GoServer {
        let mut command = dir.plain_command(&self.0);
        command.args(["-certificate", PAIR.0, "-key", PAIR.1]).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut server = GoServer { lines: BufReader::new(child.stdout.take().unwrap()), child, port: 0 };
        server.port = server.line().trim_start_matches("port ").trim().parse().unwrap();
        server
    }
}

struct GoServer {
    child: Child,
    lines: BufReader<ChildStdout>,
    port: u16,
}

impl GoServer {
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line
    }
}

impl Drop for GoServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn local() -> TestDirectory {
    test_directory("mode = local\nthreads = 2")
}

/// Connects the clients that a server with [`GROUPS`] meets: one that begins with the hybrid, one that offers it and
/// begins with another group that the server does not have, and one that does not know it.
#[track_caller]
fn visit(dir: &TestDirectory, port: u16, page: &str) {
    if let Some(go) = GoPeer::build(dir) {
        let said = go.connect(dir, port, "").ok();
        assert!(said.contains("group X25519MLKEM768 retry false") && said.contains(page), "{said}");
    }
    let groups = [kx_group::SECP384R1, kx_group::X25519MLKEM768];
    let hello = Hello::new(&groups);
    assert_eq!(hello.send(port, whole), Ok((NamedGroup::X25519MLKEM768, true)));
    let said = Visit { port, key: "p256", options: "-tls1_3 -groups X25519" }.https(dir).ok();
    assert!(said.contains("Server Temp Key: X25519") && said.contains(page), "{said}");
    let said = Visit { port, key: "p256", options: "-tls1_2 -groups X25519:P-256" }.https(dir).ok();
    assert!(said.contains("Verification: OK") && said.contains(page), "{said}");
}

#[test]
fn s_server_agrees_by_every_group() {
    if program("openssl").is_none() {
        return;
    }
    let dir = local();
    let server = Server::start(&dir, true, PAIR.1, &format!("-groups {GROUPS}"));
    visit(&dir, server.port, "s_server");
    let groups = format!("-groups {}:P-256", HYBRIDS.join(":"));
    let server = Server::start(&dir, true, PAIR.1, &groups);
    for (name, group) in HYBRIDS.into_iter().zip([
        NamedGroup::X25519MLKEM768,
        NamedGroup::secp256r1MLKEM768,
        NamedGroup::Unknown(0x11ED),
    ]) {
        if let Some(go) = GoPeer::build(&dir) {
            let said = go.connect(&dir, server.port, &format!("-groups {name}")).ok();
            assert!(said.contains(&format!("group {name} ")), "{said}");
        }
        let known = [kx_group::X25519MLKEM768, kx_group::SECP256R1MLKEM768];
        if let Some(known) = known.into_iter().find(|known| known.name() == group) {
            assert_eq!(Hello::new(&[known]).send(server.port, whole), Ok((group, false)));
        }
    }
}

#[test]
fn clients_agree_by_every_group() {
    if program("openssl").is_none() {
        return;
    }
    let dir = local();
    // Both sides are OpenSSL with the provider.
    let groups = format!("-groups {}", HYBRIDS.join(":"));
    let server = Server::start(&dir, true, PAIR.1, &groups);
    for group in HYBRIDS {
        let arguments = format!(
            "s_client -connect 127.0.0.1:{} -CAfile {} -verify_return_error -groups {group}",
            server.port, PAIR.0
        );
        let said = dir.openssl(&arguments).ok();
        assert!(said.contains("Verify return code: 0 (ok)"), "{said}");
        // The same server asks for another share than the first one.
        let said = dir.openssl(&arguments.replace("-groups ", "-groups P-256:")).ok();
        assert!(said.contains("Verify return code: 0 (ok)"), "{said}");
    }
    let Some(go) = GoPeer::build(&dir) else { return };
    let mut server = go.serve(&dir);
    let port = server.port;
    let arguments = format!("s_client -connect 127.0.0.1:{port} -CAfile {} -groups X25519MLKEM768", PAIR.0);
    dir.openssl(&arguments).ok();
    assert_eq!(server.line(), "group X25519MLKEM768\n");
    let Some(curl) = program("curl") else { return };
    let arguments = format!(
        "-sS --tlsv1.3 --curves X25519MLKEM768 --cacert {} --resolve localhost:{port}:127.0.0.1 \
         https://localhost:{port}/",
        PAIR.0
    );
    let fetched = ProgramResult::from_command(dir.command(curl).args(arguments.split_whitespace()));
    assert_eq!(fetched.ok(), "hello");
    assert_eq!(server.line(), "group X25519MLKEM768\n");
}

#[test]
fn nginx_agrees_by_the_hybrid() {
    let dir = local();
    let setting = format!("ssl_ecdh_curve {GROUPS};\n");
    let Some((_daemon, port)) = nginx::start_with(&dir, &[PAIR], &setting) else { return };
    visit(&dir, port, "hello");
    // As often as clients of Internet sites come, with both workers.
    let Some(go) = GoPeer::build(&dir) else { return };
    for _ in 0..20 {
        assert!(go.connect(&dir, port, "").ok().contains("group X25519MLKEM768 retry false"));
    }
}

/// The handshakes of HAProxy run as jobs of `ASYNC_JOB`, which have stacks of 32 KiB.
#[test]
fn haproxy_agrees_by_the_hybrid_within_jobs() {
    let dir = local();
    let curves = format!("curves {GROUPS}");
    let Some(mut proxy) = haproxy::start_with(&dir, &[PAIR], 60_000, &curves) else { return };
    visit(&dir, proxy.port, "hello");
    for changed in [Share::Zero, Share::Short, Share::Large] {
        refused(proxy.port, changed);
    }
    visit(&dir, proxy.port, "hello");
    assert!(proxy.daemon.is_running(), "{}", proxy.daemon.log());
}

#[test]
fn apache_agrees_by_the_hybrid() {
    let dir = local();
    let setting = format!("SSLOpenSSLConfCmd Groups {GROUPS}\n");
    let Some((_daemon, port)) = apache::start_with(&dir, &[PAIR], &setting) else { return };
    visit(&dir, port, "hello");
}

/// Checks that a share that was changed in this way ends the handshake with the alert `illegal_parameter`.
#[track_caller]
fn refused(port: u16, changed: Share) {
    let said = Hello::changed(kx_group::X25519MLKEM768, changed).send(port, whole).unwrap_err();
    assert!(said.contains("IllegalParameter"), "{changed:?}: {said}");
}

#[test]
fn wrong_shares_end_the_handshake_and_not_the_server() {
    if program("openssl").is_none() {
        return;
    }
    let dir = local();
    let server = Server::start(&dir, true, PAIR.1, &format!("-groups {GROUPS}"));
    for changed in [Share::Zero, Share::Short, Share::Long, Share::Empty, Share::Large] {
        refused(server.port, changed);
    }
    assert_eq!(
        Hello::new(&[kx_group::X25519MLKEM768]).send(server.port, whole),
        Ok((NamedGroup::X25519MLKEM768, false))
    );
}

#[test]
fn hellos_may_come_in_many_packets_and_records() {
    if program("openssl").is_none() {
        return;
    }
    let dir = local();
    let server = Server::start(&dir, true, PAIR.1, &format!("-groups {GROUPS}"));
    for cut in [cut_into_packets as fn(&[u8]) -> Vec<Vec<u8>>, cut_into_records] {
        let hello = Hello::new(&[kx_group::X25519MLKEM768]);
        assert_eq!(hello.send(server.port, cut), Ok((NamedGroup::X25519MLKEM768, false)));
        // Only the hello is cut: the second one, behind a retry, comes whole.
        let hello = Hello::new(&[kx_group::SECP384R1, kx_group::X25519MLKEM768]);
        assert_eq!(hello.send(server.port, cut), Ok((NamedGroup::X25519MLKEM768, true)));
    }
}

/// Postfix 3.7 knows the curves by number and ignores other names. Without a known one, the groups of OpenSSL's own
/// configuration stay.
#[test]
fn postfix_agrees_by_the_hybrid() {
    let dir = local();
    let mut text = String::from_utf8(dir.read("openssl.cnf")).unwrap();
    text = text.replacen("[openssl_init]\n", "[openssl_init]\nssl_conf = tls_section\n", 1);
    text += &format!("[tls_section]\nsystem_default = tls_default\n[tls_default]\nGroups = {GROUPS}\n");
    dir.write("openssl.cnf", text);
    let settings = "tls_eecdh_auto_curves = X25519MLKEM768\n";
    let Some((daemon, port)) = postfix::start_with(&dir, PAIR.0, PAIR.1, settings) else { return };
    let Some(go) = GoPeer::build(&dir) else { return };
    let said = go.connect(&dir, port, "-smtp").ok();
    assert!(said.contains("group X25519MLKEM768 retry false"), "{said}");
    Visit { port, key: "p256", options: "-tls1_3 -groups X25519" }.starts_tls(&dir);
    daemon.wait_for_log(|log| log.contains("TLS connection established"));
}
