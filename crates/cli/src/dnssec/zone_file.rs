//! Zone files, compressed or not, read block by block into records.

use std::io::Read;
use std::path::{Path, PathBuf};

use indicatif::ProgressBar;
use oarlock_dnssec::zone::{Fault, Reader};
use oarlock_dnssec::{Name, Records};
use oarlock_io::compressed::{self, Input};

use super::blocks::Blocks;
use super::{DnssecError, key_text};
use crate::progress;

/// Gives the text of a file that `$INCLUDE` names, or says why not.
type Include = dyn FnMut(&str) -> Result<Vec<u8>, String>;

/// What a zone file says.
#[derive(Debug)]
pub(super) struct ZoneFile {
    pub(super) path: PathBuf,
    pub(super) records: Records,
    /// Entries that were not read.
    pub(super) faults: Vec<Fault>,
    /// How many more there were.
    pub(super) more_faults: usize,
    /// Why the file could not be read to its end.
    pub(super) damage: Option<String>,
    /// Bytes of text.
    pub(super) text_bytes: u64,
}

impl ZoneFile {
    /// Reads a file, or standard input where the path is `-`. Relative names end in `origin`; `$INCLUDE` starts where the file lies.
    pub(super) fn read(path: &Path, origin: Option<Name<'_>>) -> Result<Self, DnssecError> {
        Self::read_with(path, |include| Reader::new(origin, include))
    }

    /// Reads a file of absolute names whose records need no TTL, as files of keys and of their digests have none.
    pub(super) fn read_keys(path: &Path) -> Result<Self, DnssecError> {
        Self::read_with(path, |include| key_text::reader(include))
    }

    fn read_with(
        path: &Path,
        reader: impl for<'i> FnOnce(&'i mut Include) -> Reader<'i>,
    ) -> Result<Self, DnssecError> {
        let fail = |error| DnssecError::Read { path: path.to_path_buf(), error };
        let input = compressed::open(path).map_err(fail)?;
        let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
        let mut include = move |name: &str| include(&folder.join(name));
        let mut reader = reader(&mut include);
        let mut records = Records::new();
        if let (None, Some(len)) = (input.format(), input.len_bytes()) {
            records.reserve_for_text(usize::try_from(len).unwrap_or(0));
        }
        let mut zone = Self {
            path: path.to_path_buf(),
            records,
            faults: Vec::new(),
            more_faults: 0,
            damage: None,
            text_bytes: 0,
        };
        zone.read_blocks(input, &mut reader)?;
        (zone.faults, zone.more_faults) = reader.into_faults();
        Ok(zone)
    }

    /// A thread reads and decompresses while this one looks at what is there.
    fn read_blocks(&mut self, input: Input, reader: &mut Reader<'_>) -> Result<(), DnssecError> {
        let (bar, consumed) = (bar(&input), input.consumed());
        let result = std::thread::scope(|scope| {
            let mut blocks = Blocks::start(scope, input);
            while let Some(count) =
                blocks.next(|text, is_last| reader.read(text, is_last, &mut self.records))?
            {
                self.text_bytes += count as u64;
                bar.set_position(consumed.bytes());
            }
            Ok(())
        });
        bar.finish_and_clear();
        match result {
            Err(error) if self.text_bytes == 0 => Err(DnssecError::Read { path: self.path.clone(), error }),
            // What came before counts.
            Err(error) => {
                self.damage = Some(std::io::Error::to_string(&error));
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// The file and line of a record; nothing of one that was made here.
    pub(super) fn place(&self, row: Option<u32>) -> Option<(String, u32)> {
        let row = row? as usize;
        let line = self.records.get(row).line;
        let file = self.records.file(row).map(str::to_owned);
        (line > 0).then(|| (file.unwrap_or_else(|| self.path.display().to_string()), line))
    }

    /// The same of an entry that was not read.
    pub(super) fn place_of_fault(&self, fault: &Fault) -> (String, u32) {
        let file = fault.file.as_deref().map(str::to_owned);
        (file.unwrap_or_else(|| self.path.display().to_string()), fault.line)
    }
}

fn include(path: &Path) -> Result<Vec<u8>, String> {
    let mut text = Vec::new();
    let read = compressed::open(path).and_then(|mut input| input.read_to_end(&mut text));
    read.map(|_| text).map_err(|error| error.to_string())
}

fn bar(input: &Input) -> ProgressBar {
    match input.len_bytes() {
        // Of a stream nobody knows the length.
        None | Some(0) => ProgressBar::hidden(),
        Some(len) => progress::bar(len, "reading {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta}"),
    }
}
