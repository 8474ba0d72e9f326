//! Key files: one JSON object per line, with a name, a type, the key, and its policy.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use oarlock::keys::text_file::{BYTE_ORDER_MARK, TextFault, checked_text};
use oarlock_keytable::{
    CounterStore, IvCounter, IvRule, KeyAlgorithm, KeyOperation, KeyPolicy, KeyTable, KeyType, KeyWeakness,
    TableError, WeakKeyRule,
};
use serde::{Deserialize, Serialize};

use crate::key_version::{KeyVersions, VersionRange, split_version};
use crate::same_key::{LineEncryption, SameKeyDanger, SameKeyLine, SameKeys};
use crate::{Encoding, SecretBuffer};

/// The names of keys in a table.
#[derive(Clone, Debug, Default)]
pub struct KeyNames(HashMap<Box<[u8]>, u32>);

/// The reason why a key file cannot be used. It contains no bytes of a key.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {fault}")]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message names the fields")]
pub struct KeyFileError {
    /// The line, from 1.
    pub line: usize,
    pub fault: KeyFault,
}

/// The fault of a line of a key file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum KeyFault {
    /// The line is not an object with these fields.
    #[error(
        "byte {byte}: expected an object with \"type\" and \"hex\" or \"base64\". It may also have \"name\", \"operations\", \
         \"algorithms\", \"ivs\", \"counter\", \"nonce_field\", \"max_uses\", \"max_random_gcm\", \"mac_length\", \"weak_keys\", \
         \"version\", \"min_version\""
    )]
    KeyPathParser {
        /// The byte at which parsing failed, from 1.
        byte: usize,
    },
    /// The file is in UTF-16, or the line has another end than LF and CRLF.
    #[error("{}", .0.reason())]
    Text(TextFault),
    /// The line has a field that lines of keys do not have.
    #[error("unknown field \"{name}\": expected one of {expected}")]
    UnknownField {
        /// The name of the field.
        name: String,
        /// The known fields.
        expected: String,
    },
    /// The file is sealed.
    #[error(
        "this file is sealed with age: `oarlock keys unseal FILE --identity IDENTITY` opens it, and `oarlock serve` does so \
         itself with `[keys] identity`"
    )]
    Sealed,
    /// The key is given in no encoding or in both, or it is not in the given encoding.
    #[error("the key: expected it in \"hex\" or in \"base64\", and in one of them only")]
    NotEncoded,
    /// An unknown word.
    #[error("{field}: expected one of {expected}")]
    Word {
        field: &'static str,
        /// The known words.
        expected: String,
    },
    /// A counter without a nonce field. Servers with the same key and separate counters would repeat nonces.
    #[error(
        "expected \"nonce_field\" beside \"counter\": 8 hexadecimal digits that no other counter under this key has. Give \
         each server a field of its own, such as \"00000001\" and \"00000002\". For a key that has counted without a \
         field, write \"00000000\""
    )]
    NoNonceField,
    /// The field is not four bytes.
    #[error("nonce_field: expected 8 hexadecimal digits")]
    BadNonceField,
    /// Two lines hold the same key, and both may encrypt. Their nonces could repeat, or one reveals what the other
    /// encrypts.
    #[error(
        "this key stands in line {line} too, and both encrypt, one of them under GCM. Their nonces could repeat, or CBC \
         under one could reveal what GCM encrypts under the other. Give each line a key of its own, or let only one of \
         them encrypt (\"operations\"). Lines that count their nonces need different values of \"nonce_field\""
    )]
    SameKey {
        /// The line, from 1.
        line: usize,
    },
    /// Two lines hold the same key, and one forges the codes of the other.
    #[error(
        "this key stands in line {line} too. One of the lines makes codes of blocks (cmac, des-mac, retail-mac), and what the \
         other does forges them. Give each line a key of its own"
    )]
    ForgeableCodes {
        /// The line, from 1.
        line: usize,
    },
    /// The numbers of versions contradict each other.
    #[error(
        "version {version}, min_version {min_version}: expected numbers from 1, and \"min_version\" not above \"version\""
    )]
    VersionRange {
        /// The number of the version.
        version: u32,
        /// The oldest version that may be used.
        min_version: u32,
    },
    /// The name says an older version of a key whose newest version is not newer.
    #[error(
        "the name says version {found} of the key {base:?}, whose newest version is {newest}: expected a lower number, or \
         a higher \"version\" in the line of {base:?}"
    )]
    NotOlder {
        /// The name of the key without the number.
        base: String,
        /// The number in the name.
        found: u32,
        /// The newest version.
        newest: u32,
    },
    /// The counter of IVs cannot be opened.
    #[error("cannot open the counter: {0}")]
    Counter(io::Error),
    /// The table refuses the key.
    #[error(transparent)]
    Table(#[from] TableError),
}

