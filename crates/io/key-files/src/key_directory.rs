//! A directory of key files.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, fs};

use oarlock::Key;
use oarlock::keys::threshold::Share;
use oarlock::keys::{KeyError, Passphrase, import};
use oarlock_files::{FileStamp, first_line};
use zeroize::Zeroizing;

use crate::private_file::{check_private, read_open};
use crate::sealed::{AgeIdentities, KeyFileReadFault, SealFault, SealForm, read_key_file};
use crate::{ExposedSecret, SecretReader, check_secret_mode_for};

/// The endings of key files in a directory. Those with `.age` are sealed.
pub const ENDINGS: [&str; 4] = ["pem", "der", "pem.age", "der.age"];

/// The ending of sealed files of symmetric keys, which may lie beside key files.
const SEALED_RECORDS: &[u8] = b".keys.age";

/// One byte more than a key may have, so that a longer file is recognised as too long.
const MAX_BYTES: usize = import::MAX_INPUT_LEN + 1;

/// A directory of keys, named by their files. If a file cannot be read as a key, for example because it is being
/// written, the key that was read before stays in use.
pub struct KeyDirectory {
    path: PathBuf,
    passphrase: Option<Passphrase>,
    /// The identities that open sealed files.
    identities: Option<Arc<AgeIdentities>>,
    /// The reader of the files. No other user may read private keys; None if any file is accepted.
    private_for: Option<SecretReader>,
    files: BTreeMap<String, ListedFile>,
    /// The files whose names have been reported as invalid.
    misnamed: Vec<PathBuf>,
    /// The files without the ending of a key file, with their stamps at the time of the search for misplaced keys.
    others: BTreeMap<PathBuf, FileStamp>,
}

/// The contents of a key file.
#[derive(Clone, Debug)]
pub enum KeyMaterial {
    /// A key.
    Key(Key),
    /// A share of an RSA key, which makes partial signatures.
    Share(Share),
}

#[derive(Default)]
struct ListedFile {
    path: PathBuf,
    stamp: Option<FileStamp>,
    key: Option<KeyMaterial>,
    /// True if the key was read from a sealed file.
    is_sealed: bool,
    /// True if the absence of the file has been reported.
    is_missing: bool,
}

/// The differences from the last time that the directory was read.
#[derive(Debug, Default)]
pub struct KeyDirectoryChanges {
    /// The names of new keys.
    pub added: Vec<String>,
    /// The names of replaced keys.
    pub replaced: Vec<String>,
    /// The names of removed keys.
    pub removed: Vec<String>,
    /// The files that hold no usable key.
    pub refused: Vec<(PathBuf, FileFault)>,
    /// The private keys that every user may read.
    pub exposed: Vec<PathBuf>,
}

/// The fault of a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileFault {
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file holds no key.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// Other users may read the private key.
    #[error("others may read this private key (mode {:04o}); `chmod 600` keeps it private", .0.mode)]
    Exposed(#[from] ExposedSecret),
    /// The name of the file is not allowed for a key.
    #[error("expected a name of letters, digits, '.', '-' and '_', at most 64 of them")]
    Name,
    /// Another file has the same name with another ending, and is used.
    #[error("{} has the same name with another ending, and is used: remove one of the two", used.display())]
    Twice {
        /// The file that is used.
        used: PathBuf,
    },
    /// The file is sealed and cannot be opened, or it has the name of a sealed file.
    #[error(transparent)]
    Sealed(#[from] SealFault),
    /// The file holds a private key but does not have the ending of a key file.
    #[error(
        "it holds {found}, but only files that end in .pem or .der, or in .pem.age or .der.age if they are sealed, are \
         read: convert it with `oarlock keys import`, or rename it if it is sealed"
    )]
    Ending {
        /// The format of the key.
        found: &'static str,
    },
}

/// An error of an unreadable directory.
#[derive(Debug, thiserror::Error)]
#[error("{}: {error}", path.display())]
#[allow(missing_docs, reason = "the message names the fields")]
pub struct KeyDirectoryError {
    pub path: PathBuf,
    /// The error of the system.
    pub error: io::Error,
}

