//! What MTAs send, and how they know that the answer is right.

use std::sync::Arc;

use oarlock::{Accelerator, Key};
use oarlock_dkim::{Limits, Message};

use super::super::BenchError;
use super::super::args::{MilterRow, MilterSizes};
use super::protocol::{FilterAnswer, MtaMessage, MtaSession};
use crate::dkim::{Corpus, Input, Kind, MailBenchError, Sizes, Task};

/// Messages for the sessions, each of which begins with another one.
#[derive(Clone)]
pub(super) struct Mails {
    mails: Arc<[MtaMessage]>,
    pub(super) key: Option<Key>,
    expected: Expected,
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
            return Ok(Self {
                mails: read(&corpus.messages, false)?,
                key: None,
                expected: Expected::Anything,
            });
        };
        let input = Input::new(task, &corpus.messages, accelerator).map_err(mail)?;
        let expected = if row.signs() { Expected::Signature } else { Expected::Pass };
        Ok(Self { mails: read(&input.messages, row.signs())?, expected, key: Some(input.key) })
    }

    /// The same messages for a filter that does nothing with them.
    pub(super) fn unanswered(&self) -> Self {
        Self { expected: Expected::Anything, ..self.clone() }
    }

    /// Sends the message of this number, counted round, and checks the answer.
    pub(super) async fn send<S: MtaSession>(&self, session: &mut S, number: usize) -> Result<(), String> {
        let answer = session.send(&self.mails[number % self.mails.len()]).await?;
        let is_right = answer.is_accepted()
            && match self.expected {
                Expected::Anything => true,
                Expected::Signature => answer.inserts(b"DKIM-Signature", b"d=example.com"),
                Expected::Pass => answer.inserts(b"Authentication-Results", b"dkim=pass"),
            };
        if is_right { Ok(()) } else { Err(format!("another answer than expected: {answer:?}")) }
    }
}

fn read(messages: &[Vec<u8>], is_authenticated: bool) -> Result<Arc<[MtaMessage]>, BenchError> {
    let limits = Limits::default();
    let read = |bytes: &Vec<u8>| {
        let message =
            Message::parse(bytes, &limits).map_err(|error| mail(MailBenchError::Wrong(error.to_string())))?;
        let header = |header: &oarlock_dkim::Header<'_>| {
            let mut value = header.value().to_vec();
            value.retain(|byte| *byte != b'\r');
            (header.name().to_vec(), value)
        };
        Ok(MtaMessage {
            headers: message.headers.iter().map(header).collect(),
            body: message.body.to_vec(),
            is_authenticated,
        })
    };
    messages.iter().map(read).collect()
}

fn mail(error: MailBenchError) -> BenchError {
    BenchError::Mail(Box::new(error))
}
