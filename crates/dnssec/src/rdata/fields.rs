//! What data of each type are made of, from the first byte on.

use crate::rtype::Type;

/// A part of a record's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    /// A number of 8, 16 or 32 bits.
    Byte,
    Short,
    Long,
    /// Seconds, 32 bits.
    Period,
    /// A point in time, 32 bits. RFC 4034 3.2.
    Time,
    /// A type of record.
    Covered,
    /// Numbers with mnemonics.
    Algorithm,
    Digest,
    CertKind,
    Notify,
    Ip4,
    Ip6,
    /// A name that canonical form has in small letters. RFC 4034 6.2.
    Name,
    /// A name that stays as it is. RFC 6840 5.1.
    NameKept,
    /// A string of up to 255 bytes after its length; at most one; one or more, to the end.
    Text,
    OptionalText,
    Texts,
    /// Letters and digits after their length.
    Tag,
    /// Bytes to the end, as a quoted string.
    Quoted,
    /// Bytes to the end, at least one.
    Base64,
    Hex,
    /// Bytes to the end, or none.
    OptionalBase64,
    OptionalHex,
    /// Bytes after their length: in hex or `-`, in base32hex and at least one. RFC 5155 3.3.
    Salt,
    Hash,
    /// Types as windows of bits, to the end. RFC 4034 4.1.2.
    Types,
    /// Types below 128 as bits, to the end. RFC 2535 5.2.
    OldTypes,
    /// 6 or 8 bytes with hyphens. RFC 7043.
    Eui48,
    Eui64,
    /// 64 bits as four numbers. RFC 6742.
    Locator,
    /// Bytes to the end, in hex after `0x`. RFC 1706.
    Nsap,
    /// RFC 3123, to the end.
    Prefixes,
    /// RFC 1876.
    Location,
    /// Kind of gateway, algorithm and gateway. RFC 4025 2.1.
    Gateway,
    /// Discovery bit, kind of relay and relay. RFC 8777 4.2.
    Relay,
    /// Host identity, key and servers, to the end. RFC 8005.
    HostIdentity,
    /// Parameters of a service, to the end. RFC 9460 2.2.
    Parameters,
}

/// The fields of a type; none where its text is not known.
pub(super) fn fields(rtype: Type) -> Option<&'static [Field]> {
    use Field::*;
    Some(match rtype {
        Type::A => &[Ip4],
        Type::AAAA => &[Ip6],
        Type::NS | Type::MD | Type::MF | Type::CNAME | Type::MB | Type::MG | Type::MR | Type::PTR => &[Name],
        Type::DNAME => &[Name],
        Type::SOA => &[Name, Name, Long, Period, Period, Period, Period],
        Type::MX | Type::AFSDB | Type::RT | Type::KX => &[Short, Name],
        Type::TXT | Type::SPF | Type::AVC | Type::RESINFO | Type::WALLET => &[Texts],
        Type::RRSIG | Type::SIG => &[Covered, Algorithm, Byte, Period, Time, Time, Short, Name, Base64],
        Type::NSEC => &[NameKept, Types],
        Type::NSEC3 => &[Byte, Byte, Short, Salt, Hash, Types],
        Type::NSEC3PARAM => &[Byte, Byte, Short, Salt],
        Type::DNSKEY | Type::CDNSKEY | Type::KEY => &[Short, Byte, Algorithm, OptionalBase64],
        Type::DS | Type::CDS | Type::DLV => &[Short, Algorithm, Digest, Hex],
        Type::HINFO => &[Text, Text],
        Type::MINFO | Type::RP => &[Name, Name],
        Type::X25 => &[Text],
        Type::ISDN => &[Text, OptionalText],
        Type::NSAP => &[Nsap],
        Type::PX => &[Short, Name, Name],
        Type::GPOS => &[Text, Text, Text],
        Type::LOC => &[Location],
        Type::NXT => &[Name, OldTypes],
        Type::SRV => &[Short, Short, Short, Name],
        Type::NAPTR => &[Short, Short, Text, Text, Text, Name],
        Type::CERT => &[CertKind, Short, Algorithm, Base64],
        Type::APL => &[Prefixes],
        Type::SSHFP => &[Byte, Byte, OptionalHex],
        Type::IPSECKEY => &[Byte, Gateway, OptionalBase64],
        Type::DHCID | Type::OPENPGPKEY => &[Base64],
        Type::TLSA | Type::SMIMEA => &[Byte, Byte, Byte, OptionalHex],
        Type::HIP => &[HostIdentity],
        Type::TALINK => &[NameKept, NameKept],
        Type::CSYNC => &[Long, Short, Types],
        Type::ZONEMD => &[Long, Byte, Byte, Hex],
        Type::SVCB | Type::HTTPS => &[Short, NameKept, Parameters],
        Type::DSYNC => &[Covered, Notify, Short, NameKept],
        Type::NID | Type::L64 => &[Short, Locator],
        Type::L32 => &[Short, Ip4],
        Type::LP => &[Short, NameKept],
        Type::EUI48 => &[Eui48],
        Type::EUI64 => &[Eui64],
        Type::URI => &[Short, Short, Quoted],
        Type::CAA => &[Byte, Tag, Quoted],
        Type::AMTRELAY => &[Byte, Relay],
        _ => return None,
    })
}
