//! Columns: one value for all records, or a compact form of many.

use std::borrow::Cow;

use crate::{InputSource, KeySource, OutputSink, Span};

/// A type whose values can form a column.
pub trait ColumnValue: Copy {
    /// Returns the value `by` places further on, or `None` if there is no such place.
    ///
    /// The start of a span moves, and the number of a key or a slot. Other values do not move.
    #[must_use]
    fn further(self, by: u64) -> Option<Self> {
        (by == 0).then_some(self)
    }

    /// Returns the value `by` places further on, which must exist: [`ColumnValue::further`] without the check.
    #[must_use]
    fn moved(self, by: u32) -> Self {
        self.further(u64::from(by)).unwrap_or(self)
    }

    /// Returns the distance to `other` if the two differ in nothing else.
    #[must_use]
    fn stride_to(self, _other: Self) -> Option<u32> {
        None
    }
}

fn moved(index: u32, by: u64) -> Option<u32> {
    u64::from(index).checked_add(by)?.try_into().ok()
}

impl ColumnValue for Span {
    #[inline]
    fn further(self, by: u64) -> Option<Self> {
        moved(self.start, by).map(|start| Self { start, ..self })
    }

    #[inline(always)]
    fn moved(self, by: u32) -> Self {
        Self { start: self.start.wrapping_add(by), ..self }
    }

    #[inline]
    fn stride_to(self, other: Self) -> Option<u32> {
        if self.len == other.len { other.start.checked_sub(self.start) } else { None }
    }
}

impl ColumnValue for KeySource {
    #[inline]
    fn further(self, by: u64) -> Option<Self> {
        Some(match self {
            Self::Table(index) => Self::Table(moved(index, by)?),
            Self::Slot(slot) => Self::Slot(moved(slot, by)?),
        })
    }

    #[inline(always)]
    fn moved(self, by: u32) -> Self {
        match self {
            Self::Table(index) => Self::Table(index.wrapping_add(by)),
            Self::Slot(slot) => Self::Slot(slot.wrapping_add(by)),
        }
    }

    #[inline]
    fn stride_to(self, other: Self) -> Option<u32> {
        match (self, other) {
            (Self::Table(index), Self::Table(other)) => other.checked_sub(index),
            (Self::Slot(slot), Self::Slot(other)) => other.checked_sub(slot),
            _ => None,
        }
    }
}

impl ColumnValue for InputSource {
    #[inline]
    fn further(self, by: u64) -> Option<Self> {
        Some(match self {
            Self::Data(span) => Self::Data(span.further(by)?),
            Self::Slot(slot) => Self::Slot(moved(slot, by)?),
        })
    }

    #[inline(always)]
    fn moved(self, by: u32) -> Self {
        match self {
            Self::Data(span) => Self::Data(span.moved(by)),
            Self::Slot(slot) => Self::Slot(slot.wrapping_add(by)),
        }
    }

    #[inline]
    fn stride_to(self, other: Self) -> Option<u32> {
        match (self, other) {
            (Self::Data(span), Self::Data(other)) => span.stride_to(other),
            (Self::Slot(slot), Self::Slot(other)) => other.checked_sub(slot),
            _ => None,
        }
    }
}

impl ColumnValue for OutputSink {
    #[inline]
    fn further(self, by: u64) -> Option<Self> {
        Some(match self {
            Self::Output(span) => Self::Output(span.further(by)?),
            Self::Slot(slot) => Self::Slot(moved(slot, by)?),
        })
    }

    #[inline(always)]
    fn moved(self, by: u32) -> Self {
        match self {
            Self::Output(span) => Self::Output(span.moved(by)),
            Self::Slot(slot) => Self::Slot(slot.wrapping_add(by)),
        }
    }

    #[inline]
    fn stride_to(self, other: Self) -> Option<u32> {
        match (self, other) {
            (Self::Output(span), Self::Output(other)) => span.stride_to(other),
            (Self::Slot(slot), Self::Slot(other)) => other.checked_sub(slot),
            _ => None,
        }
    }
}

