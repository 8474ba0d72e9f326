//! Files of keys to which a key is added.

use std::io::{self, ErrorKind};
use std::sync::Arc;

use oarlock::keys::KeyError;
use oarlock::{Key, SecretBytes};
use oarlock_keytable::{CounterStore, KeyPolicy, KeyTable, KeyType, TableError};

use crate::key_file::KeyFileLine;
use crate::key_version::{VersionRange, split_version, version_name};
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
        let mut buffer = SecretBuffer::with_capacity(text.len());
        buffer.extend(text);
        Ok(Self { text: buffer, loaded })
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

/// A change of the versions of one key.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rotation {
    /// True if there is a new version with a new key.
    pub has_new_key: bool,
    /// The oldest version that may be used from now on. None leaves it as it is.
    pub min_version: Option<u32>,
    /// True if the lines of versions below the minimum are removed.
    pub removes_old_keys: bool,
}

/// The reason why a key cannot be rotated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RotationError {
    /// The file has no key of this name.
    #[error("the file has no key of this name")]
    NoKey,
    /// The name is that of an older version.
    #[error("this is an older version of a key: rotate {base:?}")]
    OlderVersion {
        /// The name without the number.
        base: String,
    },
    /// The key has had the last number.
    #[error("the key has had {} versions, the most that there can be", u32::MAX)]
    NoMoreVersions,
    /// The minimum is above the newest version, or zero.
    #[error("minimum version {found}: expected 1 to {newest}, the newest version")]
    MinVersion {
        /// The minimum that was asked for.
        found: u32,
        /// The newest version.
        newest: u32,
    },
    /// A line has a fault.
    #[error(transparent)]
    Fault(#[from] KeyFault),
    /// The new key could not be generated.
    #[error("cannot make the key: {0}")]
    Generate(KeyError),
}

impl KeyFileText {
    /// Returns the text with new versions of a key, and the versions that may then be used.
    ///
    /// The line that encrypts becomes that of an older version, which may decrypt, make MACs for comparison, and be
    /// translated from. Its counter stays with the new key: the nonces of one key never repeat under another.
    ///
    /// # Errors
    /// The key is missing or is an older version itself, the minimum is out of range, or `generate` failed.
    pub fn rotate(
        &self,
        name: &str,
        rotation: Rotation,
        generate: impl Fn(usize) -> Result<Key, KeyError>,
    ) -> Result<(SecretBuffer, VersionRange), RotationError> {
        if let Some((base, _)) = self.loaded.versions.older(name) {
            return Err(RotationError::OlderVersion { base: base.to_owned() });
        }
        let index = self.loaded.names.find(name.as_bytes()).ok_or(RotationError::NoKey)?;
        let mut range = self.loaded.versions.range(name).unwrap_or_default();
        let old_version = range.newest;
        if rotation.has_new_key {
            range.newest = old_version.checked_add(1).ok_or(RotationError::NoMoreVersions)?;
        }
        range.min = rotation.min_version.unwrap_or(range.min);
        if !(1..=range.newest).contains(&range.min) {
            return Err(RotationError::MinVersion { found: range.min, newest: range.newest });
        }
        let mut text = SecretBuffer::with_capacity(2 * self.text.len());
        let mut key = 0..;
        for old in self.text.split_inclusive(|byte| *byte == b'\n') {
            if old.trim_ascii().is_empty() {
                text.extend(old);
                continue;
            }
            let line = KeyFileLine::parse(old)?;
            if key.next() != Some(index) {
                let older = line.name.as_deref().and_then(split_version).filter(|(base, _)| *base == name);
                if !(rotation.removes_old_keys && older.is_some_and(|(_, version)| version < range.min)) {
                    text.extend(old);
                }
                continue;
            }
            let newest = KeyFileLine {
                name: Some(name.to_owned()),
                version: Some(range.newest),
                min_version: Some(range.min),
                ..line.clone()
            };
            if !rotation.has_new_key {
                newest.write(&mut text);
                continue;
            }
            if !(rotation.removes_old_keys && old_version < range.min) {
                line.as_older(version_name(name, old_version)).write(&mut text);
            }
            let info = self.loaded.table.info(index).ok_or(RotationError::NoKey)?;
            let secret =
                strong_secret(info.key_type, || generate(line.key_len())).map_err(RotationError::Generate)?;
            let mut hex = SecretBuffer::with_capacity(2 * secret.len());
            Encoding::Hex.encode(&secret, &mut hex);
            let hex = std::str::from_utf8(&hex).unwrap_or_default();
            KeyFileLine { hex: Some(hex), base64: None, ..newest }.write(&mut text);
        }
        Ok((text, range))
    }
}

