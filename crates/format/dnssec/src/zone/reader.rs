//! The text of a zone file, block by block, into records.

use std::fmt;

use oarlock::keys::text_file::{BYTE_ORDER_MARK, is_utf16};

use super::error::FaultyEntry;
use super::scope::{EntryScope, RecordHead};
use crate::name::{DomainName, LetterCase};
use crate::rdata;
use crate::records::ZoneRecords;
use crate::rtype::RecordType;
use crate::text::entries::{EntryEnd, EntryWords, MAX_ENTRY, TextPosition};
use crate::text::names::ZoneOriginBuf;
use crate::text::word::MAX_TTL;
use crate::text::{EntryError, Read};

/// The maximum number of faults that are kept. Further ones are counted.
const MAX_FAULTS: usize = 1000;
/// The maximum number of unclosed parentheses. After each, up to 1 MiB is read again, so the reader gives up at this
/// number.
const MAX_OPEN: u32 = 100;
/// The default maximum of records that one `$GENERATE` makes. A line of text could otherwise make 2^31 records.
const MAX_GENERATED: u32 = 65_536;

/// Returns the text of a file that `$INCLUDE` names, or the reason of the failure.
pub(super) type Include<'i> = dyn FnMut(&str) -> Result<Vec<u8>, String> + 'i;

/// A reader of zone files.
///
/// A faulty entry is skipped, and the rest of the file is read.
pub struct ZoneReader<'i> {
    pub(super) include: &'i mut Include<'i>,
    pub(super) scope: EntryScope,
    pub(super) file: Option<Box<str>>,
    /// The depth of included files.
    pub(super) depth: u32,
    pub(super) included: u32,
    pub(super) max_generated: u32,
    line: u32,
    open: u32,
    /// True before the first byte of a file.
    is_at_start: bool,
    /// True within a line that is too long to be an entry.
    is_skipping: bool,
    faults: Vec<FaultyEntry>,
    more_faults: usize,
}

impl<'i> ZoneReader<'i> {
    /// Makes a reader at the start of a file. Relative names end in `origin`; if it is None, in `$ORIGIN` or the
    /// owner of the first SOA. `include` gets paths as they are written.
    pub fn new(
        origin: Option<DomainName<'_>>,
        include: &'i mut dyn FnMut(&str) -> Result<Vec<u8>, String>,
    ) -> Self {
        Self {
            include,
            scope: EntryScope::new(origin),
            file: None,
            depth: 0,
            included: 0,
            max_generated: MAX_GENERATED,
            line: 1,
            open: 0,
            is_at_start: true,
            is_skipping: false,
            faults: Vec::new(),
            more_faults: 0,
        }
    }

    /// Changes the maximum number of records that one `$GENERATE` makes. The default is 65,536.
    #[must_use]
    pub fn with_max_generated(mut self, records: u32) -> Self {
        self.max_generated = records;
        self
    }

    /// Sets the TTL of records for which the file states none.
    #[must_use]
    pub fn with_ttl(mut self, ttl: u32) -> Self {
        self.scope.ttls.minimum = Some(ttl);
        self
    }

