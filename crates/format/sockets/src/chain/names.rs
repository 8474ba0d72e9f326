//! The names by which certificates are joined to a path.

/// The names of a certificate, as their encoding: verifiers compare the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CertificateNames<'a> {
    pub(super) issuer: &'a [u8],
    pub(super) subject: &'a [u8],
}

const INTEGER: u8 = 0x02;
const SEQUENCE: u8 = 0x30;
/// The tag of `[0]`, the version.
const VERSION: u8 = 0xa0;

impl<'a> CertificateNames<'a> {
    /// Reads a certificate in DER as far as its subject. RFC 5280 4.1. Returns None if it has another form.
    pub(super) fn read(certificate: &'a [u8]) -> Option<Self> {
        let mut rest = certificate;
        let mut certificate = take(&mut rest, SEQUENCE)?;
        let mut fields = take(&mut certificate, SEQUENCE)?;
        if fields.first() == Some(&VERSION) {
            take(&mut fields, VERSION)?;
        }
        let _serial = take(&mut fields, INTEGER)?;
        let _algorithm = take(&mut fields, SEQUENCE)?;
        let issuer = take(&mut fields, SEQUENCE)?;
        let _validity = take(&mut fields, SEQUENCE)?;
        let subject = take(&mut fields, SEQUENCE)?;
        Some(Self { issuer, subject })
    }
}

/// Takes a value with this tag from the start of `input`, and returns its content.
fn take<'a>(input: &mut &'a [u8], tag: u8) -> Option<&'a [u8]> {
    let (&[found, first], rest) = input.split_first_chunk()?;
    if found != tag {
        return None;
    }
    let (len, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        // A chain has at most 64 KiB in rustls, so three bytes of length are more than enough.
        0x81..=0x83 => {
            let (bytes, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            (bytes.iter().fold(0, |len, byte| len << 8 | usize::from(*byte)), rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(len)?;
    *input = rest;
    Some(content)
}
