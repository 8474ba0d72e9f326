//! What data of each type are made of, from the first byte on.

use crate::rtype::RecordType;

/// A part of a record's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DataField {
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
pub(super) fn fields(rtype: RecordType) -> Option<&'static [DataField]> {
    use DataField::*;
    Some(match rtype {
        RecordType::A => &[Ip4],
        RecordType::AAAA => &[Ip6],
        RecordType::NS
        | RecordType::MD
        | RecordType::MF
        | RecordType::CNAME
        | RecordType::MB
        | RecordType::MG
        | RecordType::MR
        | RecordType::PTR => &[Name],
        RecordType::DNAME | RecordType::NSAP_PTR => &[Name],
        RecordType::SOA => &[Name, Name, Long, Period, Period, Period, Period],
        RecordType::MX | RecordType::AFSDB | RecordType::RT | RecordType::KX => &[Short, Name],
        RecordType::TXT
        | RecordType::SPF
        | RecordType::AVC
        | RecordType::RESINFO
        | RecordType::WALLET
        | RecordType::NINFO
        | RecordType::CLA => &[Texts],
        RecordType::RRSIG | RecordType::SIG => {
            &[Covered, Algorithm, Byte, Long, Time, Time, Short, Name, Base64]
        }
        RecordType::NSEC => &[NameKept, SomeTypes],
        RecordType::NSEC3 => &[Byte, Byte, Short, Salt, Hash, Types],
        RecordType::NSEC3PARAM => &[Byte, Byte, Short, Salt],
        RecordType::DNSKEY | RecordType::CDNSKEY | RecordType::RKEY => {
            &[KeyFlags, KeyProtocol, Algorithm, Base64]
        }
        RecordType::KEY => &[KeyFlags, KeyProtocol, Algorithm, OptionalBase64],
        RecordType::DS | RecordType::CDS | RecordType::DLV | RecordType::TA => {
            &[Short, Algorithm, Digest, Hex]
        }
        RecordType::HINFO => &[Text, Text],
        RecordType::MINFO | RecordType::RP => &[Name, Name],
        RecordType::X25 => &[Psdn],
        RecordType::ISDN => &[Text, OptionalText],
        RecordType::NSAP => &[Nsap],
        RecordType::PX => &[Short, Name, Name],
        RecordType::GPOS => &[Text, Text, Text],
        RecordType::LOC => &[Location],
        RecordType::NXT => &[Name, OldTypes],
        RecordType::SRV => &[Short, Short, Short, Name],
        RecordType::NAPTR => &[Short, Short, Text, Text, Regexp, Name],
        RecordType::CERT => &[CertKind, Short, Algorithm, Base64],
        RecordType::APL => &[Prefixes],
        RecordType::SSHFP => &[Byte, Byte, OptionalHex],
        RecordType::IPSECKEY => &[Byte, Gateway, Base64],
        RecordType::DHCID | RecordType::OPENPGPKEY | RecordType::HHIT | RecordType::BRID => &[Base64],
        RecordType::TLSA | RecordType::SMIMEA => &[Byte, Byte, Byte, Hex],
        RecordType::HIP => &[HostIdentity],
        RecordType::TALINK => &[NameKept, NameKept],
        RecordType::CSYNC => &[Long, Short, Types],
        RecordType::ZONEMD => &[Long, Byte, Byte, Hex],
        RecordType::SVCB | RecordType::HTTPS => &[Short, NameKept, Parameters],
        RecordType::DSYNC => &[Covered, Notify, Short, NameKept],
        RecordType::NID | RecordType::L64 => &[Short, Locator],
        RecordType::L32 => &[Short, Ip4],
        RecordType::LP => &[Short, NameKept],
        RecordType::EUI48 => &[Eui48],
        RecordType::EUI64 => &[Eui64],
        RecordType::IPN => &[Node],
        RecordType::URI => &[Short, Short, Uri],
        RecordType::CAA => &[Byte, Tag, Quoted],
        RecordType::AMTRELAY => &[Byte, Relay],
        RecordType::WKS => &[Ip4, Services],
        RecordType::EID | RecordType::NIMLOC => &[Hex],
        RecordType::ATMA => &[Atm],
        RecordType::A6 => &[AddressSuffix],
        RecordType::SINK => &[Byte, Byte, Byte, OptionalBase64],
        RecordType::DOA => &[Long, Long, Byte, Text, Base64OrHyphen],
        _ => return None,
    })
}
