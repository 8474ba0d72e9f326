//! Choices from the fuzzer's bytes, in order; zeros after the last byte.

/// The rest of the input.
pub struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn next(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    /// Returns a number below `bound`, which may need more than one byte.
    pub fn below(&mut self, bound: usize) -> usize {
        let wide = usize::from(self.next());
        let value = if bound > 256 { wide << 8 | usize::from(self.next()) } else { wide };
        value % bound.max(1)
    }

    pub fn choose<'c, T>(&mut self, choices: &'c [T]) -> &'c T {
        &choices[self.below(choices.len())]
    }

    /// Fills the front with the remaining bytes.
    pub fn overwrite(&mut self, out: &mut [u8]) {
        let (taken, rest) = self.0.split_at(out.len().min(self.0.len()));
        out[..taken.len()].copy_from_slice(taken);
        self.0 = rest;
    }

    /// Flips a bit somewhere.
    pub fn flip(&mut self, out: &mut [u8]) {
        let (at, bit) = (self.below(out.len()), self.next() % 8);
        if let Some(byte) = out.get_mut(at) {
            *byte ^= 1 << bit;
        }
    }
}
