//! Key directories, and files in them.

use std::fs::{DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use oarlock::Key;
use oarlock::keys::export::{self, Protection};
use oarlock::keys::{KeyError, Passphrase, import};
use oarlock_files::output::{OutputError, Overwrite, private_permissions, write_file};
use oarlock_key_files::sealed::{self, AgeIdentities, AgeRecipient, SealArmor};
use oarlock_key_files::{ENDINGS, KeyMaterial, is_key_name};
use oarlock_server::development::Development;
use zeroize::Zeroizing;

use super::{KeyInputs, KeysError, seal};

/// Returns the directory that was named, else that of the development set-up.
pub(super) fn directory(given: Option<&Path>) -> Result<PathBuf, KeysError> {
    match given {
        Some(path) => Ok(path.to_owned()),
        None => Ok(Development::of_user()?.keys()),
    }
}

/// Returns the directory as [`directory`] does, and creates that of the development set-up if it does not exist.
pub(super) fn directory_to_fill(given: Option<&Path>) -> Result<PathBuf, KeysError> {
    let path = directory(given)?;
    if given.is_none() {
        make(&path)?;
    }
    Ok(path)
}

/// Creates a directory that only its owner can read, if it does not exist.
pub(crate) fn make(path: &Path) -> Result<(), KeysError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|error| OutputError::Create { path: path.to_owned(), error }.into())
}

/// Returns the file for a key of this name. Two files whose names differ only in their endings would belong to one key.
pub(super) fn file_for(directory: &Path, name: &str, is_sealed: bool) -> Result<PathBuf, KeysError> {
    let chosen = if is_sealed { SEALED_PEM } else { ENDING };
    let twin = ENDINGS.iter().filter(|ending| **ending != chosen).map(|ending| file(directory, name, ending));
    match twin.into_iter().find(|path| path.exists()) {
        Some(path) => Err(KeysError::Twin { path }),
        None => Ok(file(directory, name, chosen)),
    }
}

/// Returns the file of a key's name. The first of several counts, as for a server.
pub(super) fn find(directory: &Path, name: &str) -> Result<PathBuf, KeysError> {
    let files = ENDINGS.iter().map(|ending| file(directory, name, ending)).filter(|path| path.exists());
    let no_key = || KeysError::NoKey { directory: directory.to_owned(), name: name.to_owned() };
    files.min().ok_or_else(no_key)
}

/// Returns the name of a file's key: the file name without the ending, and without that of a sealed file.
pub(super) fn name_of(path: &Path) -> String {
    let plain = seal::without_ending(path);
    plain.as_deref().unwrap_or(path).file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Rejects a name under which the key could not be found again.
pub(super) fn check_name(name: &str, hint: &'static str) -> Result<(), KeysError> {
    if is_key_name(name) { Ok(()) } else { Err(KeysError::Name { name: name.to_owned(), hint }) }
}

/// Reads a key of any format, or the public half of one in a device; `-` is stdin.
pub(crate) fn read(path: &Path, passphrase: Option<&Passphrase>) -> Result<Key, KeysError> {
    KeyInputs::read([path])?.key(path, passphrase)
}

/// Reads a key to sign with. Other users must not be able to read its file.
pub(crate) fn read_to_sign(path: &Path, passphrase: Option<&Passphrase>) -> Result<Key, KeysError> {
    KeyInputs::read([path])?.signing_key(path, passphrase)
}

pub(super) fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// Reads a key of any format, or a share of a key. The file may be sealed.
pub(super) fn read_material(
    path: &Path,
    passphrase: Option<&Passphrase>,
    identities: Option<&AgeIdentities>,
) -> Result<KeyMaterial, KeysError> {
    let content = seal::read_content(path, import::MAX_INPUT_LEN, identities)?;
    KeyMaterial::import(&content.bytes, passphrase).map_err(|error| KeysError::of_key(path, error))
}

/// Reads a key of any format; `-` is stdin. The file may be sealed.
pub(super) fn read_sealed(
    path: &Path,
    passphrase: Option<&Passphrase>,
    identities: Option<&AgeIdentities>,
) -> Result<Key, KeysError> {
    let content = seal::read_content(path, import::MAX_INPUT_LEN, identities)?;
    import::any(&content.bytes, passphrase).map_err(|error| KeysError::of_key(path, error))
}

/// Writes a key: PKCS#8, encrypted if there is a passphrase, or SPKI.
pub(crate) fn write(
    path: &Path,
    key: &Key,
    passphrase: Option<&Passphrase>,
    over: Overwrite,
) -> Result<(), KeysError> {
    let text = text(key, passphrase).map_err(|error| KeysError::Key { path: path.to_owned(), error })?;
    Ok(write_file(path, text.as_bytes(), private_permissions(), over)?)
}

/// Writes a key as [`write`] does, and seals the file if there are recipients.
pub(super) fn write_sealed(
    path: &Path,
    key: &Key,
    passphrase: Option<&Passphrase>,
    recipients: &[AgeRecipient],
    over: Overwrite,
) -> Result<(), KeysError> {
    if recipients.is_empty() {
        return write(path, key, passphrase, over);
    }
    let text = text(key, passphrase).map_err(|error| KeysError::Key { path: path.to_owned(), error })?;
    let sealed = sealed::seal(text.as_bytes(), recipients, SealArmor::Binary)
        .map_err(|fault| KeysError::Sealed { path: path.to_owned(), fault })?;
    Ok(write_file(path, &sealed, seal::sealed_permissions(), over)?)
}

/// Writes a text. Only its owner can read a secret one.
pub(crate) fn write_text(
    path: &Path,
    text: &[u8],
    is_secret: bool,
    over: Overwrite,
) -> Result<(), KeysError> {
    let permissions = if is_secret { private_permissions() } else { Permissions::from_mode(0o644) };
    Ok(write_file(path, text, permissions, over)?)
}

fn text(key: &Key, passphrase: Option<&Passphrase>) -> Result<Zeroizing<String>, KeyError> {
    match passphrase {
        // First, because a public key is not secret and is never encrypted.
        _ if key.kind().is_public() => export::spki_pem(key).map(Zeroizing::new),
        Some(passphrase) => export::encrypted_pkcs8_pem(key, passphrase, Protection::default()),
        None => export::private_pkcs8_pem(key),
    }
}

/// The ending of key files that are written.
const ENDING: &str = "pem";

/// The ending of key files that are written and sealed.
const SEALED_PEM: &str = "pem.age";

fn file(directory: &Path, name: &str, ending: &str) -> PathBuf {
    directory.join(format!("{name}.{ending}"))
}
