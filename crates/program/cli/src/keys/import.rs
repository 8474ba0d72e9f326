//! `oarlock keys import`.

use std::path::Path;

use oarlock_files::output::Overwrite;
use oarlock_terminal::GlobalOptions;

use super::args::ImportArgs;
use super::summary::{self, KeySummary};
use super::{KeysError, key_file};

pub(super) fn run(global: &GlobalOptions, args: &ImportArgs) -> Result<(), KeysError> {
    let name = args.name()?;
    let in_passphrase = args.in_passphrase.read()?;
    let passphrase = args.passphrase.read()?;
    let identities = args.identity.read()?;
    let recipients = args.seal.recipients()?;
    let key = key_file::read_sealed(&args.file, in_passphrase.as_ref(), identities.as_ref())
        .map_err(KeysError::of_input)?;
    if key.kind().is_public() && passphrase.is_some() {
        return Err(KeysError::Usage("--passphrase-file: a public key is not encrypted: remove the option"));
    }
    let directory = key_file::directory_to_fill(args.directory.as_deref())?;
    let path = key_file::file_for(&directory, &name, args.seal.is_given())?;
    let over = if args.force { Overwrite::AnyFile } else { Overwrite::Nothing };
    key_file::write_sealed(&path, &key, passphrase.as_ref(), &recipients, over)?;
    summary::warn(&name, &key);
    let is_plain = passphrase.is_none() && recipients.is_empty() && !key.kind().is_public();
    if in_passphrase.is_some() && is_plain {
        eprintln!("oarlock: {} is not encrypted: use --passphrase-file to encrypt it", path.display());
    }
    Ok(KeySummary::asymmetric(&name, &key, &path).print(global)?)
}

impl ImportArgs {
    fn name(&self) -> Result<String, KeysError> {
        let name = match &self.name {
            Some(name) => name.clone(),
            None if self.file == Path::new("-") => {
                return Err(KeysError::Usage("a key from stdin needs --name"));
            }
            None => key_file::name_of(&self.file),
        };
        let hint = if self.name.is_none() { " (--name gives another)" } else { "" };
        key_file::check_name(&name, hint)?;
        Ok(name)
    }
}
