//! Files of keys: one JSON object a line, with a name, a type, the key, and what it may be used for.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use oarlock::table::{Algorithm, Counter, CounterStore, IvRule, KeyTable, KeyType, Operation, Policy};
use oarlock::table::{TableError, WeakKeys, Weakness};
use serde::Deserialize;

use crate::{Buffer, Encoding};

/// Which name means which key of the table.
#[derive(Clone, Debug, Default)]
pub struct KeyNames(HashMap<Box<[u8]>, u32>);

/// Why a file of keys cannot be used. No key in it.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {fault}")]
pub struct KeyFileError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub fault: KeyFault,
}

/// What is wrong with a key of a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyFault {
    /// It is no object with these fields.
    #[error(
        "byte {byte}: expected an object with \"type\", \"hex\" or \"base64\", and if need be \"name\", \"operations\", \
         \"algorithms\", \"ivs\", \"counter\", \"nonce_field\", \"max_uses\", \"max_random_gcm\", \"weak_keys\""
    )]
    NotAKey {
        /// Where that shows, from 1.
        byte: usize,
    },
    /// Neither or both of the two ways to write a key, or what is written is not in that way.
    #[error("expected the key in \"hex\" or in \"base64\"")]
    NotEncoded,
    /// A word that names nothing.
    #[error("{field}: expected one of {expected}")]
    Word {
        /// The field.
        field: &'static str,
        /// The words there are.
        expected: String,
    },
    /// Servers with the same key and counters of their own would repeat nonces.
    #[error(
        "expected \"nonce_field\" beside \"counter\": 8 hexadecimal digits that no other counter under this key has. Give \
         each server a field of its own, such as \"00000001\", \"00000002\"; a key that has counted without one goes on \
         with \"00000000\""
    )]
    NoNonceField,
    /// The field is no four bytes.
    #[error("nonce_field: expected 8 hexadecimal digits")]
    BadNonceField,
    /// The counter that makes IVs cannot be had.
    #[error("the counter: {0}")]
    Counter(io::Error),
    /// The table does not take the key.
    #[error(transparent)]
    Table(#[from] TableError),
}

/// The keys of a file, in a table.
#[derive(Debug)]
pub struct LoadedKeys {
    /// The table.
    pub table: KeyTable,
    /// Which name means which key.
    pub names: KeyNames,
    /// Keys that were let in with a warning.
    pub warnings: Vec<(String, Weakness)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<'a> {
    name: Option<String>,
    #[serde(rename = "type")]
    key_type: String,
    #[serde(borrow)]
    hex: Option<&'a str>,
    #[serde(borrow)]
    base64: Option<&'a str>,
    operations: Option<Vec<String>>,
    algorithms: Option<Vec<String>>,
    ivs: Option<Vec<String>>,
    counter: Option<String>,
    #[serde(borrow)]
    nonce_field: Option<&'a str>,
    max_uses: Option<u64>,
    max_random_gcm: Option<u64>,
    weak_keys: Option<String>,
}

impl KeyNames {
    /// The key of a name.
    #[inline]
    #[must_use]
    pub fn find(&self, name: &[u8]) -> Option<u32> {
        self.0.get(name).copied()
    }
}

/// Reads a file of keys. A key without a name is called by its place, from 0. `open` opens the counter at a path.
///
/// # Errors
/// The first line that is no key which a table takes.
pub fn load_keys(
    text: &[u8],
    open: impl Fn(&str) -> io::Result<Arc<dyn CounterStore>>,
) -> Result<LoadedKeys, KeyFileError> {
    let table = KeyTable::new();
    let mut loaded = LoadedKeys { table, names: KeyNames::default(), warnings: Vec::new() };
    let lines = text.split(|byte| *byte == b'\n').enumerate();
    for (at, line) in lines.filter(|(_, line)| !line.trim_ascii().is_empty()) {
        loaded.take(line, &open).map_err(|fault| KeyFileError { line: at + 1, fault })?;
    }
    Ok(loaded)
}

impl LoadedKeys {
    fn take(
        &mut self,
        line: &[u8],
        open: &impl Fn(&str) -> io::Result<Arc<dyn CounterStore>>,
    ) -> Result<(), KeyFault> {
        // What serde says of a field may show its value.
        let line: Line<'_> =
            serde_json::from_slice(line).map_err(|error| KeyFault::NotAKey { byte: error.column() })?;
        let key_type = word("type", &KeyType::ALL, &line.key_type)?;
        let mut secret = Buffer::default();
        let is_encoded = match (line.hex, line.base64) {
            (Some(hex), None) => Encoding::Hex.decode(hex.as_bytes(), &mut secret).is_some(),
            (None, Some(base64)) => Encoding::Base64.decode(base64.as_bytes(), &mut secret).is_some(),
            _ => false,
        };
        if !is_encoded {
            return Err(KeyFault::NotEncoded);
        }
        let policy = line.policy(key_type, open)?;
        let name = line.name.unwrap_or_else(|| self.table.len().to_string());
        let added = self.table.insert(name.as_str(), key_type, &secret[..], policy)?;
        self.names.0.insert(name.as_bytes().into(), added.index);
        self.warnings.extend(added.warning.map(|weakness| (name, weakness)));
        Ok(())
    }
}

