//! The data of NSEC3 and NSEC3PARAM records. RFC 5155 sections 3 and 4.

use crate::bitmap::TypeBitmap;

/// The opt-out flag: between this record and the next one, the chain may omit delegations without DS records. RFC 5155
/// 3.1.2.1.
pub const OPT_OUT: u8 = 1;

/// The parameters of the name hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nsec3Parameters<'a> {
    /// The hash algorithm. 1 is SHA-1, the only one that exists.
    pub algorithm: u8,
    /// The number of additional times that the hash is hashed.
    pub iterations: u16,
    /// The salt that is hashed with the name each time, at most 255 bytes.
    pub salt: &'a [u8],
}

/// The fields of an NSEC3 record's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nsec3<'a> {
    /// The parameters of the name hash.
    pub parameters: Nsec3Parameters<'a>,
    /// [`OPT_OUT`], or 0.
    pub flags: u8,
    /// The next hash in the chain.
    pub next: &'a [u8],
    /// The types of the name.
    pub types: TypeBitmap<'a>,
}

impl<'a> Nsec3Parameters<'a> {
    /// Reads parameters and flags of an NSEC3PARAM's data.
    #[must_use]
    pub fn read(data: &'a [u8]) -> Option<(Self, u8)> {
        let (parameters, flags, rest) = split(data)?;
        rest.is_empty().then_some((parameters, flags))
    }
}

impl<'a> Nsec3<'a> {
    /// Reads the fields of an NSEC3's data. Returns None if the data is malformed.
    #[must_use]
    pub fn read(data: &'a [u8]) -> Option<Self> {
        let (parameters, flags, rest) = split(data)?;
        let (len, rest) = rest.split_first()?;
        let (next, bitmap) = rest.split_at_checked(usize::from(*len))?;
        Some(Self { parameters, flags, next, types: TypeBitmap::read(bitmap).ok()? })
    }

    /// Returns true if the chain may omit insecure delegations between this record and the next one.
    #[must_use]
    pub fn is_opt_out(&self) -> bool {
        self.flags & OPT_OUT != 0
    }
}

/// Splits off parameters and flags, and returns the bytes after the salt too.
fn split(data: &[u8]) -> Option<(Nsec3Parameters<'_>, u8, &[u8])> {
    let ([algorithm, flags, high, low, salt_len], rest) = data.split_first_chunk()?;
    let (salt, rest) = rest.split_at_checked(usize::from(*salt_len))?;
    let iterations = u16::from_be_bytes([*high, *low]);
    Some((Nsec3Parameters { algorithm: *algorithm, iterations, salt }, *flags, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_truncated_data() {
        let whole = [1, 1, 0, 12, 2, 0xaa, 0xbb, 3, 7, 8, 9, 0, 1, 0x40];
        let nsec3 = Nsec3::read(&whole).unwrap();
        let parameters = Nsec3Parameters { algorithm: 1, iterations: 12, salt: &[0xaa, 0xbb] };
        assert_eq!((nsec3.parameters, nsec3.next, nsec3.is_opt_out()), (parameters, &[7, 8, 9][..], true));
        for end in (0..11).chain(12..14) {
            assert_eq!(Nsec3::read(&whole[..end]), None, "{end}");
        }
        assert!(Nsec3::read(&whole[..11]).is_some());
        assert_eq!(Nsec3Parameters::read(&whole[..7]), Some((parameters, 1)));
        assert_eq!(Nsec3Parameters::read(&whole[..8]), None);
        assert_eq!(Nsec3Parameters::read(&whole[..6]), None);
    }
}
