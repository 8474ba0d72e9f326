//! `oarlock keys generate`.

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::time::Duration;

use indicatif::ProgressBar;
use oarlock::Key;
use oarlock_files::atomic_file::folder_of;
use oarlock_files::output::{Overwrite, checked_path};
use oarlock_keytable::KeyType;
use oarlock_records::NewKeyRights;
use oarlock_server::development::Development;
use oarlock_terminal::GlobalOptions;

use super::args::GenerateArgs;
use super::kind::GeneratedKind;
use super::records::{AddedKey, RecordsAccess};
use super::summary::{self, KeySummary};
use super::{KeysError, key_file, records};

pub(super) fn run(global: &GlobalOptions, args: &GenerateArgs) -> Result<(), KeysError> {
    let about = match args.kind.symmetric() {
        Some(key_type) => args.symmetric(key_type)?,
        None => args.asymmetric()?,
    };
    Ok(about.print(global)?)
}

impl GenerateArgs {
    fn asymmetric(&self) -> Result<KeySummary, KeysError> {
        if self.records.is_some() {
            return Err(KeysError::Usage(
                "--records is for symmetric keys: des, tdes2, tdes3, aes128, aes256, hmac, aes128-siv, aes256-siv",
            ));
        }
        if !self.algorithms.is_empty() || !self.ivs.is_empty() {
            return Err(KeysError::Usage("--algorithms and --ivs are for symmetric keys"));
        }
        let passphrase = self.passphrase.read()?;
        if self.identity.is_given() {
            return Err(KeysError::Usage("--identity is for a sealed file of symmetric keys"));
        }
        let recipients = self.seal.recipients()?;
        let (name, path) = self.target()?;
        // Checked before the work, which can take minutes.
        checked_path(&path, self.over())?;
        let key = generate(self.kind, self.safe_primes)?;
        key_file::write_sealed(&path, &key, passphrase.as_ref(), &recipients, self.over())?;
        summary::warn(&name, &key);
        Ok(KeySummary::asymmetric(&name, &key, &path))
    }

    fn target(&self) -> Result<(String, PathBuf), KeysError> {
        if let Some(path) = &self.out {
            return Ok((key_file::name_of(path), path.clone()));
        }
        let name = self.name()?;
        let path = key_file::directory_to_fill(self.directory.as_deref())?;
        let path = key_file::file_for(&path, &name, self.seal.is_given())?;
        Ok((name, path))
    }

    fn symmetric(&self, key_type: KeyType) -> Result<KeySummary, KeysError> {
        if self.safe_primes {
            return Err(KeysError::Usage("--safe-primes is for RSA"));
        }
        if self.directory.is_some() || self.out.is_some() || self.passphrase.is_given() {
            return Err(KeysError::Usage(
                "a symmetric key is written unencrypted into a file of keys: use --records, and none of --directory, --out \
                 and --passphrase-file",
            ));
        }
        let name = self.name()?;
        let path = match &self.records {
            Some(path) => path.clone(),
            None => {
                let path = Development::of_user()?.records();
                key_file::make(folder_of(&path))?;
                path
            }
        };
        let rights = NewKeyRights { algorithms: self.algorithms.clone(), ivs: self.ivs.clone() };
        let access = RecordsAccess::new(&self.identity, &self.seal)?;
        let added = AddedKey { name: &name, key_type, rights: &rights };
        let len = records::add(&path, added, &access, || self.kind.generate(), self.over())?;
        Ok(KeySummary::symmetric(&name, key_type, Some(len), &path))
    }

    fn name(&self) -> Result<String, KeysError> {
        let name = self.name.clone().unwrap_or_else(|| self.kind.to_string());
        key_file::check_name(&name, "")?;
        Ok(name)
    }

    fn over(&self) -> Overwrite {
        if self.force { Overwrite::AnyFile } else { Overwrite::Nothing }
    }
}

fn generate(kind: GeneratedKind, has_safe_primes: bool) -> Result<Key, KeysError> {
    let spinner = spinner(kind);
    let key = if has_safe_primes {
        let found = kind.generate_safe(|progress| {
            spinner.set_message(format!(
                "searching safe primes for {kind}: {} of 2 found, {} candidates for the next",
                progress.found, progress.candidates
            ));
        });
        found.ok_or(KeysError::Usage("--safe-primes is for RSA"))?
    } else {
        kind.generate()
    };
    spinner.finish_and_clear();
    key.map_err(KeysError::Generate)
}

/// Returns a spinner on stderr for slow work, if stderr is a terminal.
fn spinner(kind: GeneratedKind) -> ProgressBar {
    if !kind.is_slow() || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let spinner = ProgressBar::new_spinner().with_message(format!("searching primes for {kind}"));
    spinner.enable_steady_tick(Duration::from_millis(100));
    spinner
}
