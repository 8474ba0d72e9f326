//! Keys that a command signs with: in files, or in devices.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use oarlock::keys::{Passphrase, import};
use oarlock::{Accelerator, Key};
use oarlock_hsm::{HsmError, HsmSettings};
use oarlock_key_files::{check_private, read_secret};
use oarlock_service_kit::{HeldKeyFault, HeldKeyName, KeyHolders};
use zeroize::Zeroizing;

use super::KeysError;
use super::key_file::is_stdin;

/// The keys that the arguments of a command name, before they are parsed. All files are read first, because the devices
/// that they name make one holder together.
pub(crate) struct KeyInputs {
    inputs: BTreeMap<PathBuf, KeyInput>,
    /// The devices that the URIs describe.
    pub(crate) holders: KeyHolders,
}

/// A key that an argument names.
#[derive(Default)]
pub(crate) struct KeyInput {
    /// The content of the file; empty for a URI in place of a path.
    pub(crate) bytes: Zeroizing<Vec<u8>>,
    /// The name of the key, if it is not in the file.
    pub(crate) name: Option<HeldKeyName>,
}

impl KeyInputs {
    /// Reads the files, and opens the devices that the URIs describe by `module-path` and `pin-source`. `-` is stdin.
    pub(crate) fn read<'p>(paths: impl IntoIterator<Item = &'p Path>) -> Result<Self, KeysError> {
        let read = |path: &'p Path| Ok((path.to_owned(), KeyInput::read(path)?));
        let inputs = paths.into_iter().map(read).collect::<Result<BTreeMap<_, _>, KeysError>>()?;
        let mut devices = Vec::new();
        for (path, input) in &inputs {
            let Some(HeldKeyName::Device(uri)) = &input.name else { continue };
            let device = HsmSettings::from_uri(uri)
                .map_err(|error| KeysError::of_held(path, HsmError::from(error).into()))?;
            if !devices.contains(&device) {
                devices.push(device);
            }
        }
        Ok(Self { inputs, holders: KeyHolders::open(None, &devices, &Accelerator::builder())? })
    }

    /// Returns the input of a path that was read.
    pub(crate) fn get(&self, path: &Path) -> Result<&KeyInput, KeysError> {
        // unreachable because commands read all their paths first
        let absent = || KeysError::Read { path: path.to_owned(), error: std::io::ErrorKind::NotFound.into() };
        self.inputs.get(path).ok_or_else(absent)
    }

    /// Returns a path whose key is at the cryptoserver.
    pub(crate) fn server_key(&self) -> Option<&Path> {
        let is_there = |input: &KeyInput| matches!(input.name, Some(HeldKeyName::Cryptoserver(_)));
        self.inputs.iter().find(|(_, input)| is_there(input)).map(|(path, _)| &**path)
    }

    /// Returns a key of any format, or one in a device.
    pub(crate) fn key(&self, path: &Path, passphrase: Option<&Passphrase>) -> Result<Key, KeysError> {
        match self.get(path)? {
            KeyInput { name: Some(name @ HeldKeyName::Device(_)), .. } => {
                self.holders.key(name, None).map_err(|fault| KeysError::of_held(path, fault))
            }
            input => import::any(&input.bytes, passphrase).map_err(|error| KeysError::of_key(path, error)),
        }
    }

    /// Returns a key to sign with. Other users must not be able to read its file.
    pub(crate) fn signing_key(&self, path: &Path, passphrase: Option<&Passphrase>) -> Result<Key, KeysError> {
        let key = self.key(path, passphrase)?;
        // The signer reports that a public key cannot sign. The name of a key in a device is not secret.
        if !key.kind().is_public() && !is_stdin(path) && self.get(path)?.name.is_none() {
            let checked = File::open(path).and_then(|file| check_private(path, &file));
            checked.map_err(|error| KeysError::Read { path: path.to_owned(), error })?;
        }
        Ok(key)
    }
}

impl KeyInput {
    /// Reads a file, or takes a URI as it is; `-` is stdin.
    pub(crate) fn read(path: &Path) -> Result<Self, KeysError> {
        if let Some(name) = HeldKeyName::from_path(path).map_err(KeysError::Uri)? {
            return Ok(Self { name: Some(name), ..Self::default() });
        }
        // A path also for standard input, because `read_secret` opens files itself.
        let source = if is_stdin(path) { Path::new("/dev/stdin") } else { path };
        // One byte more than the parser takes, so that a longer file is refused and not cut.
        let bytes = read_secret(source, import::MAX_INPUT_LEN + 1)
            .map_err(|error| KeysError::Read { path: path.to_owned(), error })?;
        let name =
            HeldKeyName::from_file(&bytes).map_err(|fault: HeldKeyFault| KeysError::of_held(path, fault))?;
        Ok(Self { bytes, name })
    }
}
