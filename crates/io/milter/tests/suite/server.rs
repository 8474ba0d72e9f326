//! Tests of the server over TCP and UNIX sockets, with correct and with faulty MTAs.

use std::io::ErrorKind;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::PathBuf;

use oarlock_milter::client::ClientError;
use oarlock_milter::counters::CountedOutcome;
use oarlock_milter::protocol::{Actions, FilterReply, MilterCommand, ProtocolErrorKind as Kind, Steps};
use oarlock_milter::{
    MilterClient, MilterServer, MilterServerError, MilterSettings, MilterSocket, user_numbers,
};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};

use crate::subject_filter::{self, TestServer, every_change, read, seen, send};

const TCP: &str = "inet:0@127.0.0.1";

fn directory() -> (TempDir, String, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("socket");
    (directory, format!("unix:{}", path.display()), path)
}

/// Opens a raw connection.
async fn raw(socket: &MilterSocket) -> TcpStream {
    let MilterSocket::Inet { port, .. } = socket else { panic!("{socket}") };
    TcpStream::connect(("127.0.0.1", *port)).await.unwrap()
}

/// Reads until the other side has closed the connection.
async fn is_closed(stream: &mut (impl AsyncReadExt + Unpin)) {
    let mut rest = Vec::new();
    match stream.read_to_end(&mut rest).await {
        Ok(_) => {}
        Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset),
    }
}

fn was_hung_up<T: std::fmt::Debug>(result: Result<T, ClientError>) {
    match result {
        Err(ClientError::Io(error)) => assert!(
            [ErrorKind::UnexpectedEof, ErrorKind::ConnectionReset, ErrorKind::BrokenPipe]
                .contains(&error.kind()),
            "{error}"
        ),
        other => panic!("{other:?}"),
    }
}

async fn messages_pass(socket: &str, steps: Steps) {
    let server = TestServer::start(socket, steps, MilterSettings::default()).await;
    let mut client = server.client().await;
    for (subject, bytes) in [("one", 0), ("two", 1), ("three", 65_535), ("four", 65_536), ("five", 500_000)] {
        let answer = send(&mut client, subject, bytes).await.unwrap();
        assert_eq!(answer.reply, FilterReply::Continue);
        let space = if steps.contains(Steps::LEADING_SPACE) { " " } else { "" };
        assert_eq!(seen(&answer.changes), format!("{space}id=4ABC headers=3 body={bytes}"));
    }
    client.quit().await.unwrap();
    server.counts(|counters| read(&counters.open_connections), 0).await;
    assert_eq!(read(&server.counters.messages), 5);
    assert_eq!(server.counters.outcomes(CountedOutcome::Continue), 5);
    assert_eq!(read(&server.counters.lost_connections), 0);
    assert!(read(&server.counters.received_bytes) > 631_072);
    server.stopped().await;
}

#[tokio::test]
async fn passes_messages_over_tcp() {
    messages_pass(TCP, Steps::LEADING_SPACE).await;
}

#[tokio::test]
async fn passes_messages_over_a_unix_socket_without_replies() {
    let (_directory, socket, _) = directory();
    let silent = Steps::NO_REPLY_CONNECT
        | Steps::NO_REPLY_HELO
        | Steps::NO_REPLY_MAIL
        | Steps::NO_REPLY_RECIPIENT
        | Steps::NO_REPLY_DATA
        | Steps::NO_REPLY_HEADER
        | Steps::NO_REPLY_END_OF_HEADERS
        | Steps::NO_REPLY_BODY;
    messages_pass(&socket, silent).await;
}

#[tokio::test]
async fn serves_many_connections_at_once() {
    let server = TestServer::plain(TCP).await;
    let mut clients = Vec::new();
    for _ in 0..50 {
        clients.push(server.client().await);
    }
    for (index, client) in clients.iter_mut().enumerate() {
        let answer = send(client, "hello", index).await.unwrap();
        assert_eq!(seen(&answer.changes), format!(" id=4ABC headers=3 body={index}"));
    }
    assert_eq!(read(&server.counters.open_connections), 50);
    server.stopped().await;
}