impl KeyDirectoryChanges {
    /// Returns true if there are no differences.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.added.is_empty()
            && self.replaced.is_empty()
            && self.removed.is_empty()
            && self.refused.is_empty()
    }
}

/// The names of a directory's files at one moment.
#[derive(Debug)]
pub struct KeyListing(Vec<PathBuf>);

impl KeyDirectory {
    /// Makes a directory that has not been read yet. The passphrase is for encrypted PKCS#8.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>, passphrase: Option<Passphrase>) -> Self {
        let (files, misnamed, others) = (BTreeMap::new(), Vec::new(), BTreeMap::new());
        let path = path.into();
        Self { path, passphrase, identities: None, private_for: None, files, misnamed, others }
    }

    /// Sets the identities that open sealed files, and reads all files again at the next refresh.
    pub fn set_identities(&mut self, identities: Option<Arc<AgeIdentities>>) {
        self.identities = identities;
        self.forget_stamps();
    }

    /// Rejects private keys that users other than this reader may read, instead of reporting them.
    /// [`check_secret_mode_for`] has the rule.
    #[must_use]
    pub fn require_private(mut self, reader: SecretReader) -> Self {
        self.private_for = Some(reader);
        self
    }

    /// Returns the path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the keys by name.
    pub fn keys(&self) -> impl Iterator<Item = (&str, &KeyMaterial)> {
        self.files.iter().filter_map(|(name, file)| Some((name.as_str(), file.key.as_ref()?)))
    }

    /// Returns true if the key with a name was read from a sealed file.
    #[must_use]
    pub fn is_sealed(&self, name: &str) -> bool {
        self.files.get(name).is_some_and(|file| file.is_sealed)
    }

    /// Returns the file of the key with a name.
    #[must_use]
    pub fn file(&self, name: &str) -> Option<&Path> {
        self.files.get(name).map(|file| file.path.as_path())
    }

    /// Reads the directory again. Unchanged files are not read.
    ///
    /// # Errors
    /// The directory cannot be listed. The keys stay as they are then.
    pub fn refresh(&mut self) -> Result<KeyDirectoryChanges, KeyDirectoryError> {
        let listing = self.list()?;
        Ok(self.read_listing(listing))
    }

    /// Lists the directory. This is the first half of [`KeyDirectory::refresh`], and the only part of it that can
    /// fail.
    ///
    /// # Errors
    /// The directory cannot be listed.
    pub fn list(&self) -> Result<KeyListing, KeyDirectoryError> {
        let failed = |error| KeyDirectoryError { path: self.path.clone(), error };
        let mut paths = fs::read_dir(&self.path)
            .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>())
            .map_err(failed)?;
        paths.retain(|path| !is_hidden(path));
        paths.sort();
        Ok(KeyListing(paths))
    }

    /// Reads every file of a listing again, with another passphrase for encrypted keys.
    pub fn read_again(&mut self, listing: KeyListing, passphrase: Option<Passphrase>) -> KeyDirectoryChanges {
        self.passphrase = passphrase;
        self.forget_stamps();
        self.misnamed.clear();
        self.read_listing(listing)
    }

    fn forget_stamps(&mut self) {
        self.files.values_mut().for_each(|file| file.stamp = None);
    }

    /// Reads the files of a listing, the second half of [`KeyDirectory::refresh`].
    fn read_listing(&mut self, KeyListing(paths): KeyListing) -> KeyDirectoryChanges {
        let (paths, others): (Vec<_>, Vec<_>) = paths.into_iter().partition(|path| is_key_file(path));
        let mut changes =
            KeyDirectoryChanges { refused: self.find_misplaced(others), ..KeyDirectoryChanges::default() };
        let (mut seen, mut misnamed) = (BTreeMap::<String, PathBuf>::new(), Vec::new());
        for path in paths {
            let Some(name) = name_of(&path) else {
                misnamed.push((path, FileFault::Name));
                continue;
            };
            // The listing is sorted, so the same file of the two is used every time.
            match seen.entry(name) {
                Entry::Occupied(used) => misnamed.push((path, FileFault::Twice { used: used.get().clone() })),
                Entry::Vacant(new) => {
                    self.read_file(new.key(), path.clone(), &mut changes);
                    new.insert(path);
                }
            }
        }
        let reported =
            std::mem::replace(&mut self.misnamed, misnamed.iter().map(|(path, _)| path.clone()).collect());
        changes.refused.extend(misnamed.into_iter().filter(|(path, _)| !reported.contains(path)));
        let mut gone: Vec<_> = self.files.keys().filter(|name| !seen.contains_key(*name)).cloned().collect();
        gone.retain(|name| self.files.remove(name).is_some_and(|file| file.key.is_some()));
        changes.removed.extend(gone);
        changes
    }

    /// Finds private keys in files with other endings, which would otherwise be ignored silently. Each file is read
    /// once, and again after a change. Files without private keys are accepted.
    fn find_misplaced(&mut self, paths: Vec<PathBuf>) -> Vec<(PathBuf, FileFault)> {
        // The symmetric keys are those of another setting.
        let is_file = |path: &PathBuf| {
            !path.as_os_str().as_encoded_bytes().ends_with(SEALED_RECORDS)
                && path.metadata().is_ok_and(|about| about.is_file())
        };
        let files = paths.into_iter().filter(is_file);
        let stamps =
            files.filter_map(|path| FileStamp::read(&path).ok().map(|stamp| (path, stamp))).collect();
        let before = std::mem::replace(&mut self.others, stamps);
        let new = self.others.iter().filter(|(path, stamp)| before.get(*path) != Some(stamp));
        let found = new.filter_map(|(path, _)| {
            let bytes = read_secret(path, MAX_BYTES).ok()?;
            let found = import::private_key_format(&bytes)?;
            Some((path.clone(), FileFault::Ending { found }))
        });
        found.collect()
    }

    fn read_file(&mut self, name: &str, path: PathBuf, changes: &mut KeyDirectoryChanges) {
        let file = self.files.entry(name.to_owned()).or_default();
        // The stamp is read before the file, so that a change in between is noticed the next time.
        let stamp = match FileStamp::read(&path) {
            Ok(stamp) => stamp,
            Err(error) => {
                if !std::mem::replace(&mut file.is_missing, true) {
                    changes.refused.push((path, error.into()));
                }
                return;
            }
        };
        file.is_missing = false;
        // The key may have moved from `.pem` to `.der`.
        file.path.clone_from(&path);
        if file.stamp.replace(stamp) == Some(stamp) {
            return;
        }
        match read(&path, self.passphrase.as_ref(), self.identities.as_deref()) {
            Err(fault) => changes.refused.push((path, fault)),
            Ok((key, form)) => {
                // Everybody may read a sealed file.
                let is_secret = key.is_private() && !form.is_sealed();
                let reader = self.private_for.filter(|_| is_secret);
                let exposed = reader.and_then(|reader| {
                    let about = path.metadata().ok()?;
                    check_secret_mode_for(reader, &path, &about).err()
                });
                if let Some(exposed) = exposed {
                    return changes.refused.push((path, exposed.into()));
                }
                if is_secret && stamp.is_open_to_all() {
                    changes.exposed.push(path);
                }
                file.is_sealed = form.is_sealed();
                match file.key.replace(key.clone()) {
                    None => changes.added.push(name.to_owned()),
                    Some(old) if old.is_equal(&key) => file.key = Some(old),
                    Some(_) => changes.replaced.push(name.to_owned()),
                }
            }
        }
    }
}

