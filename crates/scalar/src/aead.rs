//! AES-GCM with detached tags of 12 to 16 bytes and IVs of any length.

use std::sync::OnceLock;

use oarlock_core::{Direction, EngineFault, SecretBytes, Status};

use crate::batch::{AcceptedRecord, RecordBatch, RecordTarget};
use crate::ffi::GcmContext;
use crate::op_error::OpError;
use crate::prepare::PrepareKey;

/// Computes every record of the batch in one direction. Both key sizes share this code, because AWS-LC reads the
/// size from the key.
pub(crate) fn run(direction: Direction, batch: RecordBatch<'_, '_>) -> Result<(), EngineFault> {
    match direction {
        Direction::Encrypt => batch.each_with_key(seal),
        Direction::Decrypt => batch.each_with_key(open),
    }
}

/// A GCM key with one context per tag length. AWS-LC fixes the tag length with the context and compares whole tags
/// only.
struct GcmContexts {
    full: GcmContext,
    /// Contexts that compare tags of 12 to 15 bytes. Each is made at its first use.
    short: [OnceLock<GcmContext>; 4],
    key: SecretBytes,
}

impl PrepareKey for GcmContexts {
    fn prepare(key: &[u8]) -> Result<Self, OpError> {
        let full = GcmContext::new(key, GcmContext::TAG_LEN).map_err(OpError::from_key_error)?;
        Ok(Self { full, short: Default::default(), key: key.into() })
    }
}

impl GcmContexts {
    /// Returns the context that compares tags of `tag_len` bytes.
    fn context_for(&self, tag_len: usize) -> Result<&GcmContext, OpError> {
        if tag_len == GcmContext::TAG_LEN {
            return Ok(&self.full);
        }
        let short =
            tag_len.checked_sub(12).and_then(|index| self.short.get(index)).ok_or(Status::BadLength)?;
        if let Some(context) = short.get() {
            return Ok(context);
        }
        // Two threads may both make the context; one copy wins and the other is cleansed. No lock is held
        // meanwhile.
        let context = GcmContext::new(self.key.expose(), tag_len)?;
        Ok(short.get_or_init(|| context))
    }
}

#[inline(always)]
fn seal(key: &GcmContexts, record: AcceptedRecord<'_>, target: &mut RecordTarget<'_>) -> Result<(), OpError> {
    let mut tag = [0; GcmContext::TAG_LEN];
    let place = target.place_like_input(&record);
    key.full
        .seal(record.iv(), record.aad(), record.input(), place, &mut tag)
        .map_err(OpError::from_length_error)?;
    // A shorter tag is the leading bytes of the full one. NIST SP 800-38D 7.1.
    target.write_tag(record.tag(), &tag)
}

#[inline(always)]
fn open(key: &GcmContexts, record: AcceptedRecord<'_>, target: &mut RecordTarget<'_>) -> Result<(), OpError> {
    let tag = record.expected_tag();
    let context = key.context_for(tag.len())?;
    let place = target.place_like_input(&record);
    let is_valid = context.open(record.iv(), record.aad(), record.input(), tag, place);
    if is_valid.map_err(OpError::from_length_error)? { Ok(()) } else { Err(Status::Rejected.into()) }
}
