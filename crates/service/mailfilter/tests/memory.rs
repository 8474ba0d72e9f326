//! A test of the memory for a long message. It needs a process of its own in which nothing else runs.
#![allow(clippy::unwrap_used, clippy::panic)]

#[allow(dead_code, unreachable_pub, reason = "the other program of tests uses the rest of it")]
#[path = "suite/running_filter/mod.rs"]
mod running_filter;

use oarlock_milter::protocol::{EnvelopeAddress, FilterReply, MilterCommand};
use running_filter::{FilterFiles, RunningFilter, TestMail};

const CHUNK: usize = 64_000;
const CHUNKS: usize = 800;

/// Returns the peak memory of this process in KiB.
fn peak_kib() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Sends a message of this many chunks. Returns the headers that were added at the top.
async fn sent(
    filter: &RunningFilter,
    mail: &TestMail,
    chunks: usize,
    macros: &[u8],
) -> Vec<(String, String)> {
    let mut client = filter.client().await;
    let from = EnvelopeAddress::new(b"<joe@example.com>\0").unwrap();
    client.send_command(&MilterCommand::Mail(from), macros).await.unwrap();
    for (name, value) in &mail.headers {
        let header = MilterCommand::Header { name: name.as_bytes(), value: value.as_bytes() };
        client.send_command(&header, b"").await.unwrap();
    }
    client.send_command(&MilterCommand::EndOfHeaders, b"").await.unwrap();
    let chunk = b"some sixty-three characters, and with its end it is one more\r\n".repeat(CHUNK / 62);
    for _ in 0..chunks {
        assert_eq!(
            client.send_command(&MilterCommand::Body(&chunk), b"").await.unwrap(),
            FilterReply::Continue
        );
    }
    let mut reply = client.send_command(&MilterCommand::EndOfMessage(b""), b"").await.unwrap();
    let mut added = Vec::new();
    while let FilterReply::Change(oarlock_milter::protocol::MessageChange::InsertHeader {
        name, value, ..
    }) = reply
    {
        added.insert(0, (running_filter::text(&name), running_filter::text(&value)));
        reply = client.reply().await.unwrap();
    }
    assert_eq!(reply, FilterReply::Continue);
    added
}

#[tokio::test]
async fn needs_constant_memory_for_fifty_megabytes() {
    let files = FilterFiles::for_example();
    let filter = files.start_filter("").await;
    let (ours, others): (&[u8], &[u8]) = (b"{auth_authen}\0joe\0", b"");
    let mut mail = TestMail::plain();
    let pass = async |mail: &mut TestMail, chunks| {
        let plain = mail.clone();
        let added = sent(&filter, mail, chunks, ours).await;
        assert_eq!(added.len(), 2);
        mail.headers.splice(0..0, added);
        let results = sent(&filter, mail, chunks, others).await;
        assert_eq!(results[0].1.matches("dkim=pass").count(), 2, "{results:?}");
        *mail = plain;
    };
    pass(&mut mail, 4).await;
    let before = peak_kib();
    pass(&mut mail, CHUNKS).await;
    let grown = peak_kib() - before;
    assert!(grown < 4 << 10, "{grown} KiB for a message of {} KiB", (CHUNK * CHUNKS) >> 10);
    filter.stopped().await;
}
