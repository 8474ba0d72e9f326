//! Many inputs of one mechanism and one key in one call.

use std::fmt;

use zeroize::Zeroizing;

use crate::constants::ReturnCode;

/// The inputs of one call: pieces of one buffer.
#[derive(Clone, Copy)]
pub struct ManyInputs<'a> {
    /// The buffer.
    pub data: &'a [u8],
    /// The pieces.
    pub spans: ManySpans<'a>,
}

/// The places of pieces in a buffer.
#[derive(Clone, Copy, Debug)]
pub enum ManySpans<'a> {
    /// `count` pieces of `len` bytes, each `stride` bytes behind the one before.
    Stride {
        /// The number of pieces.
        count: usize,
        /// The bytes of each piece.
        len: usize,
        /// The distance of neighbouring starts.
        stride: usize,
    },
    /// The piece `i` lies between the offsets `i` and `i + 1`. The list is one longer than the number of pieces.
    Offsets(&'a [u64]),
}

/// The IVs of many operations.
#[derive(Clone, Copy)]
pub enum ManyIvs<'a> {
    /// Every operation uses the IV of the mechanism. No mechanism that needs another IV each time takes this.
    Mechanism,
    /// The IVs of all operations side by side, each as long as that of the mechanism.
    Each(&'a [u8]),
}

/// The answers of one call, in the order of the inputs. The bytes are zeroized on drop.
#[derive(Clone)]
pub struct ManyAnswers {
    pub(crate) bytes: Zeroizing<Vec<u8>>,
    pub(crate) answers: Vec<Result<(usize, usize), ReturnCode>>,
}

impl ManyInputs<'_> {
    /// Returns the number of pieces.
    #[must_use]
    pub fn len(&self) -> usize {
        match self.spans {
            ManySpans::Stride { count, .. } => count,
            ManySpans::Offsets(offsets) => offsets.len().saturating_sub(1),
        }
    }

    /// True if there is no piece.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the start and the length of a piece, or `None` if it is not in the buffer.
    pub(crate) fn span(&self, index: usize) -> Option<(usize, usize)> {
        let (start, len) = match self.spans {
            ManySpans::Stride { count, len, stride } if index < count => (index.checked_mul(stride)?, len),
            ManySpans::Stride { .. } => return None,
            ManySpans::Offsets(offsets) => {
                let start = usize::try_from(*offsets.get(index)?).ok()?;
                let end = usize::try_from(*offsets.get(index + 1)?).ok()?;
                (start, end.checked_sub(start)?)
            }
        };
        (start.checked_add(len)? <= self.data.len()).then_some((start, len))
    }

    /// Returns a piece.
    pub(crate) fn get(&self, index: usize) -> Option<&[u8]> {
        let (start, len) = self.span(index)?;
        self.data.get(start..start + len)
    }
}

impl ManyAnswers {
    /// Returns the number of answers.
    #[must_use]
    pub fn len(&self) -> usize {
        self.answers.len()
    }

    /// True if there is no answer.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.answers.is_empty()
    }

    /// Returns the answer at `index`. It is empty for a signature that verifies.
    ///
    /// # Errors
    /// The error of the operation, and [`ReturnCode::ArgumentsBad`] past the end.
    pub fn get(&self, index: usize) -> Result<&[u8], ReturnCode> {
        let (start, len) = self.answers.get(index).copied().unwrap_or(Err(ReturnCode::ArgumentsBad))?;
        self.bytes.get(start..start + len).ok_or(ReturnCode::GeneralError)
    }

    /// Returns the answers in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Result<&[u8], ReturnCode>> {
        (0..self.len()).map(|index| self.get(index))
    }
}

impl fmt::Debug for ManyInputs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ManyInputs({} pieces of {} bytes)", self.len(), self.data.len())
    }
}

impl fmt::Debug for ManyIvs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mechanism => f.write_str("Mechanism"),
            Self::Each(ivs) => write!(f, "Each({} bytes)", ivs.len()),
        }
    }
}

impl fmt::Debug for ManyAnswers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let failed = self.answers.iter().filter(|answer| answer.is_err()).count();
        write!(f, "ManyAnswers({} answers, {failed} failed)", self.len())
    }
}
