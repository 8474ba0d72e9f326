//! OpenSSH's server and client against this crate's records, with key exchanges on the way.

use std::collections::VecDeque;
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use aws_lc_rs::signature::Ed25519KeyPair;
use oarlock_sockets::ConnectionSide;

use crate::common;
use crate::ssh_peer::*;

const SSH: &str = "/usr/bin/ssh";
const SSHD: &str = "/usr/sbin/sshd";

/// Cipher, MAC, and true for OpenSSH's strict key exchange.
const CASES: [([&str; 2], bool); 7] = [
    (["chacha20-poly1305@openssh.com", "hmac-sha2-256"], true),
    (["aes128-gcm@openssh.com", "hmac-sha2-256"], true),
    (["aes256-gcm@openssh.com", "hmac-sha2-256"], false),
    (["aes128-ctr", "hmac-sha2-256-etm@openssh.com"], true),
    (["aes256-ctr", "hmac-sha2-512"], false),
    (["aes128-ctr", "hmac-sha2-512-etm@openssh.com"], false),
    (["3des-cbc", "hmac-sha1"], true),
];

#[test]
fn a_client_of_ours_logs_in_to_openssh_and_runs_cat() {
    if !exists(SSHD) {
        return;
    }
    for (names, is_strict) in CASES {
        let exchanges = run_client(names, is_strict, 1 << 19);
        // 512 KiB each way at 128 KiB a key, and one exchange that the client asked for.
        assert!(exchanges >= 4, "{names:?}: {exchanges} key exchanges");
    }
}

#[test]
fn openssh_logs_in_to_a_server_of_ours() {
    if !exists(SSH) {
        return;
    }
    for (names, is_strict) in CASES {
        let exchanges = run_server(names, is_strict, 1 << 19);
        assert!(exchanges >= 4, "{names:?}: {exchanges} key exchanges");
    }
}

/// 1 GiB each way with five ciphers.
#[test]
#[ignore = "takes minutes: cargo test --release -p oarlock-sockets --test suite -- --ignored openssh::"]
fn a_gigabyte_passes_each_way() {
    if !exists(SSHD) || !exists(SSH) {
        return;
    }
    for (names, is_strict) in CASES {
        for (side, run) in [("client", run_client as fn(_, _, _) -> _), ("server", run_server)] {
            let exchanges = run(names, is_strict, 1 << 30);
            println!("{names:?}: 1 GiB each way as the {side}, {exchanges} key exchanges");
            assert!(exchanges >= 4, "{names:?}: {exchanges} key exchanges");
        }
    }
}

fn exists(program: &str) -> bool {
    let is_there = Path::new(program).exists();
    if !is_there {
        println!("SKIPPED: no {program} (Debian and Ubuntu: apt-get install openssh-server openssh-client)");
    }
    is_there
}

fn new_key() -> Ed25519KeyPair {
    Ed25519KeyPair::generate().unwrap()
}

fn user_name() -> String {
    let output = Command::new("id").arg("-un").output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Sends `bytes` through `cat` and returns the number of key exchanges.
fn run_client(names: [&'static str; 2], is_strict: bool, bytes: usize) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let user_key = new_key();
    let config = write_sshd_config(folder.path(), &user_key, bytes / 4);
    let (stream, mut sshd) = start_sshd(&config);
    let mut peer = SshPeer::connect(stream, ConnectionSide::Client, names, is_strict, None);
    log_in(&mut peer, &user_key);
    let channel = open_channel(&mut peer);
    let mut left = bytes;
    let mut has_asked = false;
    while left > 0 {
        let piece = common::bytes(left as u64, left.min(32_000));
        echo(&mut peer, channel, &piece);
        left -= piece.len();
        if left < bytes / 2 && !has_asked {
            has_asked = true;
            peer.rekey();
        }
    }
    peer.send(&message(CHANNEL_EOF, &[&channel.to_be_bytes()]));
    loop {
        let received = peer.receive();
        if received[0] == CHANNEL_CLOSE {
            break;
        }
        assert!(
            matches!(received[0], CHANNEL_EOF | CHANNEL_REQUEST | WINDOW_ADJUST),
            "message {}",
            received[0]
        );
    }
    let exchanges = peer.exchanges;
    drop(peer);
    sshd.wait().unwrap();
    exchanges
}

fn write_sshd_config(folder: &Path, user_key: &Ed25519KeyPair, rekey_bytes: usize) -> PathBuf {
    let (host_key, keys, config) =
        (folder.join("host_key"), folder.join("authorized_keys"), folder.join("sshd_config"));
    make_key(&host_key);
    std::fs::write(&keys, format!("ssh-ed25519 {}\n", base64(&key_blob(user_key)))).unwrap();
    let ciphers: Vec<&str> = CASES.iter().map(|(names, _)| names[0]).collect();
    let macs: Vec<&str> = CASES.iter().map(|(names, _)| names[1]).collect();
    let text = format!(
        "HostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\nPidFile none\nPermitRootLogin yes\n\
         PasswordAuthentication no\nUseDNS no\nLogLevel ERROR\nKexAlgorithms curve25519-sha256\n\
         Ciphers {}\nMACs {}\nRekeyLimit {rekey_bytes}\n",
        host_key.display(),
        keys.display(),
        ciphers.join(","),
        macs.join(","),
    );
    std::fs::write(&config, text).unwrap();
    config
}

fn make_key(path: &Path) {
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "", "-f"])
        .arg(path)
        .status()
        .expect("ssh-keygen is part of openssh-client");
    assert!(made.success());
}

