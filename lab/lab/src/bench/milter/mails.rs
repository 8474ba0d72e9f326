//! The messages of MTAs, and the check of their answers.

use std::sync::Arc;

use oarlock::{Accelerator, Key};
use oarlock_dkim::{MailLimits, ParsedMail};
use oarlock_milter::MilterClient;
use oarlock_milter::client::{FilterAnswer, SentMessage};
use oarlock_milter::protocol::{FilterReply, MessageChange};

use super::super::BenchError;
use super::super::args::{MilterRow, MtaMailSizes};
use crate::dkim::{MailBenchError, MailCorpus, MailInput, MailSizes, MailTask, SignatureKind};

/// Messages for the sessions. Each session begins with another message.
#[derive(Clone)]
pub(super) struct MtaMailSet {
    mails: Arc<[MtaMail]>,
    pub(super) key: Option<Key>,
    expected: ExpectedAnswer,
}

/// A message as a filter gets it.
struct MtaMail {
    /// Names, and values from the colon on, with LF in folded lines.
    headers: Vec<(Vec<u8>, Vec<u8>)>,
    body: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExpectedAnswer {
    /// Any answer.
    Anything,
    /// An inserted signature.
    Signature,
    /// Inserted results that pass.
    Pass,
}

impl MilterRow {
    fn task(self) -> Option<MailTask> {
        match self {
            Self::VerifyRsa2048 => Some(MailTask::Verify(SignatureKind::Rsa2048)),
            Self::VerifyEd25519 => Some(MailTask::Verify(SignatureKind::Ed25519)),
            Self::SignRsa2048 => Some(MailTask::Sign(SignatureKind::Rsa2048)),
            Self::SignEd25519 => Some(MailTask::Sign(SignatureKind::Ed25519)),
            Self::Accept => None,
        }
    }

    /// True if the filter signs the messages.
    pub(super) fn signs(self) -> bool {
        matches!(self.task(), Some(MailTask::Sign(_)))
    }
}

impl MtaMailSet {
    pub(super) fn new(
        row: MilterRow,
        count: usize,
        sizes: MtaMailSizes,
        accelerator: &Accelerator,
    ) -> Result<Self, BenchError> {
        let sizes = match sizes {
            MtaMailSizes::Uniform => MailSizes::Uniform,
            MtaMailSizes::Paper => MailSizes::Paper,
        };
        let corpus = MailCorpus::new(sizes, count);
        let Some(task) = row.task() else {
            return Ok(Self {
                mails: read(&corpus.messages)?,
                key: None,
                expected: ExpectedAnswer::Anything,
            });
        };
        let input = MailInput::new(task, &corpus.messages, accelerator).map_err(mail)?;
        let expected = if row.signs() { ExpectedAnswer::Signature } else { ExpectedAnswer::Pass };
        Ok(Self { mails: read(&input.messages)?, expected, key: Some(input.key) })
    }

    /// Returns the same messages for a filter that only accepts.
    pub(super) fn unanswered(&self) -> Self {
        Self { expected: ExpectedAnswer::Anything, ..self.clone() }
    }

    /// Sends the message of this number, counted round, and checks the answer.
    pub(super) async fn send(&self, client: &mut MilterClient, number: usize) -> Result<(), String> {
        let mail = &self.mails[number % self.mails.len()];
        let headers: Vec<(&[u8], &[u8])> =
            mail.headers.iter().map(|(name, value)| (&name[..], &value[..])).collect();
        // A filter signs only the messages of clients that have authenticated themselves.
        let authenticated: &[u8] = b"i\x00QUEUED\0{auth_authen}\0sender\0";
        let signs = self.expected == ExpectedAnswer::Signature;
        let sent = SentMessage {
            from: b"<sender@example.com>",
            recipients: &[b"<receiver@example.net>"],
            headers: &headers,
            body: &mail.body,
            mail_macros: if signs { authenticated } else { b"i\x00QUEUED\0" },
            ..SentMessage::default()
        };
        let answer = client.send(&sent).await.map_err(|error| error.to_string())?;
        self.check(&answer)
    }

    fn check(&self, answer: &FilterAnswer) -> Result<(), String> {
        let is_right = match self.expected {
            ExpectedAnswer::Anything => true,
            ExpectedAnswer::Signature => inserts(answer, b"DKIM-Signature", b"d=example.com"),
            ExpectedAnswer::Pass => inserts(answer, b"Authentication-Results", b"dkim=pass"),
        };
        match (&answer.reply, is_right) {
            (FilterReply::Continue | FilterReply::Accept, true) => Ok(()),
            (reply, _) => Err(format!("it answered {reply:?} with the changes {:?}", answer.changes)),
        }
    }
}

/// True if an answer inserts a header field of this name whose value contains `part`.
fn inserts(answer: &FilterAnswer, name: &[u8], part: &[u8]) -> bool {
    answer.changes.iter().any(|change| match change {
        MessageChange::InsertHeader { name: inserted, value, .. } => {
            inserted.eq_ignore_ascii_case(name) && value.windows(part.len()).any(|window| window == part)
        }
        _ => false,
    })
}

fn read(messages: &[Vec<u8>]) -> Result<Arc<[MtaMail]>, BenchError> {
    let limits = MailLimits::default();
    let read = |bytes: &Vec<u8>| {
        let message = ParsedMail::parse(bytes, &limits)
            .map_err(|error| mail(MailBenchError::Wrong(error.to_string())))?;
        let header = |header: &oarlock_dkim::HeaderField<'_>| {
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
