//! Types of records and their mnemonics (IANA, Domain Name System Parameters).

use std::fmt;
use std::str::FromStr;

/// The type of a record.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordType(pub u16);

/// An error for a text that names no type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a type of record")]
pub struct UnknownTypeError;

macro_rules! types {
    ($($name:ident $text:literal $number:literal)*) => {
        /// All mnemonics and their types.
        const MNEMONICS: &[(&str, RecordType)] = &[$(($text, RecordType::$name)),*];

        #[allow(missing_docs, reason = "each is its mnemonic")]
        impl RecordType {
            $(pub const $name: RecordType = RecordType($number);)*

            /// Returns the mnemonic, if this crate knows one.
            #[must_use]
            pub fn mnemonic(self) -> Option<&'static str> {
                match self.0 {
                    $($number => Some($text),)*
                    _ => None,
                }
            }

            /// Returns the type of a mnemonic in capital letters.
            fn find_mnemonic(text: &[u8]) -> Option<RecordType> {
                $(const $name: &[u8] = $text.as_bytes();)*
                match text {
                    $($name => Some(RecordType::$name),)*
                    _ => None,
                }
            }
        }
    };
}

/// The number of table slots, more than twice the number of mnemonics. A search then ends after one or two slots.
const SLOTS: usize = 256;
const SLOT_BITS: u32 = SLOTS.ilog2();
/// 2^64 divided by the golden ratio. The product spreads a difference in any bit to the high bits.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Mnemonics of up to eight letters as integers, each in its slot or in the next free one.
static TABLE: [(u64, RecordType); SLOTS] = table();

const fn table() -> [(u64, RecordType); SLOTS] {
    let mut table = [(0, RecordType(0)); SLOTS];
    let mut next = 0;
    while next < MNEMONICS.len() {
        let (text, rtype) = MNEMONICS[next];
        let capitals = capitals_of(text.as_bytes());
        let mut slot = slot_of(capitals);
        while table[slot].0 != 0 {
            slot = (slot + 1) % SLOTS;
        }
        if capitals != 0 {
            table[slot] = (capitals, rtype);
        }
        next += 1;
    }
    table
}

const fn slot_of(capitals: u64) -> usize {
    (capitals.wrapping_mul(SPREAD) >> (u64::BITS - SLOT_BITS)) as usize
}

/// Returns the type of a mnemonic of up to eight capital letters, given as an integer that is not 0.
#[inline]
fn find_capitals(capitals: u64) -> Option<RecordType> {
    let mut slot = slot_of(capitals);
    loop {
        match TABLE[slot] {
            (found, rtype) if found == capitals => return Some(rtype),
            (0, _) => return None,
            _ => slot = (slot + 1) % SLOTS,
        }
    }
}

/// Packs up to eight bytes into an integer, the first byte lowest. Returns 0 for a longer text.
const fn capitals_of(text: &[u8]) -> u64 {
    let (mut bits, mut at) = (0, text.len());
    if at > 8 {
        return 0;
    }
    while at > 0 {
        at -= 1;
        bits = bits << 8 | text[at] as u64;
    }
    bits
}

types! {
    A "A" 1 NS "NS" 2 MD "MD" 3 MF "MF" 4 CNAME "CNAME" 5 SOA "SOA" 6 MB "MB" 7 MG "MG" 8 MR "MR" 9 NULL "NULL" 10
    WKS "WKS" 11 PTR "PTR" 12 HINFO "HINFO" 13 MINFO "MINFO" 14 MX "MX" 15 TXT "TXT" 16 RP "RP" 17 AFSDB "AFSDB" 18
    X25 "X25" 19 ISDN "ISDN" 20 RT "RT" 21 NSAP "NSAP" 22 NSAP_PTR "NSAP-PTR" 23 SIG "SIG" 24 KEY "KEY" 25 PX "PX" 26
    GPOS "GPOS" 27 AAAA "AAAA" 28 LOC "LOC" 29 NXT "NXT" 30 EID "EID" 31 NIMLOC "NIMLOC" 32 SRV "SRV" 33 ATMA "ATMA" 34
    NAPTR "NAPTR" 35 KX "KX" 36 CERT "CERT" 37 A6 "A6" 38 DNAME "DNAME" 39 SINK "SINK" 40 OPT "OPT" 41 APL "APL" 42
    DS "DS" 43 SSHFP "SSHFP" 44 IPSECKEY "IPSECKEY" 45 RRSIG "RRSIG" 46 NSEC "NSEC" 47 DNSKEY "DNSKEY" 48
    DHCID "DHCID" 49 NSEC3 "NSEC3" 50 NSEC3PARAM "NSEC3PARAM" 51 TLSA "TLSA" 52 SMIMEA "SMIMEA" 53 HIP "HIP" 55
    NINFO "NINFO" 56 RKEY "RKEY" 57 TALINK "TALINK" 58 CDS "CDS" 59 CDNSKEY "CDNSKEY" 60 OPENPGPKEY "OPENPGPKEY" 61
    CSYNC "CSYNC" 62 ZONEMD "ZONEMD" 63 SVCB "SVCB" 64 HTTPS "HTTPS" 65 DSYNC "DSYNC" 66 HHIT "HHIT" 67 BRID "BRID" 68
    SPF "SPF" 99 UINFO "UINFO" 100 UID "UID" 101 GID "GID" 102 UNSPEC "UNSPEC" 103 NID "NID" 104 L32 "L32" 105
    L64 "L64" 106 LP "LP" 107 EUI48 "EUI48" 108 EUI64 "EUI64" 109 NXNAME "NXNAME" 128 TKEY "TKEY" 249 TSIG "TSIG" 250
    IXFR "IXFR" 251 AXFR "AXFR" 252 MAILB "MAILB" 253 MAILA "MAILA" 254 ANY "ANY" 255 URI "URI" 256 CAA "CAA" 257
    AVC "AVC" 258 DOA "DOA" 259 AMTRELAY "AMTRELAY" 260 RESINFO "RESINFO" 261 WALLET "WALLET" 262 CLA "CLA" 263
    IPN "IPN" 264 TA "TA" 32768 DLV "DLV" 32769
}