/// Starts a server for one connection, as inetd does.
fn start_sshd(config: &Path) -> (TcpStream, Child) {
    // The server wants this folder of its package's unit. Without root it runs without it.
    let _ = std::fs::create_dir_all("/run/sshd");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let server = listener.accept().unwrap().0;
    let output = server.try_clone().unwrap();
    let sshd = Command::new(SSHD)
        .args(["-i", "-e", "-f"])
        .arg(config)
        .stdin(OwnedFd::from(server))
        .stdout(OwnedFd::from(output))
        .spawn()
        .unwrap();
    (client, sshd)
}

/// RFC 4252 section 7.
fn log_in(peer: &mut SshPeer, key: &Ed25519KeyPair) {
    peer.send(&message(SERVICE_REQUEST, &[&string(b"ssh-userauth")]));
    assert_eq!(peer.receive()[0], SERVICE_ACCEPT);
    let user = user_name();
    let request = message(
        USERAUTH_REQUEST,
        &[
            &string(user.as_bytes()),
            &string(b"ssh-connection"),
            &string(b"publickey"),
            &[1],
            &string(b"ssh-ed25519"),
            &string(&key_blob(key)),
        ],
    );
    let signed = [string(&peer.session_id), request.clone()].concat();
    peer.send(&[request, string(&sign(key, &signed))].concat());
    assert_eq!(peer.receive()[0], USERAUTH_SUCCESS);
}

/// Opens a session that runs `cat`, and returns the server's number of the channel.
fn open_channel(peer: &mut SshPeer) -> u32 {
    let numbers = [0_u32, i32::MAX as u32, 32_768].map(u32::to_be_bytes).concat();
    peer.send(&message(CHANNEL_OPEN, &[&string(b"session"), &numbers]));
    let confirmation = peer.receive();
    assert_eq!(confirmation[0], CHANNEL_CONFIRMATION);
    let mut fields = Fields(&confirmation[5..]);
    let channel = fields.number();
    peer.send(&message(CHANNEL_REQUEST, &[&channel.to_be_bytes(), &string(b"exec"), &[1], &string(b"cat")]));
    loop {
        match peer.receive()[0] {
            CHANNEL_SUCCESS => return channel,
            kind => assert_eq!(kind, WINDOW_ADJUST),
        }
    }
}

/// Sends a piece and waits until all of it came back, so that neither side waits for the other.
fn echo(peer: &mut SshPeer, channel: u32, piece: &[u8]) {
    peer.send(&message(CHANNEL_DATA, &[&channel.to_be_bytes(), &string(piece)]));
    let mut returned: Vec<u8> = Vec::new();
    while returned.len() < piece.len() {
        let received = peer.receive();
        match received[0] {
            CHANNEL_DATA => returned.extend(Fields(&received[5..]).string()),
            kind => assert_eq!(kind, WINDOW_ADJUST),
        }
    }
    assert_eq!(returned, piece);
    // The window of 2 GiB would end before a long run does.
    peer.send(&message(WINDOW_ADJUST, &[&channel.to_be_bytes(), &(piece.len() as u32).to_be_bytes()]));
}

