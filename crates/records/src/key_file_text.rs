//! Files of keys to which a key is added.

use std::io::{self, ErrorKind};
use std::sync::Arc;

use oarlock::keys::KeyError;
use oarlock::table::{CounterStore, KeyPolicy, KeyTable, KeyType, TableError};
use oarlock::{Key, SecretBytes};

use crate::{Encoding, KeyFault, KeyFileError, LoadedKeys, SecretBuffer, load_keys};

/// The text of a valid file of keys.
#[derive(Debug)]
pub struct KeyFileText {
    text: SecretBuffer,
    loaded: LoadedKeys,
}

/// A new line of a file of keys, with a new key.
#[derive(Debug)]
pub struct NewKeyLine {
    name: String,
    text: SecretBuffer,
    len_bytes: usize,
}

impl KeyFileText {
    /// Parses a file of keys. Counters that it names are not opened.
    ///
    /// # Errors
    /// A line is not a key, or the table rejects the key.
    pub fn parse(text: &[u8]) -> Result<Self, KeyFileError> {
        let loaded = load_keys(text, |_| Ok(Arc::new(ClosedCounter)))?;
        let mut own = SecretBuffer::with_capacity(text.len());
        own.extend(text);
        Ok(Self { text: own, loaded })
    }

    /// Returns the table of the keys.
    #[must_use]
    pub fn table(&self) -> &KeyTable {
        &self.loaded.table
    }

    /// True if a key has this name.
    #[must_use]
    pub fn has_key(&self, name: &str) -> bool {
        self.loaded.names.find(name.as_bytes()).is_some()
    }

    /// Returns the text with the new line in the place of the key of the same name, else at the end.
    #[must_use]
    pub fn with_line(&self, line: &NewKeyLine) -> SecretBuffer {
        let taken = self.loaded.names.find(line.name.as_bytes());
        let mut text = SecretBuffer::with_capacity(self.text.len() + 1 + line.text.len());
        let mut key = 0..;
        for old in self.text.split_inclusive(|byte| *byte == b'\n') {
            let is_key = !old.trim_ascii().is_empty();
            let is_taken = is_key && key.next() == taken;
            text.extend(if is_taken { &line.text } else { old });
        }
        if !text.is_empty() && !text.ends_with(b"\n") {
            text.push(b'\n');
        }
        if taken.is_none() {
            text.extend(&line.text);
        }
        text
    }
}

/// The rights of a new key, as its line states them. An empty list leaves the field out, so that the default applies.
#[derive(Clone, Debug, Default)]
pub struct NewKeyRights {
    /// The words of `algorithms`.
    pub algorithms: Vec<String>,
    /// The words of `ivs`.
    pub ivs: Vec<String>,
}

impl NewKeyLine {
    /// Makes a line with a key that every table accepts. A key of DES gets odd parity. The words of its rights are not
    /// checked: [`check`](Self::check) does that.
    ///
    /// # Errors
    /// `generate` failed, or it gave a key that is not of this type.
    pub fn new(
        name: &str,
        key_type: KeyType,
        rights: &NewKeyRights,
        generate: impl Fn() -> Result<Key, KeyError>,
    ) -> Result<Self, KeyError> {
        let secret = strong_secret(key_type, generate)?;
        let mut text = SecretBuffer::with_capacity(64 + name.len() + 2 * secret.len());
        // The name is escaped as JSON demands it.
        let name_json = serde_json::Value::from(name);
        text.extend(format!("{{\"name\":{name_json},\"type\":\"{key_type}\",\"hex\":\"").as_bytes());
        Encoding::Hex.encode(&secret, &mut text);
        text.extend(b"\"");
        for (field, words) in [("algorithms", &rights.algorithms), ("ivs", &rights.ivs)] {
            if !words.is_empty() {
                text.extend(format!(",\"{field}\":{}", serde_json::Value::from(words.as_slice())).as_bytes());
            }
        }
        text.extend(b"}\n");
        Ok(Self { name: name.to_owned(), text, len_bytes: secret.len() })
    }

    /// Checks that a table takes the key with its rights.
    ///
    /// # Errors
    /// A word is unknown, or the rights contradict each other or the type of the key.
    pub fn check(&self) -> Result<(), KeyFault> {
        KeyFileText::parse(&self.text).map(drop).map_err(|error| error.fault)
    }

    /// Returns the text, with its line end.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Returns the length of the key in bytes.
    #[must_use]
    pub fn key_len_bytes(&self) -> usize {
        self.len_bytes
    }
}

/// A counter that is never opened or created, because the keys are only listed or copied.
#[derive(Debug)]
struct ClosedCounter;

