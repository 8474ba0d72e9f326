//! Signatures: the fields of RRSIG records, their validity, and the bytes that they sign. RFC 4034 3 and 3.1.8.1.

use std::cmp::Ordering;

use crate::algorithm::DnssecAlgorithm;
use crate::name::DomainName;
use crate::rtype::RecordType;

/// The length of an RRSIG's data before the signer's name, in bytes.
const FIXED: usize = 18;
const CLASS_IN: [u8; 2] = [0, 1];

/// The fields of an RRSIG record's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rrsig<'a> {
    /// The type of the signed set.
    pub covered: RecordType,
    /// The algorithm that made the signature.
    pub algorithm: DnssecAlgorithm,
    /// The number of the owner's labels, without the root and a leading `*`. RFC 4034 3.1.3.
    pub labels: u8,
    /// The time to live of the set when it was signed, in seconds.
    pub original_ttl: u32,
    /// The last second of validity, a serial number of RFC 1982.
    pub expiration: u32,
    /// The first second of validity, a serial number of RFC 1982.
    pub inception: u32,
    /// The tag of the key.
    pub key_tag: u16,
    /// The zone of the key.
    pub signer: DomainName<'a>,
    /// The bytes of the signature, without the object identifier of an experimental algorithm.
    pub signature: &'a [u8],
    /// The data before the signature, which is signed too.
    pub head: &'a [u8],
}

/// An error of malformed RRSIG data. The zone is at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RrsigError {
    /// The data ends before the signature.
    #[error("{0} bytes, which is too short")]
    Short(usize),
    /// The name of the signer is malformed.
    #[error("the signer's name is malformed")]
    Signer,
}

/// The validity of a signature at a point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Validity {
    /// The signature is valid.
    Valid,
    /// The signature has expired.
    Expired,
    /// The signature is not valid yet.
    NotYet,
}

/// The fields of an RRSIG to be made, without those of its key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RrsigHead<'a> {
    pub(crate) covered: RecordType,
    pub(crate) owner: DomainName<'a>,
    pub(crate) original_ttl: u32,
    pub(crate) expiration: u32,
    pub(crate) inception: u32,
    pub(crate) signer: DomainName<'a>,
}

impl RrsigHead<'_> {
    /// Appends the data before the signature. RFC 4034 3.1.
    pub(crate) fn write(&self, algorithm: DnssecAlgorithm, key_tag: u16, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.covered.0.to_be_bytes());
        // unreachable truncation because a name has at most 127 labels
        out.extend_from_slice(&[algorithm.number(), signed_labels(self.owner) as u8]);
        for number in [self.original_ttl, self.expiration, self.inception] {
            out.extend_from_slice(&number.to_be_bytes());
        }
        out.extend_from_slice(&key_tag.to_be_bytes());
        out.extend_from_slice(self.signer.as_bytes());
    }
}

impl<'a> Rrsig<'a> {
    /// Reads the data of an RRSIG.
    ///
    /// # Errors
    /// The data is too short, or the signer's name is malformed.
    pub fn read(data: &'a [u8]) -> Result<Self, RrsigError> {
        let (fixed, rest) = data.split_first_chunk::<FIXED>().ok_or(RrsigError::Short(data.len()))?;
        let (signer, rest) = DomainName::at_front(rest).map_err(|_| RrsigError::Signer)?;
        let (algorithm, signature) = DnssecAlgorithm::split(fixed[2], rest);
        let word = |at: usize| u32::from_be_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]]);
        Ok(Self {
            covered: RecordType(u16::from_be_bytes([fixed[0], fixed[1]])),
            algorithm,
            labels: fixed[3],
            original_ttl: word(4),
            expiration: word(8),
            inception: word(12),
            key_tag: u16::from_be_bytes([fixed[16], fixed[17]]),
            signer,
            signature,
            head: &data[..data.len() - rest.len()],
        })
    }

    /// Returns the validity at `now`, in seconds since 1970 modulo 2^32. RFC 4034 3.1.5.
    #[must_use]
    pub fn validity(&self, now: u32) -> Validity {
        if serial_cmp(now, self.inception) == Ordering::Less {
            Validity::NotYet
        } else if serial_cmp(now, self.expiration) == Ordering::Greater {
            Validity::Expired
        } else {
            Validity::Valid
        }
    }

    /// Appends the signed bytes: the RRSIG's own data without the signature, and the records with `data` in canonical
    /// order. Their owner is `owner`. If the RRSIG counts fewer labels, it is the wildcard from which the records were
    /// expanded. RFC 4034 3.1.8.1, RFC 4035 5.3.2.
    pub fn write_signed<'d>(
        &self,
        owner: DomainName<'_>,
        data: impl IntoIterator<Item = &'d [u8]>,
        out: &mut Vec<u8>,
    ) {
        out.extend_from_slice(self.head);
        let start = out.len();
        let labels = usize::from(self.labels);
        if labels < signed_labels(owner) {
            out.extend_from_slice(b"\x01*");
            out.extend_from_slice(owner.last_labels(labels).as_bytes());
        } else {
            out.extend_from_slice(owner.as_bytes());
        }
        out.extend_from_slice(&self.covered.0.to_be_bytes());
        out.extend_from_slice(&CLASS_IN);
        // Caches count down the time to live of records, so the signature covers the original one. RFC 4034 3.1.4.
        out.extend_from_slice(&self.original_ttl.to_be_bytes());
        let before_data = start..out.len();
        for (index, data) in data.into_iter().enumerate() {
            // Owner, type, class and time to live are the same in all records of a set.
            if index > 0 {
                out.extend_from_within(before_data.clone());
            }
            // unreachable because a record's data has at most 65,535 bytes
            out.extend_from_slice(&(data.len() as u16).to_be_bytes());
            out.extend_from_slice(data);
        }
    }
}

