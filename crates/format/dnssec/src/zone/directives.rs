//! The directives `$ORIGIN`, `$TTL` and `$INCLUDE`. RFC 1035 5.1, RFC 2308 section 4.

use super::reader::ZoneReader;
use crate::name::{DomainName, DomainNameBuf, LetterCase};
use crate::rdata;
use crate::records::ZoneRecords;
use crate::text::entries::EntryWords;
use crate::text::names;
use crate::text::word::{EntryWord, WordKind};
use crate::text::{EntryError, Read, shown};

/// The maximum depth of included files. A file that includes itself ends at this depth.
const MAX_DEPTH: u32 = 16;
/// The maximum number of included files. With the depth alone, two inclusions per file would read 2^16 files, and more
/// inclusions without limit.
const MAX_INCLUDED: u32 = 65_536;

impl ZoneReader<'_> {
    /// Handles an entry that begins with a dollar sign.
    pub(super) fn directive(&mut self, words: &mut EntryWords<'_>, records: &mut ZoneRecords) -> Read<()> {
        let word = words.require("a directive")?;
        match &*word.bytes().to_ascii_uppercase() {
            b"$ORIGIN" => {
                let origin = self.name(words.require("a name")?)?;
                words.end()?;
                self.scope.set_origin(origin.name());
            }
            b"$TTL" => {
                let ttl = words.require("a TTL")?.ttl()?;
                words.end()?;
                self.scope.ttls.default = Some(ttl);
            }
            b"$INCLUDE" => self.include(words, records)?,
            b"$GENERATE" => self.generate(words, records)?,
            _ => return Err(EntryError::Directive(shown(word.bytes())).into()),
        }
        Ok(())
    }

    fn include(&mut self, words: &mut EntryWords<'_>, records: &mut ZoneRecords) -> Read<()> {
        let path = path(words.require("a file")?)?;
        let origin = words.next()?.map(|word| self.name(word)).transpose()?;
        words.end()?;
        let fail = |error: &str| EntryError::Include { path: shown(path.as_bytes()), error: error.into() };
        if self.depth == MAX_DEPTH {
            return Err(fail("more than 16 files, one within the other").into());
        }
        if self.included == MAX_INCLUDED {
            return Err(fail("more than 65,536 files").into());
        }
        let text = (self.include)(&path).map_err(|error| fail(&error))?;
        self.read_file(path.into(), origin, &text, records);
        Ok(())
    }

    /// Reads an included file. Origin and owner are restored afterwards. RFC 1035 5.1.
    fn read_file(
        &mut self,
        path: Box<str>,
        origin: Option<DomainNameBuf>,
        text: &[u8],
        records: &mut ZoneRecords,
    ) {
        let before = self.scope.clone();
        let file_before = records.begin_included(&path);
        let outer = self.file.replace(path);
        (self.depth, self.included) = (self.depth + 1, self.included + 1);
        if let Some(origin) = origin {
            self.scope.set_origin(origin.name());
        }
        self.read_included(text, records);
        self.depth -= 1;
        self.file = outer;
        records.end_included(file_before);
        // RFC 1035 5.1 restores origin and owner only, so a $TTL of the included file stays in force, as in BIND.
        let ttls = self.scope.ttls;
        self.scope = before;
        self.scope.ttls = ttls;
    }

    pub(super) fn name(&self, word: EntryWord<'_>) -> Read<DomainNameBuf> {
        let mut wire = Vec::new();
        names::write(word, self.scope.origin(), LetterCase::Kept, &mut wire)?;
        Ok(DomainName::trusted(&wire).to_buf())
    }
}

fn path(word: EntryWord<'_>) -> Read<String> {
    let mut bytes = Vec::new();
    match word.kind() {
        WordKind::Plain => bytes.extend_from_slice(word.bytes()),
        _ => rdata::unescape_into(word, &mut bytes)?,
    }
    String::from_utf8(bytes).map_err(|_| EntryError::word(word, "a path in UTF-8"))
}
