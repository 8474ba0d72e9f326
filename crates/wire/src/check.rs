//! What can be known of an answer without the private key.

#[cfg(feature = "grpc")]
use oarlock::NonceRule;
use oarlock::engine_api::{Engine, HeldJob};
use oarlock::schemes::compute_on;
use oarlock::{Accelerator, Input, Job, SaltLength, Scheme};

/// Which answers are verified with the public key before they are released.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AnswerCheck {
    /// None.
    Nothing,
    /// RSA signatures: a verification costs a thirtieth of them, and a faulty one gives the key away (Boneh, DeMillo, Lipton 1997).
    #[default]
    Rsa,
    /// Every signature.
    Signatures,
}

impl AnswerCheck {
    /// The places of jobs whose answers are wrong for certain.
    pub(crate) fn wrong<'a>(
        self,
        checker: &Accelerator,
        answers: impl Iterator<Item = (usize, &'a HeldJob, &'a [u8])>,
    ) -> Vec<usize> {
        let verifications = answers.filter_map(|(place, job, answer)| Some((place, self.of(job, answer)?)));
        let (places, jobs): (Vec<usize>, Vec<Job<'_>>) = verifications.unzip();
        if jobs.is_empty() {
            return Vec::new();
        }
        let verdicts = checker.run_all(&jobs);
        let verdicts = places.into_iter().zip(verdicts.iter());
        verdicts.filter(|(_, verdict)| verdict.is_err()).map(|(place, _)| place).collect()
    }

    /// Whether an answer is wrong for certain, by an engine that computes on this thread and takes little of its stack.
    pub(crate) fn is_wrong(self, engine: &dyn Engine, job: &HeldJob, answer: &[u8]) -> bool {
        let Some(verification) = self.of(job, answer) else { return false };
        compute_on(engine, &[verification]).iter().any(Result::is_err)
    }

    /// The verification of an answer, where there is one and it is wanted.
    fn of<'a>(self, job: &'a HeldJob, answer: &'a [u8]) -> Option<Job<'a>> {
        job.key.parts()?;
        let (scheme, input) = verification(job)?;
        let is_wanted = match self {
            Self::Nothing => false,
            Self::Rsa => job.key.rsa_public().is_some(),
            Self::Signatures => true,
        };
        is_wanted.then(|| Job::with_scheme(scheme, &job.key, input, answer))
    }
}

fn verification(job: &HeldJob) -> Option<(Scheme, Input<'_>)> {
    let digest = Input::Digest(&job.input);
    Some(match job.scheme {
        Scheme::RsaPkcs1Sign { digest: alg } => (Scheme::RsaPkcs1Verify { digest: alg }, digest),
        Scheme::RsaPssSign { digest: alg, mgf, salt_len } => {
            (Scheme::RsaPssVerify { digest: alg, mgf, salt: SaltLength::Exactly(salt_len) }, digest)
        }
        Scheme::EcdsaSign { curve, digest: alg, encoding, .. } => {
            (Scheme::EcdsaVerify { curve, digest: alg, encoding }, digest)
        }
        Scheme::Ed25519Sign => (Scheme::Ed25519Verify, Input::Message(&job.input)),
        _ => return None,
    })
}

/// True where every server must give the same bytes.
#[cfg(feature = "grpc")]
pub(crate) fn is_deterministic(scheme: Scheme) -> bool {
    match scheme {
        Scheme::RsaPssSign { salt_len, .. } => salt_len == 0,
        Scheme::EcdsaSign { nonce, .. } => nonce == NonceRule::Deterministic,
        _ => true,
    }
}