/// The values of all records: one for all, an equal stride apart, in runs, or one per record.
#[derive(Clone, Debug)]
pub enum Column<'a, T: Copy> {
    /// One value for every record.
    One(T),
    /// Record `i` has the first value moved by `i` strides. Records of one length, side by side, have this form.
    Stride {
        /// The value of record 0.
        first: T,
        /// The distance between neighbouring values, in bytes for spans.
        stride: u32,
    },
    /// Runs of equal values, each with its number of records.
    Runs(Cow<'a, [(u32, T)]>),
    /// One value per record.
    Each(Cow<'a, [T]>),
}

impl<T: ColumnValue> Column<'_, T> {
    /// True if the column has a value for exactly `len` records.
    #[must_use]
    pub fn covers(&self, len: usize) -> bool {
        match self {
            Self::One(_) => true,
            Self::Stride { first, stride } => {
                // Strides are not negative, so the last value exists only if all others do.
                strides(*stride, len.saturating_sub(1)).is_some_and(|by| first.further(by).is_some())
            }
            Self::Runs(runs) => runs.iter().map(|(count, _)| *count as usize).sum::<usize>() == len,
            Self::Each(values) => values.len() == len,
        }
    }

    /// Returns the number of leading records that have a value, at most `len`.
    #[must_use]
    pub fn covered(&self, len: usize) -> usize {
        match self {
            Self::One(_) => len,
            Self::Stride { .. } if self.covers(len) => len,
            // A place past 4 GiB. Strides are not negative, so all later records have none either.
            Self::Stride { .. } => self.cursor().take(len).count(),
            Self::Runs(runs) => {
                runs.iter().fold(0_usize, |sum, (count, _)| sum.saturating_add(*count as usize)).min(len)
            }
            Self::Each(values) => values.len().min(len),
        }
    }

    /// Returns the value of record `index`. This takes constant time, except in runs, which are walked.
    /// [`Column::cursor`] reads in order.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<T> {
        match self {
            Self::One(value) => Some(*value),
            Self::Stride { first, stride } => first.further(strides(*stride, index)?),
            Self::Each(values) => values.get(index).copied(),
            Self::Runs(runs) => {
                let mut end = 0;
                runs.iter()
                    .find(|(count, _)| {
                        end += *count as usize;
                        index < end
                    })
                    .map(|(_, value)| *value)
            }
        }
    }

    /// Returns the first and the last of `len` values at a constant stride, between which all others lie. `None` if
    /// each record has a value of its own, or if a value does not exist.
    #[must_use]
    pub fn ends(&self, len: usize) -> Option<[T; 2]> {
        match self {
            Self::One(value) => Some([*value; 2]),
            Self::Stride { first, .. } => Some([*first, self.get(len.saturating_sub(1))?]),
            Self::Runs(_) | Self::Each(_) => None,
        }
    }

    /// Returns the same column, borrowed.
    #[must_use]
    pub fn borrowed(&self) -> Column<'_, T> {
        match self {
            Self::One(value) => Column::One(*value),
            Self::Stride { first, stride } => Column::Stride { first: *first, stride: *stride },
            Self::Runs(runs) => Column::Runs(Cow::Borrowed(runs)),
            Self::Each(values) => Column::Each(Cow::Borrowed(values)),
        }
    }

    /// Returns an iterator over the values in order.
    #[must_use]
    pub fn cursor(&self) -> ColumnCursor<'_, T> {
        ColumnCursor { column: self, index: 0, left_in_run: 0 }
    }
}

impl<'a, T: ColumnValue + PartialEq> Column<'a, T> {
    /// Returns one value per record, as a stride or as a single value if that is enough. Engines read these forms
    /// faster.
    #[must_use]
    pub fn compact(values: &'a [T]) -> Self {
        Self::even(values).unwrap_or(Self::Each(Cow::Borrowed(values)))
    }

    /// Returns values as a stride or as a single value, if that is enough.
    fn even(values: &[T]) -> Option<Self> {
        let first = *values.first()?;
        // The first two values propose the form, and the comparison of all values accepts or refuses it.
        let stride = values.get(1).and_then(|second| first.stride_to(*second)).unwrap_or(0);
        if stride == 0 {
            return values.iter().all(|value| *value == first).then_some(Self::One(first));
        }
        let is_even = values.windows(2).all(|pair| pair[0].stride_to(pair[1]) == Some(stride));
        is_even.then_some(Self::Stride { first, stride })
    }
}

/// Keeps one value per record, as [`Column::compact`] does.
impl<T: ColumnValue + PartialEq> From<Vec<T>> for Column<'static, T> {
    fn from(values: Vec<T>) -> Self {
        Self::even(&values).unwrap_or(Self::Each(values.into()))
    }
}

