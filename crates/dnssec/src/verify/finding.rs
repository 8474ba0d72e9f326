//! What is found in a zone, and how bad it is.

use crate::algorithm::DnssecAlgorithm;
use crate::dnskey::DnskeyError;
use crate::ds::DsError;
use crate::name::{DomainName, DomainNameBuf};
use crate::rrsig::RrsigError;
use crate::rtype::RecordType;

/// Something about a set, or about a name.
#[derive(Clone, Debug, PartialEq)]
pub struct ZoneFinding {
    /// Whose.
    pub owner: DomainNameBuf,
    /// Of which type.
    pub rtype: RecordType,
    /// The tag of the signature's or record's key, where there is one.
    pub key_tag: Option<u16>,
    /// The index of the record where it shows; none where something is missing.
    pub row: Option<u32>,
    /// What it is.
    pub reason: FindingReason,
    /// How bad.
    pub severity: Severity,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth a look; the zone is good.
    Warning,
    /// The zone is bad.
    Failure,
}

/// What is wrong. Times are seconds since 1970 modulo 2^32.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FindingReason {
    /// The signature is not that of any key with its tag.
    #[error("bad signature")]
    BadSignature,
    /// It held until then.
    #[error("the signature expired")]
    Expired {
        /// Its last second.
        expiration: u32,
    },
    /// It holds from then on.
    #[error("the signature is not yet valid")]
    NotYetValid {
        /// Its first second.
        inception: u32,
    },
    /// No key of the zone has the tag and the algorithm.
    #[error("signed by an unknown key")]
    UnknownKey,
    /// The key is there and no key.
    #[error("unusable key: {0}")]
    UnusableKey(DnskeyError),
    /// Revoked keys sign nothing but the keys. RFC 5011 2.1.
    #[error("signed by a revoked key")]
    RevokedKey,
    /// More keys share a tag than are tried: work has a bound.
    #[error("bad signature under {tried} of the {keys} keys with its tag, and no more are tried")]
    TooManyKeys {
        /// Keys that were tried.
        tried: usize,
        /// Keys that there are.
        keys: usize,
    },
    /// A set has more signatures than are looked at: work has a bound.
    #[error("{found} signatures, of which {max} are looked at")]
    TooManySignatures {
        /// The set's.
        found: usize,
        /// The bound.
        max: usize,
    },
    /// A set without any signature of an algorithm that the zone's keys have. RFC 4035 2.2.
    #[error("not signed with {0}")]
    MissingSignature(DnssecAlgorithm),
    /// The signature says another zone signed.
    #[error("signed by {0}, which is not the zone")]
    WrongSigner(DomainNameBuf),
    /// It counts other labels than the owner has, as if expanded from a wildcard. RFC 4035 2.2.
    #[error("the signature counts {found} labels, the name has {expected}")]
    WrongLabels {
        /// The owner's.
        expected: usize,
        /// The signature's.
        found: u8,
    },
    /// Not an RRSIG's data.
    #[error("malformed signature: {0}")]
    MalformedSignature(RrsigError),
    /// A signature of records that are not there.
    #[error("a signature without records")]
    NothingSigned,
    /// A signature where nothing is to be signed: on glue, or on a delegation's name servers.
    #[error("a signature on what is not the zone's own")]
    SignedGlue,
    /// A record of another zone.
    #[error("out of zone")]
    OutOfZone,
    /// Records of a set have several times to live. RFC 2181 5.2.
    #[error("times to live differ: {0} s and {1} s")]
    TtlMismatch(u32, u32),
    /// The time to live is not the one that was signed. RFC 4034 3.1.4.
    #[error("the time to live is {found} s, {signed} s was signed")]
    OriginalTtl {
        /// The signature's.
        signed: u32,
        /// The set's.
        found: u32,
    },
    /// The signature's own time to live is not that of its set. RFC 4034 section 3.
    #[error("the signature's time to live is {found} s, the set's {expected} s")]
    SignatureTtl {
        /// The set's.
        expected: u32,
        /// The signature's.
        found: u32,
    },
    /// The record says what another one says. RFC 2181 section 5.
    #[error("a copy of another record")]
    Duplicate,
    /// An alias with something beside it. RFC 2181 10.1.
    #[error("a CNAME with other records beside it")]
    AliasBesideOthers,
    /// A DS record where no zone is delegated.
    #[error("a DS record without delegation")]
    DsWithoutDelegation,
    /// Not a DS's data.
    #[error("malformed DS record: {0}")]
    MalformedDs(DsError),
    /// A delegation's name server below itself, without address. RFC 1034 4.2.1.
    #[error("no address for the name server {0}")]
    MissingGlue(DomainNameBuf),
    /// The zone's start of authority anywhere else. RFC 1035 5.2.
    #[error("a SOA record below the zone's own name")]
    SoaBelow,
    /// More than one start of authority.
    #[error("{0} SOA records")]
    SeveralSoa(usize),
    /// The zone names no name servers of its own.
    #[error("the zone has no NS records of its own")]
    NoNameServers,
    /// The zone has no key that signs.
    #[error("no DNSKEY: the zone is not signed")]
    Unsigned,
    /// Nothing that is known here signs the zone.
    #[error("signed with nothing that is supported here: not verified")]
    NothingSupported,
    /// The zone has neither NSEC nor NSEC3 records.
    #[error("neither NSEC nor NSEC3 records: the zone denies nothing")]
    NoDenial,
    /// A name that the chain should speak of.
    #[error("no {0} record")]
    MissingDenial(RecordType),
    /// More than one at a name.
    #[error("{0} NSEC records")]
    SeveralNsec(usize),
    /// A record of the chain where none belongs.
    #[error("speaks of a name that is not the zone's own, or not there")]
    NeedlessDenial,
    /// Not such a record's data.
    #[error("malformed data")]
    MalformedDenial,
    /// The chain leads elsewhere. RFC 4034 4.1.1, RFC 5155 7.1.
    #[error("a gap: leads to {found}, the next is {expected}")]
    Gap {
        /// The next one that is there.
        expected: String,
        /// The one that the record names.
        found: String,
    },
    /// The bitmap lists other types than there are. RFC 4034 4.1.2, RFC 5155 3.2.1.
    #[error("lists {found}; there are {expected}")]
    Types {
        /// Those that are there.
        expected: String,
        /// Those of the record.
        found: String,
    },
    /// An NSEC3 record with parameters that no NSEC3PARAM has. RFC 5155 7.1.
    #[error("parameters that are not those of the zone's NSEC3PARAM")]
    Parameters,
    /// A hash algorithm other than SHA-1.
    #[error("hash algorithm {0} is not supported: the chain is not checked")]
    UnknownHash(u8),
    /// More iterations than are computed. RFC 9276 3.2.
    #[error("{found} iterations, of which at most {max} are computed")]
    TooManyIterations {
        /// The zone's.
        found: u16,
        /// The bound.
        max: u16,
    },
    /// More chains than are computed, and so none is.
    #[error("{found} chains, of which at most {max} are computed")]
    TooManyChains {
        /// The zone's.
        found: usize,
        /// The bound.
        max: usize,
    },
    /// Iterations that RFC 9276 3.1 advises against.
    #[error("{0} iterations; RFC 9276 wants none")]
    Iterations(u16),
    /// The zone's digest is another one. RFC 8976 section 4.
    #[error("the zone's digest is another one")]
    ZoneDigest,
    /// The digest is of another serial number.
    #[error("made for the serial number {found}, the zone's is {expected}")]
    ZoneDigestSerial {
        /// The zone's.
        expected: u32,
        /// The record's.
        found: u32,
    },
    /// Two digests of one scheme and algorithm, of which none counts. RFC 8976 2.2.
    #[error("several digests of one scheme and algorithm")]
    SeveralZoneDigests,
    /// A scheme or algorithm that is not known here. RFC 8976 section 4.
    #[error("scheme {scheme} with algorithm {algorithm} is not supported")]
    UnknownZoneDigest {
        /// Its scheme.
        scheme: u8,
        /// Its algorithm.
        algorithm: u8,
    },
    /// Not a ZONEMD's data.
    #[error("malformed ZONEMD record")]
    MalformedZoneDigest,
    /// No key that the anchors vouch for signs the zone's keys.
    #[error("no anchor leads to a key that signs the zone's keys")]
    NotAnchored,
}