impl KeyFileLine<'_> {
    /// Returns the line of the same key as an older version.
    fn as_older(&self, name: String) -> Self {
        let stays = |operation: &str| {
            self.operations
                .as_ref()
                .is_none_or(|operations| operations.iter().any(|known| known == operation))
        };
        let operations =
            OLDER_OPERATIONS.into_iter().filter(|operation| stays(operation)).map(str::to_owned).collect();
        Self {
            name: Some(name),
            operations: Some(operations),
            version: None,
            min_version: None,
            counter: None,
            nonce_field: None,
            ..self.clone()
        }
    }

    /// Returns the length of the key in bytes.
    fn key_len(&self) -> usize {
        let mut secret = SecretBuffer::default();
        // unreachable zero because the file was parsed before
        match (self.hex, self.base64) {
            (Some(hex), _) => Encoding::Hex.decode(hex.as_bytes(), &mut secret),
            (None, base64) => Encoding::Base64.decode(base64.unwrap_or_default().as_bytes(), &mut secret),
        };
        secret.len()
    }

    /// Adds the line to a text.
    fn write(&self, text: &mut SecretBuffer) {
        /// Writes to a buffer that erases what it leaves when it grows.
        struct BufferWriter<'b>(&'b mut SecretBuffer);

        impl io::Write for BufferWriter<'_> {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0.extend(bytes);
                Ok(bytes.len())
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }

        if !text.is_empty() && !text.ends_with(b"\n") {
            text.push(b'\n');
        }
        // unreachable error because the buffer takes all bytes, and all fields have a form in JSON
        let _ = serde_json::to_writer(BufferWriter(text), self);
        text.push(b'\n');
    }
}