/// The keys of a file, in a table.
#[derive(Debug)]
#[non_exhaustive]
pub struct LoadedKeys {
    /// The table with the keys of the file.
    pub table: KeyTable,
    /// The names of the keys.
    pub names: KeyNames,
    /// The versions of the keys.
    pub versions: KeyVersions,
    /// Keys that were accepted with a warning.
    pub warnings: Vec<(String, KeyWeakness)>,
}

/// A line of a key file.
#[derive(Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeyFileLine<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    #[serde(rename = "type")]
    pub(crate) key_type: String,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub(crate) hex: Option<&'a str>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub(crate) base64: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) min_version: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) operations: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) algorithms: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ivs: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) counter: Option<String>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub(crate) nonce_field: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_uses: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_random_gcm: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mac_length: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) weak_keys: Option<String>,
}

impl KeyNames {
    /// Returns the index of the key of a name.
    #[inline]
    #[must_use]
    pub fn find(&self, name: &[u8]) -> Option<u32> {
        self.0.get(name).copied()
    }
}

impl FromIterator<(String, u32)> for KeyNames {
    fn from_iter<T: IntoIterator<Item = (String, u32)>>(names: T) -> Self {
        Self(names.into_iter().map(|(name, index)| (name.into_bytes().into(), index)).collect())
    }
}

/// Reads a key file. A key without a name is named by its index, from 0. `open` opens the counter at a path.
///
/// # Errors
/// The first line that is malformed, that the table refuses, or that is unsafe together with an earlier line.
pub fn load_keys(
    text: &[u8],
    open: impl Fn(&str) -> io::Result<Arc<dyn CounterStore>>,
) -> Result<LoadedKeys, KeyFileError> {
    load_keys_at(text, None, open)
}

/// Reads a key file that several servers share. If `nonce_field` is given, all counted nonces begin with it, and the
/// file's own fields are ignored.
///
/// # Errors
/// As [`load_keys`].
pub fn load_keys_at(
    text: &[u8],
    nonce_field: Option<[u8; 4]>,
    open: impl Fn(&str) -> io::Result<Arc<dyn CounterStore>>,
) -> Result<LoadedKeys, KeyFileError> {
    if SEALED.iter().any(|begin| text.trim_ascii_start().starts_with(begin)) {
        return Err(KeyFileError { line: 1, fault: KeyFault::Sealed });
    }
    if let Err(fault) = checked_text(text) {
        return Err(KeyFileError { line: fault.line(), fault: KeyFault::Text(fault) });
    }
    let table = KeyTable::new();
    let (names, warnings, versions) = (KeyNames::default(), Vec::new(), versions(text)?);
    let loaded = LoadedKeys { table, names, versions, warnings };
    let mut loader = KeyFileLoader { loaded, same: SameKeys::default(), nonce_field, open };
    for (number, line) in lines(text) {
        loader.take(number, line).map_err(|fault| KeyFileError { line: number, fault })?;
    }
    Ok(loader.loaded)
}

/// The beginnings of files sealed with age, binary and armored.
const SEALED: [&[u8]; 2] = [b"age-encryption.org/", b"-----BEGIN AGE ENCRYPTED FILE-----"];

/// Returns the lines that are not empty, with their numbers from 1.
fn lines(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let lines = (1..).zip(text.split(|byte| *byte == b'\n'));
    lines.filter(|(_, line)| !line.trim_ascii().is_empty())
}

