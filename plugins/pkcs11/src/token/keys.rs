//! A token that shows a directory of key files, with the certificates beside them. It is never written.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use oarlock::keys::Passphrase;
use oarlock_cryptoki::{
    AttributeSet, ReturnCode, TokenDescription, TokenObject, TokenObjectId, TokenObjects, on_deep_stack,
};
use oarlock_ffi::print_line;
use oarlock_key_files::sealed::AgeIdentities;
use oarlock_key_files::{KeyDirectory, KeyMaterial, SecretReader};
use x509_parser::pem::Pem;

use super::key_objects::{PrivateUses, ShownKey, show};
use super::read_only::{self, ShownObjects, never_written};

/// The ending of a file of certificates.
const CERTIFICATES: &str = "crt";

/// The maximum length of a file of certificates.
const MAX_CERTIFICATES_BYTES: u64 = 64 << 10;

/// The time between two looks at the directory.
const REREAD: Duration = Duration::from_millis(500);

/// A token that shows a directory of key files.
pub(crate) struct KeysToken {
    path: PathBuf,
    label: String,
    state: Mutex<KeysState>,
}

struct KeysState {
    directory: KeyDirectory,
    shown: ShownObjects,
    read_at: Option<Instant>,
    /// True if the directory could not be read the last time.
    is_unreadable: bool,
}

impl KeysToken {
    /// Makes a token, which reads its directory at first use. The passphrase is for encrypted keys, the identities are
    /// for sealed ones.
    pub(crate) fn new(
        path: &Path,
        label: Option<&str>,
        passphrase: Option<Passphrase>,
        identities: Option<Arc<AgeIdentities>>,
    ) -> Self {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let mut directory = KeyDirectory::new(path, passphrase).require_private(SecretReader::ThisProcess);
        directory.set_identities(identities);
        Self {
            path: path.to_owned(),
            label: label.map(str::to_owned).or(name).unwrap_or_default(),
            state: Mutex::new(KeysState {
                directory,
                shown: ShownObjects::default(),
                read_at: None,
                is_unreadable: false,
            }),
        }
    }

    /// Reads the directory again if the last time was a while ago.
    fn refreshed(&self) -> Result<MutexGuard<'_, KeysState>, ReturnCode> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.read_at.is_none_or(|at| at.elapsed() >= REREAD) {
            state.read_at = Some(Instant::now());
            state.refresh();
        }
        if state.is_unreadable { Err(ReturnCode::DeviceError) } else { Ok(state) }
    }
}

impl KeysState {
    fn refresh(&mut self) {
        // A key of ML-KEM or ML-DSA is expanded when it is read.
        let directory = &mut self.directory;
        let changes = match on_deep_stack(|| directory.refresh()) {
            Ok(Ok(changes)) => changes,
            Ok(Err(error)) => return self.note_unreadable(&error.to_string()),
            Err(code) => return self.note_unreadable(&code.to_string()),
        };
        self.is_unreadable = false;
        for (path, fault) in &changes.refused {
            print_line(&format!("{}: {fault}", path.display()));
        }
        let mut objects = Vec::new();
        for (name, material) in self.directory.keys() {
            // A share makes partial signatures, which no mechanism of PKCS#11 has.
            let KeyMaterial::Key(key) = material else { continue };
            let certificates =
                self.directory.file(name).map(|file| read_certificates(name, file)).unwrap_or_default();
            let shown = ShownKey { name, key, uses: PrivateUses::ALL, certificates: &certificates };
            show(&shown, &mut objects);
        }
        self.shown.replace(objects);
    }

    /// Prints why the directory cannot be read, once until it can.
    fn note_unreadable(&mut self, reason: &str) {
        if !std::mem::replace(&mut self.is_unreadable, true) {
            print_line(reason);
        }
    }
}

impl TokenObjects for KeysToken {
    fn describe(&self) -> Result<TokenDescription, ReturnCode> {
        Ok(read_only::description(&self.label, "key files", serial_number(&self.path)))
    }

    fn data_version(&self) -> Result<u64, ReturnCode> {
        Ok(self.refreshed()?.shown.version())
    }

