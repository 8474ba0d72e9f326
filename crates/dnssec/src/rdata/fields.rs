//! What data of each type are made of, from the first byte on.

use crate::rtype::Type;

/// A part of a record's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    /// A number of 8, 16 or 32 bits.
    Byte,
    Short,
    Long,
    /// 64 bits, as one number or as two with a dot between them. draft-johnson-dns-ipn-cla-07 3.1.
    Node,
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
    /// Flags and protocol of a key. RFC 2535 3.1.2 and 3.1.3.
    KeyFlags,
    KeyProtocol,
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
    /// A substitution expression after its length. RFC 3402 3.2.
    Regexp,
    /// Letters and digits after their length.
    Tag,
    /// Bytes to the end, as a string, quoted or not; as a quoted string only. RFC 7553 4.4.
    Quoted,
    Uri,
    /// Bytes to the end, at least one.
    Base64,
    Hex,
    /// Bytes to the end, or none.
    OptionalBase64,
    OptionalHex,
    /// The same, with `-` for none.
    Base64OrHyphen,
    /// Bytes after their length: in hex or `-`, in base32hex and at least one. RFC 5155 3.3.
    Salt,
    Hash,
    /// Types as windows of bits, to the end; at least one of them. RFC 4034 4.1.2.
    Types,
    SomeTypes,
    /// Types below 128 as bits, to the end. RFC 2535 5.2.
    OldTypes,
    /// 6 or 8 bytes with hyphens. RFC 7043.
    Eui48,
    Eui64,
    /// 64 bits as four numbers. RFC 6742.
    Locator,
    /// Bytes to the end, in hex after `0x`. RFC 1706.
    Nsap,
    /// At least four digits after their length. RFC 1183 3.1.
    Psdn,
    /// Protocol and services, to the end. RFC 1035 3.4.2.
    Services,
    /// An ATM address after its format, to the end. ATM Forum, af-saa-0069.
    Atm,
    /// Length of a prefix, what of an address is behind it, and the prefix's name. RFC 2874 3.1.
    AddressSuffix,
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
        Type::DNAME | Type::NSAP_PTR => &[Name],
        Type::SOA => &[Name, Name, Long, Period, Period, Period, Period],
        Type::MX | Type::AFSDB | Type::RT | Type::KX => &[Short, Name],
        Type::TXT | Type::SPF | Type::AVC | Type::RESINFO | Type::WALLET | Type::NINFO | Type::CLA => {
            &[Texts]
        }
        Type::RRSIG | Type::SIG => &[Covered, Algorithm, Byte, Long, Time, Time, Short, Name, Base64],
        Type::NSEC => &[NameKept, SomeTypes],
        Type::NSEC3 => &[Byte, Byte, Short, Salt, Hash, Types],
        Type::NSEC3PARAM => &[Byte, Byte, Short, Salt],
        Type::DNSKEY | Type::CDNSKEY | Type::RKEY => &[KeyFlags, KeyProtocol, Algorithm, Base64],
        Type::KEY => &[KeyFlags, KeyProtocol, Algorithm, OptionalBase64],
        Type::DS | Type::CDS | Type::DLV | Type::TA => &[Short, Algorithm, Digest, Hex],
        Type::HINFO => &[Text, Text],
        Type::MINFO | Type::RP => &[Name, Name],
        Type::X25 => &[Psdn],
        Type::ISDN => &[Text, OptionalText],
        Type::NSAP => &[Nsap],
        Type::PX => &[Short, Name, Name],
        Type::GPOS => &[Text, Text, Text],
        Type::LOC => &[Location],
        Type::NXT => &[Name, OldTypes],
        Type::SRV => &[Short, Short, Short, Name],
        Type::NAPTR => &[Short, Short, Text, Text, Regexp, Name],
        Type::CERT => &[CertKind, Short, Algorithm, Base64],
        Type::APL => &[Prefixes],
        Type::SSHFP => &[Byte, Byte, OptionalHex],
        Type::IPSECKEY => &[Byte, Gateway, Base64],
        Type::DHCID | Type::OPENPGPKEY | Type::HHIT | Type::BRID => &[Base64],
        Type::TLSA | Type::SMIMEA => &[Byte, Byte, Byte, Hex],
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
        Type::IPN => &[Node],
        Type::URI => &[Short, Short, Uri],
        Type::CAA => &[Byte, Tag, Quoted],
        Type::AMTRELAY => &[Byte, Relay],
        Type::WKS => &[Ip4, Services],
        Type::EID | Type::NIMLOC => &[Hex],
        Type::ATMA => &[Atm],
        Type::A6 => &[AddressSuffix],
        Type::SINK => &[Byte, Byte, Byte, OptionalBase64],
        Type::DOA => &[Long, Long, Byte, Text, Base64OrHyphen],
        _ => return None,
    })
}