/// Reads the versions of all keys. An older version may stand before the newest, whose line has the numbers.
fn versions(text: &[u8]) -> Result<KeyVersions, KeyFileError> {
    // Parsing twice is slow, and most lines have no version.
    let has_version = |line: &[u8]| line.windows(VERSION_FIELD.len()).any(|part| part == VERSION_FIELD);
    let mut versions = KeyVersions::default();
    for (number, line) in lines(text).filter(|(_, line)| has_version(line)) {
        let line = KeyFileLine::parse(line).map_err(|fault| KeyFileError { line: number, fault })?;
        let range = line.version_range().map_err(|fault| KeyFileError { line: number, fault })?;
        versions.insert(line.name.as_deref().unwrap_or_default(), range);
    }
    Ok(versions)
}

/// The end of the names of `version` and `min_version`, as they stand in a line.
const VERSION_FIELD: &[u8] = b"version\"";

/// The use of a line's key among the versions of one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum VersionStanding {
    /// It encrypts. A key without versions has this standing too.
    Newest,
    /// It does not encrypt.
    Older,
    /// It is below the minimum, and does nothing.
    Retired,
}

struct KeyFileLoader<F> {
    loaded: LoadedKeys,
    same: SameKeys,
    /// The nonce field that replaces those of the lines.
    nonce_field: Option<[u8; 4]>,
    open: F,
}

impl<F: Fn(&str) -> io::Result<Arc<dyn CounterStore>>> KeyFileLoader<F> {
    fn take(&mut self, number: usize, line: &[u8]) -> Result<(), KeyFault> {
        let line = KeyFileLine::parse(line)?;
        let key_type = word("type", &KeyType::ALL, &line.key_type)?;
        let secret = line.secret()?;
        let standing = self.standing(&line)?;
        let (mut policy, encryption) = self.policy(&line, key_type, standing)?;
        if standing == VersionStanding::Retired {
            policy = KeyPolicy::new();
        }
        let table = &self.loaded.table;
        // Keys are numbered as they are inserted, so the number of keys so far is the index of this one.
        let name = line.name.unwrap_or_else(|| table.len().to_string());
        let added = table.insert(name.as_str(), key_type, &secret[..], policy)?;
        if let Some(info) = table.info(added.index)
            && let Some((line, danger)) =
                self.same.add(info.identity, SameKeyLine { number, policy: info.policy, encryption })
        {
            return Err(match danger {
                SameKeyDanger::Encryption => KeyFault::SameKey { line },
                SameKeyDanger::Forgery => KeyFault::ForgeableCodes { line },
            });
        }
        self.loaded.names.0.insert(name.as_bytes().into(), added.index);
        self.loaded.warnings.extend(added.warning.map(|weakness| (name, weakness)));
        Ok(())
    }

    /// Returns the standing of the version that the line holds.
    fn standing(&self, line: &KeyFileLine<'_>) -> Result<VersionStanding, KeyFault> {
        let named = line.name.as_deref().and_then(split_version);
        let range = |(base, found)| Some((base, found, self.loaded.versions.range(base)?));
        match named.and_then(range) {
            None => Ok(VersionStanding::Newest),
            Some((base, found, VersionRange { newest, .. })) if found >= newest => {
                Err(KeyFault::NotOlder { base: base.to_owned(), found, newest })
            }
            Some((_, found, VersionRange { min, .. })) if found < min => Ok(VersionStanding::Retired),
            Some(_) => Ok(VersionStanding::Older),
        }
    }

    /// Returns the policy of a line. Everything that the line does not restrict is allowed.
    fn policy(
        &self,
        line: &KeyFileLine<'_>,
        key_type: KeyType,
        standing: VersionStanding,
    ) -> Result<(KeyPolicy, Option<LineEncryption>), KeyFault> {
        let mut operations = line.operations()?;
        if standing != VersionStanding::Newest {
            operations
                .retain(|operation| !matches!(operation, KeyOperation::Encrypt | KeyOperation::TranslateTo));
        }
        let algorithms = line.algorithms(key_type, &operations)?;
        let is_gcm = algorithms.contains(&KeyAlgorithm::Gcm);
        let ivs = line.ivs(is_gcm)?;
        let field = match &line.counter {
            Some(_) => Some(line.nonce_field(self.nonce_field, is_gcm)?),
            None => None,
        };
        let encryption = LineEncryption::from_policy(&operations, &algorithms, field);
        let mut policy = KeyPolicy::new().allow(operations).with(algorithms).ivs(ivs);
        if let (Some(path), Some(field)) = (&line.counter, field) {
            let counter = IvCounter::new((self.open)(path).map_err(KeyFault::Counter)?, field);
            policy = policy.ivs([IvRule::Counter(Arc::new(counter))]);
        }
        Ok((line.limited(policy)?, encryption))
    }
}

