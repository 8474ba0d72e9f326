//! How much one message may ask for.

use crate::WireError;

/// Bounds of one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageLimits {
    /// Bytes of a frame or gRPC message.
    pub max_message_bytes: usize,
    /// Jobs or records of a batch.
    pub max_operations: u32,
    /// Bytes of a batch's output, and of its slots together.
    pub max_output_bytes: u32,
}

impl Default for MessageLimits {
    fn default() -> Self {
        Self { max_message_bytes: 16 << 20, max_operations: 1 << 17, max_output_bytes: 16 << 20 }
    }
}

impl MessageLimits {
    pub(crate) fn count(&self, what: &'static str, count: u32) -> Result<usize, WireError> {
        at_most(what, count.into(), self.max_operations.into())?;
        Ok(count as usize)
    }

    pub(crate) fn bytes(&self, what: &'static str, count: u32) -> Result<(), WireError> {
        at_most(what, count.into(), self.max_output_bytes.into())
    }

    pub(crate) fn slots(&self, lens: &[u32]) -> Result<(), WireError> {
        at_most("slots", lens.len() as u64, self.max_operations.into())?;
        at_most("slot_lens", lens.iter().map(|len| u64::from(*len)).sum(), self.max_output_bytes.into())
    }
}

fn at_most(what: &'static str, found: u64, bound: u64) -> Result<(), WireError> {
    if found <= bound { Ok(()) } else { Err(WireError::TooMany { what, found, bound }) }
}