/// Serves one login of OpenSSH's client, and returns the number of key exchanges.
fn run_server(names: [&'static str; 2], is_strict: bool, bytes: usize) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let (user_key, input) = (folder.path().join("user_key"), folder.path().join("input"));
    make_key(&user_key);
    std::fs::write(&input, common::bytes(9, bytes)).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let client = Command::new(SSH)
        .args([
            "-F",
            "none",
            "-p",
            &port.to_string(),
            "-o",
            "StrictHostKeyChecking=no",
            "-o",
            "BatchMode=yes",
        ])
        .args(["-o", "UserKnownHostsFile=/dev/null", "-o", "IdentitiesOnly=yes", "-o", "LogLevel=ERROR"])
        .args(["-o", "KexAlgorithms=curve25519-sha256", "-o", "IdentityAgent=none", "-T"])
        .args(["-o", &format!("Ciphers={}", names[0]), "-o", &format!("MACs={}", names[1])])
        .args(["-o", &format!("RekeyLimit={}", bytes / 4), "-i"])
        .args([&user_key, Path::new("127.0.0.1"), Path::new("cat")])
        .stdin(std::fs::File::open(&input).unwrap())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let stream = listener.accept().unwrap().0;
    let server = std::thread::spawn(move || {
        let mut peer = SshPeer::connect(stream, ConnectionSide::Server, names, is_strict, Some(new_key()));
        serve_login(&mut peer);
        serve_cat(&mut peer);
        peer.exchanges
    });
    let output = client.wait_with_output().unwrap();
    assert!(output.status.success(), "{names:?}");
    assert!(output.stdout == common::bytes(9, bytes), "{names:?}: {} bytes came back", output.stdout.len());
    server.join().unwrap()
}

/// Accepts every user that signs with an Ed25519 key. RFC 4252 section 7.
fn serve_login(peer: &mut SshPeer) {
    assert_eq!(peer.receive()[0], SERVICE_REQUEST);
    peer.send(&message(SERVICE_ACCEPT, &[&string(b"ssh-userauth")]));
    loop {
        let request = peer.receive();
        assert_eq!(request[0], USERAUTH_REQUEST);
        let mut fields = Fields(&request[1..]);
        let (_user, _service, method) = (fields.string(), fields.string(), fields.string());
        if method != b"publickey" {
            peer.send(&message(USERAUTH_FAILURE, &[&string(b"publickey"), &[0]]));
            continue;
        }
        let is_signed = fields.take(1) == [1];
        let (algorithm, blob) = (fields.string(), fields.string());
        if !is_signed {
            peer.send(&message(USERAUTH_PK_OK, &[&string(algorithm), &string(blob)]));
            continue;
        }
        let signed_len = request.len() - fields.0.len();
        let signed = [&string(&peer.session_id)[..], &request[..signed_len]].concat();
        verify(blob, &signed, fields.string());
        peer.send(&[USERAUTH_SUCCESS]);
        return;
    }
}

/// Returns every byte of the one channel to its sender, as far as the sender's window allows. RFC 4254 section 5.2.
fn serve_cat(peer: &mut SshPeer) {
    let mut channel = [0; 4];
    let mut window = 0;
    let mut waiting = VecDeque::new();
    let mut has_ended = false;
    loop {
        let received = peer.receive();
        let mut fields = Fields(&received[1..]);
        match received[0] {
            CHANNEL_OPEN => {
                fields.string();
                channel.copy_from_slice(fields.take(4));
                window = fields.number() as usize;
                let numbers = [0_u32, i32::MAX as u32, 32_768].map(u32::to_be_bytes).concat();
                peer.send(&message(CHANNEL_CONFIRMATION, &[&channel, &numbers]));
            }
            CHANNEL_REQUEST => {
                fields.number();
                fields.string();
                if fields.take(1) == [1] {
                    peer.send(&message(CHANNEL_SUCCESS, &[&channel]));
                }
            }
            CHANNEL_DATA => {
                fields.number();
                waiting.push_back(fields.string().to_vec());
            }
            WINDOW_ADJUST => {
                fields.number();
                window += fields.number() as usize;
            }
            CHANNEL_EOF => has_ended = true,
            CHANNEL_CLOSE => return,
            kind => panic!("message {kind}"),
        }
        while waiting.front().is_some_and(|data| data.len() <= window) {
            let data = waiting.pop_front().unwrap();
            window -= data.len();
            peer.send(&message(CHANNEL_DATA, &[&channel, &string(&data)]));
        }
        if has_ended && waiting.is_empty() {
            has_ended = false;
            peer.send(&message(CHANNEL_EOF, &[&channel]));
            let status = [string(b"exit-status"), vec![0], vec![0; 4]].concat();
            peer.send(&message(CHANNEL_REQUEST, &[&channel, &status]));
            peer.send(&message(CHANNEL_CLOSE, &[&channel]));
        }
    }
}

/// RFC 4648 section 4.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let mut padded = [0; 4];
        padded[1..=three.len()].copy_from_slice(three);
        let number = u32::from_be_bytes(padded);
        for digit in 0..4 {
            let index = (number >> (18 - 6 * digit)) as usize & 63;
            text.push(if digit <= three.len() { DIGITS[index] as char } else { '=' });
        }
    }
    text
}