/// Names an unknown field. Of all other errors only the position is reported: serde's message may quote a value, which
/// may be a key. So may be a name that does not look like a field.
fn unknown_field(error: &serde_json::Error) -> Option<KeyFault> {
    let message = error.to_string();
    let mut names = message.strip_prefix("unknown field ")?.split('`').skip(1).step_by(2);
    let is_field = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
    let name = names.next().filter(|name| name.len() <= 24 && name.bytes().all(is_field))?.to_owned();
    Some(KeyFault::UnknownField { name, expected: names.collect::<Vec<_>>().join(", ") })
}

impl<'a> KeyFileLine<'a> {
    pub(crate) fn parse(line: &'a [u8]) -> Result<Self, KeyFault> {
        // A byte order mark may precede the first line.
        let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        serde_json::from_slice(line).map_err(|error| {
            unknown_field(&error).unwrap_or(KeyFault::KeyPathParser { byte: error.column() })
        })
    }

    pub(crate) fn version_range(&self) -> Result<VersionRange, KeyFault> {
        let usual = VersionRange::default();
        let (version, min_version) =
            (self.version.unwrap_or(usual.newest), self.min_version.unwrap_or(usual.min));
        match min_version >= usual.min && min_version <= version {
            true => Ok(VersionRange { min: min_version, newest: version }),
            false => Err(KeyFault::VersionRange { version, min_version }),
        }
    }

    fn secret(&self) -> Result<SecretBuffer, KeyFault> {
        let mut secret = SecretBuffer::default();
        let decoded = match (self.hex, self.base64) {
            (Some(hex), None) => Encoding::Hex.decode(hex.as_bytes(), &mut secret),
            (None, Some(base64)) => Encoding::Base64.decode(base64.as_bytes(), &mut secret),
            _ => None,
        };
        decoded.map(|_| secret).ok_or(KeyFault::NotEncoded)
    }

    fn operations(&self) -> Result<Vec<KeyOperation>, KeyFault> {
        match &self.operations {
            Some(words) => self::words("operations", &OPERATIONS, words),
            None => Ok(OPERATIONS.map(|(_, operation)| operation).into()),
        }
    }

    /// Returns the algorithms that are named, or the usual ones. Only a key that makes codes and nothing else makes
    /// codes of blocks, which ciphers would forge.
    fn algorithms(
        &self,
        key_type: KeyType,
        operations: &[KeyOperation],
    ) -> Result<Vec<KeyAlgorithm>, KeyFault> {
        match &self.algorithms {
            Some(words) => self::words("algorithms", &ALGORITHMS, words),
            None => {
                let is_for_codes = operations.iter().all(|operation| *operation == KeyOperation::Mac);
                let is_usual = |algorithm: &KeyAlgorithm| {
                    algorithm.suits(key_type)
                        && !ONLY_NAMED.contains(algorithm)
                        && (is_for_codes || !algorithm.is_block_mac())
                };
                Ok(ALGORITHMS.map(|(_, algorithm)| algorithm).into_iter().filter(is_usual).collect())
            }
        }
    }

    /// Returns the sources of IVs, except the counter.
    fn ivs(&self, is_gcm: bool) -> Result<Vec<IvRule>, KeyFault> {
        match (&self.ivs, &self.counter) {
            (Some(words), _) => self::words("ivs", &IVS, words),
            // Under chosen IVs, CBC encryption reveals the key stream of GCM under the same key.
            (None, None) if is_gcm => Ok(vec![IvRule::Random]),
            (None, None) => Ok(vec![IvRule::CallersForCbc, IvRule::Random, IvRule::Zero]),
            (None, Some(_)) => Ok(Vec::new()),
        }
    }

    /// Returns the first bytes of counted nonces: `servers` if given, otherwise the line's own field.
    fn nonce_field(&self, servers: Option<[u8; 4]>, is_gcm: bool) -> Result<[u8; 4], KeyFault> {
        let from_line = self.nonce_field.map(|text| parse_nonce_field(text).ok_or(KeyFault::BadNonceField));
        match (servers, from_line.transpose()?) {
            (Some(field), _) | (None, Some(field)) => Ok(field),
            (None, None) if is_gcm => Err(KeyFault::NoNonceField),
            (None, None) => Ok([0; 4]),
        }
    }