#[tokio::test]
async fn delivers_every_kind_of_verdict() {
    let server = TestServer::plain(TCP).await;
    let mut client = server.client().await;
    let all = send(&mut client, "all", 10).await.unwrap();
    assert_eq!((all.changes, all.reply), (every_change(150_000), FilterReply::Accept));
    assert_eq!(send(&mut client, "reject", 1).await.unwrap().reply, FilterReply::Reject);
    let words = send(&mut client, "words", 1).await.unwrap();
    assert_eq!(words.reply, FilterReply::Smtp(b"550 5.7.1 100%% no".to_vec()));
    let skipped = send(&mut client, "skip", 300_000).await.unwrap();
    assert_eq!(seen(&skipped.changes), " id=4ABC headers=3 body=65535");
    // An MTA of version 2 offers the options of its time.
    let mut old = MilterClient::connect(&server.socket).await.unwrap();
    let agreed = old.offer(2, Actions::NONE, Steps::NONE).await;
    assert!(
        matches!(agreed, Err(ClientError::Protocol(_))),
        "it was given what it meant, and said nothing of"
    );
    let mut old = MilterClient::connect(&server.socket).await.unwrap();
    let agreed = old.offer(2, Actions::VERSION_1, Steps::VERSION_1).await.unwrap();
    assert_eq!((agreed.version, agreed.actions, agreed.steps), (2, Actions::VERSION_1, Steps::NONE));
    old.greet(b"").await.unwrap();
    assert_eq!(seen(&send(&mut old, "old", 5).await.unwrap().changes), "id=4ABC headers=3 body=5");
    server.stopped().await;
}

#[tokio::test]
async fn an_aborted_message_can_be_followed_by_another_client() {
    let server = TestServer::plain(TCP).await;
    let mut client = server.client().await;
    let header = MilterCommand::Header { name: b"Subject", value: b" reject" };
    for given_up in 1..=3 {
        let from = oarlock_milter::protocol::EnvelopeAddress::new(b"<a>\0").unwrap();
        for command in [MilterCommand::Mail(from), MilterCommand::Recipient(from), header.clone()] {
            assert_eq!(client.send_command(&command, b"").await.unwrap(), FilterReply::Continue);
        }
        client.abort().await.unwrap();
        client.renew().await.unwrap();
        client.greet(b"").await.unwrap();
        assert_eq!(read(&server.aborts), given_up);
    }
    assert_eq!(send(&mut client, "hello", 1).await.unwrap().reply, FilterReply::Continue);
    assert_eq!(read(&server.counters.connections), 1);
    server.stopped().await;
}

#[tokio::test]
async fn garbage_ends_only_its_connection() {
    let server = TestServer::plain(TCP).await;
    let mut good = server.client().await;
    let negotiated = b"\0\0\0\x0dO\0\0\0\x06\0\0\x01\xff\0\x1f\xff\xff".as_slice();
    let garbage: [(&[u8], Kind); 8] = [
        (b"GET / HTTP/1.1\r\n\r\n", Kind::TooLong),
        (b"\xff\xff\xff\xff", Kind::TooLong),
        (b"\0\0\0\0", Kind::Malformed),
        (b"\0\0\0\x01O", Kind::Malformed),
        (b"\0\0\0\x01z", Kind::UnknownCode),
        (b"\0\0\0\x01N", Kind::OutOfOrder),
        (b"\0\0\0\x0dO\0\0\0\x01\0\0\0\0\0\0\0\0", Kind::Negotiation),
        (&[negotiated, b"\0\0\0\x03CxU"].concat(), Kind::Malformed),
    ];
    for (sent, (bytes, kind)) in garbage.iter().enumerate() {
        let before = server.counters.protocol_errors(*kind);
        let mut stream = raw(&server.socket).await;
        stream.write_all(bytes).await.unwrap();
        is_closed(&mut stream).await;
        server.counts(|counters| counters.protocol_errors(*kind), before + 1).await;
        assert!(
            seen(&send(&mut good, "hello", sent).await.unwrap().changes).ends_with(&format!("body={sent}"))
        );
    }
    server.stopped().await;
}

