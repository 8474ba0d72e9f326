//! Tests of the server with `miltertest` of the OpenDKIM project, an independent implementation of the MTA's side.

use std::process::Command;

use oarlock_milter::MilterSettings;
use oarlock_milter::protocol::Steps;

use crate::subject_filter::{TestServer, read};

/// Runs a script against a server at `socket`. The script knows the address as `socket`.
async fn run(socket: &str, steps: Steps, script: &'static str) -> Option<TestServer> {
    if !Command::new("miltertest").arg("-V").output().is_ok_and(|ran| ran.status.success()) {
        eprintln!("SKIPPED: miltertest is not installed");
        return None;
    }
    let server = TestServer::start(socket, steps, MilterSettings::default()).await;
    let socket = server.socket.to_string();
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("script.lua");
    std::fs::write(&file, format!("{PRELUDE}\n{script}")).unwrap();
    let ran = tokio::task::spawn_blocking(move || {
        Command::new("miltertest").arg("-D").arg(format!("socket={socket}")).arg("-s").arg(&file).output()
    });
    let ran = ran.await.unwrap().unwrap();
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success() && out.contains("all well"), "{}\n{out}\n{err}", ran.status);
    Some(server)
}

const PRELUDE: &str = r#"
function check(what, error)
  if error ~= nil then error_at(what, error) end
end
function error_at(what, found)
  mt.echo(what .. ": " .. tostring(found))
  os.exit(1)
end
function wants(what, conn, reply)
  if mt.getreply(conn) ~= reply then error_at(what, mt.getreply(conn)) end
end
function begin()
  local conn = mt.connect(socket)
  if conn == nil then error_at("connect", "no connection") end
  check("negotiate", mt.negotiate(conn, nil, nil, nil))
  check("conninfo", mt.conninfo(conn, "mx.example", "192.0.2.1"))
  check("helo", mt.helo(conn, "mx.example"))
  return conn
end
function message(conn, subject)
  check("macro", mt.macro(conn, SMFIC_MAIL, "i", "4XYZ"))
  check("mail", mt.mailfrom(conn, "<a@example>", "SIZE=100"))
  check("rcpt", mt.rcptto(conn, "<b@example>"))
  check("data", mt.data(conn))
  check("header", mt.header(conn, "From", " a@example"))
  check("header", mt.header(conn, "Subject", " " .. subject))
  check("eoh", mt.eoh(conn))
  check("body", mt.bodystring(conn, "hello\r\n"))
  check("eom", mt.eom(conn))
end
"#;

const MESSAGES: &str = r#"
conn = begin()
if not mt.test_action(conn, SMFIF_ADDHDRS) then error_at("action", "ADDHDRS") end
if mt.test_option(conn, SMFIP_NOBODY) then error_at("option", "NOBODY") end
for turn = 1, 3 do
  message(conn, "hello")
  wants("eom", conn, SMFIR_CONTINUE)
  if not mt.eom_check(conn, MT_HDRADD, "X-Seen", "id=4XYZ headers=2 body=7")
    and not mt.eom_check(conn, MT_HDRADD, "X-Seen", " id=4XYZ headers=2 body=7") then
    error_at("X-Seen", mt.getheader(conn, "X-Seen", 0))
  end
end
message(conn, "reject")
wants("reject", conn, SMFIR_REJECT)
message(conn, "words")
wants("words", conn, SMFIR_REPLYCODE)
if not mt.eom_check(conn, MT_SMTPREPLY, "550", "5.7.1", "100%% no") then error_at("words", "not these") end
message(conn, "small")
wants("small", conn, SMFIR_ACCEPT)
for _, op in ipairs({ MT_HDRADD, MT_HDRINSERT, MT_HDRCHANGE, MT_BODYCHANGE, MT_QUARANTINE }) do
  if not mt.eom_check(conn, op) then error_at("small", op) end
end
if not mt.eom_check(conn, MT_RCPTADD, "<x@example>") then error_at("small", "recipient") end
if not mt.eom_check(conn, MT_RCPTDELETE, "<b@example>") then error_at("small", "no recipient") end
check("mail", mt.mailfrom(conn, "<a@example>"))
check("abort", mt.abort(conn))
check("unknown", mt.unknown(conn, "XYZZY"))
message(conn, "hello")
wants("after abort", conn, SMFIR_CONTINUE)
check("disconnect", mt.disconnect(conn, true))
rude = begin()
check("mail", mt.mailfrom(rude, "<a@example>"))
check("disconnect", mt.disconnect(rude, false))
mt.echo("all well")
"#;

async fn messages(socket: &str, steps: Steps) {
    let Some(server) = run(socket, steps, MESSAGES).await else { return };
    server.counts(|counters| read(&counters.open_connections), 0).await;
    assert_eq!(read(&server.counters.messages), 7);
    assert_eq!((read(&server.counters.aborted_messages), read(&server.aborts)), (2, 2));
    assert_eq!(read(&server.counters.lost_connections), 1);
    server.stopped().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn miltertest_passes_over_tcp() {
    messages("inet:0@127.0.0.1", Steps::LEADING_SPACE).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn miltertest_passes_over_a_unix_socket() {
    let directory = tempfile::tempdir().unwrap();
    messages(&format!("unix:{}/socket", directory.path().display()), Steps::NONE).await;
}