    /// Returns the policy with its limits.
    fn limited(&self, mut policy: KeyPolicy) -> Result<KeyPolicy, KeyFault> {
        if let Some(uses) = self.max_uses {
            policy = policy.max_uses(uses);
        }
        if let Some(uses) = self.max_random_gcm {
            policy = policy.max_random_gcm(uses);
        }
        if let Some(bytes) = self.mac_length {
            policy = policy.mac_len(bytes);
        }
        if let Some(rule) = &self.weak_keys {
            policy = policy.weak_keys(one_of("weak_keys", &WEAK_KEYS, rule)?);
        }
        Ok(policy)
    }
}

/// Parses a `nonce_field`: 8 hexadecimal digits.
#[must_use]
pub fn parse_nonce_field(text: &str) -> Option<[u8; 4]> {
    let mut bytes = SecretBuffer::default();
    Encoding::Hex.decode(text.as_bytes(), &mut bytes)?;
    bytes[..].try_into().ok()
}

const OPERATIONS: [(&str, KeyOperation); 5] = [
    ("encrypt", KeyOperation::Encrypt),
    ("decrypt", KeyOperation::Decrypt),
    ("mac", KeyOperation::Mac),
    ("translate-from", KeyOperation::TranslateFrom),
    ("translate-to", KeyOperation::TranslateTo),
];

/// The algorithms that a line must name, because a key that does one of them does nothing else.
const ONLY_NAMED: [KeyAlgorithm; 3] = [KeyAlgorithm::GcmSiv, KeyAlgorithm::Ff1, KeyAlgorithm::RetailMac];

const ALGORITHMS: [(&str, KeyAlgorithm); 13] = [
    ("cbc", KeyAlgorithm::Cbc),
    ("gcm", KeyAlgorithm::Gcm),
    ("gcm-siv", KeyAlgorithm::GcmSiv),
    ("siv", KeyAlgorithm::Siv),
    ("ff1", KeyAlgorithm::Ff1),
    ("des-mac", KeyAlgorithm::DesMac),
    ("retail-mac", KeyAlgorithm::RetailMac),
    ("cmac", KeyAlgorithm::Cmac),
    ("hmac-sha1", KeyAlgorithm::HmacSha1),
    ("hmac-sha224", KeyAlgorithm::HmacSha224),
    ("hmac-sha256", KeyAlgorithm::HmacSha256),
    ("hmac-sha384", KeyAlgorithm::HmacSha384),
    ("hmac-sha512", KeyAlgorithm::HmacSha512),
];

const IVS: [(&str, IvRule); 5] = [
    ("column", IvRule::Callers),
    ("column-cbc", IvRule::CallersForCbc),
    ("random", IvRule::Random),
    ("zero", IvRule::Zero),
    ("key", IvRule::KeyItself),
];

const WEAK_KEYS: [(&str, WeakKeyRule); 3] =
    [("refuse", WeakKeyRule::Refuse), ("warn", WeakKeyRule::Warn), ("allow", WeakKeyRule::Allow)];

fn words<T: Clone>(field: &'static str, known: &[(&str, T)], words: &[String]) -> Result<Vec<T>, KeyFault> {
    words.iter().map(|word| one_of(field, known, word)).collect()
}

fn one_of<T: Clone>(field: &'static str, known: &[(&str, T)], word: &str) -> Result<T, KeyFault> {
    let found = known.iter().find(|(name, _)| *name == word).map(|(_, value)| value.clone());
    found.ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        KeyFault::Word { field, expected: names.join(", ") }
    })
}

fn word<T: std::fmt::Display + Copy>(field: &'static str, known: &[T], word: &str) -> Result<T, KeyFault> {
    let names: Vec<String> = known.iter().map(ToString::to_string).collect();
    let all: Vec<(&str, T)> = names.iter().map(String::as_str).zip(known.iter().copied()).collect();
    one_of(field, &all, word)
}

#[cfg(test)]
mod tests {
    use oarlock_keytable::MemoryCounter;

