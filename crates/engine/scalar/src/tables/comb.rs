//! Scalars as signed digits, and the multiples of a point for each digit.

/// The multiples 1 to 2^(W-1) of 2^(W i) P, for every window i of a scalar of up to `BITS` bits.
#[derive(Debug)]
pub(super) struct PointComb<E, const BITS: usize, const W: usize>(Box<[E]>);

impl<E, const BITS: usize, const W: usize> PointComb<E, BITS, W> {
    /// Bits of a window.
    pub(super) const WIDTH: u32 = W as u32;
    /// The number of windows. The highest digit takes the carry of the digit below.
    pub(super) const WINDOWS: usize = (BITS + 1).div_ceil(W);
    /// Multiples in a window.
    pub(super) const MULTIPLES: usize = 1 << (W - 1);
    /// Bytes of all multiples.
    pub(super) const BYTES: usize = Self::WINDOWS * Self::MULTIPLES * size_of::<E>();

    /// Wraps multiples in the order of windows.
    pub(super) fn new(multiples: Vec<E>) -> Self {
        debug_assert_eq!(multiples.len(), Self::WINDOWS * Self::MULTIPLES);
        Self(multiples.into())
    }

    /// Returns the multiples of each window.
    pub(super) fn windows(&self) -> impl Iterator<Item = &[E]> {
        self.0.chunks_exact(Self::MULTIPLES)
    }

    /// Calls `take` with each multiple whose sum is `scalar` P. The flag is true if the multiple is subtracted.
    /// `scalar` is little-endian and below 2^`BITS`.
    pub(super) fn terms(&self, scalar: &[u8; 32], mut take: impl FnMut(&E, bool)) {
        for (window, digit) in self.windows().zip(digits::<W>(scalar)) {
            if digit != 0 {
                take(&window[digit.unsigned_abs() as usize - 1], digit < 0);
            }
        }
    }
}

/// Returns the digits of `scalar` in radix 2^W, lowest first, from -2^(W-1) + 1 to 2^(W-1).
pub(super) fn digits<const W: usize>(scalar: &[u8; 32]) -> impl Iterator<Item = i32> {
    let mut words = [0; 6];
    for (word, bytes) in words.iter_mut().zip(scalar.as_chunks().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    let mut carry = 0;
    (0..=256 / W).map(move |window| {
        let (word, shift) = (W * window / 64, W * window % 64);
        let bits = words[word] >> shift | words[word + 1] << 1 << (63 - shift);
        let digit = (bits & ((1 << W) - 1)) as i32 + carry;
        carry = i32::from(digit > 1 << (W - 1));
        digit - (carry << W)
    })
}
