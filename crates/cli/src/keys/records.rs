//! Files of symmetric keys, in the format of `oarlock records --keys`.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::Path;

use oarlock::Key;
use oarlock::keys::KeyError;
use oarlock::table::KeyType;
use oarlock_io::atomic_file::folder_of;
use oarlock_io::output::{OutputError, Overwrite, private_permissions, write_file};
use oarlock_io::read_secret;
use oarlock_records::{KeyFileText, NewKeyLine, NewKeyRights, Rotation, VersionRange};

use super::KeysError;
use super::about::KeySummary;

/// The largest file in bytes: more than half a million keys.
const MAX_BYTES: usize = 64 << 20;

/// Adds a key to a file of keys, and returns the key's length. The file is created if it does not exist. A key of the
/// same name is replaced in its line if `over` allows it.
pub(super) fn add(
    path: &Path,
    name: &str,
    key_type: KeyType,
    rights: &NewKeyRights,
    generate: impl Fn() -> Result<Key, KeyError>,
    over: Overwrite,
) -> Result<usize, KeysError> {
    let line = NewKeyLine::new(name, key_type, rights, generate).map_err(KeysError::Generate)?;
    line.check().map_err(KeysError::Rights)?;
    let _lock = lock(path)?;
    match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            write_file(path, line.text(), private_permissions(), Overwrite::Nothing)?;
        }
        about => {
            let about = about.map_err(|error| KeysError::Read { path: path.to_owned(), error })?;
            let old = read(path)?;
            if old.has_key(name) && over == Overwrite::Nothing {
                return Err(KeysError::NameTaken { path: path.to_owned(), name: name.to_owned() });
            }
            write_file(path, &old.with_line(&line), about.permissions(), Overwrite::AnyFile)?;
        }
    }
    Ok(line.key_len_bytes())
}

/// Changes the versions of a key in a file of keys, and returns those that may be used from now on.
pub(super) fn rotate(
    path: &Path,
    name: &str,
    rotation: Rotation,
    generate: impl Fn(usize) -> Result<Key, KeyError>,
) -> Result<VersionRange, KeysError> {
    let _lock = lock(path)?;
    let about = fs::metadata(path).map_err(|error| KeysError::Read { path: path.to_owned(), error })?;
    let (text, range) = read(path)?
        .rotate(name, rotation, generate)
        .map_err(|error| KeysError::Rotation { path: path.to_owned(), name: name.to_owned(), error })?;
    // A text that no server could read must not replace one that all can.
    KeyFileText::parse(&text).map_err(|error| KeysError::Records { path: path.to_owned(), error })?;
    write_file(path, &text, about.permissions(), Overwrite::AnyFile)?;
    Ok(range)
}

/// Locks a file of keys until it is renamed: another process that changes it at the same time would write a text
/// without this change.
fn lock(path: &Path) -> Result<File, KeysError> {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let lock = File::open(folder_of(&real)).and_then(|folder| folder.lock().map(|()| folder));
    Ok(lock.map_err(|error| OutputError::Create { path: path.to_owned(), error })?)
}

/// Reads a file of keys.
pub(super) fn read(path: &Path) -> Result<KeyFileText, KeysError> {
    let text =
        read_secret(path, MAX_BYTES + 1).map_err(|error| KeysError::Read { path: path.to_owned(), error })?;
    if text.len() > MAX_BYTES {
        return Err(KeysError::LongRecords { path: path.to_owned(), max: MAX_BYTES });
    }
    KeyFileText::parse(&text).map_err(|error| KeysError::Records { path: path.to_owned(), error })
}

/// Describes the keys of a file, in their order.
pub(super) fn summaries(file: &KeyFileText, path: &Path) -> Vec<KeySummary> {
    let infos = file.table().names().into_iter().filter_map(|(index, _)| file.table().info(index));
    infos
        .map(|info| KeySummary::symmetric(&info.name, info.key_type, info.key_type.key_len(), path))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use oarlock::keys::generate;

    use super::*;

    fn add_new(path: &Path, name: &str, key_type: KeyType, over: Overwrite) -> Result<usize, KeysError> {
        let rights = NewKeyRights::default();
        add(path, name, key_type, &rights, || generate::secret(key_type.key_len().unwrap_or(32)), over)
    }

    fn keys(path: &Path) -> Vec<KeySummary> {
        summaries(&read(path).unwrap(), path)
    }

    fn names(path: &Path) -> Vec<String> {
        keys(path).into_iter().map(|about| about.name).collect()
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
        let kinds: Vec<String> = keys(&path).into_iter().map(|about| about.kind).collect();
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
}