    use super::*;

    fn load(text: &str) -> Result<LoadedKeys, String> {
        let open = |path: &str| match path {
            "here" => Ok(Arc::new(MemoryCounter::new()) as Arc<dyn CounterStore>),
            _ => Err(io::ErrorKind::NotFound.into()),
        };
        load_keys(text.as_bytes(), open).map_err(|error| error.to_string())
    }

    #[test]
    fn an_unknown_field_is_named_unless_it_may_be_a_key() {
        let error = load("\n{\"type\":\"aes128\",\"operation\":[\"encrypt\"]}").unwrap_err();
        let expected = "line 2: unknown field \"operation\": expected one of name, type, hex";
        assert!(error.starts_with(expected), "{error}");
        let key = "95a48987c023f9951fee4ce1b0a3c0a1";
        let error = load(&format!("{{\"{key}\":\"aes128\"}}")).unwrap_err();
        assert!(error.starts_with("line 1: byte ") && !error.contains(&key[..8]), "{error}");
    }

    #[test]
    fn names_and_places_find_keys() {
        let keys = load(concat!(
            "{\"name\":\"pins\",\"type\":\"tdes2\",\"hex\":\"0123456789abcdeffedcba9876543210\"}\n\n",
            "{\"type\":\"aes128\",\"base64\":\"AAECAwQFBgcICQoLDA0ODw==\",\"max_uses\":7}\r\n",
            "{\"name\":\"x\",\"type\":\"tdes2\",\"hex\":\"01010101010101011111111111111110\",\"weak_keys\":\"warn\"}",
        ))
        .unwrap();
        let index = |name: &str| keys.names.find(name.as_bytes());
        assert_eq!((index("pins"), index("1"), index("x"), index("0")), (Some(0), Some(1), Some(2), None));
        assert_eq!(keys.table.info(1).unwrap().uses_left, Some(7));
        assert_eq!(keys.warnings, [("x".to_owned(), KeyWeakness::Weak)]);
    }

    #[test]
    fn faults_name_their_line_and_no_key() {
        let key = "0123456789abcdeffedcba9876543210";
        let cases = [
            (format!("{{\"type\":\"tdes2\",\"hex\":\"{key}"), "expected an object"),
            (
                format!("{{\"type\":\"tdes2\",\"hex\":\"{key}\",\"max_uses\":\"{key}\"}}"),
                "expected an object",
            ),
            (format!("{{\"type\":\"tdes2\",\"{key}\":1}}"), "expected an object"),
            (format!("[\"{key}\"]"), "expected an object"),
            (format!("{{\"type\":\"{key}\",\"hex\":\"{key}\"}}"), "type: expected one of des, tdes2"),
            (
                format!("{{\"type\":\"tdes2\",\"hex\":\"{key}\",\"base64\":\"{key}\"}}"),
                "in \"hex\" or in \"base64\"",
            ),
            ("{\"type\":\"tdes2\"}".into(), "\"hex\" or in \"base64\""),
            (format!("{{\"type\":\"tdes2\",\"hex\":\"{key}x\"}}"), "\"hex\" or in \"base64\""),
            (format!("{{\"type\":\"tdes3\",\"hex\":\"{key}\"}}"), "24 bytes, found 16"),
            (format!("{{\"type\":\"tdes2\",\"hex\":\"{key}\",\"ivs\":[\"{key}\"]}}"), "ivs: expected one of"),
            (format!("{{\"type\":\"tdes2\",\"hex\":\"{key}\",\"algorithms\":[\"gcm\"]}}"), "does no"),
            (
                format!("{{\"type\":\"tdes2\",\"hex\":\"{key}\",\"weak_keys\":\"{key}\"}}"),
                "weak_keys: expected",
            ),
            (format!("{{\"type\":\"tdes2\",\"hex\":\"{key}\",\"counter\":\"gone\"}}"), "the counter:"),
            (
                format!("{{\"type\":\"aes128\",\"hex\":\"{key}\",\"counter\":\"here\"}}"),
                "expected \"nonce_field\" beside \"counter\"",
            ),
            (
                format!(
                    "{{\"type\":\"aes128\",\"hex\":\"{key}\",\"counter\":\"here\",\"nonce_field\":\"0001\"}}"
                ),
                "nonce_field: expected 8 hexadecimal digits",
            ),
            (
                format!(
                    "{{\"type\":\"aes128\",\"hex\":\"{key}\",\"counter\":\"here\",\"nonce_field\":\"00000001\",\"algorithms\":[\"gcm\"]}}"
                ),
                "kept on disk",
            ),
            (
                format!("{{\"type\":\"aes128\",\"hex\":\"{key}\",\"ivs\":[\"column\",\"random\"]}}"),
                "take no IVs of the caller",
            ),
            ("{\"type\":\"des\",\"hex\":\"0101010101010101\"}".into(), "a weak DES key"),
            (
                format!("{{\"type\":\"tdes2\",\"hex\":\"{key}\",\"mac_length\":4}}"),
                "makes no codes has no length",
            ),
            (
                format!("{{\"type\":\"hmac\",\"hex\":\"{key}\",\"mac_length\":3}}"),
                "codes of 3 bytes: expected 4 to 64",
            ),
        ];
        for (line, said) in cases {
            let error = load(&format!("\n{line}\n")).unwrap_err();
            assert!(error.starts_with("line 2: ") && error.contains(said), "{line}: {error}");
            assert!(!error.contains(key), "{error}");
        }
        let twice = format!("{{\"name\":\"a\",\"type\":\"tdes2\",\"hex\":\"{key}\"}}\n").repeat(2);
        assert!(load(&twice).unwrap_err().contains("line 2: the table has a key named"));
    }

