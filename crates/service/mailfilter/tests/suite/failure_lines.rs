//! The line of the log about a message: with a failure it names client, author, signatures and reasons.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::fmt::MakeWriter;

use crate::running_filter::{FilterFiles, RunningFilter, TestMail};

/// The log of this thread, on which the whole test runs.
#[derive(Clone, Default)]
struct TestLog(Arc<Mutex<Vec<u8>>>);

impl Write for TestLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for TestLog {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

impl TestLog {
    fn start() -> (Self, DefaultGuard) {
        let log = Self::default();
        let subscriber = tracing_subscriber::fmt().json().with_writer(log.clone()).finish();
        (log, tracing::subscriber::set_default(subscriber))
    }

    /// Returns the fields of the last line about a message.
    fn message(&self) -> Value {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        let mut lines =
            text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["fields"].clone());
        lines.rfind(|fields| fields["message"] == "message").unwrap()
    }
}

/// Returns a filter for the test, and a message that it has signed.
async fn signed(files: &FilterFiles, more: &str) -> (RunningFilter, TestMail) {
    let filter = files.start_filter(more).await;
    let mail = TestMail::plain().changed(&filter.submit(&TestMail::plain()).await);
    (filter, mail)
}

#[tokio::test]
async fn a_line_about_a_good_message_names_no_people() {
    let files = FilterFiles::for_example();
    let (log, _guard) = TestLog::start();
    let (filter, mail) = signed(&files, "").await;
    let line = log.message();
    assert_eq!((line["outcome"].as_str(), line["queue_id"].as_str()), (Some("signed"), Some("QUEUED")));
    assert_eq!(line["signatures"], "d=example.com s=s1; d=example.com s=s2");
    filter.receive_from("192.0.2.9", "client.example", &mail).await;
    let line = log.message();
    assert_eq!(line["outcome"], "passed");
    assert_eq!(line["signatures"], "pass d=example.com s=s1; pass d=example.com s=s2");
    for field in ["client", "from", "failures", "reason"] {
        assert!(line[field].is_null(), "{line}");
    }
    filter.stopped().await;
}

#[tokio::test]
async fn a_line_about_a_failure_names_client_author_signatures_and_reasons() {
    let files = FilterFiles::for_example();
    let (log, _guard) = TestLog::start();
    let (filter, mail) = signed(&files, "").await;
    let changed = |name: &str, change: &dyn Fn(&str) -> String| {
        let mut mail = mail.clone();
        for (_, value) in mail.headers.iter_mut().filter(|(other, _)| other == name) {
            *value = change(value);
        }
        mail
    };
    let mut body = mail.clone();
    body.body.extend(b"more");
    for (mail, outcome, wanted) in [
        (
            body,
            "bad_signature",
            "s1 a=rsa-sha256: the body was changed: its hash differs; d=example.com s=s2 a=ed25519-sha256: the body",
        ),
        (
            changed("Subject", &|_| " other".to_owned()),
            "bad_signature",
            "s1 a=rsa-sha256: signed header fields were changed, or the key is not the one that signed; d=example.com s=s2",
        ),
        (
            changed("DKIM-Signature", &|value| value.replace("s=s1", "s=gone")),
            "passed",
            "gone a=rsa-sha256: no key for signature: there is no record gone._domainkey.example.com",
        ),
        (
            changed("DKIM-Signature", &|value| value.replace("bh=", "xx=")),
            "bad_signature",
            "s1 a=rsa-sha256: signature is malformed: tag `bh=` is missing",
        ),
        (
            changed("DKIM-Signature", &|value| value.replace("s=s1", "s=s1; i=@evil\u{7}.example.com")),
            "passed",
            "d=- s=-: signature is malformed: the value of `i=`",
        ),
    ] {
        filter.receive_from("192.0.2.9", "client.example", &mail).await;
        let line = log.message();
        assert_eq!(
            (line["outcome"].as_str(), line["queue_id"].as_str()),
            (Some(outcome), Some("QUEUED")),
            "{line}"
        );
        assert_eq!(
            (line["client"].as_str(), line["from"].as_str()),
            (Some("192.0.2.9"), Some("joe@example.com"))
        );
        let failures = line["failures"].as_str().unwrap();
        assert!(failures.starts_with("d=") && failures.contains(wanted), "{line}");
        assert!(!failures.contains(char::is_control), "{line}");
    }
    filter.stopped().await;
}

#[tokio::test]
async fn a_line_says_why_a_message_was_not_signed() {
    let files = FilterFiles::for_example();
    let (log, _guard) = TestLog::start();
    let (filter, _) = signed(&files, "").await;
    filter.submit(&TestMail::plain().from(" Ann@other.example")).await;
    let line = log.message();
    assert_eq!(line["reason"], "no line of the signing table signs for its addresses");
    assert_eq!(
        (line["from"].as_str(), line["outcome"].as_str()),
        (Some("ann@other.example"), Some("no_signature"))
    );
    filter.submit(&TestMail::plain().with("From", " eve@example.com")).await;
    assert_eq!(log.message()["reason"], "2 From fields: expected exactly one");
    filter.stopped().await;
    // A key is at a cryptoserver that does not answer.
    let server = oarlock::keys::reference::Reference { name: "mail".into(), spki: None };
    files.write("reference", &server.to_pem().unwrap());
    files.table("example.com s1 rsa\nexample.com s9 reference\n");
    let filter = files
        .start_filter("cryptoserver.servers = [\"/nonexistent/oarlock.sock\"]\ncryptoserver.patience_ms = 1")
        .await;
    filter.submit(&TestMail::plain()).await;
    let line = log.message();
    assert_eq!(
        (line["outcome"].as_str(), line["signatures"].as_str()),
        (Some("signed"), Some("d=example.com s=s1"))
    );
    assert!(line["failures"].as_str().unwrap().starts_with("d=example.com s=s9: "), "{line}");
    filter.stopped().await;
    // In the mode "sign" nothing is verified, and the reason is the same.
    files.table("example.org s1 rsa\n");
    let filter = files.start_filter("mode = \"sign\"").await;
    filter.submit(&TestMail::plain()).await;
    let line = log.message();
    assert_eq!(line["outcome"], "ignored");
    assert_eq!(line["reason"], "no line of the signing table signs for its addresses");
    filter.stopped().await;
}

#[tokio::test]
async fn a_stranger_cannot_break_or_flood_the_line() {
    let files = FilterFiles::for_example();
    let (log, _guard) = TestLog::start();
    let filter = files.start_filter("").await;
    let long = "x".repeat(100_000);
    let signature =
        format!(" v=1; a=rsa-sha256; d=example.com; s=s1; i={long}@example.com; h=from; bh=AAAA; b=AAAA");
    let mail = TestMail::plain()
        .from(&format!(" \"a\u{1b}[31m{long}\"@example.com"))
        .with("DKIM-Signature", &signature)
        .with("DKIM-Signature", " v=1; a=rsa-sha256; d=e\u{1b}x; s=\"\u{1b}[31m\"; h=from; bh=; b=");
    filter.receive(&mail).await;
    let line = log.message();
    assert_eq!(line["outcome"], "bad_signature", "{line}");
    assert!(line.to_string().len() < 4096, "{}", line.to_string().len());
    assert!(!line["from"].as_str().unwrap().contains(char::is_control));
    filter.stopped().await;
}
