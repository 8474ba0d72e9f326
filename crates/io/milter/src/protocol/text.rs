//! Strings in a frame. Each ends with a NUL.

use super::error::ProtocolError;

/// A reader of the data of a frame, from front to back.
pub(super) struct FrameReader<'a> {
    code: u8,
    rest: &'a [u8],
}

impl<'a> FrameReader<'a> {
    pub(super) fn new(code: u8, data: &'a [u8]) -> Self {
        Self { code, rest: data }
    }

    /// Returns the next string without its NUL.
    pub(super) fn string(&mut self, what: &'static str) -> Result<&'a [u8], ProtocolError> {
        let code = self.code;
        if self.rest.is_empty() {
            return Err(ProtocolError::Truncated { code, what });
        }
        let nul = self.rest.iter().position(|byte| *byte == 0);
        let end = nul.ok_or(ProtocolError::Unterminated { code, what })?;
        let (string, rest) = (&self.rest[..end], &self.rest[end + 1..]);
        self.rest = rest;
        Ok(string)
    }

    pub(super) fn byte(&mut self, what: &'static str) -> Result<u8, ProtocolError> {
        self.array::<1>(what).map(|[byte]| byte)
    }

    pub(super) fn u16(&mut self, what: &'static str) -> Result<u16, ProtocolError> {
        self.array(what).map(u16::from_be_bytes)
    }

    pub(super) fn u32(&mut self, what: &'static str) -> Result<u32, ProtocolError> {
        self.array(what).map(u32::from_be_bytes)
    }

    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], ProtocolError> {
        let (array, rest) =
            self.rest.split_first_chunk().ok_or(ProtocolError::Truncated { code: self.code, what })?;
        self.rest = rest;
        Ok(*array)
    }

    /// Returns all strings up to the end. At least one must be there.
    pub(super) fn strings(self, what: &'static str) -> Result<NulStrings<'a>, ProtocolError> {
        let code = self.code;
        match self.rest {
            [] => Err(ProtocolError::Truncated { code, what }),
            [.., 0] => Ok(NulStrings(self.rest)),
            _ => Err(ProtocolError::Unterminated { code, what }),
        }
    }

    /// Returns all pairs of strings up to the end.
    pub(super) fn pairs(self, what: &'static str) -> Result<MacroPairs<'a>, ProtocolError> {
        let pairs = MacroPairs(self.rest);
        match self.rest {
            [] => Ok(pairs),
            [.., 0] if NulStrings(self.rest).count() % 2 == 0 => Ok(pairs),
            [.., 0] => Err(ProtocolError::OddMacros),
            _ => Err(ProtocolError::Unterminated { code: self.code, what }),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(super) fn rest(self) -> &'a [u8] {
        self.rest
    }

    /// Checks that no data is left.
    pub(super) fn end(&self) -> Result<(), ProtocolError> {
        match self.rest.len() {
            0 => Ok(()),
            bytes => Err(ProtocolError::Excess { code: self.code, bytes }),
        }
    }
}

/// Consecutive strings, each with a NUL at its end. The iterator returns them without their NULs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NulStrings<'a>(pub(super) &'a [u8]);

impl<'a> NulStrings<'a> {
    /// Returns the strings with their NULs.
    #[must_use]
    pub fn as_bytes(&self) -> &'a [u8] {
        self.0
    }
}

impl<'a> Iterator for NulStrings<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let end = self.0.iter().position(|byte| *byte == 0)?;
        let string = &self.0[..end];
        self.0 = &self.0[end + 1..];
        Some(string)
    }
}

/// Names and values in turn, each with a NUL at its end. The iterator returns pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MacroPairs<'a>(pub(super) &'a [u8]);

impl<'a> MacroPairs<'a> {
    /// Makes pairs from names and values in turn, each with a NUL at its end. Returns None if a name has no value.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Option<Self> {
        FrameReader::new(super::code::MACRO, bytes).pairs("a macro").ok()
    }

    /// Returns the strings with their NULs.
    #[must_use]
    pub fn as_bytes(&self) -> &'a [u8] {
        self.0
    }

    /// Makes pairs from bytes that were checked before.
    pub(crate) fn kept(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }
}

impl<'a> Iterator for MacroPairs<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let mut strings = NulStrings(self.0);
        let pair = (strings.next()?, strings.next()?);
        self.0 = strings.0;
        Some(pair)
    }
}