impl KeyMaterial {
    /// Parses the bytes of a key file.
    ///
    /// # Errors
    /// Those of [`import::any`] and [`Share::from_pem`].
    pub fn import(bytes: &[u8], passphrase: Option<&Passphrase>) -> Result<Self, KeyError> {
        if bytes.windows(SHARE.len()).any(|window| window == SHARE) {
            return Ok(Self::Share(Share::from_pem(bytes, passphrase)?));
        }
        Ok(Self::Key(import::any(bytes, passphrase)?))
    }

    /// Returns the key that computes. A share has a key of its own.
    fn key(&self) -> &Key {
        match self {
            Self::Key(key) => key,
            Self::Share(share) => share.key(),
        }
    }

    /// Returns true if both are the same key. The old handle then stays in use, because engines have computed tables
    /// for it.
    fn is_equal(&self, new: &Self) -> bool {
        let (old, new) = (self.key(), new.key());
        old.fingerprint() == new.fingerprint() && old.kind() == new.kind()
    }

    /// Returns true if it holds a private key.
    #[must_use]
    pub fn is_private(&self) -> bool {
        !self.key().kind().is_public()
    }
}

/// Returns true if the path has the ending of a key file.
fn is_key_file(path: &Path) -> bool {
    key_file_stem(path).is_some()
}

