//! What MTAs send, and how they know that the answer is right.

use std::sync::Arc;

use oarlock::{Accelerator, Key};
use oarlock_dkim::{Limits, Message};
use oarlock_milter::Client;
use oarlock_milter::client::{Answer, Message as ClientMessage};
use oarlock_milter::protocol::{Change, Reply};

use super::super::BenchError;
use super::super::args::{MilterRow, MilterSizes};
use crate::dkim::{Corpus, Input, Kind, MailBenchError, Sizes, Task};

/// Messages for the sessions, each of which begins with another one.
#[derive(Clone)]
pub(super) struct Mails {
    mails: Arc<[MtaMail]>,
    pub(super) key: Option<Key>,
    expected: Expected,
}

/// A message as a filter gets it.
struct MtaMail {
    /// Names, and values from the colon on, with LF in folded lines.
    headers: Vec<(Vec<u8>, Vec<u8>)>,
    body: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    /// Whatever it is.
    Anything,
    /// A signature is inserted.
    Signature,
    /// Results are inserted, and they are good.
    Pass,
}

impl MilterRow {
    fn task(self) -> Option<Task> {
        match self {
            Self::VerifyRsa2048 => Some(Task::Verify(Kind::Rsa2048)),
            Self::VerifyEd25519 => Some(Task::Verify(Kind::Ed25519)),
            Self::SignRsa2048 => Some(Task::Sign(Kind::Rsa2048)),
            Self::SignEd25519 => Some(Task::Sign(Kind::Ed25519)),
            Self::Accept => None,
        }
    }

    /// True where messages are the filter's own.
    pub(super) fn signs(self) -> bool {
        matches!(self.task(), Some(Task::Sign(_)))
    }
}

impl Mails {
    pub(super) fn new(
        row: MilterRow,
        count: usize,
        sizes: MilterSizes,
        accelerator: &Accelerator,
    ) -> Result<Self, BenchError> {
        let sizes = match sizes {
            MilterSizes::Uniform => Sizes::Uniform,
            MilterSizes::Paper => Sizes::Paper,
        };
        let corpus = Corpus::new(sizes, count);
        let Some(task) = row.task() else {
            return Ok(Self { mails: read(&corpus.messages)?, key: None, expected: Expected::Anything });
        };
        let input = Input::new(task, &corpus.messages, accelerator).map_err(mail)?;
        let expected = if row.signs() { Expected::Signature } else { Expected::Pass };
        Ok(Self { mails: read(&input.messages)?, expected, key: Some(input.key) })
    }

    /// The same messages for a filter that does nothing with them.
    pub(super) fn unanswered(&self) -> Self {
        Self { expected: Expected::Anything, ..self.clone() }
    }

    /// Sends the message of this number, counted round, and checks the answer.
    pub(super) async fn send(&self, client: &mut Client, number: usize) -> Result<(), String> {
        let mail = &self.mails[number % self.mails.len()];
        let headers: Vec<(&[u8], &[u8])> =
            mail.headers.iter().map(|(name, value)| (&name[..], &value[..])).collect();
        // A filter signs only the messages of clients that have authenticated themselves.
        let authenticated: &[u8] = b"i\x00QUEUED\0{auth_authen}\0sender\0";
        let signs = self.expected == Expected::Signature;
        let sent = ClientMessage {
            from: b"<sender@example.com>",
            recipients: &[b"<receiver@example.net>"],
            headers: &headers,
            body: &mail.body,
            mail_macros: if signs { authenticated } else { b"i\x00QUEUED\0" },
            ..ClientMessage::default()
        };
        let answer = client.send(&sent).await.map_err(|error| error.to_string())?;
        self.check(&answer)
    }

    fn check(&self, answer: &Answer) -> Result<(), String> {
        let is_right = match self.expected {
            Expected::Anything => true,
            Expected::Signature => inserts(answer, b"DKIM-Signature", b"d=example.com"),
            Expected::Pass => inserts(answer, b"Authentication-Results", b"dkim=pass"),
        };
        match (&answer.reply, is_right) {
            (Reply::Continue | Reply::Accept, true) => Ok(()),
            (reply, _) => Err(format!("it answered {reply:?} with the changes {:?}", answer.changes)),
        }
    }
}

/// True if an answer inserts a header field of this name whose value contains `part`.
fn inserts(answer: &Answer, name: &[u8], part: &[u8]) -> bool {
    answer.changes.iter().any(|change| match change {
        Change::InsertHeader { name: own, value, .. } => {
            own.eq_ignore_ascii_case(name) && value.windows(part.len()).any(|window| window == part)
        }
        _ => false,
    })
}

fn read(messages: &[Vec<u8>]) -> Result<Arc<[MtaMail]>, BenchError> {
    let limits = Limits::default();
    let read = |bytes: &Vec<u8>| {
        let message =
            Message::parse(bytes, &limits).map_err(|error| mail(MailBenchError::Wrong(error.to_string())))?;
        let header = |header: &oarlock_dkim::Header<'_>| {
            let mut value = header.value().to_vec();
            value.retain(|byte| *byte != b'\r');
            (header.name().to_vec(), value)
        };
        Ok(MtaMail { headers: message.headers.iter().map(header).collect(), body: message.body.to_vec() })
    };
    messages.iter().map(read).collect()
}

fn mail(error: MailBenchError) -> BenchError {
    BenchError::Mail(Box::new(error))
}
