//! What an entry takes from those before it: origin, owner and TTL. And the start of a record's entry, up to its type.

use smallvec::SmallVec;

use super::entries::Words;
use super::error::{EntryError, shown};
use super::names;
use super::word::{Kind, Word};
use crate::name::{Case, Name, NameBuf};
use crate::records::{OwnerId, Records};
use crate::rtype::Type;

/// Origin, owner and TTLs of the entries before.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    pub(super) origin: Option<NameBuf>,
    pub(super) owner: Option<OwnerId>,
    /// The owner as written.
    owner_text: SmallVec<[u8; 64]>,
    /// The owner in wire format.
    owner_wire: Vec<u8>,
    pub(super) ttls: Ttls,
}

/// What a record without a TTL gets: the first of these that is known.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ttls {
    /// `$TTL`. RFC 2308 section 4.
    pub(super) default: Option<u32>,
    /// The last that was stated. RFC 1035 5.1.
    pub(super) stated: Option<u32>,
    /// The SOA's minimum. RFC 1035 3.3.13.
    pub(super) minimum: Option<u32>,
}

/// What stands before a record's data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    pub(super) rtype: Type,
    pub(super) ttl: Option<u32>,
}

impl Ttls {
    fn of_record(&self) -> Option<u32> {
        self.default.or(self.stated).or(self.minimum)
    }

    /// The TTL of a record, if it has one.
    pub(super) fn of(&self, head: Head) -> Option<u32> {
        head.ttl.or_else(|| self.of_record())
    }
}

impl Scope {
    pub(super) fn new(origin: Option<Name<'_>>) -> Self {
        Self { origin: origin.map(Name::to_lower), ..Self::default() }
    }

    pub(super) fn origin(&self) -> Option<Name<'_>> {
        self.origin.as_ref().map(NameBuf::name)
    }

    pub(super) fn set_origin(&mut self, origin: NameBuf) {
        self.origin = Some(origin);
        // The same text may be another name now.
        self.owner_text.clear();
    }

    /// The owner of the last entry, or none where that had no good one.
    pub(super) fn owner_wire(&self) -> Option<Name<'_>> {
        self.owner.map(|_| Name::trusted(&self.owner_wire))
    }

    /// Reads an entry's owner, in small letters; where it is bad, the entries without owner that follow have none.
    #[inline]
    pub(super) fn read_owner(
        &mut self,
        words: &mut Words<'_>,
        records: &mut Records,
    ) -> Result<(), EntryError> {
        let word = words.need("an owner's name")?;
        if words.is_cut() {
            return Err(EntryError::Ended);
        }
        if word.bytes() == &*self.owner_text && self.owner.is_some() && word.kind != Kind::Quoted {
            return Ok(());
        }
        self.change_owner(word, records)
    }

    fn change_owner(&mut self, word: Word<'_>, records: &mut Records) -> Result<(), EntryError> {
        let before = self.owner.take();
        let len = self.owner_wire.len();
        self.owner_text.clear();
        let origin = self.origin.as_ref().map(NameBuf::name);
        let written = names::write(word, origin, Case::Lower, &mut self.owner_wire);
        let (old, new) = self.owner_wire.split_at(len);
        let is_same = old == new;
        self.owner_wire.drain(..len);
        written?;
        self.owner = match before {
            Some(before) if is_same => Some(before),
            _ => Some(records.add_owner(Name::trusted(&self.owner_wire))?),
        };
        self.owner_text.extend_from_slice(word.bytes());
        Ok(())
    }
}

impl Head {
    /// Reads TTL and class, in any order, and the type.
    #[inline]
    pub(super) fn read(words: &mut Words<'_>) -> Result<Self, EntryError> {
        let (mut ttl, mut has_class) = (None, false);
        loop {
            let word = words.need("a type")?;
            if ttl.is_none() && word.bytes().first().is_some_and(u8::is_ascii_digit) {
                ttl = Some(word.period()?);
            } else if !has_class && is_class(word)? {
                has_class = true;
            } else {
                return Ok(Self { rtype: read_type(word)?, ttl });
            }
        }
    }
}

/// True for the class IN.
///
/// # Errors
/// Another class.
#[inline]
pub(super) fn is_class(word: Word<'_>) -> Result<bool, EntryError> {
    match word.capitals() {
        Some(0x4e49) => Ok(true),
        _ if Type::read(word).is_some() => Ok(false),
        _ => is_other_class(word),
    }
}

#[cold]
fn is_other_class(word: Word<'_>) -> Result<bool, EntryError> {
    let capitals = word.bytes().to_ascii_uppercase();
    match &*capitals {
        b"CLASS1" => Ok(true),
        b"CH" | b"HS" | b"CS" | b"NONE" | b"ANY" => Err(EntryError::Class(shown(word.bytes()))),
        _ if capitals.starts_with(b"CLASS") => Err(EntryError::Class(shown(word.bytes()))),
        _ => Ok(false),
    }
}

#[inline]
fn read_type(word: Word<'_>) -> Result<Type, EntryError> {
    let rtype = Type::read(word).ok_or_else(|| EntryError::UnknownType(shown(word.bytes())))?;
    if rtype.is_meta() { Err(EntryError::MetaType(rtype)) } else { Ok(rtype) }
}