    const KEY: &str = "0123456789abcdeffedcba9876543210";

    fn line(name: &str, more: &str) -> String {
        format!("{{\"name\":\"{name}\",\"type\":\"aes128\",\"hex\":\"{KEY}\",{more}}}\n")
    }

    /// A counter that outlives the process, as far as a policy asks.
    #[derive(Debug)]
    struct DurableCounter(MemoryCounter);

    impl CounterStore for DurableCounter {
        fn reserve(&self, count: u64) -> io::Result<u64> {
            self.0.reserve(count)
        }

        fn is_persistent(&self) -> bool {
            true
        }
    }

    fn load_at(text: &str, nonce_field: Option<[u8; 4]>) -> Result<LoadedKeys, String> {
        let open = |_: &str| Ok(Arc::new(DurableCounter(MemoryCounter::new())) as Arc<dyn CounterStore>);
        load_keys_at(text.as_bytes(), nonce_field, open).map_err(|error| error.to_string())
    }

    #[test]
    fn a_key_stands_twice_only_if_neither_line_endangers_the_other() {
        let counted = |field: &str| {
            format!("\"algorithms\":[\"gcm\"],\"counter\":\"here\",\"nonce_field\":\"{field}\"")
        };
        let (one, two) = (counted("00000001"), counted("00000002"));
        let random = "\"algorithms\":[\"gcm\"]";
        let opens = "\"operations\":[\"decrypt\"]";
        let (cbc, cbc_random) = ("\"algorithms\":[\"cbc\"]", "\"algorithms\":[\"cbc\"],\"ivs\":[\"random\"]");
        let codes = "\"operations\":[\"mac\"]";
        for (first, second, is_fine) in [
            (&one[..], &one[..], false),
            (&one, &two, true),
            (&one, random, false),
            (random, random, false),
            (random, cbc, false),
            (cbc, random, false),
            (cbc, &one, false),
            (cbc_random, random, true),
            (cbc, cbc, true),
            (random, opens, true),
            (opens, opens, true),
            (codes, codes, true),
            (codes, cbc_random, false),
            (random, codes, false),
            (codes, opens, false),
            (cbc, "\"operations\":[\"mac\"],\"algorithms\":[\"cbc\"]", true),
        ] {
            let loaded = load_at(&(line("a", first) + &line("b", second)), None);
            assert_eq!(loaded.is_ok(), is_fine, "{first} beside {second}: {loaded:?}");
            if let Err(error) = loaded {
                assert!(error.starts_with("line 2: this key stands in line 1 too"), "{error}");
                assert!(!error.contains(KEY), "{error}");
            }
        }
        let other = line("b", random).replace("98", "97");
        assert!(load_at(&(line("a", random) + &other), None).is_ok());
    }

