//! A row's work, through the mail trade.

use oarlock::Accelerator;
use oarlock_dkim::{Intake, KeyAnswer, Policy, RecordOptions, Signer, Verdict, Verified, record_text};

use super::Work;
use super::error::MailBenchError;
use super::task::{Input, NOW_S, Task, parsed, sign};

/// The engine of this name alone.
pub(super) fn alone(engine: &str) -> Result<Accelerator, MailBenchError> {
    Ok(Accelerator::builder()
        .environment(true)
        .cost_cache(oarlock::default_cost_cache())
        .engines([engine])
        .build()?)
}

/// One engine at one task.
pub(super) struct Ours<'i> {
    input: &'i Input<'i>,
    batch: usize,
    accelerator: Accelerator,
    signer: Signer,
    answer: KeyAnswer,
    /// Where the next batch begins.
    next: usize,
}

impl<'i> Ours<'i> {
    pub(super) fn new(
        accelerator: &Accelerator,
        input: &'i Input<'i>,
        batch: usize,
    ) -> Result<Self, MailBenchError> {
        let record = record_text(&input.key, &RecordOptions::default())?;
        Ok(Self {
            input,
            batch,
            accelerator: accelerator.clone(),
            signer: input.signer()?,
            answer: KeyAnswer::of_records([record]),
            next: 0,
        })
    }

    fn verify(&self, batch: &[Vec<u8>]) -> Result<(), MailBenchError> {
        let policy = Policy { accepts_sha1: true, ..Policy::default() };
        let mut intake = Intake::new(&policy, NOW_S);
        for mail in batch {
            intake.push(&parsed(mail, &policy.limits)?)?;
        }
        let keyed = intake.hash(&self.accelerator)?.answer(|_| self.answer.clone());
        let results = keyed.verify(&self.accelerator);
        let is_good = |verified: &Verified| {
            verified.signatures.iter().all(|signature| signature.verdict() == Verdict::Pass)
        };
        match results.len() == batch.len() && results.iter().all(is_good) {
            true => Ok(()),
            false => Err(MailBenchError::Wrong("a signature of this bench does not verify".into())),
        }
    }
}

impl Work for Ours<'_> {
    fn batch(&mut self) -> Result<usize, MailBenchError> {
        let messages = &self.input.messages[self.next..];
        let batch = &messages[..self.batch.min(messages.len())];
        match self.input.task {
            Task::Sign(_) => drop(sign(batch, &self.signer, &self.accelerator)?),
            Task::Verify(_) => self.verify(batch)?,
        }
        self.next = (self.next + batch.len()) % self.input.messages.len();
        Ok(batch.len())
    }
}
