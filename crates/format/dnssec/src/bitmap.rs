//! Type bitmaps: the types of a name, as NSEC, NSEC3 and CSYNC records list them. RFC 4034 4.1.2.

use crate::rtype::RecordType;

/// The maximum length of a window's bitmap in bytes.
const MAX_BYTES: usize = 32;

/// A well-formed bitmap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeBitmap<'a>(&'a [u8]);

/// An error of a malformed bitmap. The zone is at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BitmapError {
    /// The bitmap ends within a window.
    #[error("a type bitmap that ends within a window")]
    Short,
    /// A window has no bytes, or more than 32.
    #[error("a window of {0} bytes in a type bitmap; 1 to 32 are allowed")]
    WindowLength(u8),
    /// A window has a number that is not larger than the number before it.
    #[error("window {0} of a type bitmap follows a window with the same or a higher number")]
    Order(u8),
    /// The last byte of a window is zero.
    #[error("window {0} of a type bitmap ends in a zero byte")]
    TrailingZero(u8),
}

/// Appends the bitmap of types in ascending order. A type may occur twice.
pub fn write_bitmap(types: impl IntoIterator<Item = RecordType>, out: &mut Vec<u8>) {
    let mut window_at = None;
    for RecordType(number) in types {
        let [window, low] = number.to_be_bytes();
        let at = match window_at {
            Some(at) if out[at] == window => at,
            _ => {
                window_at = Some(out.len());
                out.extend_from_slice(&[window, 0]);
                out.len() - 2
            }
        };
        let byte = usize::from(low / 8);
        out.resize(out.len().max(at + 3 + byte), 0);
        out[at + 2 + byte] |= 0x80 >> (low % 8);
        // The window ends at its last bit that is set: RFC 4034 4.1.2 forbids zero bytes at its end.
        // unreachable because a window has at most 32 bytes
        out[at + 1] = (out.len() - at - 2) as u8;
    }
}

impl<'a> TypeBitmap<'a> {
    /// Reads a bitmap that fills `bytes`. An empty bitmap has no types; only NSEC3 records of empty non-terminals may
    /// have one.
    ///
    /// # Errors
    /// The bytes do not have the form of RFC 4034 4.1.2.
    pub fn read(bytes: &'a [u8]) -> Result<Self, BitmapError> {
        let mut rest = bytes;
        let mut last = None;
        while let Some((window, bits, after)) = next_window(rest)? {
            if last.is_some_and(|last| last >= window) {
                return Err(BitmapError::Order(window));
            }
            if bits.last() == Some(&0) {
                return Err(BitmapError::TrailingZero(window));
            }
            last = Some(window);
            rest = after;
        }
        Ok(Self(bytes))
    }

    /// Returns the bitmap in wire format.
    #[must_use]
    pub fn as_bytes(self) -> &'a [u8] {
        self.0
    }

    /// Returns true if the bitmap has the type.
    #[must_use]
    pub fn contains(self, rtype: RecordType) -> bool {
        let [wanted, low] = rtype.0.to_be_bytes();
        let mut windows = BitmapWindows(self.0);
        let bits = windows.find_map(|(window, bits)| (window == wanted).then_some(bits)).unwrap_or_default();
        bits.get(usize::from(low / 8)).is_some_and(|byte| byte & (0x80 >> (low % 8)) != 0)
    }

    /// Returns the types in ascending order.
    pub fn types(self) -> impl Iterator<Item = RecordType> + 'a {
        BitmapWindows(self.0).flat_map(|(window, bits)| {
            let is_set = move |low: &u8| bits[usize::from(low / 8)] & (0x80 >> (low % 8)) != 0;
            // unreachable because a window has at most 32 bytes
            let last = (8 * bits.len() - 1) as u8;
            (0..=last).filter(is_set).map(move |low| RecordType(u16::from_be_bytes([window, low])))
        })
    }
}

/// An iterator over the windows of a well-formed bitmap.
struct BitmapWindows<'a>(&'a [u8]);

impl<'a> Iterator for BitmapWindows<'a> {
    type Item = (u8, &'a [u8]);

    fn next(&mut self) -> Option<(u8, &'a [u8])> {
        let (window, bits, rest) = next_window(self.0).ok()??;
        self.0 = rest;
        Some((window, bits))
    }
}

/// The number of a window, its bits, and the bytes after it; None at the end.
type Window<'a> = Option<(u8, &'a [u8], &'a [u8])>;

/// Splits off the first window.
fn next_window(bytes: &[u8]) -> Result<Window<'_>, BitmapError> {
    match bytes {
        [] => Ok(None),
        [window, len, rest @ ..] => match usize::from(*len) {
            bits @ 1..=MAX_BYTES => {
                let (bits, rest) = rest.split_at_checked(bits).ok_or(BitmapError::Short)?;
                Ok(Some((*window, bits, rest)))
            }
            _ => Err(BitmapError::WindowLength(*len)),
        },
        _ => Err(BitmapError::Short),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(types: &[RecordType]) -> Vec<u8> {
        let mut out = b"before".to_vec();
        write_bitmap(types.iter().copied(), &mut out);
        out.split_off(6)
    }

    /// RFC 4034 4.3: A, MX, RRSIG, NSEC and TYPE1234.
    #[test]
    fn writes_the_bitmap_of_rfc_4034() {
        let types = [RecordType::A, RecordType::MX, RecordType::RRSIG, RecordType::NSEC, RecordType(1234)];
        let mut expected = vec![0, 6, 0x40, 1, 0, 0, 0, 3, 4, 27];
        expected.extend([0; 26]);
        expected.push(0x20);
        assert_eq!(written(&types), expected);
        let bitmap = TypeBitmap::read(&expected).unwrap();
        assert_eq!(bitmap.types().collect::<Vec<_>>(), types);
        assert!(types.iter().all(|rtype| bitmap.contains(*rtype)));
        let absent = [
            RecordType(0),
            RecordType::NS,
            RecordType::AAAA,
            RecordType(256),
            RecordType(1233),
            RecordType(1235),
            RecordType(65_535),
        ];
        assert!(absent.iter().all(|rtype| !bitmap.contains(*rtype)));
    }

    #[test]
    fn every_type_is_found_again() {
        let all: Vec<RecordType> = (0..=u16::MAX).map(RecordType).collect();
        let bytes = written(&all);
        assert_eq!(bytes.len(), 256 * 34);
        assert_eq!(TypeBitmap::read(&bytes).unwrap().types().collect::<Vec<_>>(), all);
        for rtype in all {
            let bytes = written(&[rtype, rtype]);
            assert_eq!(TypeBitmap::read(&bytes).unwrap().types().collect::<Vec<_>>(), [rtype]);
        }
        assert_eq!(TypeBitmap::read(&written(&[])).unwrap().types().count(), 0);
    }

    #[test]
    fn rejects_malformed_bitmaps() {
        for (bytes, error) in [
            (&[0][..], BitmapError::Short),
            (&[0, 2, 1], BitmapError::Short),
            (&[0, 0], BitmapError::WindowLength(0)),
            (&[0, 33, 1], BitmapError::WindowLength(33)),
            (&[1, 1, 1, 0, 1, 1], BitmapError::Order(0)),
            (&[1, 1, 1, 1, 1, 1], BitmapError::Order(1)),
            (&[0, 2, 1, 0], BitmapError::TrailingZero(0)),
        ] {
            assert_eq!(TypeBitmap::read(bytes), Err(error), "{bytes:?}");
        }
    }
}
