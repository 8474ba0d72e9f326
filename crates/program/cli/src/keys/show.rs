//! `oarlock keys show`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use oarlock::Key;
use oarlock::keys::reference::Reference;
use oarlock::keys::{KeyError, export};
use oarlock_key_files::KeyMaterial;
use oarlock_terminal::GlobalOptions;

use super::args::ShowArgs;
use super::summary::{self, KeySummary};
use super::{KeysError, key_file};

pub(super) fn run(global: &GlobalOptions, args: &ShowArgs) -> Result<(), KeysError> {
    if (args.pem || args.reference) && global.json {
        return Err(KeysError::Usage("--pem or --reference, and --json: stdout carries one of them alone"));
    }
    let path = args.path()?;
    let passphrase = args.passphrase.read()?;
    let identities = args.identity.read()?;
    let material = key_file::read_material(&path, passphrase.as_ref(), identities.as_ref())?;
    let public =
        export::spki_pem(key_of(&material)).map_err(|error| KeysError::Key { path: path.clone(), error })?;
    if args.pem {
        return Ok(io::stdout().write_all(public.as_bytes())?);
    }
    let name = key_file::name_of(&path);
    if args.reference {
        let reference = reference(&name, key_of(&material));
        let reference = reference.map_err(|error| KeysError::Key { path: path.clone(), error })?;
        return Ok(io::stdout().write_all(reference.as_bytes())?);
    }
    summary::warn(&name, key_of(&material));
    let about = KeySummary { public_key: Some(public), ..KeySummary::material(&name, &material, &path) };
    Ok(about.print(global)?)
}

fn reference(name: &str, key: &Key) -> Result<String, KeyError> {
    Reference { name: name.to_owned(), spki: Some(export::spki_der(key)?) }.to_pem()
}

/// Returns the key whose public half is shown. For a share it is the key of all shares together.
fn key_of(material: &KeyMaterial) -> &Key {
    match material {
        KeyMaterial::Key(key) => key,
        KeyMaterial::Share(share) => share.public().public(),
    }
}

impl ShowArgs {
    /// Returns the file of the key. With --directory it is the name of a key there, else a file if one exists.
    fn path(&self) -> Result<PathBuf, KeysError> {
        let is_name = self.key.to_str().filter(|name| oarlock_key_files::is_key_name(name));
        let is_file = self.key == Path::new("-") || (self.key.exists() && !self.key.is_dir());
        match is_name {
            Some(name) if self.directory.is_some() || !is_file => {
                key_file::find(&key_file::directory(self.directory.as_deref())?, name)
            }
            _ => Ok(self.key.clone()),
        }
    }
}
