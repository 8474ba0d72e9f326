//! Prepared keys: cached with a key's handle, or made for the records of a part if the key comes from a slot.

use oarlock_core::{KeySource, Status};
use oarlock_engine_kit::{RecordPart, RecordRef};

use crate::ffi::{AesDecrypt, AesEncrypt, DesKey, TdesKey};
use crate::op_error::OpError;

/// The prepared form of a symmetric key.
pub(crate) trait PrepareKey: Sized + Send + Sync + 'static {
    fn prepare(key: &[u8]) -> Result<Self, OpError>;
}

/// The prepared keys of one part. A key is looked up in its handle once, and a key in a slot is prepared once as long
/// as records use it one after the other.
pub(crate) struct PreparedKeyTable<'a, K> {
    part: &'a RecordPart<'a>,
    /// The prepared keys that were looked up, by index in the key table. Empty if keys do not recur.
    found: Vec<Option<&'a K>>,
    /// The slot and the prepared form of its key. A slot is filled before the run and does not change.
    slot_key: Option<(u32, K)>,
}

/// The number of records from which a table of their keys costs less than it saves.
const MIN_RECORDS: usize = 4;

impl<'a, K: PrepareKey> PreparedKeyTable<'a, K> {
    pub(crate) fn new(part: &'a RecordPart<'a>) -> Self {
        let keys = part.key_table().len();
        // A few records do not pay for an allocation, nor do they for a huge table.
        let is_worth = part.len() >= MIN_RECORDS && keys <= 2 * part.len();
        Self { part, found: vec![None; if is_worth { keys } else { 0 }], slot_key: None }
    }

    /// Returns the key of an accepted record.
    #[inline(always)]
    pub(crate) fn find(&mut self, record: RecordRef) -> Result<&K, OpError> {
        if let Some(Some(key)) = self.found.get(record.key as usize) {
            return Ok(key);
        }
        self.look_up(self.part.key_at(record.index))
    }

    /// Returns the second key of a translation.
    #[inline(always)]
    pub(crate) fn find_second(&mut self, record: RecordRef) -> Result<&K, OpError> {
        let source = self.part.second_key(record);
        if let KeySource::Table(index) = source
            && let Some(Some(key)) = self.found.get(index as usize)
        {
            return Ok(key);
        }
        self.look_up(source)
    }

    #[cold]
    fn look_up(&mut self, source: KeySource) -> Result<&K, OpError> {
        let bytes = self.part.secret_of(source).ok_or(Status::Malformed)?;
        match source {
            KeySource::Table(index) => {
                let key = self.part.key_table().get(index as usize).ok_or(Status::Malformed)?;
                let key = key.prepared(|_| K::prepare(bytes))?;
                if let Some(found) = self.found.get_mut(index as usize) {
                    *found = Some(key);
                }
                Ok(key)
            }
            KeySource::Slot(slot) => match self.slot_key.take_if(|(prepared, _)| *prepared == slot) {
                Some(prepared) => Ok(&self.slot_key.insert(prepared).1),
                None => Ok(&self.slot_key.insert((slot, K::prepare(bytes)?)).1),
            },
        }
    }
}

impl PrepareKey for AesEncrypt {
    fn prepare(key: &[u8]) -> Result<Self, OpError> {
        Self::new(key).map_err(OpError::from_key_error)
    }
}

impl PrepareKey for AesDecrypt {
    fn prepare(key: &[u8]) -> Result<Self, OpError> {
        Self::new(key).map_err(OpError::from_key_error)
    }
}

impl PrepareKey for DesKey {
    fn prepare(key: &[u8]) -> Result<Self, OpError> {
        Ok(Self::new(key.try_into().map_err(|_| Status::BadKey)?))
    }
}

/// Expands three keys of 8 bytes. With two keys, the first is the third too. NIST SP 800-67 3.1.
impl PrepareKey for TdesKey {
    fn prepare(key: &[u8]) -> Result<Self, OpError> {
        match key.as_chunks() {
            ([k1, k2], []) => Ok(Self::new([k1, k2, k1])),
            ([k1, k2, k3], []) => Ok(Self::new([k1, k2, k3])),
            _ => Err(Status::BadKey.into()),
        }
    }
}