#[tokio::test]
async fn survives_random_bytes() {
    let server = TestServer::plain(TCP).await;
    let mut state = 3_u64;
    for _ in 0..200 {
        let mut bytes = Vec::new();
        for _ in 0..200 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            bytes.push((state >> 56) as u8);
        }
        bytes[..3].fill(0);
        let mut stream = raw(&server.socket).await;
        // The other side may close before it has read everything.
        let _ = stream.write_all(&bytes).await;
        let _ = stream.shutdown().await;
        is_closed(&mut stream).await;
    }
    server.counts(|counters| read(&counters.open_connections), 0).await;
    assert_eq!(read(&server.counters.panics), 0);
    assert_eq!(send(&mut server.client().await, "hello", 0).await.unwrap().reply, FilterReply::Continue);
    server.stopped().await;
}

#[tokio::test]
async fn a_lost_connection_aborts_its_message() {
    let server = TestServer::plain(TCP).await;
    // Hang up at once, in the middle of a frame, and in the middle of a message.
    drop(raw(&server.socket).await);
    let mut stream = raw(&server.socket).await;
    stream.write_all(b"\0\0\0\x0dO\0").await.unwrap();
    drop(stream);
    let mut client = server.client().await;
    let from = oarlock_milter::protocol::EnvelopeAddress::new(b"<a>\0").unwrap();
    client.send_command(&MilterCommand::Mail(from), b"").await.unwrap();
    drop(client);
    server.counts(|counters| read(&counters.lost_connections), 3).await;
    server.counts(|counters| read(&counters.open_connections), 0).await;
    assert_eq!((read(&server.aborts), read(&server.counters.aborted_messages)), (1, 1));
    server.stopped().await;
}

#[tokio::test]
async fn answers_a_half_closed_connection_before_closing_it() {
    let server = TestServer::plain(TCP).await;
    let mut stream = raw(&server.socket).await;
    stream.write_all(b"\0\0\0\x0dO\0\0\0\x06\0\0\x01\xff\0\x1f\xff\xff").await.unwrap();
    stream.shutdown().await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    assert_eq!(answer, b"\0\0\0\x0dO\0\0\0\x06\0\0\0\xff\0\x10\x04\0");
    server.stopped().await;
}

#[tokio::test]
async fn a_panic_of_a_filter_ends_only_its_connection() {
    let server = TestServer::plain(TCP).await;
    let mut good = server.client().await;
    was_hung_up(send(&mut server.client().await, "panic", 1).await);
    server.counts(|counters| read(&counters.panics), 1).await;
    was_hung_up(send(&mut server.client().await, "nul", 1).await);
    server.counts(|counters| read(&counters.filter_faults), 1).await;
    server.counts(|counters| read(&counters.open_connections), 1).await;
    assert_eq!(send(&mut good, "hello", 1).await.unwrap().reply, FilterReply::Continue);
    server.stopped().await;
}

#[tokio::test]
async fn refuses_a_connection_beyond_the_limit() {
    let server = TestServer::start(
        TCP,
        Steps::NONE,
        MilterSettings { max_connections: 2, ..MilterSettings::default() },
    )
    .await;
    let (first, _second) = (server.client().await, server.client().await);
    is_closed(&mut raw(&server.socket).await).await;
    server.counts(|counters| read(&counters.refused_connections), 1).await;
    first.quit().await.unwrap();
    server.counts(|counters| read(&counters.open_connections), 1).await;
    let mut third = server.client().await;
    assert_eq!(send(&mut third, "hello", 1).await.unwrap().reply, FilterReply::Continue);
    server.stopped().await;
}

#[tokio::test]
async fn silent_connections_give_way_to_mtas() {
    let server = TestServer::start(
        TCP,
        Steps::NONE,
        MilterSettings { max_connections: 2, ..MilterSettings::default() },
    )
    .await;
    let mut first = server.client().await;
    let mut silent = raw(&server.socket).await;
    server.counts(|counters| read(&counters.open_connections), 2).await;
    let mut second = server.client().await;
    is_closed(&mut silent).await;
    for client in [&mut first, &mut second] {
        assert_eq!(send(client, "hello", 1).await.unwrap().reply, FilterReply::Continue);
    }
    assert_eq!(read(&server.counters.refused_connections), 1);
    server.stopped().await;
}