impl Line<'_> {
    /// All that a key can do with data, but for what the line says.
    fn policy(
        &self,
        key_type: KeyType,
        open: &impl Fn(&str) -> io::Result<Arc<dyn CounterStore>>,
    ) -> Result<Policy, KeyFault> {
        let operations = match &self.operations {
            Some(words) => self::words("operations", &OPERATIONS, words)?,
            None => OPERATIONS.map(|(_, operation)| operation).into(),
        };
        let algorithms = match &self.algorithms {
            Some(words) => self::words("algorithms", &ALGORITHMS, words)?,
            None => ALGORITHMS.map(|(_, own)| own).into_iter().filter(|own| own.suits(key_type)).collect(),
        };
        let is_gcm = algorithms.contains(&Algorithm::Gcm);
        let ivs = match (&self.ivs, &self.counter) {
            (Some(words), _) => self::words("ivs", &IVS, words)?,
            // Under other IVs whoever may encrypt by CBC could decrypt what GCM encrypts.
            (None, None) if is_gcm => vec![IvRule::Random],
            (None, None) => vec![IvRule::CallersForCbc, IvRule::Random, IvRule::Zero],
            (None, Some(_)) => Vec::new(),
        };
        let mut policy = Policy::new().allow(operations).with(algorithms).ivs(ivs);
        if let Some(path) = &self.counter {
            let field = self.nonce_field(is_gcm)?;
            let counter = Counter::new(open(path).map_err(KeyFault::Counter)?, field);
            policy = policy.ivs([IvRule::Counter(Arc::new(counter))]);
        }
        if let Some(uses) = self.max_uses {
            policy = policy.max_uses(uses);
        }
        if let Some(uses) = self.max_random_gcm {
            policy = policy.max_random_gcm(uses);
        }
        if let Some(rule) = &self.weak_keys {
            policy = policy.weak_keys(one_of("weak_keys", &WEAK_KEYS, rule)?);
        }
        Ok(policy)
    }

    /// The bytes that counted nonces begin with.
    fn nonce_field(&self, is_gcm: bool) -> Result<[u8; 4], KeyFault> {
        let Some(text) = self.nonce_field else {
            return if is_gcm { Err(KeyFault::NoNonceField) } else { Ok([0; 4]) };
        };
        let mut bytes = Buffer::default();
        let decoded = Encoding::Hex.decode(text.as_bytes(), &mut bytes);
        decoded.and_then(|_| bytes[..].try_into().ok()).ok_or(KeyFault::BadNonceField)
    }
}

const OPERATIONS: [(&str, Operation); 5] = [
    ("encrypt", Operation::Encrypt),
    ("decrypt", Operation::Decrypt),
    ("mac", Operation::Mac),
    ("translate-from", Operation::TranslateFrom),
    ("translate-to", Operation::TranslateTo),
];

const ALGORITHMS: [(&str, Algorithm); 7] = [
    ("cbc", Algorithm::Cbc),
    ("gcm", Algorithm::Gcm),
    ("des-mac", Algorithm::DesMac),
    ("retail-mac", Algorithm::RetailMac),
    ("cmac", Algorithm::Cmac),
    ("hmac-sha1", Algorithm::HmacSha1),
    ("hmac-sha256", Algorithm::HmacSha256),
];

const IVS: [(&str, IvRule); 5] = [
    ("column", IvRule::Callers),
    ("column-cbc", IvRule::CallersForCbc),
    ("random", IvRule::Random),
    ("zero", IvRule::Zero),
    ("key", IvRule::KeyItself),
];

const WEAK_KEYS: [(&str, WeakKeys); 3] =
    [("refuse", WeakKeys::Refuse), ("warn", WeakKeys::Warn), ("allow", WeakKeys::Allow)];

fn words<T: Clone>(field: &'static str, known: &[(&str, T)], words: &[String]) -> Result<Vec<T>, KeyFault> {
    words.iter().map(|word| one_of(field, known, word)).collect()
}

fn one_of<T: Clone>(field: &'static str, known: &[(&str, T)], word: &str) -> Result<T, KeyFault> {
    let found = known.iter().find(|(own, _)| *own == word).map(|(_, value)| value.clone());
    found.ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|(own, _)| *own).collect();
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
    use oarlock::table::MemoryCounter;

    use super::*;

    fn load(text: &str) -> Result<LoadedKeys, String> {
        let open = |path: &str| match path {
            "here" => Ok(Arc::new(MemoryCounter::new()) as Arc<dyn CounterStore>),
            _ => Err(io::ErrorKind::NotFound.into()),
        };
        load_keys(text.as_bytes(), open).map_err(|error| error.to_string())
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
        assert_eq!(keys.warnings, [("x".to_owned(), Weakness::Weak)]);
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
                "\"hex\" or in \"base64\"",
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
                    "{{\"type\":\"aes128\",\"hex\":\"{key}\",\"counter\":\"here\",\"nonce_field\":\"00000001\"}}"
                ),
                "kept on disk",
            ),
            (
                format!("{{\"type\":\"aes128\",\"hex\":\"{key}\",\"ivs\":[\"column\",\"random\"]}}"),
                "take no IVs of the caller",
            ),
            ("{\"type\":\"des\",\"hex\":\"0101010101010101\"}".into(), "a weak DES key"),
        ];
        for (line, said) in cases {
            let error = load(&format!("\n{line}\n")).unwrap_err();
            assert!(error.starts_with("line 2: ") && error.contains(said), "{line}: {error}");
            assert!(!error.contains(key), "{error}");
        }
        let twice = format!("{{\"name\":\"a\",\"type\":\"tdes2\",\"hex\":\"{key}\"}}\n").repeat(2);
        assert!(load(&twice).unwrap_err().contains("line 2: the table has a key named"));
    }
}