/// The operations that an older version keeps.
const OLDER_OPERATIONS: [&str; 3] = ["decrypt", "mac", "translate-from"];

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

    /// Rotates, with a new key whose bytes are all `byte`.
    fn rotated(text: &[u8], rotation: Rotation, byte: u8) -> Result<(String, VersionRange), String> {
        let generate = |len| raw::secret(SecretBytes::from(vec![byte; len]));
        let file = KeyFileText::parse(text).unwrap();
        let (text, range) = file.rotate("pan", rotation, generate).map_err(|error| error.to_string())?;
        Ok((std::str::from_utf8(&text).unwrap().to_owned(), range))
    }

    const NEW_KEY: Rotation = Rotation { has_new_key: true, min_version: None, removes_old_keys: false };

    #[test]
    fn the_old_version_keeps_its_key_and_loses_what_encrypts() {
        let old = "07".repeat(16);
        let first = format!(
            "{{\"name\":\"a\",\"type\":\"hmac\",\"hex\":\"0b\"}}\n\n{{\"name\":\"pan\",\"type\":\"aes128\",\"hex\":\"{old}\",\
             \"algorithms\":[\"gcm\"],\"counter\":\"here\",\"nonce_field\":\"00000001\",\"max_uses\":9}}"
        );
        let (second, range) = rotated(first.as_bytes(), NEW_KEY, 8).unwrap();
        assert_eq!(range, VersionRange { min: 1, newest: 2 });
        let lines: Vec<&str> = second.lines().filter(|line| !line.is_empty()).collect();
        let expected = format!(
            "{{\"name\":\"pan@1\",\"type\":\"aes128\",\"hex\":\"{old}\",\
             \"operations\":[\"decrypt\",\"mac\",\"translate-from\"],\"algorithms\":[\"gcm\"],\"max_uses\":9}}"
        );
        assert_eq!(lines[1], expected);
        let expected = format!(
            "{{\"name\":\"pan\",\"type\":\"aes128\",\"hex\":\"{}\",\"version\":2,\"min_version\":1,\
             \"algorithms\":[\"gcm\"],\"counter\":\"here\",\"nonce_field\":\"00000001\",\"max_uses\":9}}",
            "08".repeat(16)
        );
        assert_eq!((lines.len(), lines[2]), (3, &expected[..]));

        let (third, _) = rotated(second.as_bytes(), NEW_KEY, 9).unwrap();
        let file = KeyFileText::parse(third.as_bytes()).unwrap();
        assert!(["pan", "pan@1", "pan@2"].iter().all(|name| file.has_key(name)) && !file.has_key("pan@3"));
        assert_eq!(file.loaded.versions.older("pan@2"), Some(("pan", 2)));
        assert_eq!(file.loaded.versions.older("pan@3"), None);
    }

    #[test]
    fn versions_below_the_minimum_are_refused_and_can_be_removed() {
        let line = "{\"name\":\"pan\",\"type\":\"hmac\",\"hex\":\"0707\"}\n";
        let (second, _) = rotated(line.as_bytes(), NEW_KEY, 8).unwrap();
        let limit = Rotation { has_new_key: false, min_version: Some(2), removes_old_keys: false };
        let (limited, range) = rotated(second.as_bytes(), limit, 9).unwrap();
        assert_eq!(range, VersionRange { min: 2, newest: 2 });
        let file = KeyFileText::parse(limited.as_bytes()).unwrap();
        let policy = |name: &str| {
            let index = file.loaded.names.find(name.as_bytes()).unwrap();
            format!("{:?}", file.table().info(index).unwrap().policy)
        };
        assert!(policy("pan@1").contains("operations: []") && policy("pan").contains("Mac"));
        let remove = Rotation { removes_old_keys: true, ..limit };
        let (removed, _) = rotated(limited.as_bytes(), remove, 9).unwrap();
        assert!(
            !removed.contains("pan@1") && removed.contains("\"version\":2,\"min_version\":2"),
            "{removed}"
        );

        for (rotation, text) in [
            (Rotation { min_version: Some(0), ..limit }, "minimum version 0: expected 1 to 2"),
            (Rotation { min_version: Some(3), ..limit }, "minimum version 3: expected 1 to 2"),
        ] {
            assert!(rotated(limited.as_bytes(), rotation, 9).unwrap_err().contains(text));
        }
        let generate = |len| raw::secret(SecretBytes::from(vec![1; len]));
        let refused = |name| file.rotate(name, NEW_KEY, generate).unwrap_err().to_string();
        assert!(
            refused("pan@1").contains("rotate \"pan\"") && refused("other").contains("no key of this name")
        );
        let full = limited.replace("\"version\":2", "\"version\":4294967295");
        assert!(rotated(full.as_bytes(), NEW_KEY, 9).unwrap_err().contains("4294967295 versions"));
    }

    #[test]
    fn numbers_that_contradict_each_other_are_refused() {
        for (more, text) in [
            ("\"version\":0", "version 0, min_version 1"),
            ("\"version\":2,\"min_version\":3", "version 2, min_version 3"),
            ("\"version\":2,\"min_version\":0", "version 2, min_version 0"),
        ] {
            let line = format!("{{\"name\":\"pan\",\"type\":\"hmac\",\"hex\":\"07\",{more}}}");
            let error = KeyFileText::parse(line.as_bytes()).unwrap_err();
            assert!(error.line == 1 && error.to_string().contains(text), "{error}");
        }
        let later = "{\"name\":\"pan@2\",\"type\":\"hmac\",\"hex\":\"07\"}\n";
        let newest = "{\"name\":\"pan\",\"type\":\"hmac\",\"hex\":\"08\",\"version\":2}";
        let error = KeyFileText::parse(format!("{later}{newest}").as_bytes()).unwrap_err().to_string();
        assert!(
            error.contains("line 1: the name says version 2 of the key \"pan\", whose newest"),
            "{error}"
        );
        // Without numbers in the line of `pan`, the name is like any other.
        assert!(KeyFileText::parse(later.as_bytes()).unwrap().has_key("pan@2"));
    }
}