#[tokio::test(start_paused = true)]
async fn sends_progress_replies_while_a_filter_works() {
    let (_directory, socket, _) = directory();
    let server = TestServer::plain(&socket).await;
    let mut client = server.client().await;
    let answer = send(&mut client, "slow", 7).await.unwrap();
    assert_eq!(seen(&answer.changes), " id=4ABC headers=3 body=7");
    assert_eq!((client.progress(), read(&server.counters.progress)), (3, 3));
    server.stopped().await;
}

#[tokio::test(start_paused = true)]
async fn closes_a_silent_connection() {
    let (_directory, socket, path) = directory();
    let server = TestServer::plain(&socket).await;
    let mut stream = UnixStream::connect(&path).await.unwrap();
    stream.write_all(b"\0\0\0\x0d").await.unwrap();
    is_closed(&mut stream).await;
    assert_eq!(read(&server.counters.timed_out_connections), 1);
    server.stopped().await;
}

#[tokio::test(start_paused = true)]
async fn closes_a_connection_that_does_not_read() {
    let (_directory, socket, path) = directory();
    let server = TestServer::plain(&socket).await;
    let mut stream = UnixStream::connect(&path).await.unwrap();
    let mut bytes = b"\0\0\0\x0dO\0\0\0\x06\0\0\x01\xff\0\x1f\xff\xff\0\0\0\x04Cx\0U".to_vec();
    for _ in 0..100_000 {
        bytes.extend(b"\0\0\0\x03Hx\0");
    }
    let _ = stream.write_all(&bytes).await;
    server.counts(|counters| read(&counters.timed_out_connections), 1).await;
    server.stopped().await;
}