/// Returns the distance of record `index` from the first.
fn strides(stride: u32, index: usize) -> Option<u64> {
    u64::from(stride).checked_mul(u64::try_from(index).ok()?)
}

/// An iterator over a [`Column`]. It never ends for a single value.
#[derive(Clone, Debug)]
pub struct ColumnCursor<'a, T: Copy> {
    column: &'a Column<'a, T>,
    /// The index of the next value, or of the run after the current one.
    index: usize,
    left_in_run: u32,
}

impl<T: ColumnValue> Iterator for ColumnCursor<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        match self.column {
            Column::One(value) => Some(*value),
            Column::Stride { first, stride } => {
                let by = strides(*stride, self.index)?;
                self.index += 1;
                first.further(by)
            }
            Column::Each(values) => {
                let value = values.get(self.index).copied();
                self.index += 1;
                value
            }
            Column::Runs(runs) => {
                // Not an `if`: runs of no records are allowed.
                while self.left_in_run == 0 {
                    self.left_in_run = runs.get(self.index)?.0;
                    self.index += 1;
                }
                self.left_in_run -= 1;
                Some(runs[self.index - 1].1)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl ColumnValue for u8 {}

    fn span(start: u32, len: u32) -> Span {
        Span { start, len }
    }

    #[test]
    fn columns_read_the_same_in_every_form() {
        let each = Column::Each(vec![7, 7, 9].into());
        let runs = Column::Runs(vec![(2, 7), (0, 8), (1, 9)].into());
        assert!(each.covers(3) && runs.covers(3) && !runs.covers(2));
        assert_eq!(each.cursor().collect::<Vec<u8>>(), runs.cursor().collect::<Vec<u8>>());
        assert_eq!((0..4).map(|i| runs.get(i)).collect::<Vec<_>>(), [Some(7), Some(7), Some(9), None]);
        assert_eq!(Column::One(5).cursor().take(2).collect::<Vec<u8>>(), [5, 5]);
    }

    #[test]
    fn a_stride_moves_what_lies_somewhere() {
        let spans = Column::Stride { first: span(4, 8), stride: 10 };
        let each: Vec<Span> = spans.cursor().take(3).collect();
        assert_eq!(each, [span(4, 8), span(14, 8), span(24, 8)]);
        assert_eq!((spans.get(2), spans.borrowed().get(1)), (Some(span(24, 8)), Some(span(14, 8))));
        assert!(spans.covers(3) && spans.covers(0));
        let beyond = Column::Stride { first: OutputSink::Output(span(u32::MAX - 1, 1)), stride: 1 };
        assert!(beyond.covers(2) && !beyond.covers(3));
        assert_eq!((beyond.get(1).is_some(), beyond.get(2)), (true, None));
        assert_eq!(beyond.cursor().count(), 2);
        assert_eq!((spans.ends(3), spans.ends(0)), (Some([span(4, 8), span(24, 8)]), Some([span(4, 8); 2])));
        assert_eq!((beyond.ends(2).is_some(), beyond.ends(3)), (true, None));
        assert_eq!(Column::Each(vec![span(4, 8)].into()).ends(1), None);
        let made = Column::from(vec![span(1, 2), span(5, 2), span(9, 2)]);
        assert!(matches!(made, Column::Stride { first: Span { start: 1, len: 2 }, stride: 4 }));
        assert!(matches!(Column::compact(&[span(1, 2), span(5, 2)]), Column::Stride { stride: 4, .. }));
        assert!(matches!(Column::compact(&[7_u8, 7, 7]), Column::One(7)));
        assert!(matches!(Column::from(vec![span(1, 2), span(5, 2), span(9, 3)]), Column::Each(_)));
        assert!(matches!(Column::from(vec![span(1, 2), span(1, 2)]), Column::One(_)));
        assert!(Column::<Span>::from(Vec::new()).covers(0));
        let slots = Column::Stride { first: InputSource::Slot(7), stride: 1 };
        assert_eq!(slots.get(2), Some(InputSource::Slot(9)));
        let nowhere = Column::Stride { first: 5_u8, stride: 1 };
        assert!(nowhere.covers(1) && !nowhere.covers(2));
    }
}
