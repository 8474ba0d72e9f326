//! Sockets that systemd binds for the server and the mail filter. Those of the proxy are tested beside it.

use std::fs;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::program::printed::announcement;
use crate::program::{code, command, oarlock, passing, stderr, text};
use oarlock_milter::client::SentMessage;
use oarlock_milter::protocol::FilterReply;
use oarlock_milter::{MilterClient, MilterSocket};
use oarlock_server::development::Development;
use serde_json::Value;

fn start(mut shell: Command, notify: &Path) -> (Child, Value) {
    let manager = UnixDatagram::bind(notify).unwrap();
    shell.env("NOTIFY_SOCKET", notify).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = shell.spawn().unwrap();
    let said = announcement(&mut child);
    let mut buffer = [0; 64];
    let len = manager.recv(&mut buffer).unwrap();
    assert_eq!(&buffer[..len], b"READY=1");
    (child, said)
}

fn stop(mut child: Child) {
    assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
    assert!(child.wait().unwrap().success());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_filter_serves_connections_that_came_before_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let socket = path("milter.sock");
    let settings =
        format!("authserv_id = \"mx.example\"\nlisten.sockets = [\"unix:{}\"]\n", socket.display());
    fs::write(path("milter.toml"), settings).unwrap();
    let listener = UnixListener::bind(&socket).unwrap();
    let mut early = MilterClient::connect(&MilterSocket::Unix(socket.clone())).await.unwrap();
    let program =
        command(&["--json", "milter", "--log", "json", "--config", path("milter.toml").to_str().unwrap()]);
    let shell = passing(OwnedFd::from(listener.try_clone().unwrap()), &program);
    let notify = path("notify");
    let (child, said) = tokio::task::spawn_blocking(move || start(shell, &notify)).await.unwrap();
    assert_eq!(said["sockets"][0], format!("unix:{}", socket.display()));
    early.negotiate().await.unwrap();
    early.greet(b"").await.unwrap();
    let message = SentMessage {
        from: b"<joe@example.com>",
        recipients: &[b"<jane@example.net>"],
        headers: &[(b"From", b" joe@example.com")],
        body: b"At noon?\r\n",
        ..SentMessage::default()
    };
    let answer = early.send(&message).await.unwrap();
    assert_eq!((answer.reply, answer.changes.len()), (FilterReply::Continue, 1));
    early.quit().await.unwrap();
    tokio::task::spawn_blocking(move || stop(child)).await.unwrap();
    // The socket belongs to systemd: connections wait for the next start.
    UnixStream::connect(&socket).unwrap();
}

#[test]
fn the_server_takes_its_sockets_by_their_addresses() {
    let folder = tempfile::tempdir().unwrap();
    Development::at(folder.path()).prepare().unwrap();
    let config = Development::at(folder.path()).config();
    let original = fs::read_to_string(&config).unwrap();
    let program =
        || command(&["--json", "serve", "--log", "json", "--state", folder.path().to_str().unwrap()]);
    // A UNIX socket. The port of TCP is bound by the server itself.
    fs::write(&config, original.replace("127.0.0.1:7443", "127.0.0.1:0")).unwrap();
    let socket = folder.path().join("oarlock.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let shell = passing(OwnedFd::from(listener.try_clone().unwrap()), &program());
    let (child, said) = start(shell, &folder.path().join("notify"));
    assert_eq!(said["unix"], socket.to_str().unwrap());
    let keys = oarlock(&["call", "--state", folder.path().to_str().unwrap(), "keys"]);
    assert!(text(&keys).contains("rsa2048"));
    stop(child);
    UnixStream::connect(&socket).unwrap();
    drop(listener);
    fs::remove_file(&socket).unwrap();
    // A TCP socket with TLS. The server makes its UNIX socket itself and removes it.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    fs::write(&config, original.replace("127.0.0.1:7443", &address)).unwrap();
    let shell = passing(OwnedFd::from(listener.try_clone().unwrap()), &program());
    let (child, said) = start(shell, &folder.path().join("notify2"));
    assert_eq!(said["tcp"], address);
    let state = folder.path().to_str().unwrap();
    let keys = oarlock(&["call", "--state", state, "--server", &format!("https://{address}"), "keys"]);
    assert!(text(&keys).contains("rsa2048"));
    stop(child);
    assert!(!socket.exists());
}

#[test]
fn a_socket_that_no_setting_names_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    Development::at(folder.path()).prepare().unwrap();
    let config = Development::at(folder.path()).config();
    let free = fs::read_to_string(&config).unwrap().replace("127.0.0.1:7443", "127.0.0.1:0");
    fs::write(&config, free).unwrap();
    fs::write(
        folder.path().join("milter.toml"),
        "authserv_id = \"mx.example\"\nlisten.sockets = [\"inet:0@127.0.0.1\"]\n",
    )
    .unwrap();
    let state = folder.path().to_str().unwrap();
    let milter = folder.path().join("milter.toml");
    for program in
        [command(&["serve", "--state", state]), command(&["milter", "--config", milter.to_str().unwrap()])]
    {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let refused = passing(OwnedFd::from(listener), &program).output().unwrap();
        assert_eq!(code(&refused), 2, "{}", stderr(&refused));
        let said = stderr(&refused);
        assert!(
            said.contains(&format!("systemd has bound {address}, which")) && said.contains("expected"),
            "{said}"
        );
    }
}