#[tokio::test]
async fn a_stopping_server_finishes_messages_in_progress() {
    let (_directory, socket, path) = directory();
    let mut server = TestServer::plain(&socket).await;
    let (mut idle, mut busy) = (server.client().await, server.client().await);
    let from = oarlock_milter::protocol::EnvelopeAddress::new(b"<a>\0").unwrap();
    busy.send_command(&MilterCommand::Mail(from), b"").await.unwrap();
    server.stop();
    was_hung_up(idle.reply().await);
    for command in [MilterCommand::Recipient(from), MilterCommand::EndOfHeaders, MilterCommand::Body(b"abc")]
    {
        assert_eq!(busy.send_command(&command, b"").await.unwrap(), FilterReply::Continue);
    }
    assert!(!path.exists());
    let seen = busy.send_command(&MilterCommand::EndOfMessage(b""), b"").await.unwrap();
    assert!(matches!(seen, FilterReply::Change(_)));
    assert_eq!(busy.reply().await.unwrap(), FilterReply::Continue);
    was_hung_up(busy.reply().await);
    let counters = server.counters.clone();
    server.stopped().await;
    assert_eq!((read(&counters.cut_connections), read(&counters.open_connections)), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_stopping_server_cuts_messages_at_its_deadline() {
    let (_directory, socket, _) = directory();
    let mut server = TestServer::plain(&socket).await;
    let mut client = server.client().await;
    let sent = tokio::spawn(async move { send(&mut client, "never", 1).await.map(|answer| answer.reply) });
    server.counts(|counters| read(&counters.messages), 1).await;
    server.stop();
    was_hung_up(sent.await.unwrap());
    let counters = server.counters.clone();
    server.stopped().await;
    assert_eq!((read(&counters.cut_connections), read(&counters.open_connections)), (1, 0));
}

#[tokio::test]
async fn replaces_the_socket_of_a_dead_server_but_not_of_a_running_one() {
    let (_directory, socket, path) = directory();
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    // Only root may give a file to a group of others.
    let group = rustix::process::getegid().as_raw();
    let unix_group = Some(group.to_string());
    let settings = MilterSettings { unix_mode: 0o620, unix_group, ..MilterSettings::default() };
    let server = TestServer::start(&socket, Steps::NONE, settings.clone()).await;
    let about = path.symlink_metadata().unwrap();
    assert!(about.file_type().is_socket());
    assert_eq!((about.permissions().mode() & 0o7777, about.gid()), (0o620, group));
    let bind = async |socket: &str, settings| {
        MilterServer::bind(&[socket.parse().unwrap()], subject_filter::SubjectFilters::default(), settings)
            .await
            .unwrap_err()
    };
    assert!(
        bind(&socket, settings.clone()).await.to_string().contains("another server listens at this path")
    );
    let nobody = MilterSettings { unix_group: Some("no such group".into()), ..settings.clone() };
    let other = format!("{socket}2");
    assert!(matches!(bind(&other, nobody).await, MilterServerError::Group(_)));
    std::fs::write(path.with_file_name("socket2"), "mail").unwrap();
    assert!(matches!(bind(&other, settings.clone()).await, MilterServerError::SocketFile(_)));
    let taken = server.socket.to_string();
    assert!(matches!(bind("inet:1@256.0.0.1", settings).await, MilterServerError::Listen { .. }));
    assert_eq!(taken, socket);
    server.stopped().await;
    assert!(!path.exists());
}

#[tokio::test]
async fn a_server_leaves_the_socket_of_its_successor_alone() {
    let (_directory, socket, path) = directory();
    let server = TestServer::plain(&socket).await;
    std::fs::remove_file(&path).unwrap();
    let successor = TestServer::plain(&socket).await;
    server.stopped().await;
    assert_eq!(send(&mut successor.client().await, "hello", 1).await.unwrap().reply, FilterReply::Continue);
    successor.stopped().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refuses_users_that_are_neither_named_nor_in_the_group() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("SKIPPED: only root can start a process as another user");
        return;
    }
    let Ok(perl) = std::process::Command::new("perl").arg("-v").output() else {
        eprintln!("SKIPPED: perl is not installed");
        return;
    };
    assert!(perl.status.success());
    let directory = tempfile::tempdir().unwrap();
    std::fs::set_permissions(directory.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = directory.path().join("socket");
    let settings = MilterSettings {
        unix_mode: 0o666,
        unix_users: Some(vec!["4242".to_owned()]),
        ..MilterSettings::default()
    };
    let server = TestServer::start(path.to_str().unwrap(), Steps::NONE, settings).await;
    let (named, other) =
        tokio::task::block_in_place(|| (connect(&path, 4242, "4242"), connect(&path, 4243, "4243")));
    assert_eq!((named, other), (1, 0), "1: served, 0: closed");
    // The counter rises after the connection is closed, which the client may notice earlier.
    server.counts(|counters| read(&counters.refused_connections), 1).await;
    // New settings of a running server.
    server.users.replace(user_numbers(Some(&["4243".to_owned()])).unwrap());
    let (named, other) =
        tokio::task::block_in_place(|| (connect(&path, 4242, "4242"), connect(&path, 4243, "4243")));
    assert_eq!((named, other), (0, 1), "after the users were replaced");
    server.counts(|counters| read(&counters.refused_connections), 2).await;
    server.stopped().await;
    // The permissions of the socket let everyone connect, so that only the server's own rule decides.
    let settings =
        MilterSettings { unix_mode: 0o666, unix_group: Some("4300".into()), ..MilterSettings::default() };
    let server = TestServer::start(path.to_str().unwrap(), Steps::NONE, settings).await;
    let served = tokio::task::block_in_place(|| {
        let peers =
            [(0, "0"), (4242, "4300 4300"), (4242, "4242 7 4300"), (4242, "4242 7"), (4300, "4242 4242")];
        peers.map(|(uid, groups)| connect(&path, uid, groups))
    });
    assert_eq!(served, [1, 1, 1, 0, 0], "root, and members of the group");
    server.counts(|counters| read(&counters.refused_connections), 2).await;
    server.stopped().await;
}

/// Connects as a user of these groups, the primary group first. Returns 1 if a byte comes back, and 0 if the
/// connection is closed.
fn connect(path: &std::path::Path, uid: u32, groups: &str) -> i32 {
    let script = "use IO::Socket::UNIX; $SIG{PIPE} = 'IGNORE'; my ($at, $uid, $groups) = @ARGV; \
                  $( = (split ' ', $groups)[0]; $) = $groups; ($<, $>) = ($uid, $uid); \
                  my $s = IO::Socket::UNIX->new(Peer => $at) or exit 9; \
                  syswrite($s, pack('N', 13).'O'.pack('NNN', 6, 511, 0)); exit(sysread($s, my $b, 1) ? 1 : 0)";
    let mut perl = std::process::Command::new("perl");
    let ran = perl.args(["-e", script]).arg(path).args([&uid.to_string(), groups]).current_dir("/").status();
    ran.unwrap().code().unwrap()
}
