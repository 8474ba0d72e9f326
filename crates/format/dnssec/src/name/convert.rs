//! Conversions from and to names of the crates `domain` and `hickory-proto`, each with the feature of that name.

use super::{DomainName, DomainNameBuf};

#[cfg(feature = "domain")]
impl<B: AsRef<[u8]> + ?Sized> From<&domain::base::Name<B>> for DomainNameBuf {
    fn from(name: &domain::base::Name<B>) -> Self {
        DomainName::trusted(name.as_slice()).to_buf()
    }
}

#[cfg(feature = "domain")]
impl From<DomainName<'_>> for domain::base::Name<Vec<u8>> {
    #[allow(
        clippy::expect_used,
        reason = "both types hold absolute names of at most 255 bytes in wire format"
    )]
    fn from(name: DomainName<'_>) -> Self {
        Self::from_octets(name.as_bytes().to_vec()).expect("a valid name")
    }
}

/// A relative name counts as absolute: nothing is appended to it.
#[cfg(feature = "hickory-proto")]
impl From<&hickory_proto::rr::Name> for DomainNameBuf {
    fn from(name: &hickory_proto::rr::Name) -> Self {
        let mut wire = smallvec::SmallVec::new();
        for label in name.iter() {
            // Labels have at most 63 bytes.
            wire.push(label.len() as u8);
            wire.extend_from_slice(label);
        }
        wire.push(0);
        Self(wire)
    }
}

#[cfg(feature = "hickory-proto")]
impl From<DomainName<'_>> for hickory_proto::rr::Name {
    #[allow(clippy::expect_used, reason = "labels have 1 to 63 bytes, and the name at most 255")]
    fn from(name: DomainName<'_>) -> Self {
        let mut absolute = Self::from_labels(name.labels()).expect("a valid name");
        absolute.set_fqdn(true);
        absolute
    }
}

#[cfg(all(test, feature = "domain", feature = "hickory-proto"))]
mod tests {
    use super::*;
    use crate::LetterCase;

    #[test]
    fn names_survive_conversion() {
        let longest = "a.".repeat(127);
        for text in [".", "example.com.", r"A\.b\000\255.*.", longest.as_str()] {
            let name = DomainNameBuf::parse(text.as_bytes(), DomainName::ROOT, LetterCase::Kept).unwrap();
            let converted = domain::base::Name::<Vec<u8>>::from(name.name());
            assert_eq!(DomainNameBuf::from(&converted), name, "{text}");
            let converted = hickory_proto::rr::Name::from(name.name());
            assert!(converted.is_fqdn());
            assert_eq!(DomainNameBuf::from(&converted), name, "{text}");
        }
        let relative = hickory_proto::rr::Name::from_labels([&b"www"[..], b"example"]).unwrap();
        assert_eq!(DomainNameBuf::from(&relative).to_string(), "www.example.");
    }
}
