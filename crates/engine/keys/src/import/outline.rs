//! The recognition of a DER structure by the tags of its first members.

use der::asn1::AnyRef;
use der::{Decode, Reader, SliceReader, Tag};

use crate::KeyError;

/// The structures of the supported files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Structure {
    Pkcs8,
    EncryptedPkcs8,
    Pkcs1Private,
    Pkcs1Public,
    Sec1,
    Spki,
    Certificate,
}

impl Structure {
    /// Finds the structure of `bytes` from the first three members of the outer SEQUENCE.
    pub(super) fn from_der(bytes: &[u8]) -> Result<Self, KeyError> {
        let tags = leading_tags(bytes).ok_or(KeyError::UnknownFormat)?;
        match tags {
            // The first three tags distinguish all structures. None means that there are only two members.
            [Some(Tag::Integer), Some(Tag::Sequence), Some(Tag::OctetString)] => Ok(Self::Pkcs8),
            [Some(Tag::Integer), Some(Tag::OctetString), _] => Ok(Self::Sec1),
            [Some(Tag::Integer), Some(Tag::Integer), None] => Ok(Self::Pkcs1Public),
            [Some(Tag::Integer), Some(Tag::Integer), Some(Tag::Integer)] => Ok(Self::Pkcs1Private),
            [Some(Tag::Sequence), Some(Tag::OctetString), None] => Ok(Self::EncryptedPkcs8),
            [Some(Tag::Sequence), Some(Tag::BitString), None] => Ok(Self::Spki),
            [Some(Tag::Sequence), Some(Tag::Sequence), Some(Tag::BitString)] => Ok(Self::Certificate),
            _ => Err(KeyError::UnknownFormat),
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Pkcs8 => "PKCS#8 PrivateKeyInfo",
            Self::EncryptedPkcs8 => "PKCS#8 EncryptedPrivateKeyInfo",
            Self::Pkcs1Private => "PKCS#1 RSAPrivateKey",
            Self::Pkcs1Public => "PKCS#1 RSAPublicKey",
            Self::Sec1 => "SEC 1 ECPrivateKey",
            Self::Spki => "SubjectPublicKeyInfo",
            Self::Certificate => "X.509 certificate",
        }
    }

    /// Returns the PEM label. RFC 7468 sections 5, 10, 11 and 13; the labels for RSA and EC are OpenSSL's.
    #[cfg(feature = "key-files")]
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Pkcs8 => "PRIVATE KEY",
            Self::EncryptedPkcs8 => "ENCRYPTED PRIVATE KEY",
            Self::Pkcs1Private => "RSA PRIVATE KEY",
            Self::Pkcs1Public => "RSA PUBLIC KEY",
            Self::Sec1 => "EC PRIVATE KEY",
            Self::Spki => "PUBLIC KEY",
            Self::Certificate => "CERTIFICATE",
        }
    }

    /// The structures that hold one key.
    #[cfg(feature = "key-files")]
    pub(super) const KEYS: [Self; 6] =
        [Self::Pkcs8, Self::EncryptedPkcs8, Self::Pkcs1Private, Self::Pkcs1Public, Self::Sec1, Self::Spki];
}

/// Returns the tags of the first three members, or None if the bytes are not one SEQUENCE of well-formed members.
fn leading_tags(bytes: &[u8]) -> Option<[Option<Tag>; 3]> {
    // `from_der` also rejects bytes after the SEQUENCE.
    let outer = AnyRef::from_der(bytes).ok()?;
    if der::Tagged::tag(&outer) != Tag::Sequence {
        return None;
    }
    let mut reader = SliceReader::new(outer.value()).ok()?;
    let mut tags = [None; 3];
    for tag in &mut tags {
        if !reader.is_finished() {
            *tag = Some(der::Tagged::tag(&AnyRef::decode(&mut reader).ok()?));
        }
    }
    Some(tags)
}