/// Returns the name of a file without the ending of a key file.
fn key_file_stem(path: &Path) -> Option<&[u8]> {
    let name = path.file_name()?.as_encoded_bytes();
    ENDINGS.iter().find_map(|ending| name.strip_suffix(ending.as_bytes())?.strip_suffix(b"."))
}

/// Returns true if the name begins with a dot, as the names of unfinished files do.
fn is_hidden(path: &Path) -> bool {
    path.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."))
}

fn name_of(path: &Path) -> Option<String> {
    let name = std::str::from_utf8(key_file_stem(path)?).ok()?;
    is_key_name(name).then(|| name.to_owned())
}

/// Returns true if a key file may have this name, without its ending: 1 to 64 ASCII letters, digits, `.`, `-` and
/// `_`, the first not a dot.
#[must_use]
pub fn is_key_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    (1..=64).contains(&name.len()) && !name.starts_with('.') && name.bytes().all(is_plain)
}

fn read(
    path: &Path,
    passphrase: Option<&Passphrase>,
    identities: Option<&AgeIdentities>,
) -> Result<(KeyMaterial, SealForm), FileFault> {
    let content = read_key_file(path, import::MAX_INPUT_LEN, identities)?;
    Ok((KeyMaterial::import(&content.bytes, passphrase)?, content.form))
}

impl From<KeyFileReadFault> for FileFault {
    fn from(fault: KeyFileReadFault) -> Self {
        match fault {
            KeyFileReadFault::Io(error) => error.into(),
            KeyFileReadFault::Sealed(fault) => fault.into(),
        }
    }
}

/// The end of the label of a share, encrypted or not.
const SHARE: &[u8] = b"RSA SHARE-----";

/// Reads a passphrase: the first line of a file that no other user may read.
///
/// # Errors
/// The file cannot be read, others may read it, or its first line is empty.
pub fn read_private_passphrase(path: &Path) -> io::Result<Passphrase> {
    check_private(path, &fs::File::open(path)?)?;
    read_passphrase(path)
}

/// Reads a passphrase: the first line of a file.
///
/// # Errors
/// The file cannot be read, or its first line is empty.
pub fn read_passphrase(path: &Path) -> io::Result<Passphrase> {
    let text = read_secret(path, MAX_BYTES)?;
    let line = first_line(&text)?;
    if line.is_empty() {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "expected a passphrase in the first line"));
    }
    Ok(Passphrase::new(line))
}

/// Reads at most `max_bytes` of a secret file or a pipe, and leaves no copies in memory. The rest is ignored.
///
/// # Errors
/// The file cannot be read.
pub fn read_secret(path: &Path, max_bytes: usize) -> io::Result<Zeroizing<Vec<u8>>> {
    read_open(fs::File::open(path)?, max_bytes)
}