impl RecordType {
    /// Returns true for types that no zone may hold: question types and types of messages. RFC 6895 3.1.
    #[must_use]
    pub fn is_meta(self) -> bool {
        matches!(self.0, 0 | 41 | 128..=255)
    }

    /// Returns true for types that the common verifiers (BIND, ldns, Knot DNS) know by name. Some of them stop at an
    /// unknown mnemonic, and some read it as type 0.
    pub(crate) fn is_widely_named(self) -> bool {
        matches!(self.0,
            1 | 2 | 5 | 6 | 12..=18 | 21 | 25 | 28 | 29 | 33 | 35..=37 | 39 | 42..=53 | 59..=65 | 99
            | 104..=109 | 256 | 257)
    }

    /// Parses `text` as [`parse`](Self::parse) does. `capitals` is the text in capital letters as an integer, the
    /// first byte lowest, if it has at most eight bytes.
    #[inline]
    pub(crate) fn parse_with_capitals(text: &[u8], capitals: Option<u64>) -> Option<Self> {
        // 0 marks the free slots of the table, so it cannot be searched for.
        capitals.filter(|capitals| *capitals != 0).and_then(find_capitals).or_else(|| Self::parse(text))
    }

    /// Parses a mnemonic in any case, or `TYPE` and a number. RFC 3597 section 5.
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        let mut capital = [0; 16];
        let capital = capital.get_mut(..text.len())?;
        capital.copy_from_slice(text);
        capital.make_ascii_uppercase();
        if let Some(known) = Self::find_mnemonic(capital) {
            return Some(known);
        }
        let digits = capital.strip_prefix(b"TYPE")?;
        if digits.is_empty() || digits.len() > 5 || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        std::str::from_utf8(digits).ok()?.parse().ok().map(Self)
    }
}

impl FromStr for RecordType {
    type Err = UnknownTypeError;

    fn from_str(text: &str) -> Result<Self, UnknownTypeError> {
        Self::parse(text.as_bytes()).ok_or(UnknownTypeError)
    }
}

impl fmt::Display for RecordType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mnemonic() {
            Some(mnemonic) => f.write_str(mnemonic),
            None => write!(f, "TYPE{}", self.0),
        }
    }
}

impl fmt::Debug for RecordType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mnemonics_and_numbers_are_types_in_any_case() {
        for (text, number) in
            [("A", 1), ("rrsig", 46), ("Type65280", 65280), ("TYPE1", 1), ("nsec3param", 51)]
        {
            assert_eq!(text.parse(), Ok(RecordType(number)));
        }
        let registered =
            [("nsap-ptr", 23), ("A6", 38), ("Hhit", 67), ("NXNAME", 128), ("UNSPEC", 103), ("TA", 32_768)];
        for (text, number) in registered {
            assert_eq!(text.parse(), Ok(RecordType(number)));
        }
        for text in ["", "TYPE", "TYPE65536", "TYPE+1", "TYPE000001", "NSEC3PARAMETERSXX", "B"] {
            assert_eq!(text.parse::<RecordType>(), Err(UnknownTypeError), "{text}");
        }
        assert_eq!(
            (RecordType(46).to_string(), RecordType(65280).to_string()),
            ("RRSIG".into(), "TYPE65280".into())
        );
    }

    /// IANA, Resource Record (RR) TYPEs: each number has one mnemonic, and the table finds it.
    #[test]
    fn every_mnemonic_is_found() {
        for (text, rtype) in MNEMONICS {
            assert_eq!((text.parse(), rtype.mnemonic()), (Ok(*rtype), Some(*text)));
            let capitals = (text.len() <= 8).then(|| capitals_of(text.as_bytes()));
            assert_eq!(RecordType::parse_with_capitals(text.as_bytes(), capitals), Some(*rtype));
        }
        let named = (0..=u16::MAX).filter(|number| RecordType(*number).mnemonic().is_some()).count();
        assert_eq!(named, MNEMONICS.len());
        assert!(
            (0..=u16::MAX)
                .map(RecordType)
                .all(|rtype| !rtype.is_widely_named() || rtype.mnemonic().is_some())
        );
    }
}