/// Counts the labels of an owner's name as an RRSIG does: without the root and a leading `*`. RFC 4034 3.1.3.
#[must_use]
pub fn signed_labels(owner: DomainName<'_>) -> usize {
    owner.label_count() - usize::from(owner.is_wildcard())
}

/// Compares serial numbers. Numbers that are 2^31 apart have no order and count as later. RFC 1982 3.2.
#[must_use]
pub fn serial_cmp(one: u32, two: u32) -> Ordering {
    match one.wrapping_sub(two) {
        0 => Ordering::Equal,
        1..=0x8000_0000 => Ordering::Greater,
        _ => Ordering::Less,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::{DomainNameBuf, LetterCase};

    fn name(text: &str) -> DomainNameBuf {
        DomainNameBuf::parse(text.as_bytes(), DomainName::ROOT, LetterCase::Lower).unwrap()
    }

    fn data(labels: u8, inception: u32, expiration: u32) -> Vec<u8> {
        let mut data = vec![0, 1, 13, labels, 0, 0, 0x0e, 0x10];
        data.extend_from_slice(&expiration.to_be_bytes());
        data.extend_from_slice(&inception.to_be_bytes());
        data.extend_from_slice(&[0x12, 0x34]);
        data.extend_from_slice(name("example.").name().as_bytes());
        data.extend_from_slice(b"signature");
        data
    }

    #[test]
    fn rejects_rrsig_data_that_is_too_short() {
        let whole = data(2, 1, 2);
        let read = Rrsig::read(&whole).unwrap();
        assert_eq!(
            (read.covered, read.algorithm, read.labels, read.original_ttl),
            (RecordType::A, DnssecAlgorithm::ECDSAP256SHA256, 2, 3600)
        );
        assert_eq!((read.key_tag, read.signer.to_string()), (0x1234, "example.".into()));
        assert_eq!(read.signature, b"signature");
        assert_eq!(Rrsig::read(&whole[..17]), Err(RrsigError::Short(17)));
        assert_eq!(Rrsig::read(&whole[..20]), Err(RrsigError::Signer));
        assert_eq!(Rrsig::read(&whole[..27]).unwrap().signature, b"");
    }

    /// RFC 4034 3.1.5: the numbers wrap around.
    #[test]
    fn times_are_compared_as_serial_numbers() {
        let cases = [
            (100, 200, 99, Validity::NotYet),
            (100, 200, 100, Validity::Valid),
            (100, 200, 200, Validity::Valid),
            (100, 200, 201, Validity::Expired),
            (0xffff_ff00, 0x100, 0x80, Validity::Valid),
            (0xffff_ff00, 0x100, 0xffff_fe00, Validity::NotYet),
            (0xffff_ff00, 0x100, 0x101, Validity::Expired),
        ];
        for (inception, expiration, now, expected) in cases {
            let data = data(2, inception, expiration);
            assert_eq!(Rrsig::read(&data).unwrap().validity(now), expected, "{inception} {now}");
        }
    }

    /// RFC 4035 5.3.2.
    #[test]
    fn a_signature_with_fewer_labels_signs_the_wildcard() {
        let owner = name("a.b.example.");
        for (labels, under) in [(3, "a.b.example."), (2, "*.b.example."), (1, "*.example.")] {
            let data = data(labels, 1, 2);
            let rrsig = Rrsig::read(&data).unwrap();
            let mut out = Vec::new();
            rrsig.write_signed(owner.name(), [&b"one"[..], b"two!"], &mut out);
            let front = [name(under).name().as_bytes(), b"\0\x01\0\x01\0\0\x0e\x10"].concat();
            let expected = [rrsig.head, &front, b"\0\x03one", &front, b"\0\x04two!"].concat();
            assert_eq!(out, expected);
        }
        assert_eq!(signed_labels(name("*.example.").name()), 1);
        let data = data(1, 1, 2);
        let mut out = Vec::new();
        Rrsig::read(&data).unwrap().write_signed(name("*.example.").name(), [&b""[..]], &mut out);
        assert!(out.ends_with(b"\x01*\x07example\0\0\x01\0\x01\0\0\x0e\x10\0\0"));
    }
}
