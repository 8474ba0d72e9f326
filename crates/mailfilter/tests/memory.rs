//! How much memory a long message takes: a process of its own, in which nothing else happens.
#![allow(clippy::unwrap_used, clippy::panic)]

mod running_filter;

use oarlock_milter::protocol::{Command, Envelope, Reply};
use running_filter::{Mail, Place, Post};

const CHUNK: usize = 64_000;
const CHUNKS: usize = 800;

/// The most memory that this process has had, in KiB.
fn peak_kib() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Sends a message of this many chunks, and gives it with what was added at the top.
async fn sent(post: &Post, mail: &Mail, chunks: usize, macros: &[u8]) -> Vec<(String, String)> {
    let mut client = post.client().await;
    let from = Envelope::new(b"<joe@example.com>\0").unwrap();
    client.say(&Command::Mail(from), macros).await.unwrap();
    for (name, value) in &mail.headers {
        let header = Command::Header { name: name.as_bytes(), value: value.as_bytes() };
        client.say(&header, b"").await.unwrap();
    }
    client.say(&Command::EndOfHeaders, b"").await.unwrap();
    let chunk = b"some sixty-three characters, and with its end it is one more\r\n".repeat(CHUNK / 62);
    for _ in 0..chunks {
        assert_eq!(client.say(&Command::Body(&chunk), b"").await.unwrap(), Reply::Continue);
    }
    let mut reply = client.say(&Command::EndOfMessage(b""), b"").await.unwrap();
    let mut added = Vec::new();
    while let Reply::Change(oarlock_milter::protocol::Change::InsertHeader { name, value, .. }) = reply {
        added.insert(0, (running_filter::text(&name), running_filter::text(&value)));
        reply = client.reply().await.unwrap();
    }
    assert_eq!(reply, Reply::Continue);
    added
}

#[tokio::test]
async fn fifty_megabytes_pass_through() {
    let place = Place::of_example();
    let post = place.post("").await;
    let (ours, others): (&[u8], &[u8]) = (b"{auth_authen}\0joe\0", b"");
    let mut mail = Mail::plain();
    let pass = async |mail: &mut Mail, chunks| {
        let plain = mail.clone();
        let added = sent(&post, mail, chunks, ours).await;
        assert_eq!(added.len(), 2);
        mail.headers.splice(0..0, added);
        let results = sent(&post, mail, chunks, others).await;
        assert_eq!(results[0].1.matches("dkim=pass").count(), 2, "{results:?}");
        *mail = plain;
    };
    pass(&mut mail, 4).await;
    let before = peak_kib();
    pass(&mut mail, CHUNKS).await;
    let grown = peak_kib() - before;
    assert!(grown < 4 << 10, "{grown} KiB for a message of {} KiB", (CHUNK * CHUNKS) >> 10);
    post.stopped().await;
}
