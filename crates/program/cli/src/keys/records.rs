//! Files of symmetric keys, in the format of `oarlock records --keys`.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::Path;

use oarlock::Key;
use oarlock::keys::KeyError;
use oarlock_files::atomic_file::folder_of;
use oarlock_files::output::{OutputError, Overwrite, private_permissions, replace_file, write_file};
use oarlock_key_files::sealed::{self, AgeIdentities, AgeRecipient, SealArmor, SealForm};
use oarlock_keytable::KeyType;
use oarlock_records::{KeyFileText, NewKeyLine, NewKeyRights, Rotation, VersionRange};
use zeroize::Zeroizing;

use super::args::SealTo;
use super::secret_files::SealIdentity;
use super::summary::KeySummary;
use super::{KeysError, seal};

/// The largest file in bytes: more than half a million keys.
pub(super) const MAX_BYTES: usize = 64 << 20;

/// A key that is added to a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct AddedKey<'k> {
    pub(super) name: &'k str,
    pub(super) key_type: KeyType,
    pub(super) rights: &'k NewKeyRights,
}

/// The identities that open a sealed file, and the recipients that it is sealed for again.
#[derive(Debug, Default)]
pub(super) struct RecordsAccess {
    identities: Option<AgeIdentities>,
    recipients: Vec<AgeRecipient>,
}

impl RecordsAccess {
    pub(super) fn new(identity: &SealIdentity, seal: &SealTo) -> Result<Self, KeysError> {
        Ok(Self { identities: identity.read()?, recipients: seal.recipients()? })
    }

    /// Returns the bytes of a text in the form that the file has, or is to have.
    fn apply(&self, path: &Path, text: &[u8], form: SealForm) -> Result<Zeroizing<Vec<u8>>, KeysError> {
        let SealForm::Sealed(armor) = form else {
            return Ok(Zeroizing::new(text.to_vec()));
        };
        let sealed = sealed::seal(text, &self.recipients, armor);
        sealed.map(Zeroizing::new).map_err(|fault| KeysError::Sealed { path: path.to_owned(), fault })
    }

    /// Checks that a file of this form can be written as it was.
    fn check_form(&self, path: &Path, form: SealForm) -> Result<(), KeysError> {
        match (form.is_sealed(), self.recipients.is_empty()) {
            (true, true) => Err(KeysError::NeedsRecipients { path: path.to_owned() }),
            (false, false) => Err(KeysError::PlainRecords { path: path.to_owned() }),
            _ => Ok(()),
        }
    }

    /// Returns the form of a new file.
    fn new_form(&self, path: &Path) -> Result<SealForm, KeysError> {
        match (seal::without_ending(path), self.recipients.is_empty()) {
            (None, true) => Ok(SealForm::Plain),
            (Some(_), true) => Err(KeysError::NeedsRecipients { path: path.to_owned() }),
            (_, false) => Ok(SealForm::Sealed(SealArmor::Binary)),
        }
    }
}

/// Adds a key to a file of keys, and returns the key's length. The file is created if it does not exist. A key of the
/// same name is replaced in its line if `over` allows it.
pub(super) fn add(
    path: &Path,
    new: AddedKey<'_>,
    access: &RecordsAccess,
    generate: impl Fn() -> Result<Key, KeyError>,
    over: Overwrite,
) -> Result<usize, KeysError> {
    let AddedKey { name, key_type, rights } = new;
    // Made and checked before the lock is taken, so that others do not wait for it.
    let line = NewKeyLine::new(name, key_type, rights, generate).map_err(KeysError::Generate)?;
    line.check().map_err(KeysError::Rights)?;
    // With a name: `let _ =` would release the lock at once.
    let _lock = lock(path)?;
    match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let form = access.new_form(path)?;
            let permissions =
                if form.is_sealed() { seal::sealed_permissions() } else { private_permissions() };
            write_file(path, &access.apply(path, line.text(), form)?, permissions, Overwrite::Nothing)?;
        }
        about => {
            about.map_err(|error| KeysError::Read { path: path.to_owned(), error })?;
            // Read under the lock: a text that was read before it could lack the change of another process.
            let (old, form) = read(path, access.identities.as_ref())?;
            access.check_form(path, form)?;
            if old.has_key(name) && over == Overwrite::Nothing {
                return Err(KeysError::NameTaken { path: path.to_owned(), name: name.to_owned() });
            }
            let text = access.apply(path, &old.with_line(&line), form)?;
            // With the permissions of the old file: a server may read it as a member of a group.
            replace_file(path, &text)?;
        }
    }
    Ok(line.key_len_bytes())
}

/// Changes the versions of a key in a file of keys, and returns those that may be used from now on.
pub(super) fn rotate(
    path: &Path,
    name: &str,
    rotation: Rotation,
    access: &RecordsAccess,
    generate: impl Fn(usize) -> Result<Key, KeyError>,
) -> Result<VersionRange, KeysError> {
    let _lock = lock(path)?;
    let (old, form) = read(path, access.identities.as_ref())?;
    access.check_form(path, form)?;
    let (text, range) = old.rotate(name, rotation, generate).map_err(|error| KeysError::Rotation {
        path: path.to_owned(),
        name: name.to_owned(),
        error,
    })?;
    // A text that no server could read must not replace one that all can.
    KeyFileText::parse(&text).map_err(|error| KeysError::Records { path: path.to_owned(), error })?;
    replace_file(path, &access.apply(path, &text, form)?)?;
    Ok(range)
}

/// Locks a file of keys until it is renamed: another process that changes it at the same time would write a text
/// without this change.
fn lock(path: &Path) -> Result<File, KeysError> {
    // The folder of the target, so that a link to the file takes the same lock.
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    // The folder and not the file, because a rename replaces the file.
    let lock = File::open(folder_of(&real)).and_then(|folder| folder.lock().map(|()| folder));
    Ok(lock.map_err(|error| OutputError::Create { path: path.to_owned(), error })?)
}

/// Reads a file of keys, and returns it with the form that it has on disk.
pub(super) fn read(
    path: &Path,
    identities: Option<&AgeIdentities>,
) -> Result<(KeyFileText, SealForm), KeysError> {
    let content = seal::read_content(path, MAX_BYTES, identities)?;
    if content.bytes.len() > MAX_BYTES {
        return Err(KeysError::LongRecords { path: path.to_owned(), max: MAX_BYTES });
    }
    let text = KeyFileText::parse(&content.bytes)
        .map_err(|error| KeysError::Records { path: path.to_owned(), error })?;
    Ok((text, content.form))
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
        let new = AddedKey { name, key_type, rights: &rights };
        let generate = || generate::secret(key_type.key_len().unwrap_or(32));
        add(path, new, &RecordsAccess::default(), generate, over)
    }

    fn keys(path: &Path) -> Vec<KeySummary> {
        summaries(&read(path, None).unwrap().0, path)
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