impl FindingReason {
    /// A word for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::BadSignature => "bad-signature",
            Self::Expired { .. } => "expired",
            Self::NotYetValid { .. } => "not-yet-valid",
            Self::UnknownKey => "unknown-key",
            Self::UnusableKey(_) => "unusable-key",
            Self::RevokedKey => "revoked-key",
            Self::TooManyKeys { .. } => "too-many-keys",
            Self::TooManySignatures { .. } => "too-many-signatures",
            Self::MissingSignature(_) => "missing",
            Self::WrongSigner(_) => "wrong-signer",
            Self::WrongLabels { .. } => "wrong-labels",
            Self::MalformedSignature(_) => "malformed-signature",
            Self::NothingSigned => "nothing-signed",
            Self::SignedGlue => "signed-glue",
            Self::OutOfZone => "out-of-zone",
            Self::TtlMismatch(..) => "ttl-mismatch",
            Self::OriginalTtl { .. } => "original-ttl",
            Self::SignatureTtl { .. } => "signature-ttl",
            Self::Duplicate => "duplicate",
            Self::AliasBesideOthers => "alias-beside-others",
            Self::DsWithoutDelegation => "ds-without-delegation",
            Self::MalformedDs(_) => "malformed-ds",
            Self::MissingGlue(_) => "missing-glue",
            Self::SoaBelow => "soa-below",
            Self::SeveralSoa(_) => "several-soa",
            Self::NoNameServers => "no-name-servers",
            Self::Unsigned => "unsigned",
            Self::NothingSupported => "unsupported",
            Self::NoDenial => "no-denial",
            Self::MissingDenial(_) => "denial-missing",
            Self::SeveralNsec(_) => "several-nsec",
            Self::NeedlessDenial => "denial-needless",
            Self::MalformedDenial => "denial-malformed",
            Self::Gap { .. } => "gap",
            Self::Types { .. } => "types",
            Self::Parameters => "nsec3-parameters",
            Self::UnknownHash(_) => "nsec3-hash",
            Self::TooManyIterations { .. } => "nsec3-too-many-iterations",
            Self::TooManyChains { .. } => "nsec3-too-many-chains",
            Self::Iterations(_) => "nsec3-iterations",
            Self::ZoneDigest => "zonemd",
            Self::ZoneDigestSerial { .. } => "zonemd-serial",
            Self::SeveralZoneDigests => "zonemd-several",
            Self::UnknownZoneDigest { .. } => "zonemd-unsupported",
            Self::MalformedZoneDigest => "zonemd-malformed",
            Self::NotAnchored => "not-anchored",
        }
    }

    /// How bad it is by itself.
    fn severity(&self) -> Severity {
        match self {
            Self::SignatureTtl { .. }
            | Self::Duplicate
            | Self::SignedGlue
            | Self::MissingGlue(_)
            | Self::NothingSupported
            | Self::UnknownHash(_)
            | Self::Iterations(_)
            | Self::UnknownZoneDigest { .. } => Severity::Warning,
            _ => Severity::Failure,
        }
    }

    /// True where another signature may make up for it: it is of another time, or of a key that is on its way in or out.
    /// RFC 6781 4.1.
    pub(super) fn is_made_up_for(&self) -> bool {
        matches!(self, Self::Expired { .. } | Self::NotYetValid { .. } | Self::UnknownKey | Self::RevokedKey)
    }
}