    fn list(&self) -> Result<Vec<TokenObject>, ReturnCode> {
        Ok(self.refreshed()?.shown.list())
    }

    fn open_secrets(&self, id: TokenObjectId) -> Result<AttributeSet, ReturnCode> {
        self.refreshed()?.shown.open_secrets(id)
    }

    never_written!();
}

/// Reads the certificates beside a key: those of `mail.crt` for `mail.pem`. A broken file costs the key nothing.
fn read_certificates(name: &str, key_file: &Path) -> Vec<Vec<u8>> {
    // A sealed file has two endings.
    let path = key_file.with_file_name(format!("{name}.{CERTIFICATES}"));
    let Ok(about) = path.metadata() else { return Vec::new() };
    let fault = |expected: &str| {
        print_line(&format!("{}: expected {expected}", path.display()));
        Vec::new()
    };
    if about.len() > MAX_CERTIFICATES_BYTES {
        return fault("at most 64 KiB");
    }
    let Ok(text) = std::fs::read(&path) else { return fault("a readable file") };
    let blocks: Result<Vec<Pem>, _> = Pem::iter_from_buffer(&text).collect();
    match blocks {
        Ok(blocks) if !blocks.is_empty() => {
            let certificates = blocks.into_iter().filter(|block| block.label == "CERTIFICATE");
            certificates.map(|block| block.contents).collect()
        }
        _ => fault("certificates in PEM"),
    }
}

/// Returns a serial number of 16 digits that stays the same for the same directory: FNV-1a of its path.
pub(super) fn serial_number(path: &Path) -> String {
    let bytes = path.as_os_str().as_encoded_bytes();
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    });
    format!("{hash:016x}")
}

impl std::fmt::Debug for KeysToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "KeysToken({})", self.path.display())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use oarlock::keys::{export, generate};
    use oarlock_cryptoki::AttributeType;

    use super::*;

    fn write(path: &Path, bytes: &[u8]) {
        fs::write(path, bytes).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    }

    #[test]
    fn shows_keys_and_their_certificates_and_sees_new_files() {
        let folder = tempfile::tempdir().unwrap();
        let pair = rcgen::KeyPair::generate().unwrap();
        let certificate = rcgen::CertificateParams::new(["mail.test".to_owned()]).unwrap();
        let certificate = certificate.self_signed(&pair).unwrap();
        write(&folder.path().join("mail.pem"), pair.serialize_pem().as_bytes());
        write(&folder.path().join("mail.crt"), certificate.pem().as_bytes());
        let token = KeysToken::new(folder.path(), Some("my keys"), None, None);
        let labels = |token: &KeysToken| {
            let listed = token.list().unwrap();
            listed.len()
                + listed.iter().filter(|object| object.attributes.contains(AttributeType::VALUE)).count()
        };
        assert_eq!(labels(&token), 4, "a private key, a public key, and a certificate with a value");
        let version = token.data_version().unwrap();
        let other = export::private_pkcs8_pem(&generate::ed25519().unwrap()).unwrap();
        write(&folder.path().join("other.pem"), other.as_bytes());
        token.state.lock().unwrap().read_at = None;
        assert_ne!(token.data_version().unwrap(), version);
        assert_eq!(token.list().unwrap().len(), 5);
        assert_eq!(token.describe().unwrap().label, "my keys");
        assert_eq!(token.create(&[]), Err(ReturnCode::TokenWriteProtected));
    }

    #[test]
    fn a_missing_directory_is_an_error_of_the_token() {
        let token = KeysToken::new(Path::new("/nonexistent"), None, None, None);
        assert_eq!(token.data_version(), Err(ReturnCode::DeviceError));
        assert_eq!(token.describe().unwrap().label, "nonexistent");
    }

    #[test]
    fn a_broken_file_of_certificates_costs_the_key_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let pem = export::private_pkcs8_pem(&generate::ed25519().unwrap()).unwrap();
        write(&folder.path().join("k.pem"), pem.as_bytes());
        write(&folder.path().join("k.crt"), b"-----BEGIN CERTIFICATE-----\n!!!\n-----END CERTIFICATE-----\n");
        assert_eq!(KeysToken::new(folder.path(), None, None, None).list().unwrap().len(), 2);
    }
}
