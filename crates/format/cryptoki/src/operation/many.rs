//! Many inputs of one mechanism and one key in one call.

use std::fmt;

use oarlock::Outcomes;
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

/// The spans of pieces in a buffer.
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

/// The answers of one call, in the order of the inputs. Bytes that are secret are zeroized on drop.
pub struct ManyAnswers {
    bytes: AnswerBytes,
    spans: AnswerSpans,
}

/// The bytes of all outputs.
pub(crate) enum AnswerBytes {
    /// They stay where the engine has written them.
    Outcomes(Outcomes),
    Own(Zeroizing<Vec<u8>>),
}

/// The spans of the outputs.
pub(crate) enum AnswerSpans {
    /// Every operation has succeeded, and its output has this span.
    Equal(EqualSpans),
    /// The start and the length of each output, or the error of the operation.
    Each(Vec<Result<(usize, usize), ReturnCode>>),
}

/// Places of equal length at equal distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EqualSpans {
    pub(crate) count: usize,
    pub(crate) len: usize,
    pub(crate) stride: usize,
}

/// The outputs of operations that have all succeeded, with outputs of equal length.
#[derive(Clone, Copy)]
pub struct EqualOutputs<'a> {
    /// The bytes of all outputs.
    pub bytes: &'a [u8],
    /// The number of outputs.
    pub count: usize,
    /// The bytes of each output.
    pub len: usize,
    /// The distance of neighbouring starts.
    pub stride: usize,
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
        // The numbers come from a caller: a product or a sum that wraps must not name a piece inside of the buffer.
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
    pub(crate) fn new(bytes: AnswerBytes, spans: AnswerSpans) -> Self {
        Self { bytes, spans }
    }

    /// Returns answers with bytes of their own.
    pub(crate) fn of_bytes(
        bytes: Zeroizing<Vec<u8>>,
        spans: Vec<Result<(usize, usize), ReturnCode>>,
    ) -> Self {
        Self { bytes: AnswerBytes::Own(bytes), spans: AnswerSpans::Each(spans) }
    }

    /// Changes the result of each operation. `change` gets the output.
    pub(crate) fn map_lens(self, change: impl Fn(&[u8]) -> Result<usize, ReturnCode>) -> Self {
        let all = self.bytes.as_slice();
        let spans = (0..self.len()).map(|index| {
            let (start, len) = self.spans.get(index)?;
            let output = all.get(start..start + len).ok_or(ReturnCode::GeneralError)?;
            Ok((start, change(output)?))
        });
        let spans = AnswerSpans::Each(spans.collect());
        Self { spans, ..self }
    }

    /// Cuts every output to `len` bytes, which is not more than it has.
    pub(crate) fn cut(&mut self, len: usize) {
        match &mut self.spans {
            AnswerSpans::Equal(spans) => spans.len = len,
            AnswerSpans::Each(spans) => spans.iter_mut().flatten().for_each(|span| span.1 = len),
        }
    }

    /// Returns the number of answers.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.spans {
            AnswerSpans::Equal(spans) => spans.count,
            AnswerSpans::Each(spans) => spans.len(),
        }
    }

    /// True if there is no answer.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the answer at `index`. It is empty for a signature that verifies.
    ///
    /// # Errors
    /// The error of the operation, and [`ReturnCode::ArgumentsBad`] past the end.
    pub fn get(&self, index: usize) -> Result<&[u8], ReturnCode> {
        let (start, len) = self.spans.get(index)?;
        self.bytes.as_slice().get(start..start + len).ok_or(ReturnCode::GeneralError)
    }

    /// Returns the answers in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Result<&[u8], ReturnCode>> {
        (0..self.len()).map(|index| self.get(index))
    }

    /// Returns the outputs if they are known to have equal lengths. They can be copied together then.
    #[must_use]
    pub fn equal_outputs(&self) -> Option<EqualOutputs<'_>> {
        let AnswerSpans::Equal(EqualSpans { count, len, stride }) = self.spans else { return None };
        Some(EqualOutputs { bytes: self.bytes.as_slice(), count, len, stride })
    }
}

impl AnswerBytes {
    fn as_slice(&self) -> &[u8] {
        match self {
            Self::Outcomes(outcomes) => outcomes.bytes(),
            Self::Own(bytes) => bytes,
        }
    }
}

impl AnswerSpans {
    fn get(&self, index: usize) -> Result<(usize, usize), ReturnCode> {
        match self {
            Self::Equal(spans) if index < spans.count => Ok((index * spans.stride, spans.len)),
            Self::Equal(_) => Err(ReturnCode::ArgumentsBad),
            Self::Each(spans) => spans.get(index).copied().unwrap_or(Err(ReturnCode::ArgumentsBad)),
        }
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
        let failed = self.iter().filter(|answer| answer.is_err()).count();
        write!(f, "ManyAnswers({} answers, {failed} failed)", self.len())
    }
}

impl fmt::Debug for EqualOutputs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EqualOutputs({} of {} bytes)", self.count, self.len)
    }
}
