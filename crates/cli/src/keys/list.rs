//! `oarlock keys list`.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use oarlock_io::KeyDirectory;
use oarlock_server::development::Development;

use super::about::About;
use super::args::ListArgs;
use super::records::KeyFile;
use super::{KeysError, place};
use oarlock_measure::GlobalOptions;
use oarlock_measure::table::{Align, Cell, Table};
use oarlock_measure::terminal::wants_colour;

pub(super) fn run(global: &GlobalOptions, args: &ListArgs) -> Result<(), KeysError> {
    let (directory, records) = args.places()?;
    let mut list = List::default();
    if let Some(path) = directory {
        list.take_directory(&path, args.passphrase_file.as_deref())?;
    }
    if let Some(path) = records {
        list.take_records(&path);
    }
    list.print(global)?;
    list.verdict()
}

impl ListArgs {
    /// What was named; where nothing was, what there is of the development set-up.
    fn places(&self) -> Result<(Option<PathBuf>, Option<PathBuf>), KeysError> {
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

/// What was found.
#[derive(Debug, Default)]
struct List {
    keys: Vec<About>,
    /// Files that could not be used.
    broken: usize,
}

impl List {
    fn take_directory(&mut self, path: &Path, passphrase: Option<&Path>) -> Result<(), KeysError> {
        let mut directory = KeyDirectory::new(path, place::passphrase(passphrase)?);
        let changes = match directory.refresh() {
            Ok(changes) => changes,
            Err(error) => {
                self.refuse(&error);
                return Ok(());
            }
        };
        for (path, fault) in &changes.refused {
            self.refuse(&format_args!("{}: {fault}", path.display()));
        }
        for path in &changes.exposed {
            eprintln!("oarlock: {}: everybody may read this private key", path.display());
        }
        let found = directory.keys().filter_map(|(name, found)| Some((name, found, directory.file(name)?)));
        self.keys.extend(found.map(|(name, found, file)| About::material(name, found, file)));
        Ok(())
    }

    fn take_records(&mut self, path: &Path) {
        match KeyFile::read(path) {
            Ok(file) => self.keys.extend(file.keys(path)),
            Err(error) => self.refuse(&error),
        }
    }

    fn refuse(&mut self, fault: &dyn Display) {
        eprintln!("oarlock: {fault}");
        self.broken += 1;
    }

    fn print(&self, global: &GlobalOptions) -> io::Result<()> {
        let mut out = io::stdout().lock();
        if global.json {
            let text = serde_json::to_string(&self.keys).map_err(io::Error::other)?;
            return writeln!(out, "{text}");
        }
        write!(out, "{}", self.table().render(wants_colour()))
    }

    fn table(&self) -> Table {
        let head = ["name", "kind", "holds", "fingerprint", "file"].map(|name| (name, Align::Left));
        let mut table = Table::new(head);
        for key in &self.keys {
            let fingerprint = match &key.fingerprint {
                // As much as tells keys apart at a glance; the whole is in the JSON.
                Some(whole) => Cell::from(&whole[..16]),
                None => Cell::none(),
            };
            let [name, kind, holds] = [&key.name, &key.kind, key.holds.word()].map(Cell::from);
            table.row([name, kind, holds, fingerprint, Cell::from(key.file.as_str())]);
        }
        table
    }

    fn verdict(&self) -> Result<(), KeysError> {
        if self.broken == 0 { Ok(()) } else { Err(KeysError::Broken { count: self.broken }) }
    }
}
