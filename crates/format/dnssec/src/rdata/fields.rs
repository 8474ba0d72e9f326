//! The fields of each type's data, in order.

use crate::rtype::RecordType;

/// A field of a record's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DataField {
    /// Numbers of 8, 16 or 32 bits.
    Byte,
    Short,
    Long,
    /// 64 bits, as one number or as two with a dot between them. draft-johnson-dns-ipn-cla-07 3.1.
    Node,
    /// Seconds, 32 bits.
    Period,
    /// A point in time, 32 bits. RFC 4034 3.2.
    Time,
    /// The type of a record.
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
    /// A name that is in lower case in canonical form. RFC 4034 6.2.
    Name,
    /// A name that keeps its case. RFC 6840 5.1.
    NameKept,
    /// Strings of up to 255 bytes after their length: one, at most one, or at least one up to the end.
    Text,
    OptionalText,
    Texts,
    /// A substitution expression after its length. RFC 3402 3.2.
    Regexp,
    /// Letters and digits after their length.
    Tag,
    /// Bytes up to the end, as a string that may be quoted, or as a quoted string only. RFC 7553 4.4.
    Quoted,
    Uri,
    /// Bytes up to the end, at least one.
    Base64,
    Hex,
    /// Bytes up to the end, possibly none.
    OptionalBase64,
    OptionalHex,
    /// Bytes up to the end, with `-` for none.
    Base64OrHyphen,
    /// Bytes after their length: in hex or `-`, or in base32hex and at least one. RFC 5155 3.3.
    Salt,
    Hash,
    /// Types as windows of bits up to the end, possibly none or at least one. RFC 4034 4.1.2.
    Types,
    SomeTypes,
    /// Types below 128 as bits, up to the end. RFC 2535 5.2.
    OldTypes,
    /// 6 or 8 bytes with hyphens. RFC 7043.
    Eui48,
    Eui64,
    /// 64 bits as four numbers. RFC 6742.
    Locator,
    /// Bytes up to the end, in hex after `0x`. RFC 1706.
    Nsap,
    /// At least four digits after their length. RFC 1183 3.1.
    Psdn,
    /// A protocol and its services, up to the end. RFC 1035 3.4.2.
    Services,
    /// An ATM address after its format, up to the end. ATM Forum, af-saa-0069.
    Atm,
    /// The length of a prefix, the rest of the address, and the name of the prefix. RFC 2874 3.1.
    AddressSuffix,
    /// Address prefixes up to the end. RFC 3123.
    Prefixes,
    /// A location on Earth. RFC 1876.
    Location,
    /// Kind of gateway, algorithm and gateway. RFC 4025 2.1.
    Gateway,
    /// Discovery bit, kind of relay and relay. RFC 8777 4.2.
    Relay,
    /// A host identity, its key and its servers, up to the end. RFC 8005.
    HostIdentity,
    /// Service parameters up to the end. RFC 9460 2.2.
    Parameters,
}

/// Returns the fields of a type, or None if this crate does not know its text.
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
        RecordType::IPSECKEY => &[Byte, Gateway, OptionalBase64],
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
