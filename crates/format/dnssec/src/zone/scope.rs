//! The values that an entry inherits from earlier ones (origin, owner and TTL), and the start of a record's entry, up
//! to its type.

use crate::name::{DomainName, LetterCase};
use crate::records::{OwnerId, ZoneRecords};
use crate::rtype::RecordType;
use crate::text::entries::EntryWords;
use crate::text::marks::{BLOCK, equal};
use crate::text::names::{self, ZoneOrigin, ZoneOriginBuf};
use crate::text::word::{EntryWord, WordKind};
use crate::text::{EntryError, Read, shown};

/// The origin, the owner and the TTLs of earlier entries.
#[derive(Clone, Debug)]
pub(super) struct EntryScope {
    pub(super) origin: Option<ZoneOriginBuf>,
    pub(super) owner: Option<OwnerId>,
    /// The owner as written, if it fits into a block. Otherwise `owner_len` is 0.
    owner_block: [u8; BLOCK],
    owner_len: usize,
    /// The owner in wire format.
    owner_wire: Vec<u8>,
    /// A buffer for the next owner.
    other_wire: Vec<u8>,
    pub(super) ttls: DefaultTtls,
}

/// The TTL of a record that states none: the first of these that is known.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DefaultTtls {
    /// The TTL of `$TTL`. RFC 2308 section 4.
    pub(super) default: Option<u32>,
    /// The last stated TTL. RFC 1035 5.1.
    pub(super) stated: Option<u32>,
    /// The minimum of the SOA. RFC 1035 3.3.13.
    pub(super) minimum: Option<u32>,
}

/// The part of an entry before a record's data.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordHead {
    pub(super) rtype: RecordType,
    pub(super) ttl: Option<u32>,
}

impl DefaultTtls {
    fn default_ttl(&self) -> Option<u32> {
        self.default.or(self.stated).or(self.minimum)
    }

    /// Returns the TTL of a record, if one is known.
    pub(super) fn resolve(&self, head: RecordHead) -> Option<u32> {
        head.ttl.or_else(|| self.default_ttl())
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
        // With another origin, the same text is another name.
        self.owner_len = 0;
    }

    /// Returns the owner of the last entry, or None if it was malformed.
    pub(super) fn owner_wire(&self) -> Option<DomainName<'_>> {
        self.owner.map(|_| DomainName::trusted(&self.owner_wire))
    }

    /// Reads the owner of an entry, in lower case. If it is malformed, later entries without an owner have none.
    #[inline]
    pub(super) fn read_owner(&mut self, words: &mut EntryWords<'_>, records: &mut ZoneRecords) -> Read<()> {
        let word = words.require("an owner's name")?;
        if words.is_cut() {
            return Err(EntryError::Ended.into());
        }
        if self.owner.is_some() && self.is_owner(word) {
            return Ok(());
        }
        self.change_owner(word, records)
    }

    /// Returns true if the word is the text of the last owner.
    #[inline]
    fn is_owner(&self, word: EntryWord<'_>) -> bool {
        // Consecutive entries often repeat their owner, so the text is compared before it is parsed.
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
        // The buffers are swapped instead of allocated anew.
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
            let word = words.require("a type")?;
            // No type begins with a digit, so a digit begins a TTL.
            if ttl.is_none() && word.bytes().first().is_some_and(u8::is_ascii_digit) {
                ttl = Some(word.ttl()?);
            } else if word.capitals() == Some(IN) && !has_class {
                has_class = true;
            } else if let Some(rtype) = word.record_type() {
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

/// The class IN in the form of [`EntryWord::capitals`].
const IN: u64 = u16::from_le_bytes(*b"IN") as u64;

/// Returns true for the class IN.
///
/// # Errors
/// The word is another class.
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
