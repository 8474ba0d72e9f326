//! The limits of one message.

use crate::WireError;

/// The limits of one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageLimits {
    /// The maximum bytes of a frame or a gRPC message.
    pub max_message_bytes: usize,
    /// The maximum jobs or records of a batch.
    pub max_operations: u32,
    /// The maximum bytes of a batch's output, and of its slots together.
    pub max_output_bytes: u32,
}

impl Default for MessageLimits {
    fn default() -> Self {
        Self { max_message_bytes: 16 << 20, max_operations: 1 << 17, max_output_bytes: 16 << 20 }
    }
}

impl MessageLimits {
    pub(crate) fn count(&self, what: &'static str, count: u32) -> Result<usize, WireError> {
        check_max(what, count.into(), self.max_operations.into())?;
        Ok(count as usize)
    }

    pub(crate) fn bytes(&self, what: &'static str, count: u32) -> Result<(), WireError> {
        check_max(what, count.into(), self.max_output_bytes.into())
    }

    pub(crate) fn slots(&self, lens: &[u32]) -> Result<(), WireError> {
        check_max("slots", lens.len() as u64, self.max_operations.into())?;
        // The sum in 64 bits, because the lengths come from the message.
        check_max("slot_lens", lens.iter().map(|len| u64::from(*len)).sum(), self.max_output_bytes.into())
    }
}

fn check_max(what: &'static str, found: u64, bound: u64) -> Result<(), WireError> {
    if found <= bound { Ok(()) } else { Err(WireError::TooMany { what, found, bound }) }
}
