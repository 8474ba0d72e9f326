//! A zone file's text, block by block, into records.

use std::fmt;

use super::entries::{MAX_ENTRY, Place, Stop, Words};
use super::error::{EntryError, Fault, Read};
use super::names::OriginBuf;
use super::scope::{Head, Scope};
use super::word::MAX_TTL;
use crate::name::{Case, Name};
use crate::rdata;
use crate::records::Records;
use crate::rtype::Type;

/// Faults that are kept; more are counted.
const MAX_FAULTS: usize = 1000;
/// Parentheses left open after which the rest is not read: each of them costs up to an entry's length of reading.
const MAX_OPEN: u32 = 100;
/// Most records that one `$GENERATE` makes, unless the caller says otherwise.
const MAX_GENERATED: u32 = 65_536;

/// Gives the text of a file that `$INCLUDE` names, or says why not.
pub(super) type Include<'i> = dyn FnMut(&str) -> Result<Vec<u8>, String> + 'i;

/// Reads zone files.
///
/// An entry that is wrong costs that entry; the rest is read.
pub struct Reader<'i> {
    pub(super) include: &'i mut Include<'i>,
    pub(super) scope: Scope,
    pub(super) file: Option<Box<str>>,
    /// Files that are being included, one within the other.
    pub(super) depth: u32,
    pub(super) included: u32,
    pub(super) max_generated: u32,
    line: u32,
    open: u32,
    /// Set within a line that is too long to be an entry.
    is_skipping: bool,
    faults: Vec<Fault>,
    more_faults: usize,
}

impl<'i> Reader<'i> {
    /// A reader at the start of a file. Relative names end in `origin`; where there is none, `$ORIGIN` or the first SOA's owner
    /// is it. `include` is given paths as they are written.
    pub fn new(
        origin: Option<Name<'_>>,
        include: &'i mut dyn FnMut(&str) -> Result<Vec<u8>, String>,
    ) -> Self {
        Self {
            include,
            scope: Scope::new(origin),
            file: None,
            depth: 0,
            included: 0,
            max_generated: MAX_GENERATED,
            line: 1,
            open: 0,
            is_skipping: false,
            faults: Vec::new(),
            more_faults: 0,
        }
    }

    /// Changes how many records one `$GENERATE` may make. 65,536 unless changed.
    #[must_use]
    pub fn with_max_generated(mut self, records: u32) -> Self {
        self.max_generated = records;
        self
    }

    /// Gives records a TTL where the file says none at all.
    #[must_use]
    pub fn with_ttl(mut self, ttl: u32) -> Self {
        self.scope.ttls.minimum = Some(ttl);
        self
    }

