//! What is done with which messages and which key.

use oarlock::keys::generate;
use oarlock::{Accelerator, Key};
use oarlock_dkim::{Limits, Message, SignError, SignIntake, Signer};

use super::corpus::Corpus;
use crate::dkim::DkimError;

/// When everything here happens, in seconds since 1970.
pub(super) const NOW_S: u64 = 1_793_613_600;
pub(super) const DOMAIN: &str = "example.com";
pub(super) const SELECTOR: &str = "s1";

/// What is done with each message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::dkim) enum Task {
    Sign(KeyType),
    Verify(KeyType),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::dkim) enum KeyType {
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
        match self {
            Self::Sign(key) => format!("sign-{}", key.name()),
            Self::Verify(key) => format!("verify-{}", key.name()),
        }
    }

    /// The task of this name.
    pub(in crate::dkim) fn from_name(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|task| task.name() == name);
        found.ok_or_else(|| format!("expected one of {}", Self::ALL.map(Self::name).join(", ")))
    }

    pub(super) fn key(self) -> KeyType {
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

/// What all who are measured at a row get.
pub(super) struct Input {
    pub(super) task: Task,
    pub(super) key: Key,
    /// Signed where they are to be verified.
    pub(super) messages: Vec<Vec<u8>>,
}

impl Input {
    pub(super) fn new(task: Task, corpus: &Corpus, accelerator: &Accelerator) -> Result<Self, DkimError> {
        let key = task.key().generate()?;
        let messages = match task {
            Task::Sign(_) => corpus.messages.clone(),
            Task::Verify(_) => signed(&corpus.messages, &key, accelerator)?,
        };
        Ok(Self { task, key, messages })
    }
}

pub(super) fn signer(key: &Key) -> Result<Signer, DkimError> {
    Signer::new(DOMAIN, SELECTOR, key.clone())
        .map_err(|error| DkimError::Signer { path: "bench".into(), error })
}

/// The signature of each message.
pub(super) fn sign<'m>(
    messages: impl IntoIterator<Item = &'m Vec<u8>>,
    signer: &Signer,
    accelerator: &Accelerator,
) -> Result<Vec<String>, DkimError> {
    let limits = Limits::default();
    let mut intake = SignIntake::new(NOW_S);
    for mail in messages {
        intake.push(parsed(mail, &limits)?, [signer])?;
    }
    let wrong = |error: SignError| DkimError::No(error.to_string());
    intake.sign(accelerator)?.into_iter().map(|field| field.map_err(wrong)).collect()
}

fn signed(messages: &[Vec<u8>], key: &Key, accelerator: &Accelerator) -> Result<Vec<Vec<u8>>, DkimError> {
    let fields = sign(messages, &signer(key)?, accelerator)?;
    let whole = |(field, mail): (String, &Vec<u8>)| [field.as_bytes(), b"\r\n", mail].concat();
    Ok(fields.into_iter().zip(messages).map(whole).collect())
}

pub(super) fn parsed<'m>(mail: &'m [u8], limits: &Limits) -> Result<Message<'m>, DkimError> {
    Message::parse(mail, limits).map_err(|error| DkimError::No(error.to_string()))
}