/// Shows the path and the number of keys.
impl fmt::Debug for KeyDirectory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyDirectory({}, {} keys)", self.path.display(), self.keys().count())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use oarlock::keys::{export, generate};
    use oarlock::{CompositeAlg, MlDsaSet, SlhDsaSet};

    use super::*;
    use crate::sealed::SealArmor;

    /// Replaces the file, because a clock of milliseconds might give two writes of one file the same time.
    fn write(path: &Path, bytes: impl AsRef<[u8]>) {
        let new = path.with_extension("new");
        fs::write(&new, bytes).unwrap();
        fs::set_permissions(&new, fs::Permissions::from_mode(0o600)).unwrap();
        fs::rename(new, path).unwrap();
    }

    fn pem() -> Zeroizing<String> {
        export::private_pkcs8_pem(&generate::ed25519().unwrap()).unwrap()
    }

    fn names(directory: &KeyDirectory) -> Vec<&str> {
        directory.keys().map(|(name, _)| name).collect()
    }

    #[test]
    fn reports_added_replaced_and_removed_keys() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mail.pem");
        let mut directory = KeyDirectory::new(folder.path(), None);
        assert!(directory.refresh().unwrap().is_none());
        write(&path, pem().as_bytes());
        write(&folder.path().join("notes.txt"), "no key");
        write(&folder.path().join(".mail.pem"), "being written");
        assert_eq!(directory.refresh().unwrap().added, ["mail"]);
        assert_eq!((directory.file("mail"), directory.file("notes")), (Some(&*path), None));
        assert!(directory.refresh().unwrap().is_none());
        let before = directory.keys().next().unwrap().1.key().clone();
        write(&path, pem().as_bytes());
        assert_eq!(directory.refresh().unwrap().replaced, ["mail"]);
        assert_ne!(directory.keys().next().unwrap().1.key().fingerprint(), before.fingerprint());
        fs::remove_file(&path).unwrap();
        assert_eq!(directory.refresh().unwrap().removed, ["mail"]);
        assert!(names(&directory).is_empty());
    }

    #[test]
    fn a_half_written_file_leaves_the_former_key_in_use() {
        let folder = tempfile::tempdir().unwrap();
        let (path, whole) = (folder.path().join("a.pem"), pem());
        let mut directory = KeyDirectory::new(folder.path(), None);
        write(&path, &whole.as_bytes()[..60]);
        assert_eq!(directory.refresh().unwrap().refused.len(), 1);
        assert!(directory.refresh().unwrap().is_none() && names(&directory).is_empty());
        write(&path, whole.as_bytes());
        assert_eq!(directory.refresh().unwrap().added, ["a"]);
        write(&path, &whole.as_bytes()[..90]);
        let changes = directory.refresh().unwrap();
        assert_eq!((changes.refused.len(), names(&directory)), (1, vec!["a"]));
        // Reading the same key again is no change, so the tables for it stay.
        let before = directory.keys().next().unwrap().1.key().clone();
        write(&path, whole.as_bytes());
        assert!(directory.refresh().unwrap().is_none());
        assert!(directory.keys().next().unwrap().1.key().is_same(&before));
    }

    #[test]
    fn reports_a_private_key_with_another_ending_once() {
        let folder = tempfile::tempdir().unwrap();
        let bind = "Private-key-format: v1.3\nAlgorithm: 15 (ED25519)\n";
        let pem_text = pem();
        let sealed: &[&[u8]] = &[b"PuTTY-User-Key-File-3: ssh-ed25519", bind.as_bytes(), pem_text.as_bytes()];
        for (name, content) in ["rsa.ppk", "Kexample.+015+00001.private", "mail.key"].iter().zip(sealed) {
            write(&folder.path().join(name), content);
        }
        for name in ["README", "mail.crt", "mail.pub"] {
            write(&folder.path().join(name), export::spki_pem(&generate::ed25519().unwrap()).unwrap());
        }
        fs::create_dir(folder.path().join("old")).unwrap();
        let mut directory = KeyDirectory::new(folder.path(), None);
        let refused = directory.refresh().unwrap().refused;
        let named: Vec<String> =
            refused.iter().map(|(path, fault)| format!("{}: {fault}", path.display())).collect();
        assert_eq!(named.len(), 3, "{named:?}");
        for (name, format) in [("rsa.ppk", "PuTTY"), (".private", "BIND"), ("mail.key", "in PEM")] {
            assert!(named.iter().any(|line| line.contains(name) && line.contains(format)), "{named:?}");
        }
        assert!(directory.refresh().unwrap().is_none());
        // A changed file is examined again.
        write(&folder.path().join("README"), pem().as_bytes());
        assert_eq!(directory.refresh().unwrap().refused.len(), 1);
    }

    #[test]
    fn rejects_invalid_and_duplicate_key_names() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a b.pem", "ä.pem", "x.der", "x.pem"] {
            write(&folder.path().join(name), pem().as_bytes());
        }
        let mut directory = KeyDirectory::new(folder.path(), None);
        let changes = directory.refresh().unwrap();
        assert_eq!((changes.refused.len(), &*changes.added), (3, &["x".to_owned()][..]));
        let is_twice = |fault: &&FileFault| matches!(fault, FileFault::Twice { .. });
        assert_eq!(changes.refused.iter().map(|(_, fault)| fault).filter(is_twice).count(), 1);
        assert!(directory.refresh().unwrap().is_none());
    }

    #[test]
    fn names_are_plain_and_short() {
        let longest = "x".repeat(64);
        for name in ["a", "mail-2026.example_1", &longest] {
            assert!(is_key_name(name), "{name}");
        }
        for name in ["", ".a", "a/b", "a b", "ä", "a\n", &format!("{longest}x")] {
            assert!(!is_key_name(name), "{name}");
        }
    }

    #[test]
    fn reports_private_keys_that_every_user_may_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("open.pem");
        write(&path, pem().as_bytes());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(KeyDirectory::new(folder.path(), None).refresh().unwrap().exposed, [path]);
    }

    #[test]
    fn rejects_readable_private_keys_on_request() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("open.pem");
        write(&path, pem().as_bytes());
        let mut directory = KeyDirectory::new(folder.path(), None).require_private(SecretReader::ThisProcess);
        assert_eq!(directory.refresh().unwrap().added, ["open"]);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let changes = directory.refresh().unwrap();
        assert!(matches!(changes.refused[..], [(_, FileFault::Exposed(_))]), "{changes:?}");
        // Every user may read a public key.
        for key in [
            generate::ed25519().unwrap(),
            generate::ml_dsa(MlDsaSet::MlDsa44).unwrap(),
            generate::slh_dsa(SlhDsaSet::Sha2_128f).unwrap(),
            generate::composite(CompositeAlg::MlDsa44Ed25519).unwrap(),
        ] {
            write(&path, export::private_pkcs8_pem(&key).unwrap().as_bytes());
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
            let changes = directory.refresh().unwrap();
            assert!(matches!(changes.refused[..], [(_, FileFault::Exposed(_))]), "{key:?}: {changes:?}");
            write(&path, export::spki_pem(&key).unwrap().as_bytes());
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
            let changes = directory.refresh().unwrap();
            assert_eq!((changes.replaced, changes.refused.len()), (vec!["open".to_owned()], 0), "{key:?}");
        }
    }

    #[test]
    fn encrypted_keys_open_with_the_passphrase_of_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let secret = folder.path().join("passphrase");
        write(&secret, "open sesame\r\nmore\n");
        let passphrase = read_passphrase(&secret).unwrap();
        let key = generate::ed25519().unwrap();
        let protection = export::Protection::Pbkdf2 { iterations: 2048.try_into().unwrap() };
        let pem =
            export::encrypted_pkcs8_pem(&key, &Passphrase::new(&b"open sesame"[..]), protection).unwrap();
        write(&folder.path().join("k.pem"), pem.as_bytes());
        let changes = KeyDirectory::new(folder.path(), None).refresh().unwrap();
        assert!(matches!(changes.refused[0].1, FileFault::Key(KeyError::PassphraseMissing)));
        assert_eq!(KeyDirectory::new(folder.path(), Some(passphrase)).refresh().unwrap().added, ["k"]);
        write(&secret, "\n");
        assert!(read_passphrase(&secret).is_err());
    }

    #[test]
    fn sealed_keys_open_once_there_is_an_identity_and_may_be_readable() {
        let folder = tempfile::tempdir().unwrap();
        let identity = b"AGE-SECRET-KEY-1GQ9778VQXMMJVE8SK7J6VT8UJ4HDQAJUVSFCWCM02D8GEWQ72PVQ2Y5J33";
        let identities = Arc::new(AgeIdentities::parse(identity).unwrap());
        let recipients: Vec<_> = identities.recipients().collect();
        let seal = |content: &[u8]| crate::sealed::seal(content, &recipients, SealArmor::Binary).unwrap();
        let path = folder.path().join("mail.example.pem.age");
        write(&path, seal(pem().as_bytes()));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let mut directory = KeyDirectory::new(folder.path(), None).require_private(SecretReader::ThisProcess);
        let refused = directory.refresh().unwrap().refused;
        assert!(matches!(refused[..], [(_, FileFault::Sealed(SealFault::NoIdentity))]), "{refused:?}");
        assert!(directory.refresh().unwrap().is_none());
        directory.set_identities(Some(Arc::clone(&identities)));
        let changes = directory.refresh().unwrap();
        assert_eq!((changes.added, changes.exposed.len()), (vec!["mail.example".to_owned()], 0));
        assert!(directory.is_sealed("mail.example") && directory.file("mail.example") == Some(&*path));
        // A file that cannot be opened leaves the key in use; without identities it does too.
        write(&path, &seal(pem().as_bytes())[..300]);
        assert_eq!(
            (directory.refresh().unwrap().refused.len(), names(&directory)),
            (1, vec!["mail.example"])
        );
        directory.set_identities(None);
        assert_eq!(
            (directory.refresh().unwrap().refused.len(), names(&directory)),
            (1, vec!["mail.example"])
        );
        // The plain file of the same name comes first in the order of names, and the sealed one is named.
        let plain = folder.path().join("mail.example.pem");
        write(&plain, pem().as_bytes());
        let changes = directory.refresh().unwrap();
        assert_eq!(changes.replaced, ["mail.example"]);
        assert!(
            matches!(&changes.refused[..], [(at, FileFault::Twice { used })] if *at == path && *used == plain)
        );
        assert!(directory.refresh().unwrap().is_none() && !directory.is_sealed("mail.example"));
    }

    #[test]
    fn sealed_files_with_other_names_are_reported_unless_they_are_symmetric_keys() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["mail.age", "mail.key.age", "records.keys.age"] {
            write(&folder.path().join(name), "age-encryption.org/v1\n");
        }
        let refused = KeyDirectory::new(folder.path(), None).refresh().unwrap().refused;
        let named: Vec<_> = refused.iter().map(|(path, _)| path.file_name().unwrap()).collect();
        assert_eq!(named, ["mail.age", "mail.key.age"]);
        assert!(matches!(refused[0].1, FileFault::Ending { found: "a file sealed with age" }));
    }

    #[test]
    fn a_secret_beyond_the_limit_is_cut() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        write(&path, "12345");
        let read = |max| read_secret(&path, max).unwrap().to_vec();
        assert_eq!([read(4), read(5), read(1 << 20)], [&b"1234"[..], b"12345", b"12345"]);
        // The length of a device states nothing.
        assert_eq!(*read_secret(Path::new("/dev/zero"), 3).unwrap(), [0; 3]);
    }

    #[test]
    fn names_a_missing_directory() {
        let folder = tempfile::tempdir().unwrap();
        let absent = folder.path().join("keys");
        let error = KeyDirectory::new(&absent, None).refresh().unwrap_err();
        assert!(error.to_string().starts_with(&format!("{}: ", absent.display())), "{error}");
    }
}
