//! A row's work through `oarlock-dkim`.

use oarlock::Accelerator;
use oarlock_dkim::{
    DkimSigner, DkimVerdict, KeyAnswer, RecordOptions, VerifiedMessage, VerifyIntake, VerifyPolicy,
    record_text,
};

use super::MailWork;
use super::error::MailBenchError;
use super::task::{MailInput, MailTask, NOW_S, parsed, sign};

/// Returns an accelerator with the engine of this name only.
pub(super) fn alone(engine: &str) -> Result<Accelerator, MailBenchError> {
    Ok(Accelerator::builder()
        .environment(true)
        .cost_cache(oarlock::default_cost_cache())
        .engines([engine])
        .build()?)
}

/// One engine at one task.
pub(super) struct EngineMailWork<'i> {
    input: &'i MailInput<'i>,
    batch: usize,
    accelerator: Accelerator,
    signer: DkimSigner,
    answer: KeyAnswer,
    /// The index of the next batch's first message.
    next: usize,
}

impl<'i> EngineMailWork<'i> {
    pub(super) fn new(
        accelerator: &Accelerator,
        input: &'i MailInput<'i>,
        batch: usize,
    ) -> Result<Self, MailBenchError> {
        let record = record_text(&input.key, &RecordOptions::default())?;
        Ok(Self {
            input,
            batch,
            accelerator: accelerator.clone(),
            signer: input.signer()?,
            answer: KeyAnswer::from_records([record]),
            next: 0,
        })
    }

    fn verify(&self, batch: &[Vec<u8>]) -> Result<(), MailBenchError> {
        let policy = VerifyPolicy { accepts_sha1: true, ..VerifyPolicy::default() };
        let mut intake = VerifyIntake::new(&policy, NOW_S);
        for mail in batch {
            intake.push(&parsed(mail, &policy.limits)?)?;
        }
        let keyed = intake.hash(&self.accelerator)?.answer(|_| self.answer.clone());
        let results = keyed.verify(&self.accelerator);
        let is_good = |verified: &VerifiedMessage| {
            verified.signatures.iter().all(|signature| signature.verdict() == DkimVerdict::Pass)
        };
        match results.len() == batch.len() && results.iter().all(is_good) {
            true => Ok(()),
            false => Err(MailBenchError::Wrong("a signature of this bench does not verify".into())),
        }
    }
}

impl MailWork for EngineMailWork<'_> {
    fn batch(&mut self) -> Result<usize, MailBenchError> {
        let messages = &self.input.messages[self.next..];
        let batch = &messages[..self.batch.min(messages.len())];
        match self.input.task {
            MailTask::Sign(_) => drop(sign(batch, &self.signer, &self.accelerator)?),
            MailTask::Verify(_) => self.verify(batch)?,
        }
        self.next = (self.next + batch.len()) % self.input.messages.len();
        Ok(batch.len())
    }
}
