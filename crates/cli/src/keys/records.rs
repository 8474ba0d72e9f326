//! Files of symmetric keys, in the format of `oarlock records --keys`.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;

use oarlock::Key;
use oarlock::SecretBytes;
use oarlock::keys::KeyError;
use oarlock::table::{CounterStore, KeyPolicy, KeyTable, KeyType, TableError};
use oarlock_io::read_secret;
use oarlock_records::{Encoding, LoadedKeys, SecretBuffer, load_keys};
use zeroize::Zeroizing;

use super::KeysError;
use super::about::KeySummary;
use super::draft::{self, Overwrite};

/// The largest file in bytes: more than half a million keys.
const MAX_BYTES: usize = 64 << 20;

/// Adds a key to a file of keys, and returns the key's length. The file is created if it does not exist. A key of the
/// same name is replaced in its line if `over` allows it.
pub(super) fn add(
    path: &Path,
    name: &str,
    key_type: KeyType,
    generate: impl Fn() -> Result<Key, KeyError>,
    over: Overwrite,
) -> Result<usize, KeysError> {
    let secret = strong(key_type, generate)?;
    let line = line(name, key_type, &secret);
    // Locked until the file is renamed: another process that adds a key at the same time would write a text without
    // this key.
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let lock = File::open(draft::folder(&real)).and_then(|folder| folder.lock().map(|()| folder));
    let _lock = lock.map_err(|error| KeysError::Create { path: path.to_owned(), error })?;
    match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            draft::write(path, &line, draft::private(), Overwrite::Nothing)?;
        }
        about => {
            let permissions =
                about.map_err(|error| KeysError::Read { path: path.to_owned(), error })?.permissions();
            let text = SymmetricKeyFile::read(path)?.with(path, name, &line, over)?;
            draft::write(path, &text, permissions, Overwrite::AnyFile)?;
        }
    }
    Ok(secret.len())
}

/// A valid file of keys.
pub(super) struct SymmetricKeyFile {
    text: Zeroizing<Vec<u8>>,
    loaded: LoadedKeys,
}

impl SymmetricKeyFile {
    pub(super) fn read(path: &Path) -> Result<Self, KeysError> {
        let text = read_secret(path, MAX_BYTES + 1)
            .map_err(|error| KeysError::Read { path: path.to_owned(), error })?;
        if text.len() > MAX_BYTES {
            return Err(KeysError::LongRecords { path: path.to_owned(), max: MAX_BYTES });
        }
        let loaded = load_keys(&text, |_| Ok(Arc::new(Unopened)))
            .map_err(|error| KeysError::Records { path: path.to_owned(), error })?;
        Ok(Self { text, loaded })
    }

    /// Describes its keys, in their order.
    pub(super) fn keys(&self, path: &Path) -> Vec<KeySummary> {
        let table = &self.loaded.table;
        let infos = table.names().into_iter().filter_map(|(index, _)| table.info(index));
        infos
            .map(|info| KeySummary::symmetric(&info.name, info.key_type, info.key_type.key_len(), path))
            .collect()
    }

    /// Returns its text with one more line, or with another line in the place of the key of this name.
    fn with(
        &self,
        path: &Path,
        name: &str,
        line: &[u8],
        over: Overwrite,
    ) -> Result<Zeroizing<Vec<u8>>, KeysError> {
        let taken = self.loaded.names.find(name.as_bytes());
        if taken.is_some() && over == Overwrite::Nothing {
            return Err(KeysError::NameTaken { path: path.to_owned(), name: name.to_owned() });
        }
        let mut text = Zeroizing::new(Vec::with_capacity(self.text.len() + 1 + line.len()));
        let mut key = 0..;
        for old in self.text.split_inclusive(|byte| *byte == b'\n') {
            let is_key = !old.trim_ascii().is_empty();
            let is_taken = is_key && key.next() == taken;
            text.extend_from_slice(if is_taken { line } else { old });
        }
        if !text.is_empty() && !text.ends_with(b"\n") {
            text.push(b'\n');
        }
        if taken.is_none() {
            text.extend_from_slice(line);
        }
        Ok(text)
    }
}

/// Stands for the counters that a file names, so that reading keys does not open or create them.
#[derive(Debug)]
struct Unopened;

impl CounterStore for Unopened {
    fn reserve(&self, _: u64) -> io::Result<u64> {
        Err(ErrorKind::Unsupported.into())
    }

    fn is_persistent(&self) -> bool {
        true
    }
}

/// Generates a key that every table accepts, with odd parity for DES.
fn strong(
    key_type: KeyType,
    generate: impl Fn() -> Result<Key, KeyError>,
) -> Result<Zeroizing<Vec<u8>>, KeysError> {
    loop {
        let key = generate().map_err(KeysError::Generate)?;
        let mut secret = Zeroizing::new(key.secret().map(SecretBytes::expose).unwrap_or_default().to_vec());
        if key_type.is_des_family() {
            secret.iter_mut().for_each(|byte| *byte = with_odd_parity(*byte));
        }
        match KeyTable::new().insert("new", key_type, &secret[..], KeyPolicy::any_data(key_type)) {
            Ok(_) => return Ok(secret),
            Err(TableError::WeakKey { .. }) => {}
            Err(TableError::Key(error)) => return Err(KeysError::Generate(error)),
            Err(_) => {
                return Err(KeysError::Generate(KeyError::Machine { what: "generating a symmetric key" }));
            }
        }
    }
}

