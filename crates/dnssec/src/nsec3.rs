//! What NSEC3 and NSEC3PARAM records say. RFC 5155 sections 3 and 4.

use crate::bitmap::TypeBitmap;

/// Delegations without DS records may be missing from the chain behind this record. RFC 5155 3.1.2.1.
pub const OPT_OUT: u8 = 1;

/// How names are hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nsec3Parameters<'a> {
    /// The hash algorithm; 1 is SHA-1, and there is no other.
    pub algorithm: u8,
    /// Times that the hash is hashed again.
    pub iterations: u16,
    /// What is hashed with the name each time, at most 255 bytes.
    pub salt: &'a [u8],
}

/// An NSEC3 record's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nsec3<'a> {
    /// How names are hashed.
    pub parameters: Nsec3Parameters<'a>,
    /// [`OPT_OUT`], or none.
    pub flags: u8,
    /// The next hash.
    pub next: &'a [u8],
    /// The types that the name has.
    pub types: TypeBitmap<'a>,
}

impl<'a> Nsec3Parameters<'a> {
    /// Parameters and flags of an NSEC3PARAM's data.
    #[must_use]
    pub fn read(data: &'a [u8]) -> Option<(Self, u8)> {
        let (parameters, flags, rest) = split(data)?;
        rest.is_empty().then_some((parameters, flags))
    }
}

impl<'a> Nsec3<'a> {
    /// The parts of an NSEC3's data, if they are whole.
    #[must_use]
    pub fn read(data: &'a [u8]) -> Option<Self> {
        let (parameters, flags, rest) = split(data)?;
        let (len, rest) = rest.split_first()?;
        let (next, bitmap) = rest.split_at_checked(usize::from(*len))?;
        Some(Self { parameters, flags, next, types: TypeBitmap::read(bitmap).ok()? })
    }

    /// True where insecure delegations may be missing behind it.
    #[must_use]
    pub fn is_opt_out(&self) -> bool {
        self.flags & OPT_OUT != 0
    }
}

/// Parameters, flags, and what comes after the salt.
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
    fn data_that_is_not_whole_is_refused() {
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