    /// The origin now, in small letters.
    #[must_use]
    pub fn origin(&self) -> Option<Name<'_>> {
        self.scope.origin().map(|origin| origin.of(Case::Lower))
    }

    /// Entries that were not read, a thousand at most.
    #[must_use]
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// Entries that were not read, and how many more there were.
    #[must_use]
    pub fn into_faults(self) -> (Vec<Fault>, usize) {
        (self.faults, self.more_faults)
    }

    /// Reads the whole entries of `text` and says how many bytes they are. What is left has to come again, with more behind it; of the
    /// last text nothing is left. All records of a file go to the same `records`.
    pub fn read(&mut self, text: &[u8], is_last: bool, records: &mut Records) -> usize {
        let mut words = Words::new(text, Place { at: 0, line: self.line }, is_last);
        if self.is_skipping {
            words.go_on_after(words.place());
            self.is_skipping = is_within_line(text, words.place());
        }
        while !self.is_skipping && self.open < MAX_OPEN {
            let start = words.place();
            let Some(first) = words.begin() else { break };
            let result = self.entry(first, &mut words, records);
            if !self.ends_entry(text, start, &mut words, result, is_last) {
                self.line = start.line;
                return start.at;
            }
        }
        self.line = words.line();
        text.len().min(if self.open < MAX_OPEN { words.place().at } else { usize::MAX })
    }

    /// One line or entry, whose first byte is `first`.
    #[inline]
    fn entry(&mut self, first: u8, words: &mut Words<'_>, records: &mut Records) -> Read<()> {
        match first {
            b'$' => self.directive(words, records),
            b' ' | b'\t' | b'\r' | b'\n' | b';' => {
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

    /// What follows an owner.
    #[inline]
    pub(super) fn record(&mut self, words: &mut Words<'_>, records: &mut Records) -> Read<()> {
        let line = words.line();
        let head = Head::read(words)?;
        self.record_of(head, line, words, records)
    }

    /// Reads the data of a record that begins in `line`.
    #[inline]
    pub(super) fn record_of(
        &mut self,
        head: Head,
        line: u32,
        words: &mut Words<'_>,
        records: &mut Records,
    ) -> Read<()> {
        let owner = self.scope.owner.ok_or(EntryError::NoOwner)?;
        if head.rtype == Type::SOA {
            return self.start_of_authority(head, words, records);
        }
        let ttl = self.scope.ttls.of(head).ok_or(EntryError::NoTtl)?;
        let origin = self.scope.origin.as_ref().map(OriginBuf::borrow);
        records.add(owner, head.rtype, ttl, line, |out| rdata::parse(head.rtype, words, origin, out))?;
        self.scope.ttls.stated = head.ttl.or(self.scope.ttls.stated);
        Ok(())
    }

    /// An SOA: its owner may be the origin, and its minimum a TTL.
    fn start_of_authority(&mut self, head: Head, words: &mut Words<'_>, records: &mut Records) -> Read<()> {
        let Some((id, owner)) = self.scope.owner.zip(self.scope.owner_wire().map(Name::to_buf)) else {
            return Err(EntryError::NoOwner.into());
        };
        let origin = self.scope.origin.clone().unwrap_or_else(|| OriginBuf::new(owner.name()));
        let (line, mut ttls) = (words.line(), self.scope.ttls);
        let index = records.len();
        let is_from_minimum = ttls.of(head).is_none();
        records.add(id, head.rtype, 0, line, |out| {
            rdata::parse(head.rtype, words, Some(origin.borrow()), out)?;
            if is_from_minimum { check_minimum(minimum_of(out)) } else { Ok(()) }
        })?;
        let minimum = minimum_of(records.get(index).data);
        if minimum <= MAX_TTL {
            ttls.minimum.get_or_insert(minimum);
        }
        ttls.stated = head.ttl.or(ttls.stated);
        records.set_ttl(index, ttls.of(head).unwrap_or(minimum));
        self.scope.ttls = ttls;
        if self.scope.origin.is_none() {
            self.scope.set_origin(owner.name());
        }
        Ok(())
    }

    /// Passes the entry's end, and keeps its fault. False where the entry goes on in text that is not here yet.
    #[inline]
    fn ends_entry(
        &mut self,
        text: &[u8],
        start: Place,
        words: &mut Words<'_>,
        result: Read<()>,
        is_last: bool,
    ) -> bool {
        let line = words.line();
        let stop = words.finish();
        let len = words.place().at - start.at;
        match stop {
            _ if len > MAX_ENTRY => self.long_entry(text, start, words),
            Stop::Cut => return false,
            Stop::Open(place) => self.open_parenthesis(place, words),
            Stop::Line => {
                if let Err(error) = result {
                    self.fault(line, *error);
                }
            }
        }
        debug_assert!(is_last || words.place().at <= text.len());
        true
    }

    /// An entry of more than 1 MiB: a parenthesis that is open for so long, or a line.
    #[cold]
    fn long_entry(&mut self, text: &[u8], start: Place, words: &mut Words<'_>) {
        let mut beginning = Words::new(&text[..start.at + MAX_ENTRY], start, true);
        beginning.begin();
        match beginning.finish() {
            Stop::Open(place) => self.open_parenthesis(place, words),
            Stop::Line | Stop::Cut => {
                self.fault(start.line, EntryError::Long);
                words.go_on_after(beginning.place());
                self.is_skipping = is_within_line(text, words.place());
            }
        }
    }

    #[cold]
    fn open_parenthesis(&mut self, place: Place, words: &mut Words<'_>) {
        self.fault(place.line, EntryError::OpenParenthesis);
        self.open += 1;
        if self.open == MAX_OPEN {
            self.fault(place.line, EntryError::GaveUp);
        }
        words.go_on_after(place);
    }

    #[cold]
    pub(super) fn fault(&mut self, line: u32, error: EntryError) {
        if self.faults.len() < MAX_FAULTS {
            self.faults.push(Fault { file: self.file.clone(), line, error });
        } else {
            self.more_faults += 1;
        }
    }

    /// Reads the whole text of another file, and comes back to this one.
    pub(super) fn read_included(&mut self, text: &[u8], records: &mut Records) {
        let (line, is_skipping) = (self.line, self.is_skipping);
        self.line = 1;
        self.read(text, true, records);
        (self.line, self.is_skipping) = (line, is_skipping);
    }
}

/// The last number of an SOA's data.
fn minimum_of(data: &[u8]) -> u32 {
    // unreachable because an SOA that was parsed ends in five numbers of four bytes
    data.last_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes))
}

/// A minimum that has to be a TTL, too.
fn check_minimum(minimum: u32) -> Read<()> {
    if minimum <= MAX_TTL { Ok(()) } else { Err(EntryError::LongMinimum(minimum).into()) }
}

/// True where the text ends at `place`, and not with a line.
fn is_within_line(text: &[u8], place: Place) -> bool {
    place.at == text.len() && text.last() != Some(&b'\n')
}

impl fmt::Debug for Reader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("line", &self.line)
            .field("faults", &self.faults.len())
            .finish_non_exhaustive()
    }
}