    #[test]
    fn only_a_key_for_nothing_else_makes_codes_of_blocks() {
        let policy = |key_type: &str, more: &str| {
            let len = KeyType::ALL
                .into_iter()
                .find(|candidate| candidate.to_string() == key_type)
                .unwrap()
                .key_len();
            let hex = &"0123456789abcdeffedcba987654321000112233445566778899aabbccddeeff"[..2 * len.unwrap()];
            let keys = load(&format!("{{\"type\":\"{key_type}\",\"hex\":\"{hex}\"{more}}}"))?;
            Ok::<_, String>(format!("{:?}", keys.table.info(0).unwrap().policy))
        };
        let codes = ",\"operations\":[\"mac\"]";
        for (key_type, usual) in
            [("des", "DesMac"), ("tdes2", "Cmac"), ("tdes3", "Cmac"), ("aes128", "Cmac"), ("aes256", "Cmac")]
        {
            let makes_codes = |more: &str| policy(key_type, more).unwrap().contains(usual);
            assert!(
                makes_codes(codes)
                    && !makes_codes("")
                    && !makes_codes(",\"operations\":[\"mac\",\"decrypt\"]")
            );
        }
        let named = |words: &str| policy("tdes2", &format!(",\"algorithms\":[{words}]"));
        for words in ["\"cbc\",\"cmac\"", "\"retail-mac\",\"cbc\"", "\"retail-mac\",\"cmac\""] {
            let error = named(words).unwrap_err();
            assert!(error.contains("which forges them: use two keys"), "{words}: {error}");
        }
        assert!(named("\"retail-mac\"").is_ok());
    }

    #[test]
    fn a_key_for_gcm_and_cbc_takes_random_ivs_only() {
        let ivs = |more: &str| load_at(&line("a", more), None);
        let found = ivs("\"max_uses\":3").unwrap();
        let policy = format!("{:?}", found.table.info(0).unwrap().policy);
        assert!(policy.contains("ivs: [Random]") && policy.contains("Cbc, Gcm"), "{policy}");
        for more in [
            "\"ivs\":[\"column-cbc\"]",
            "\"ivs\":[\"random\",\"zero\"]",
            "\"ivs\":[\"key\"]",
            "\"counter\":\"here\",\"nonce_field\":\"00000001\"",
        ] {
            let error = ivs(more).unwrap_err();
            assert!(
                error.contains("takes random IVs only") && error.contains("[\"gcm\"]"),
                "{more}: {error}"
            );
            assert!(ivs(&format!("\"operations\":[\"decrypt\"],{more}")).is_ok(), "{more}");
            assert!(ivs(&format!("\"algorithms\":[\"cbc\"],{more}")).is_ok(), "{more}");
        }
    }

    /// Two servers with the same file, and counters of their own that begin alike.
    #[test]
    fn servers_with_fields_of_their_own_never_make_the_same_nonce() {
        use oarlock::Accelerator;
        use oarlock::AeadAlg;
        use oarlock_keytable::{BatchBuilder, BatchEntry, BatchTask, EntryIv};
        let accelerator = Accelerator::builder().engines(["scalar"]).threads(1).lazy().build().unwrap();
        let file = line("a", "\"algorithms\":[\"gcm\"],\"counter\":\"here\",\"nonce_field\":\"00000000\"");
        let mut seen = std::collections::HashSet::new();
        for field in [[0, 0, 0, 1], [0, 0, 0, 2]] {
            let table = load_at(&file, Some(field)).unwrap().table;
            let mut builder = BatchBuilder::new();
            for _ in 0..20 {
                let seal = BatchEntry::new(BatchTask::seal(AeadAlg::Aes128Gcm)).key(0).input(b"x");
                builder.add(seal.iv(EntryIv::Generated)).unwrap();
            }
            let batch = builder.batch();
            let outcome = table.run(&accelerator, &batch).unwrap();
            for record in 0..20 {
                let nonce = outcome.iv(&batch, record).unwrap();
                assert!(nonce.starts_with(&field) && seen.insert(nonce.to_vec()), "{nonce:?}");
            }
        }
        let unnamed = line("a", "\"algorithms\":[\"gcm\"],\"counter\":\"here\"");
        assert!(load_at(&unnamed, Some([1; 4])).is_ok() && load_at(&unnamed, None).is_err());
    }
}
