//! A row's work, through the mail trade.

use oarlock::keys::generate;
use oarlock::{Accelerator, Key};
use oarlock_dkim::{
    Intake, KeyAnswer, Limits, Message, Policy, RecordOptions, SignIntake, Signer, Verdict, record_text,
};

use super::corpus::Corpus;
use crate::dkim::DkimError;

const NOW_S: u64 = 1_793_613_600;

/// What is done with each message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Task {
    Sign(KeyType),
    Verify(KeyType),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyType {
    Rsa1024,
    Rsa2048,
    Ed25519,
}

impl Task {
    pub(super) const ALL: [Self; 6] = [
        Self::Sign(KeyType::Rsa1024),
        Self::Sign(KeyType::Rsa2048),
        Self::Sign(KeyType::Ed25519),
        Self::Verify(KeyType::Rsa1024),
        Self::Verify(KeyType::Rsa2048),
        Self::Verify(KeyType::Ed25519),
    ];

    pub(super) fn name(self) -> String {
        let (task, Self::Sign(key) | Self::Verify(key)) = match self {
            Self::Sign(_) => ("sign", self),
            Self::Verify(_) => ("verify", self),
        };
        format!("{task}-{}", key.name())
    }

    fn key(self) -> KeyType {
        let (Self::Sign(key) | Self::Verify(key)) = self;
        key
    }
}

impl KeyType {
    fn name(self) -> &'static str {
        match self {
            Self::Rsa1024 => "rsa1024",
            Self::Rsa2048 => "rsa2048",
            Self::Ed25519 => "ed25519",
        }
    }

    fn generate(self) -> Result<Key, DkimError> {
        Ok(match self {
            Self::Rsa1024 => generate::rsa(1024)?,
            Self::Rsa2048 => generate::rsa(2048)?,
            Self::Ed25519 => generate::ed25519()?,
        })
    }
}

/// One engine at one task.
pub(super) struct Ours {
    pub(super) engine: &'static str,
    pub(super) task: Task,
    accelerator: Accelerator,
    signer: Signer,
    answer: KeyAnswer,
    /// In batches.
    batches: Vec<Vec<Vec<u8>>>,
    next: usize,
}

impl Ours {
    pub(super) fn new(
        engine: &'static str,
        task: Task,
        corpus: &Corpus,
        batch: usize,
    ) -> Result<Self, DkimError> {
        let key = task.key().generate()?;
        let record = record_text(&key, &RecordOptions::default())?;
        let signer = Signer::new("example.com", "s1", key)
            .map_err(|error| DkimError::Signer { path: "bench".into(), error })?;
        let mut ours = Self {
            engine,
            task,
            accelerator: Accelerator::builder().engines([engine]).build()?,
            signer,
            answer: KeyAnswer::of_records([record]),
            batches: corpus.messages.chunks(batch).map(<[_]>::to_vec).collect(),
            next: 0,
        };
        if matches!(task, Task::Verify(_)) {
            ours.batches = ours.batches.iter().map(|batch| ours.signed(batch)).collect::<Result<_, _>>()?;
        }
        Ok(ours)
    }

    /// Does the next batch, and says how many messages it had.
    pub(super) fn batch(&mut self) -> Result<usize, DkimError> {
        let batch = &self.batches[self.next];
        match self.task {
            Task::Sign(_) => drop(self.sign(batch)?),
            Task::Verify(_) => self.verify(batch)?,
        }
        let messages = batch.len();
        self.next = (self.next + 1) % self.batches.len();
        Ok(messages)
    }

    fn sign(&self, batch: &[Vec<u8>]) -> Result<Vec<String>, DkimError> {
        let limits = Limits::default();
        let mut intake = SignIntake::new(NOW_S);
        for mail in batch {
            intake.push(parsed(mail, &limits)?, [&self.signer])?;
        }
        let wrong = |error: oarlock_dkim::SignError| DkimError::No(error.to_string());
        intake.sign(&self.accelerator)?.into_iter().map(|field| field.map_err(wrong)).collect()
    }

    fn signed(&self, batch: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, DkimError> {
        let fields = self.sign(batch)?;
        let whole = |(field, mail): (String, &Vec<u8>)| [field.as_bytes(), b"\r\n", mail].concat();
        Ok(fields.into_iter().zip(batch).map(whole).collect())
    }

    fn verify(&self, batch: &[Vec<u8>]) -> Result<(), DkimError> {
        let policy = Policy::default();
        let mut intake = Intake::new(&policy, NOW_S);
        for mail in batch {
            intake.push(&parsed(mail, &policy.limits)?)?;
        }
        let keyed = intake.hash(&self.accelerator)?.answer(|_| self.answer.clone());
        let results = keyed.verify(&self.accelerator);
        let is_good = |verified: &oarlock_dkim::Verified| {
            verified.signatures.iter().all(|signature| signature.verdict() == Verdict::Pass)
        };
        match results.len() == batch.len() && results.iter().all(is_good) {
            true => Ok(()),
            false => Err(DkimError::No("a signature of this bench does not verify".into())),
        }
    }
}

fn parsed<'m>(mail: &'m [u8], limits: &Limits) -> Result<Message<'m>, DkimError> {
    Message::parse(mail, limits).map_err(|error| DkimError::No(error.to_string()))
}
