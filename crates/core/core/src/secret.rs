//! Secret bytes, which must not outlive their use and are never printed.

use std::fmt;

use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// Secret bytes. They are zeroized on drop, compared in constant time, and printed as a length only.
#[derive(Clone, Default)]
pub struct SecretBytes(Zeroizing<Vec<u8>>);

impl SecretBytes {
    /// Takes ownership of `bytes`. The caller must keep no copy.
    #[must_use]
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// Returns the secret itself. Keep it out of branches, indices, logs and errors.
    #[must_use]
    #[inline]
    pub fn expose(&self) -> &[u8] {
        &self.0
    }

    /// Returns the length in bytes, which is public.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True if there are no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<Vec<u8>> for SecretBytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self::new(bytes)
    }
}

impl From<&[u8]> for SecretBytes {
    fn from(bytes: &[u8]) -> Self {
        Self::new(bytes.to_vec())
    }
}

impl PartialEq for SecretBytes {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for SecretBytes {}

impl fmt::Debug for SecretBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretBytes({} bytes)", self.len())
    }
}

/// Empties a vector and overwrites all its memory, also that beyond its length.
///
/// `zeroize` writes byte by byte, which costs more than the work on a short record.
pub fn erase(bytes: &mut Vec<u8>) {
    // An earlier, longer value may lie behind the length. The capacity stays, so `resize` moves nothing.
    bytes.clear();
    bytes.resize(bytes.capacity(), 0);
    // Without it the compiler may drop writes to memory that nobody reads again.
    zeroize::optimization_barrier(&bytes[..]);
    bytes.clear();
}

/// Reserves capacity for `more` bytes, and erases the old memory, which may hold secrets.
///
/// `Vec::reserve` would leave the old memory as it is.
#[inline]
pub fn reserve_erasing(bytes: &mut Vec<u8>, more: usize) {
    if bytes.capacity() - bytes.len() < more {
        let mut moved = Vec::with_capacity((bytes.len() + more).max(2 * bytes.capacity()));
        moved.extend_from_slice(bytes);
        erase(&mut std::mem::replace(bytes, moved));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn erasing_reaches_what_lies_beyond_the_length() {
        let mut bytes = vec![7; 100];
        bytes.truncate(3);
        erase(&mut bytes);
        assert!(bytes.is_empty() && bytes.capacity() >= 100);
        bytes.spare_capacity_mut()[..100].fill(std::mem::MaybeUninit::new(1));
        erase(&mut bytes);
        bytes.resize(100, 1);
        assert_eq!(bytes, [1; 100]);
    }

    #[test]
    fn reserving_capacity_keeps_the_bytes() {
        let mut bytes = vec![1, 2, 3];
        reserve_erasing(&mut bytes, 100);
        assert!(bytes == [1, 2, 3] && bytes.capacity() >= 103);
        let address = bytes.as_ptr();
        reserve_erasing(&mut bytes, 100);
        assert_eq!(bytes.as_ptr(), address);
    }

    #[test]
    fn debug_prints_the_length_only() {
        let secret = SecretBytes::new(vec![0xAB; 3]);
        assert_eq!(format!("{secret:?}"), "SecretBytes(3 bytes)");
    }

    #[test]
    fn equality_looks_at_content_and_length() {
        assert_eq!(SecretBytes::new(vec![1, 2]), SecretBytes::new(vec![1, 2]));
        assert_ne!(SecretBytes::new(vec![1, 2]), SecretBytes::new(vec![1, 3]));
        assert_ne!(SecretBytes::new(vec![1, 2]), SecretBytes::new(vec![1]));
    }
}