/// Sets the lowest bit of a byte so that the number of its ones is odd. FIPS 46-3, bits 8, 16, ..., 64 of a key.
fn with_odd_parity(byte: u8) -> u8 {
    byte ^ u8::from(byte.count_ones().is_multiple_of(2))
}

fn line(name: &str, key_type: KeyType, secret: &[u8]) -> SecretBuffer {
    let mut line = SecretBuffer::with_capacity(64 + name.len() + 2 * secret.len());
    // The name needs no escapes: it is letters, digits, '.', '-' and '_'.
    line.extend(format!("{{\"name\":\"{name}\",\"type\":\"{key_type}\",\"hex\":\"").as_bytes());
    Encoding::Hex.encode(secret, &mut line);
    line.extend(b"\"}\n");
    line
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::os::unix::fs::PermissionsExt;

    use oarlock::keys::{generate, raw};

    use super::*;

    fn add_new(path: &Path, name: &str, key_type: KeyType, over: Overwrite) -> Result<usize, KeysError> {
        add(path, name, key_type, || generate::secret(key_type.key_len().unwrap_or(32)), over)
    }

    fn names(path: &Path) -> Vec<String> {
        SymmetricKeyFile::read(path).unwrap().keys(path).into_iter().map(|about| about.name).collect()
    }

    #[test]
    fn keys_are_added_at_the_end_or_replaced_in_their_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        // No newline at the end, an empty line between, a key that is called by its place, a counter that is not there.
        let text = concat!(
            "{\"name\":\"a\",\"type\":\"hmac\",\"hex\":\"0b\"}\n\n{\"type\":\"hmac\",\"hex\":\"0c\"}\n",
            "{\"name\":\"c\",\"type\":\"aes128\",\"hex\":\"000102030405060708090a0b0c0d0e0f\",\"counter\":\"gone\",\"nonce_field\":\"00000001\",\"algorithms\":[\"gcm\"]}",
        );
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert_eq!(add_new(&path, "d", KeyType::Tdes2, Overwrite::Nothing).unwrap(), 16);
        assert_eq!(names(&path), ["a", "1", "c", "d"]);
        let grown = fs::read_to_string(&path).unwrap();
        assert!(grown.starts_with(&format!("{text}\n")) && grown.ends_with("\"}\n"));
        for taken in ["a", "1", "d"] {
            let error = add_new(&path, taken, KeyType::Des, Overwrite::Nothing).unwrap_err();
            assert!(matches!(error, KeysError::NameTaken { .. }), "{error}");
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), grown);
        add_new(&path, "1", KeyType::Aes256, Overwrite::AnyFile).unwrap();
        add_new(&path, "d", KeyType::Aes256, Overwrite::AnyFile).unwrap();
        let kinds: Vec<String> =
            SymmetricKeyFile::read(&path).unwrap().keys(&path).into_iter().map(|about| about.kind).collect();
        assert_eq!(
            (names(&path).as_slice(), kinds.join(" ")),
            (&["a", "1", "c", "d"].map(String::from)[..], "hmac aes256 aes128 aes256".into())
        );
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o640,
            "what an operator set stays"
        );
        assert!(!folder.path().join("gone").exists(), "counters are not made by looking");
    }

    #[test]
    fn a_broken_file_is_left_unchanged() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        fs::write(&path, "{\"type\":\"hmac\",\"hex\":\"0b\"}\nno key\n").unwrap();
        let error = add_new(&path, "new", KeyType::Des, Overwrite::AnyFile).unwrap_err().to_string();
        assert!(error.starts_with(&path.display().to_string()) && error.contains("line 2"), "{error}");
        assert!(fs::read_to_string(&path).unwrap().ends_with("no key\n"));
    }

    #[test]
    fn keys_that_are_added_at_the_same_time_are_all_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        std::thread::scope(|scope| {
            for name in ["a", "b", "c", "d"] {
                let path = &path;
                scope.spawn(move || add_new(path, name, KeyType::Aes128, Overwrite::Nothing).unwrap());
            }
        });
        let mut found = names(&path);
        found.sort();
        assert_eq!(found, ["a", "b", "c", "d"]);
    }

    #[test]
    fn weak_keys_are_drawn_again_and_des_keys_have_odd_parity() {
        let draws = Cell::new(0);
        let weak_first = || {
            draws.set(draws.get() + 1);
            let bytes = if draws.get() == 1 { [0; 8] } else { [0x12, 0x34, 0, 0xFF, 0x80, 0x7F, 1, 2] };
            raw::secret(SecretBytes::from(&bytes[..]))
        };
        let key = strong(KeyType::Des, weak_first).unwrap();
        assert_eq!((draws.get(), &key[..]), (2, &[0x13, 0x34, 1, 0xFE, 0x80, 0x7F, 1, 2][..]));
        let plain = strong(KeyType::Hmac, || raw::secret(SecretBytes::from(&[0][..]))).unwrap();
        assert_eq!(plain[..], [0]);
    }
}
