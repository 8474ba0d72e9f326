//! Places in buffers and slots: spans, and the sources and sinks of records.

/// A range of bytes in a buffer of at most 4 GiB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    // 32 bits each: a span of short records is as long as the bytes it names, so wider ones would double the traffic.
    /// The index of the first byte.
    pub start: u32,
    /// The number of bytes.
    pub len: u32,
}

impl Span {
    /// Associated data that is absent. AES-SIV tells it from an empty string (RFC 5297 2.4), which is any other span
    /// without bytes. Other shapes take both for empty.
    pub const ABSENT: Self = Self { start: u32::MAX, len: 0 };

    /// True for [`Span::ABSENT`].
    #[must_use]
    #[inline(always)]
    pub fn is_absent(self) -> bool {
        (self.start == u32::MAX) & (self.len == 0)
    }

    /// Creates a span, or returns `None` if it ends beyond 4 GiB.
    #[must_use]
    pub fn new(start: usize, len: usize) -> Option<Self> {
        let end = start.checked_add(len)?;
        u32::try_from(end).ok()?;
        Some(Self { start: u32::try_from(start).ok()?, len: u32::try_from(len).ok()? })
    }

    /// Returns the bytes of the span, or `None` if the buffer is too short.
    #[must_use]
    #[inline]
    pub fn slice(self, buffer: &[u8]) -> Option<&[u8]> {
        buffer.get(self.range())
    }

    /// Returns the bytes of the span for writing, or `None` if the buffer is too short.
    #[must_use]
    #[inline]
    pub fn slice_mut(self, buffer: &mut [u8]) -> Option<&mut [u8]> {
        buffer.get_mut(self.range())
    }

    /// Returns the span as a range of indices.
    #[must_use]
    #[inline]
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.start as usize + self.len as usize
    }
}

/// The place of a record's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeySource {
    /// An index into [`Records::keys`](crate::Records::keys).
    Table(u32),
    /// A secret slot that an earlier run filled.
    Slot(u32),
}

/// The place of a record's input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputSource {
    /// A span of [`Records::data`](crate::Records::data).
    Data(Span),
    /// A secret slot that an earlier run filled.
    Slot(u32),
}

/// The place of a record's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputSink {
    /// A span of the output buffer of the outcome.
    Output(Span),
    /// A secret slot, for a later run.
    Slot(u32),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_stay_within_four_gibibytes() {
        assert!(Span::new(u32::MAX as usize, 1).is_none() && Span::new(usize::MAX, 1).is_none());
        assert_eq!(Span::new(3, 4).unwrap().range(), 3..7);
    }
}
