//! The tasks of the bench: messages signed and verified with a key of a kind.

use std::borrow::Cow;

use oarlock::keys::generate;
use oarlock::{Accelerator, Key};
use oarlock_dkim::{DkimSigner, MailLimits, MailSignError, ParsedMail, SignIntake, SignatureAlgorithm};

use super::error::MailBenchError;

/// The time of all signatures, in seconds since 1970.
pub(super) const NOW_S: u64 = 1_793_613_600;
pub(crate) const DOMAIN: &str = "example.com";
pub(crate) const SELECTOR: &str = "s1";

/// The task at each message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MailTask {
    Sign(SignatureKind),
    Verify(SignatureKind),
}

/// The kind of key, and the digest if it is not SHA-256.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SignatureKind {
    Rsa1024Sha1,
    Rsa1024,
    Rsa2048Sha1,
    Rsa2048,
    Ed25519,
}

impl MailTask {
    /// The tasks that are measured by default.
    pub(super) const USUAL: [Self; 6] = [
        Self::Sign(SignatureKind::Rsa1024),
        Self::Sign(SignatureKind::Rsa2048),
        Self::Sign(SignatureKind::Ed25519),
        Self::Verify(SignatureKind::Rsa1024),
        Self::Verify(SignatureKind::Rsa2048),
        Self::Verify(SignatureKind::Ed25519),
    ];

    pub(super) fn name(self) -> String {
        match self {
            Self::Sign(kind) => format!("sign-{}", kind.name()),
            Self::Verify(kind) => format!("verify-{}", kind.name()),
        }
    }

    /// Returns the task of this name.
    pub(crate) fn from_name(name: &str) -> Result<Self, String> {
        let all = || SignatureKind::ALL.into_iter().flat_map(|kind| [Self::Sign(kind), Self::Verify(kind)]);
        let names = || all().map(Self::name).collect::<Vec<_>>().join(", ");
        all().find(|task| task.name() == name).ok_or_else(|| format!("expected one of {}", names()))
    }

    pub(super) fn kind(self) -> SignatureKind {
        let (Self::Sign(kind) | Self::Verify(kind)) = self;
        kind
    }
}

impl SignatureKind {
    pub(super) const ALL: [Self; 5] =
        [Self::Rsa1024Sha1, Self::Rsa1024, Self::Rsa2048Sha1, Self::Rsa2048, Self::Ed25519];

    /// The name in titles of tables.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Rsa1024Sha1 => "RSA-1024 with SHA-1",
            Self::Rsa1024 => "RSA-1024 with SHA-256",
            Self::Rsa2048Sha1 => "RSA-2048 with SHA-1",
            Self::Rsa2048 => "RSA-2048 with SHA-256",
            Self::Ed25519 => "Ed25519",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Rsa1024Sha1 => "rsa1024-sha1",
            Self::Rsa2048Sha1 => "rsa2048-sha1",
            Self::Rsa1024 => "rsa1024",
            Self::Rsa2048 => "rsa2048",
            Self::Ed25519 => "ed25519",
        }
    }

    fn generate(self) -> Result<Key, MailBenchError> {
        Ok(match self {
            Self::Rsa1024 | Self::Rsa1024Sha1 => generate::rsa(1024)?,
            Self::Rsa2048 | Self::Rsa2048Sha1 => generate::rsa(2048)?,
            Self::Ed25519 => generate::ed25519()?,
        })
    }
}

/// The input of every contender at a row.
pub(crate) struct MailInput<'m> {
    pub(super) task: MailTask,
    pub(crate) key: Key,
    /// The messages, signed if the task is to verify.
    pub(crate) messages: Cow<'m, [Vec<u8>]>,
}

impl<'m> MailInput<'m> {
    pub(crate) fn new(
        task: MailTask,
        messages: &'m [Vec<u8>],
        accelerator: &Accelerator,
    ) -> Result<Self, MailBenchError> {
        let key = task.kind().generate()?;
        let mut input = Self { task, key, messages: messages.into() };
        if let MailTask::Verify(_) = task {
            let fields = sign(messages, &input.signer()?, accelerator)?;
            let whole = |(field, mail): (String, &Vec<u8>)| [field.as_bytes(), b"\r\n", mail].concat();
            input.messages = fields.into_iter().zip(messages).map(whole).collect();
        }
        Ok(input)
    }

    pub(super) fn signer(&self) -> Result<DkimSigner, MailBenchError> {
        let kind = self.task.kind();
        let signer = DkimSigner::new(DOMAIN, SELECTOR, self.key.clone()).and_then(|signer| match kind {
            SignatureKind::Rsa1024Sha1 | SignatureKind::Rsa2048Sha1 => {
                signer.with_algorithm(SignatureAlgorithm::RsaSha1)
            }
            SignatureKind::Rsa1024 | SignatureKind::Rsa2048 | SignatureKind::Ed25519 => Ok(signer),
        });
        Ok(signer?)
    }
}

/// Returns the signature of each message.
pub(super) fn sign<'m>(
    messages: impl IntoIterator<Item = &'m Vec<u8>>,
    signer: &DkimSigner,
    accelerator: &Accelerator,
) -> Result<Vec<String>, MailBenchError> {
    let limits = MailLimits::default();
    let mut intake = SignIntake::new(NOW_S);
    for mail in messages {
        intake.push(parsed(mail, &limits)?, [signer])?;
    }
    let wrong = |error: MailSignError| MailBenchError::Wrong(error.to_string());
    intake.sign(accelerator)?.into_iter().map(|field| field.map_err(wrong)).collect()
}

pub(super) fn parsed<'m>(mail: &'m [u8], limits: &MailLimits) -> Result<ParsedMail<'m>, MailBenchError> {
    ParsedMail::parse(mail, limits).map_err(|error| MailBenchError::Wrong(error.to_string()))
}
