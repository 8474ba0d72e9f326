//! `oarlock keys list`.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use oarlock::keys::Passphrase;
use oarlock_key_files::KeyDirectory;
use oarlock_key_files::sealed::AgeIdentities;
use oarlock_server::development::Development;
use oarlock_terminal::GlobalOptions;
use oarlock_terminal::report::print_report;
use oarlock_terminal::table::{TableCell, TextTable};

use super::args::ListArgs;
use super::summary::KeySummary;
use super::{KeysError, records, token_list};

pub(super) fn run(global: &GlobalOptions, args: &ListArgs) -> Result<(), KeysError> {
    if let Some(uri) = &args.token {
        return token_list::run(global, uri, args.measure);
    }
    let (directory, records) = args.sources()?;
    let identities = args.identity.read()?.map(Arc::new);
    let mut list = KeyList::default();
    if let Some(path) = directory {
        list.take_directory(&path, args.passphrase.read()?, identities.clone())?;
    }
    if let Some(path) = records {
        list.take_records(&path, identities.as_deref());
    }
    print_report(global.json, &list.keys, |in_colour| list.table().render(in_colour))?;
    list.verdict()
}

impl ListArgs {
    /// Returns the directory and the file that were named. If neither was named, returns those of the development
    /// set-up that exist.
    fn sources(&self) -> Result<(Option<PathBuf>, Option<PathBuf>), KeysError> {
        if self.directory.is_some() || self.records.is_some() {
            return Ok((self.directory.clone(), self.records.clone()));
        }
        let development = Development::of_user()?;
        let (keys, records) = (development.keys(), development.records());
        if !keys.exists() && !records.exists() {
            eprintln!("oarlock: {}: no keys yet, `oarlock keys generate` makes some", keys.display());
        }
        Ok((Some(keys).filter(|path| path.exists()), Some(records).filter(|path| path.exists())))
    }
}

/// The keys that were found.
#[derive(Debug, Default)]
struct KeyList {
    keys: Vec<KeySummary>,
    /// The number of files that could not be used.
    broken: usize,
}

impl KeyList {
    fn take_directory(
        &mut self,
        path: &Path,
        passphrase: Option<Passphrase>,
        identities: Option<Arc<AgeIdentities>>,
    ) -> Result<(), KeysError> {
        let mut directory = KeyDirectory::new(path, passphrase);
        directory.set_identities(identities);
        let changes = match directory.refresh() {
            Ok(changes) => changes,
            Err(error) => {
                // Reported like a broken file, so that the symmetric keys are still listed.
                self.refuse(&error);
                return Ok(());
            }
        };
        for (path, fault) in &changes.refused {
            self.refuse(&format_args!("{}: {fault}", path.display()));
        }
        for path in &changes.exposed {
            eprintln!(
                "oarlock: {}: every user can read this private key: remove the permission",
                path.display()
            );
        }
        let found = directory.keys().filter_map(|(name, found)| Some((name, found, directory.file(name)?)));
        self.keys.extend(found.map(|(name, found, file)| KeySummary::material(name, found, file)));
        Ok(())
    }

    fn take_records(&mut self, path: &Path, identities: Option<&AgeIdentities>) {
        match records::read(path, identities) {
            Ok((file, _)) => self.keys.extend(records::summaries(&file, path)),
            Err(error) => self.refuse(&error),
        }
    }

    fn refuse(&mut self, fault: &dyn Display) {
        eprintln!("oarlock: {fault}");
        self.broken += 1;
    }

    fn table(&self) -> TextTable {
        let mut table = TextTable::with_columns(["name", "kind", "holds", "fingerprint", "file"], []);
        for key in &self.keys {
            let fingerprint = match &key.fingerprint {
                // Sixteen digits distinguish keys at a glance; the JSON has all digits.
                Some(whole) => TableCell::from(&whole[..16]),
                None => TableCell::none(),
            };
            let [name, kind, holds] = [&key.name, &key.kind, key.holds.word()].map(TableCell::from);
            table.row([name, kind, holds, fingerprint, TableCell::from(key.file.as_str())]);
        }
        table
    }

    fn verdict(&self) -> Result<(), KeysError> {
        if self.broken == 0 { Ok(()) } else { Err(KeysError::Broken { count: self.broken }) }
    }
}
