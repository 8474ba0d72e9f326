//! Tasks as messages.

use std::fmt::{self, Display, Write};

use oarlock::{AeadAlg, BlockCipher, CipherMode, DigestAlg, Direction, FpeAlg, MacAlg, Shape, WrapAlg};
use oarlock_keytable::{BatchTask, KeyType, KeyWrap};

use crate::WireError;
use crate::proto;
use crate::proto::task::Kind;
use crate::scheme::unknown_name;

/// Reads a task.
///
/// # Errors
/// A name is not known here.
pub fn read(message: &proto::Task) -> Result<BatchTask, WireError> {
    let value = message.kind;
    let kind = Kind::try_from(value).map_err(|_| WireError::Unknown { what: "task", value })?;
    let algorithm = message.algorithm.as_str();
    Ok(match kind {
        Kind::Unspecified => return Err(WireError::Missing { what: "task" }),
        Kind::Encrypt => match format(algorithm) {
            Some(alg) => BatchTask::encrypt_format(alg),
            None => BatchTask::encrypt(cipher(algorithm)?),
        },
        Kind::Decrypt => match format(algorithm) {
            Some(alg) => BatchTask::decrypt_format(alg),
            None => BatchTask::decrypt(cipher(algorithm)?),
        },
        Kind::Seal => BatchTask::seal(parse_name("AEAD algorithm", &AeadAlg::ALL, algorithm)?),
        Kind::Open => BatchTask::open(parse_name("AEAD algorithm", &AeadAlg::ALL, algorithm)?),
        Kind::Mac => BatchTask::mac(parse_name("MAC", &MacAlg::ALL, algorithm)?),
        Kind::Digest => BatchTask::digest(parse_name("digest", &DigestAlg::ALL, algorithm)?),
        Kind::Translate => BatchTask::translate(cipher(algorithm)?, cipher(&message.target)?),
        Kind::Wrap => BatchTask::wrap(parse_name("key wrap", &WrapAlg::ALL, algorithm)?),
        Kind::UnwrapKey => {
            let key = parse_name("type of key", &KeyType::ALL, &message.target)?;
            BatchTask::unwrap_key(parse_name("key wrap", &key_wraps(), algorithm)?, key)
        }
    })
}

/// Writes a task.
///
/// # Errors
/// The protocol does not have the task.
pub fn write(task: BatchTask) -> Result<proto::Task, WireError> {
    let (kind, algorithm, target) = match task {
        BatchTask::Do(Shape::Cipher { alg, mode: CipherMode::Cbc, direction: Direction::Encrypt }) => {
            (Kind::Encrypt, alg.to_string(), None)
        }
        BatchTask::Do(Shape::Cipher { alg, mode: CipherMode::Cbc, .. }) => {
            (Kind::Decrypt, alg.to_string(), None)
        }
        BatchTask::Do(Shape::Aead { alg, direction: Direction::Encrypt }) => {
            (Kind::Seal, alg.to_string(), None)
        }
        BatchTask::Do(Shape::Aead { alg, .. }) => (Kind::Open, alg.to_string(), None),
        BatchTask::Do(Shape::Fpe { alg, direction: Direction::Encrypt }) => {
            (Kind::Encrypt, alg.to_string(), None)
        }
        BatchTask::Do(Shape::Fpe { alg, .. }) => (Kind::Decrypt, alg.to_string(), None),
        BatchTask::Do(Shape::Mac { alg }) => (Kind::Mac, alg.to_string(), None),
        BatchTask::Do(Shape::Digest { alg }) => (Kind::Digest, alg.to_string(), None),
        BatchTask::Do(shape @ Shape::Translate { from, to }) if shape.is_possible() => {
            (Kind::Translate, from.alg.to_string(), Some(to.alg.to_string()))
        }
        BatchTask::Do(Shape::Wrap { alg, direction: Direction::Encrypt }) => {
            (Kind::Wrap, alg.to_string(), None)
        }
        BatchTask::UnwrapKey { wrap, key } => (Kind::UnwrapKey, wrap.to_string(), Some(key.to_string())),
        other => return Err(unknown_name("task", &other)),
    };
    Ok(proto::Task { kind: kind.into(), algorithm, target: target.unwrap_or_default() })
}

/// Returns the key type of a name.
///
/// # Errors
/// No key type has this name.
pub fn key_type(name: &str) -> Result<KeyType, WireError> {
    parse_name("type of key", &KeyType::ALL, name)
}

/// Returns the algorithm of a name that keeps formats.
fn format(name: &str) -> Option<FpeAlg> {
    FpeAlg::ALL.into_iter().find(|alg| is_named(alg, name))
}

fn cipher(name: &str) -> Result<BlockCipher, WireError> {
    parse_name("cipher", &BlockCipher::ALL, name)
}

fn key_wraps() -> Vec<KeyWrap> {
    let legacy = [BlockCipher::Tdes2, BlockCipher::Tdes3];
    let aes = WrapAlg::ALL.into_iter().map(KeyWrap::Aes);
    aes.chain(legacy.map(KeyWrap::LegacyEcb)).chain(legacy.map(KeyWrap::LegacyCbc)).collect()
}

fn parse_name<T: Copy + Display>(what: &'static str, all: &[T], name: &str) -> Result<T, WireError> {
    all.iter().find(|value| is_named(value, name)).copied().ok_or_else(|| {
        let names: Vec<String> = all.iter().map(T::to_string).collect();
        // Names come from the client and go into logs.
        WireError::Name { what, name: name.chars().take(32).collect(), expected: names.join(", ") }
    })
}

/// True if a value is displayed as this name. Nothing is allocated: each batch names its tasks.
fn is_named(value: &impl Display, name: &str) -> bool {
    let mut rest = UnreadName(name);
    write!(rest, "{value}").is_ok() && rest.0.is_empty()
}

/// The part of a name that a displayed value has not had yet.
struct UnreadName<'n>(&'n str);

impl Write for UnreadName<'_> {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        self.0 = self.0.strip_prefix(part).ok_or(fmt::Error)?;
        Ok(())
    }
}