impl CounterStore for ClosedCounter {
    fn reserve(&self, _: u64) -> io::Result<u64> {
        Err(ErrorKind::Unsupported.into())
    }

    fn is_persistent(&self) -> bool {
        true
    }
}

/// Generates keys until one is not weak.
fn strong_secret(
    key_type: KeyType,
    generate: impl Fn() -> Result<Key, KeyError>,
) -> Result<SecretBuffer, KeyError> {
    loop {
        let key = generate()?;
        let mut secret = SecretBuffer::default();
        for &byte in key.secret().map(SecretBytes::expose).unwrap_or_default() {
            secret.push(if key_type.is_des_family() { with_odd_parity(byte) } else { byte });
        }
        match KeyTable::new().insert("new", key_type, &secret[..], KeyPolicy::any_data(key_type)) {
            Ok(_) => return Ok(secret),
            Err(TableError::WeakKey { .. }) => {}
            Err(TableError::Key(error)) => return Err(error),
            Err(_) => return Err(KeyError::Machine { what: "generating a symmetric key" }),
        }
    }
}

/// Sets the lowest bit of a byte so that the number of its ones is odd. FIPS 46-3, bits 8, 16, ..., 64 of a key.
fn with_odd_parity(byte: u8) -> u8 {
    byte ^ u8::from(byte.count_ones().is_multiple_of(2))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use oarlock::keys::raw;

    use super::*;

    #[test]
    fn weak_keys_are_drawn_again_and_des_keys_have_odd_parity() {
        let draws = Cell::new(0);
        let weak_first = || {
            draws.set(draws.get() + 1);
            let bytes = if draws.get() == 1 { [0; 8] } else { [0x12, 0x34, 0, 0xFF, 0x80, 0x7F, 1, 2] };
            raw::secret(SecretBytes::from(&bytes[..]))
        };
        let key = strong_secret(KeyType::Des, weak_first).unwrap();
        assert_eq!((draws.get(), &key[..]), (2, &[0x13, 0x34, 1, 0xFE, 0x80, 0x7F, 1, 2][..]));
        let plain = strong_secret(KeyType::Hmac, || raw::secret(SecretBytes::from(&[0][..]))).unwrap();
        assert_eq!(plain[..], [0]);
    }

    fn new_line(name: &str, key_type: KeyType, rights: &NewKeyRights) -> NewKeyLine {
        let len = key_type.key_len().unwrap_or(1);
        NewKeyLine::new(name, key_type, rights, || raw::secret(SecretBytes::from(vec![7; len]))).unwrap()
    }

    #[test]
    fn a_new_key_has_the_rights_that_were_asked_for() {
        let rights = |algorithms: &[&str], ivs: &[&str]| {
            let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
            NewKeyRights { algorithms: owned(algorithms), ivs: owned(ivs) }
        };
        let line = new_line("cards", KeyType::Aes128, &rights(&["ff1"], &[]));
        let hex = "07".repeat(16);
        let expected = format!(
            "{{\"name\":\"cards\",\"type\":\"aes128\",\"hex\":\"{hex}\",\"algorithms\":[\"ff1\"]}}\n"
        );
        assert_eq!(line.text(), expected.as_bytes());
        assert!(line.check().is_ok());
        assert!(new_line("joined", KeyType::Aes128, &rights(&["gcm"], &["column"])).check().is_ok());
        for (algorithms, ivs, text) in [
            (&["ff2"][..], &[][..], "algorithms: expected one of cbc, gcm"),
            (&["cbc"], &["new"], "ivs: expected one of column"),
            (&["ff1", "cbc"], &[], "nothing else"),
            (&["hmac-sha256"], &[], "hmac"),
        ] {
            let fault = new_line("bad", KeyType::Aes128, &rights(algorithms, ivs)).check().unwrap_err();
            assert!(fault.to_string().to_lowercase().contains(text), "{fault}");
        }
    }

    #[test]
    fn a_line_is_added_at_the_end_or_replaces_the_key_of_its_name() {
        let line = |name| new_line(name, KeyType::Hmac, &NewKeyRights::default());
        let old = KeyFileText::parse(
            b"{\"name\":\"a\",\"type\":\"hmac\",\"hex\":\"0b\"}\n\n{\"type\":\"hmac\",\"hex\":\"0c\"}",
        )
        .unwrap();
        assert!(old.has_key("a") && old.has_key("1") && !old.has_key("b"));
        let added = KeyFileText::parse(&old.with_line(&line("b"))).unwrap();
        assert_eq!(added.table().names().len(), 3);
        let replaced = old.with_line(&line("1"));
        assert!(replaced.ends_with(b"\n\n{\"name\":\"1\",\"type\":\"hmac\",\"hex\":\"07\"}\n"));
    }
}