/// What was found, and how much was looked at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VerifyReport {
    /// In the order in which it was found.
    pub findings: Vec<ZoneFinding>,
    /// How much was looked at.
    pub counts: VerifyCounts,
}

/// How much was looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VerifyCounts {
    /// Names that are the zone's own, delegations among them.
    pub names: u64,
    /// Sets that have to be signed.
    pub signed_sets: u64,
    /// Signatures that were computed and are good.
    pub good_signatures: u64,
    /// Signatures with algorithms or keys that are not supported.
    pub unsupported_signatures: u64,
    /// Delegations.
    pub delegations: u64,
    /// Delegations with DS records.
    pub secure_delegations: u64,
    /// Signatures computed, good or not.
    pub verifications: u64,
}

impl VerifyReport {
    /// Failures among the findings.
    #[must_use]
    pub fn failures(&self) -> usize {
        self.findings.iter().filter(|finding| finding.severity == Severity::Failure).count()
    }

    /// Adds another part's.
    pub fn merge(&mut self, other: Self) {
        self.findings.extend(other.findings);
        let (own, other) = (&mut self.counts, other.counts);
        own.names += other.names;
        own.signed_sets += other.signed_sets;
        own.good_signatures += other.good_signatures;
        own.unsupported_signatures += other.unsupported_signatures;
        own.delegations += other.delegations;
        own.secure_delegations += other.secure_delegations;
        own.verifications += other.verifications;
    }

    pub(super) fn add(
        &mut self,
        owner: DomainName<'_>,
        rtype: RecordType,
        row: Option<u32>,
        reason: FindingReason,
    ) -> &mut ZoneFinding {
        let severity = reason.severity();
        let finding = ZoneFinding { owner: owner.to_buf(), rtype, key_tag: None, row, reason, severity };
        self.findings.push(finding);
        // unreachable because one was just pushed
        let last = self.findings.len() - 1;
        &mut self.findings[last]
    }
}
