//! Zone files, compressed or not, read block by block into records.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use indicatif::ProgressBar;
use oarlock_dnssec::zone::{FaultyEntry, ZoneReader};
use oarlock_dnssec::{DomainName, ZoneRecords};
use oarlock_files::TextBlocks;
use oarlock_mail_files::compressed::{
    self, DamagedError, DecompressedInput, IncludeError, IncludedFiles, StreamDamage, TextLimit,
};
use oarlock_terminal::progress;

use super::{DnssecError, key_text};

/// Returns the text of a file that `$INCLUDE` names, or the reason why there is none.
type Include = dyn FnMut(&str) -> Result<Vec<u8>, String>;

/// The option of commands that read zones.
#[derive(Args, Clone, Copy, Debug)]
pub(super) struct TextArgs {
    /// Max length in bytes of the text of a compressed zone file, and of all included files together; k, M, G and T are
    /// units [default: 1G, or 100 times the compressed file if that is more]
    #[arg(long = "max-text", value_name = "BYTES")]
    max_text: Option<TextBytes>,
}

/// A number of bytes; the units are powers of 1024.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TextBytes(u64);

impl TextArgs {
    pub(super) fn limit(self) -> TextLimit {
        self.max_text.map_or_else(TextLimit::default, |TextBytes(bytes)| TextLimit::Bytes(bytes))
    }
}

impl FromStr for TextBytes {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const EXPECTED: &str = "expected a number of bytes, or one with k, M, G or T, as 20G";
        let units = [('k', 10), ('M', 20), ('G', 30), ('T', 40)];
        let unit = units.iter().find_map(|(unit, shift)| Some((text.strip_suffix(*unit)?, *shift)));
        let (number, shift) = unit.unwrap_or((text, 0));
        // `parse` alone would also take a sign.
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        let number: Option<u64> = number.parse().ok().filter(|_| is_number);
        number.and_then(|number| number.checked_mul(1 << shift)).map(Self).ok_or(EXPECTED)
    }
}

/// The content of a zone file.
#[derive(Debug)]
pub(super) struct ZoneFile {
    pub(super) path: PathBuf,
    pub(super) records: ZoneRecords,
    /// Entries that were not read.
    pub(super) faults: Vec<FaultyEntry>,
    /// The number of further entries that were not read.
    pub(super) more_faults: usize,
    /// The reason why the file could not be read to its end.
    pub(super) damage: Option<String>,
    /// The length of the text in bytes.
    pub(super) text_bytes: u64,
}

impl ZoneFile {
    /// Reads a file, or standard input if the path is `-`. Relative names end in `origin`. `$INCLUDE` is relative to
    /// the file's directory.
    pub(super) fn read(
        path: &Path,
        origin: Option<DomainName<'_>>,
        limit: TextLimit,
    ) -> Result<Self, DnssecError> {
        Self::read_with(path, limit, |include| ZoneReader::new(origin, include))
    }

    /// Reads a file of keys or of their digests, which has absolute names and needs no TTLs.
    pub(super) fn read_keys(path: &Path, limit: TextLimit) -> Result<Self, DnssecError> {
        Self::read_with(path, limit, |include| key_text::reader(include))
    }

    fn read_with(
        path: &Path,
        limit: TextLimit,
        reader: impl for<'i> FnOnce(&'i mut Include) -> ZoneReader<'i>,
    ) -> Result<Self, DnssecError> {
        let fail = |error| DnssecError::Read { path: path.to_path_buf(), error };
        let input = compressed::open(path).map_err(fail)?.with_text_limit(limit);
        let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
        let mut includes = IncludedFiles::new(folder, limit);
        let mut include = move |name: &str| includes.read(name).map_err(include_fault);
        let mut reader = reader(&mut include);
        let mut records = ZoneRecords::new();
        // Only a file that is not compressed says how long its text is.
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

    /// Reads and decompresses on a thread, while this one parses.
    fn read_blocks(
        &mut self,
        input: DecompressedInput,
        reader: &mut ZoneReader<'_>,
    ) -> Result<(), DnssecError> {
        let (bar, consumed) = (bar(&input), input.consumed());
        let result: io::Result<()> = std::thread::scope(|scope| {
            let mut blocks = TextBlocks::start(scope, input);
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
            // Nothing was read, so there is no zone to report about.
            Err(error) if self.text_bytes == 0 => {
                let error = io::Error::new(error.kind(), damage_of(&error));
                Err(DnssecError::Read { path: self.path.clone(), error })
            }
            // The records before the damage count.
            Err(error) => {
                self.damage = Some(damage_of(&error));
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// Returns the file and line of a record; None for a record that was made here.
    pub(super) fn position(&self, row: Option<u32>) -> Option<(String, u32)> {
        let row = row? as usize;
        let line = self.records.get(row).line;
        let file = self.records.file(row).map(str::to_owned);
        (line > 0).then(|| (file.unwrap_or_else(|| self.path.display().to_string()), line))
    }

    /// Returns the file and line of an entry that was not read.
    pub(super) fn position_of_fault(&self, fault: &FaultyEntry) -> (String, u32) {
        let file = fault.file.as_deref().map(str::to_owned);
        (file.unwrap_or_else(|| self.path.display().to_string()), fault.line)
    }
}

/// Reads a file that is not compressed, or standard input if the path is `-`. Of a longer file than `max_bytes` one
/// byte more is returned, so that its reader reports the length.
///
/// # Errors
/// The file cannot be read.
pub(super) fn read_limited(path: &Path, max_bytes: usize) -> Result<Vec<u8>, DnssecError> {
    let unreadable = |error| DnssecError::Read { path: path.to_owned(), error };
    let mut text = Vec::new();
    let limit = max_bytes as u64 + 1;
    let read = match path == Path::new("-") {
        true => io::stdin().take(limit).read_to_end(&mut text),
        false => File::open(path).and_then(|file| file.take(limit).read_to_end(&mut text)),
    };
    read.map(|_| text).map_err(unreadable)
}

/// Describes an error of the input, with the option that raises the limit if it was exceeded.
pub(super) fn damage_of(error: &io::Error) -> String {
    match DamagedError::find(error).map(|damaged| &damaged.damage) {
        Some(StreamDamage::TooLong { .. }) => format!("{error}; --max-text allows more"),
        _ => error.to_string(),
    }
}

/// Describes an included file that cannot be read, with the option that raises the limit if it was exceeded.
fn include_fault(error: IncludeError) -> String {
    match error {
        IncludeError::TooLong { .. } => format!("{error}; --max-text allows more"),
        IncludeError::Read(_) => error.to_string(),
    }
}

fn bar(input: &DecompressedInput) -> ProgressBar {
    match input.len_bytes() {
        // The length of a stream is unknown.
        None | Some(0) => progress::bar(0, "reading {spinner} {bytes} {bytes_per_sec}"),
        Some(len) => progress::bar(len, "reading {wide_bar} {bytes}/{total_bytes} {bytes_per_sec}{left}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_bytes_have_units() {
        let cases =
            [("0", 0), ("7", 7), ("3k", 3 << 10), ("2M", 2 << 20), ("20G", 20 << 30), ("1T", 1 << 40)];
        for (text, bytes) in cases {
            assert_eq!(text.parse(), Ok(TextBytes(bytes)), "{text}");
        }
        for text in ["", "k", "1K", "1.5G", "-1", "+1", "99999999T", "1 G"] {
            assert!(text.parse::<TextBytes>().is_err(), "{text}");
        }
    }
}
