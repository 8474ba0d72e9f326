//! The check of answers with the public key.

use oarlock::engine_api::schemes::compute_on;
use oarlock::engine_api::{Engine, OwnedJob};
#[cfg(feature = "grpc")]
use oarlock::{Accelerator, NonceRule, Scheme};
use oarlock::{Job, SigningScheme};

/// The answers that are verified with the public key before they are released.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AnswerCheck {
    /// No answers.
    Nothing,
    /// RSA signatures. A verification takes a thirtieth of the time, and a faulty signature reveals the key (Boneh,
    /// DeMillo, Lipton 1997).
    #[default]
    Rsa,
    /// Every signature.
    Signatures,
}

impl AnswerCheck {
    /// Returns the indices of jobs whose answers are certainly wrong.
    #[cfg(feature = "grpc")]
    pub(crate) fn find_wrong<'a>(
        self,
        checker: &Accelerator,
        answers: impl Iterator<Item = (usize, &'a OwnedJob, &'a [u8])>,
    ) -> Vec<usize> {
        let verifications =
            answers.filter_map(|(index, job, answer)| Some((index, self.verification_of(job, answer)?)));
        let (indices, jobs): (Vec<usize>, Vec<Job<'_>>) = verifications.unzip();
        if jobs.is_empty() {
            return Vec::new();
        }
        let verdicts = checker.run_all(&jobs);
        let verdicts = indices.into_iter().zip(verdicts.iter());
        verdicts.filter(|(_, verdict)| verdict.is_err()).map(|(index, _)| index).collect()
    }

    /// Returns true if an answer is certainly wrong. `engine` computes on this thread and needs little stack.
    pub(crate) fn is_wrong(self, engine: &dyn Engine, job: &OwnedJob, answer: &[u8]) -> bool {
        let Some(verification) = self.verification_of(job, answer) else { return false };
        compute_on(engine, &[verification]).iter().any(Result::is_err)
    }

    /// Returns the job that verifies an answer, if there is one and the check includes it.
    fn verification_of<'a>(self, job: &'a OwnedJob, answer: &'a [u8]) -> Option<Job<'a>> {
        // A held key may come without its public half. Then nothing can be verified.
        job.key.parts()?;
        let scheme = SigningScheme::try_from(job.scheme).ok()?.verifying();
        let is_wanted = match self {
            Self::Nothing => false,
            Self::Rsa => job.key.rsa_public().is_some(),
            Self::Signatures => true,
        };
        let asked = job.as_job();
        is_wanted.then(|| Job::verify(scheme, &job.key, asked.input, answer).context(asked.context))
    }
}

/// Returns true if every server must give the same bytes.
#[cfg(feature = "grpc")]
pub(crate) fn is_deterministic(scheme: Scheme) -> bool {
    match scheme {
        // A salt of length zero leaves nothing random.
        Scheme::RsaPssSign { salt_len, .. } => salt_len == 0,
        Scheme::EcdsaSign { nonce, .. }
        | Scheme::MlDsaSign { nonce, .. }
        | Scheme::SlhDsaSign { nonce, .. } => nonce == NonceRule::Deterministic,
        Scheme::MlKemEncaps { .. } | Scheme::CompositeSign { .. } => false,
        _ => true,
    }
}
