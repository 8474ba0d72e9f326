//! The convention of PKCS#11 for outputs: ask for the length first, then give a buffer. PKCS#11 3.2 5.2.

use std::fmt;

use crate::constants::ReturnCode;

/// The place for an output whose length the caller may not know.
///
/// Without a buffer, a function only reports the length. With a buffer that is too small, it reports the length, fails
/// with [`ReturnCode::BufferTooSmall`], and the operation stays active. A plugin writes [`len`](Self::len) back to
/// `*pulLen` in both cases, and after success.
pub struct CallOutput<'a> {
    buffer: Option<&'a mut [u8]>,
    len: usize,
}

impl<'a> CallOutput<'a> {
    /// Creates an output with a buffer.
    #[must_use]
    pub fn new(buffer: &'a mut [u8]) -> Self {
        Self { buffer: Some(buffer), len: 0 }
    }

    /// Creates an output that only asks for the length: the caller gave a null pointer.
    #[must_use]
    pub fn length_only() -> Self {
        Self { buffer: None, len: 0 }
    }

    /// Returns the number of bytes that were written or are needed.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if nothing was written and nothing is needed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// True if the caller asks only for the length.
    #[must_use]
    pub(crate) fn is_length_only(&self) -> bool {
        self.buffer.is_none()
    }

    /// Returns the length of the buffer, or 0 without one.
    pub(crate) fn space(&self) -> usize {
        self.buffer.as_ref().map_or(0, |buffer| buffer.len())
    }

    /// Returns true if there is a buffer of at least `len` bytes, and false if the caller asks for the length only.
    ///
    /// # Errors
    /// [`ReturnCode::BufferTooSmall`].
    pub(crate) fn has_space(&mut self, len: usize) -> Result<bool, ReturnCode> {
        // Set before the check, because the caller learns the length also from an error.
        self.len = len;
        match &self.buffer {
            None => Ok(false),
            Some(buffer) if buffer.len() < len => Err(ReturnCode::BufferTooSmall),
            Some(_) => Ok(true),
        }
    }

    /// Returns what was written, or `None` without a buffer.
    pub(crate) fn written(&self) -> Option<&[u8]> {
        self.buffer.as_ref()?.get(..self.len)
    }

    /// Writes bytes at the start of the buffer.
    ///
    /// # Errors
    /// [`ReturnCode::BufferTooSmall`].
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), ReturnCode> {
        if self.has_space(bytes.len())?
            && let Some(out) = self.buffer.as_mut().and_then(|buffer| buffer.get_mut(..bytes.len()))
        {
            out.copy_from_slice(bytes);
        }
        Ok(())
    }
}

/// Shows lengths only, because an output may be secret.
impl fmt::Debug for CallOutput<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.buffer {
            Some(buffer) => write!(f, "CallOutput({} of {} bytes)", self.len, buffer.len()),
            None => write!(f, "CallOutput({} bytes, no buffer)", self.len),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_one_byte_short_reports_the_length_and_stays_untouched() {
        let mut short = [7; 3];
        let mut output = CallOutput::new(&mut short);
        assert_eq!(output.write(&[1; 4]), Err(ReturnCode::BufferTooSmall));
        assert_eq!(output.len(), 4);
        assert_eq!(short, [7; 3]);
    }

    #[test]
    fn without_a_buffer_only_the_length_is_reported() {
        let mut output = CallOutput::length_only();
        assert_eq!((output.write(&[1; 4]), output.len()), (Ok(()), 4));
    }
}