    /// Returns the current origin, in lower case.
    #[must_use]
    pub fn origin(&self) -> Option<DomainName<'_>> {
        self.scope.origin().map(|origin| origin.in_case(LetterCase::Lower))
    }

    /// Returns the entries that could not be read, at most a thousand.
    #[must_use]
    pub fn faults(&self) -> &[FaultyEntry] {
        &self.faults
    }

    /// Returns the entries that could not be read, and the number of further ones.
    #[must_use]
    pub fn into_faults(self) -> (Vec<FaultyEntry>, usize) {
        (self.faults, self.more_faults)
    }

    /// Reads the complete entries of `text` and returns their length in bytes. The caller passes the rest again, with
    /// more text after it. The last text is always read to its end. All records of a file go to the same `records`.
    pub fn read(&mut self, text: &[u8], is_last: bool, records: &mut ZoneRecords) -> usize {
        let at = self.begin_file(text);
        let mut words = EntryWords::new(text, TextPosition { at, line: self.line }, is_last);
        if self.is_skipping {
            // The start of this text is the rest of an overlong line.
            words.go_on_after(words.position());
            self.is_skipping = is_within_line(text, words.position());
        }
        while !self.is_skipping && self.open < MAX_OPEN {
            let start = words.position();
            let Some(first) = words.begin() else { break };
            let result = self.entry(first, &mut words, records);
            if !self.ends_entry(text, start, &mut words, result, is_last) {
                self.line = start.line;
                return start.at;
            }
        }
        self.line = words.line();
        text.len().min(if self.open < MAX_OPEN { words.position().at } else { usize::MAX })
    }

    /// Returns the length of the byte order mark at the start of a file. A file in UTF-16 is not read.
    fn begin_file(&mut self, text: &[u8]) -> usize {
        if text.is_empty() || !std::mem::take(&mut self.is_at_start) {
            return 0;
        }
        if is_utf16(text) {
            self.fault(1, EntryError::Utf16);
            self.open = MAX_OPEN;
        }
        if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 }
    }

    /// Reads one line or entry, whose first byte is `first`.
    #[inline]
    fn entry(&mut self, first: u8, words: &mut EntryWords<'_>, records: &mut ZoneRecords) -> Read<()> {
        match first {
            b'$' => self.directive(words, records),
            b' ' | b'\t' | b'\r' | b'\n' | b';' => {
                // A line of blanks and comments is not a record with an inherited owner.
                if words.is_done()? {
                    return Ok(());
                }
                self.record(words, records)
            }
            _ => {
                self.scope.read_owner(words, records)?;
                self.record(words, records)
            }
        }
    }

    /// Reads a record after its owner.
    #[inline]
    pub(super) fn record(&mut self, words: &mut EntryWords<'_>, records: &mut ZoneRecords) -> Read<()> {
        let line = words.line();
        let head = RecordHead::read(words)?;
        self.record_of(head, line, words, records)
    }

    /// Reads the data of a record that begins in `line`.
    #[inline]
    pub(super) fn record_of(
        &mut self,
        head: RecordHead,
        line: u32,
        words: &mut EntryWords<'_>,
        records: &mut ZoneRecords,
    ) -> Read<()> {
        let owner = self.scope.owner.ok_or(EntryError::NoOwner)?;
        if head.rtype == RecordType::SOA {
            return self.start_of_authority(head, words, records);
        }
        let ttl = self.scope.ttls.resolve(head).ok_or(EntryError::NoTtl)?;
        let origin = self.scope.origin.as_ref().map(ZoneOriginBuf::borrow);
        records.add(owner, head.rtype, ttl, line, |out| rdata::parse(head.rtype, words, origin, out))?;
        self.scope.ttls.stated = head.ttl.or(self.scope.ttls.stated);
        Ok(())
    }

    /// Reads an SOA. Its owner may become the origin, and its minimum the default TTL.
    fn start_of_authority(
        &mut self,
        head: RecordHead,
        words: &mut EntryWords<'_>,
        records: &mut ZoneRecords,
    ) -> Read<()> {
        let Some((id, owner)) = self.scope.owner.zip(self.scope.owner_wire().map(DomainName::to_buf)) else {
            return Err(EntryError::NoOwner.into());
        };
        // The names in the SOA's own data are relative to its owner, if no origin is stated.
        let origin = self.scope.origin.clone().unwrap_or_else(|| ZoneOriginBuf::new(owner.name()));
        let (line, mut ttls) = (words.line(), self.scope.ttls);
        let index = records.len();
        let is_from_minimum = ttls.resolve(head).is_none();
        // The TTL may come from the minimum, which is known after the data. So it is set afterwards.
        records.add(id, head.rtype, 0, line, |out| {
            rdata::parse(head.rtype, words, Some(origin.borrow()), out)?;
            if is_from_minimum { check_minimum(minimum_of(out)) } else { Ok(()) }
        })?;
        let minimum = minimum_of(records.get(index).data);
        if minimum <= MAX_TTL {
            ttls.minimum.get_or_insert(minimum);
        }
        ttls.stated = head.ttl.or(ttls.stated);
        records.set_ttl(index, ttls.resolve(head).unwrap_or(minimum));
        self.scope.ttls = ttls;
        if self.scope.origin.is_none() {
            self.scope.set_origin(owner.name());
        }
        Ok(())
    }

    /// Moves past the end of an entry and records its fault. Returns false if the entry continues in text that has
    /// not arrived yet.
    #[inline]
    fn ends_entry(
        &mut self,
        text: &[u8],
        start: TextPosition,
        words: &mut EntryWords<'_>,
        result: Read<()>,
        is_last: bool,
    ) -> bool {
        let line = words.line();
        let stop = words.finish();
        let len = words.position().at - start.at;
        match stop {
            _ if len > MAX_ENTRY => self.long_entry(text, start, words),
            EntryEnd::Cut => return false,
            EntryEnd::Open(position) => self.open_parenthesis(position, words),
            EntryEnd::Line => {
                if let Err(error) = result {
                    self.fault(line, *error);
                }
            }
        }
        debug_assert!(is_last || words.position().at <= text.len());
        true
    }

    /// Skips an entry of more than 1 MiB: a parenthesis that is open for so long, or a line.
    #[cold]
    fn long_entry(&mut self, text: &[u8], start: TextPosition, words: &mut EntryWords<'_>) {
        // The first MiB shows if a parenthesis or a line is too long. The rest is not searched for its end.
        let mut beginning = EntryWords::new(&text[..start.at + MAX_ENTRY], start, true);
        beginning.begin();
        match beginning.finish() {
            EntryEnd::Open(position) => self.open_parenthesis(position, words),
            EntryEnd::Line | EntryEnd::Cut => {
                self.fault(start.line, EntryError::Long);
                words.go_on_after(beginning.position());
                self.is_skipping = is_within_line(text, words.position());
            }
        }
    }

    #[cold]
    fn open_parenthesis(&mut self, position: TextPosition, words: &mut EntryWords<'_>) {
        self.fault(position.line, EntryError::OpenParenthesis);
        self.open += 1;
        if self.open == MAX_OPEN {
            self.fault(position.line, EntryError::GaveUp);
        }
        words.go_on_after(position);
    }

    #[cold]
    pub(super) fn fault(&mut self, line: u32, error: EntryError) {
        if self.faults.len() < MAX_FAULTS {
            self.faults.push(FaultyEntry { file: self.file.clone(), line, error });
        } else {
            self.more_faults += 1;
        }
    }

    /// Reads the whole text of an included file, then continues with this one.
    pub(super) fn read_included(&mut self, text: &[u8], records: &mut ZoneRecords) {
        let (line, is_skipping) = (self.line, self.is_skipping);
        (self.line, self.is_at_start) = (1, true);
        self.read(text, true, records);
        self.is_at_start = false;
        (self.line, self.is_skipping) = (line, is_skipping);
    }
}

/// Returns the last number of an SOA's data.
fn minimum_of(data: &[u8]) -> u32 {
    // unreachable because an SOA that was parsed ends in five numbers of four bytes
    data.last_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes))
}

/// Checks that an SOA's minimum can be a TTL.
fn check_minimum(minimum: u32) -> Read<()> {
    if minimum <= MAX_TTL { Ok(()) } else { Err(EntryError::LongMinimum(minimum).into()) }
}

/// Returns true if the text ends at `position` and not with the end of a line.
fn is_within_line(text: &[u8], position: TextPosition) -> bool {
    position.at == text.len() && text.last() != Some(&b'\n')
}

impl fmt::Debug for ZoneReader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ZoneReader")
            .field("line", &self.line)
            .field("faults", &self.faults.len())
            .finish_non_exhaustive()
    }
}
