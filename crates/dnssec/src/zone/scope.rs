//! What an entry takes from those before it: origin, owner and TTL. And the start of a record's entry, up to its type.

use super::entries::EntryWords;
use super::error::{EntryError, Read, shown};
use super::marks::{BLOCK, equal};
use super::names::{self, ZoneOrigin, ZoneOriginBuf};
use super::word::{EntryWord, WordKind};
use crate::name::{DomainName, LetterCase};
use crate::records::{OwnerId, ZoneRecords};
use crate::rtype::RecordType;

/// Origin, owner and TTLs of the entries before.
#[derive(Clone, Debug)]
pub(super) struct EntryScope {
    pub(super) origin: Option<ZoneOriginBuf>,
    pub(super) owner: Option<OwnerId>,
    /// The owner as written, where a block holds it; else its length here is 0.
    owner_block: [u8; BLOCK],
    owner_len: usize,
    /// The owner in wire format.
    owner_wire: Vec<u8>,
    /// Room for another.
    other_wire: Vec<u8>,
    pub(super) ttls: DefaultTtls,
}

/// What a record without a TTL gets: the first of these that is known.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DefaultTtls {
    /// `$TTL`. RFC 2308 section 4.
    pub(super) default: Option<u32>,
    /// The last that was stated. RFC 1035 5.1.
    pub(super) stated: Option<u32>,
    /// The SOA's minimum. RFC 1035 3.3.13.
    pub(super) minimum: Option<u32>,
}

/// What stands before a record's data.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordHead {
    pub(super) rtype: RecordType,
    pub(super) ttl: Option<u32>,
}

impl DefaultTtls {
    fn of_record(&self) -> Option<u32> {
        self.default.or(self.stated).or(self.minimum)
    }

    /// The TTL of a record, if it has one.
    pub(super) fn of(&self, head: RecordHead) -> Option<u32> {
        head.ttl.or_else(|| self.of_record())
    }
}

impl EntryScope {
    pub(super) fn new(origin: Option<DomainName<'_>>) -> Self {
        Self {
            origin: origin.map(ZoneOriginBuf::new),
            owner: None,
            owner_block: [0; BLOCK],
            owner_len: 0,
            owner_wire: Vec::new(),
            other_wire: Vec::new(),
            ttls: DefaultTtls::default(),
        }
    }

    pub(super) fn origin(&self) -> Option<ZoneOrigin<'_>> {
        self.origin.as_ref().map(ZoneOriginBuf::borrow)
    }

    pub(super) fn set_origin(&mut self, origin: DomainName<'_>) {
        self.origin = Some(ZoneOriginBuf::new(origin));
        // The same text may be another name now.
        self.owner_len = 0;
    }

    /// The owner of the last entry, or none where that had no good one.
    pub(super) fn owner_wire(&self) -> Option<DomainName<'_>> {
        self.owner.map(|_| DomainName::trusted(&self.owner_wire))
    }

    /// Reads an entry's owner, in small letters; where it is bad, the entries without owner that follow have none.
    #[inline]
    pub(super) fn read_owner(&mut self, words: &mut EntryWords<'_>, records: &mut ZoneRecords) -> Read<()> {
        let word = words.need("an owner's name")?;
        if words.is_cut() {
            return Err(EntryError::Ended.into());
        }
        if self.owner.is_some() && self.is_owner(word) {
            return Ok(());
        }
        self.change_owner(word, records)
    }

    /// True where the word is the last owner's text.
    #[inline]
    fn is_owner(&self, word: EntryWord<'_>) -> bool {
        let bytes = word.from().first_chunk::<BLOCK>();
        let same = bytes.map_or(0, |bytes| equal(bytes, &self.owner_block));
        word.len() == self.owner_len
            && (!same).trailing_zeros() as usize >= word.len()
            && word.kind() != WordKind::Quoted
    }

    fn change_owner(&mut self, word: EntryWord<'_>, records: &mut ZoneRecords) -> Read<()> {
        let before = self.owner.take();
        let origin = self.origin.as_ref().map(ZoneOriginBuf::borrow);
        self.other_wire.clear();
        names::write(word, origin, LetterCase::Lower, &mut self.other_wire)?;
        self.owner = match before {
            Some(before) if self.owner_wire == self.other_wire => Some(before),
            _ => Some(records.add_owner(DomainName::trusted(&self.other_wire))?),
        };
        std::mem::swap(&mut self.owner_wire, &mut self.other_wire);
        self.owner_len = word.len();
        match word.from().first_chunk::<BLOCK>() {
            Some(block) if word.len() <= BLOCK => self.owner_block = *block,
            _ => self.owner_len = 0,
        }
        Ok(())
    }
}

impl RecordHead {
    /// Reads TTL and class, in any order, and the type.
    #[inline]
    pub(super) fn read(words: &mut EntryWords<'_>) -> Read<Self> {
        let (mut ttl, mut has_class) = (None, false);
        loop {
            let word = words.need("a type")?;
            if ttl.is_none() && word.bytes().first().is_some_and(u8::is_ascii_digit) {
                ttl = Some(word.ttl()?);
            } else if word.capitals() == Some(IN) && !has_class {
                has_class = true;
            } else if let Some(rtype) = RecordType::read(word) {
                return if rtype.is_meta() {
                    Err(EntryError::MetaType(rtype).into())
                } else {
                    Ok(Self { rtype, ttl })
                };
            } else if !has_class && is_class(word)? {
                has_class = true;
            } else {
                return Err(EntryError::UnknownType(shown(word.bytes())).into());
            }
        }
    }
}

/// The class IN, as [`EntryWord::capitals`] has it.
const IN: u64 = u16::from_le_bytes(*b"IN") as u64;

/// True for the class IN.
///
/// # Errors
/// Another class.
#[cold]
pub(super) fn is_class(word: EntryWord<'_>) -> Read<bool> {
    let capitals = word.bytes().to_ascii_uppercase();
    match &*capitals {
        b"IN" | b"CLASS1" => Ok(true),
        b"CH" | b"HS" | b"CS" | b"NONE" => Err(EntryError::Class(shown(word.bytes())).into()),
        _ if capitals.starts_with(b"CLASS") => Err(EntryError::Class(shown(word.bytes())).into()),
        _ => Ok(false),
    }
}
