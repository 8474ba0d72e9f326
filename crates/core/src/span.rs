//! Places in buffers and slots: spans, and the sources and sinks of records.

/// A range of bytes in a buffer of at most 4 GiB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// Number of bytes.
    pub len: u32,
}

impl Span {
    /// A span, or None where it does not end within 4 GiB.
    #[must_use]
    pub fn new(start: usize, len: usize) -> Option<Self> {
        let end = start.checked_add(len)?;
        u32::try_from(end).ok()?;
        Some(Self { start: u32::try_from(start).ok()?, len: u32::try_from(len).ok()? })
    }

    /// The bytes of the span, or None where the buffer is too short.
    #[must_use]
    pub fn of(self, buffer: &[u8]) -> Option<&[u8]> {
        buffer.get(self.range())
    }

    /// The bytes of the span, or None where the buffer is too short.
    #[must_use]
    pub fn of_mut(self, buffer: &mut [u8]) -> Option<&mut [u8]> {
        buffer.get_mut(self.range())
    }

    /// The span as a range of indices.
    #[must_use]
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.start as usize + self.len as usize
    }
}

/// Where a record's key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeySource {
    /// An index into [`Records::keys`].
    Table(u32),
    /// A secret slot that an earlier run filled.
    Slot(u32),
}

/// Where a record's input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputSource {
    /// In [`Records::data`].
    Data(Span),
    /// A secret slot that an earlier run filled.
    Slot(u32),
}

/// Where a record's output goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputSink {
    /// Into the output buffer of the outcome.
    Output(Span),
    /// Into a secret slot, for a later run.
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
