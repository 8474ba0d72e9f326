//! Findings about a zone and their severity.

use crate::algorithm::DnssecAlgorithm;
use crate::dnskey::DnskeyError;
use crate::ds::DsError;
use crate::name::{DomainName, DomainNameBuf};
use crate::rrsig::RrsigError;
use crate::rtype::RecordType;

/// A finding about a set or a name.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ZoneFinding {
    /// The owner of the set.
    pub owner: DomainNameBuf,
    /// The type of the set.
    pub rtype: RecordType,
    /// The tag of the key, if the finding is about a signature or a key.
    pub key_tag: Option<u16>,
    /// The index of the record; None if the finding is about a missing record.
    pub row: Option<u32>,
    /// The reason of the finding.
    pub reason: FindingReason,
    /// The severity of the finding.
    pub severity: Severity,
}

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The zone is valid, but an administrator should look at it.
    Warning,
    /// The zone is invalid.
    Failure,
}

/// The reason of a finding. Times are seconds since 1970 modulo 2^32.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum FindingReason {
    /// The signature does not verify with any key of its tag.
    #[error("bad signature")]
    BadSignature,
    /// The signature has expired.
    #[error("the signature expired")]
    Expired {
        /// The last second of validity.
        expiration: u32,
    },
    /// The signature is not valid yet.
    #[error("the signature is not yet valid")]
    NotYetValid {
        /// The first second of validity.
        inception: u32,
    },
    /// No key of the zone has the tag and the algorithm.
    #[error("signed by an unknown key")]
    UnknownKey,
    /// The data of the key holds no usable key.
    #[error("unusable key: {0}")]
    UnusableKey(DnskeyError),
    /// A revoked key signs a set other than the keys. RFC 5011 2.1.
    #[error("signed by a revoked key")]
    RevokedKey,
    /// More keys share a tag than are tried. The limit bounds the work.
    #[error("bad signature under {tried} of the {keys} keys with its tag; the other keys are not tried")]
    TooManyKeys {
        /// The number of keys that were tried.
        tried: usize,
        /// The number of keys with the tag.
        keys: usize,
    },
    /// A set has more signatures than are checked. The limit bounds the work.
    #[error("{found} signatures, of which {max} are checked")]
    TooManySignatures {
        /// The number of signatures.
        found: usize,
        /// The maximum number.
        max: usize,
    },
    /// A set has no signature of an algorithm that the zone's keys have. RFC 4035 2.2.
    #[error("not signed with {0}")]
    MissingSignature(DnssecAlgorithm),
    /// The signature names another zone as its signer.
    #[error("signed by {0}, which is not the zone")]
    WrongSigner(DomainNameBuf),
    /// The signature counts fewer labels than the owner has, as if the name were expanded from a wildcard. RFC 4035
    /// 2.2.
    #[error("the signature counts {found} labels, the name has {expected}")]
    WrongLabels {
        /// The number of the owner's labels.
        expected: usize,
        /// The number in the signature.
        found: u8,
    },
    /// The data of the signature is malformed.
    #[error("malformed signature: {0}")]
    MalformedSignature(RrsigError),
    /// The signature covers records that do not exist.
    #[error("a signature without records")]
    NothingSigned,
    /// The signature covers records that are not signed: glue, or the name servers of a delegation.
    #[error("a signature on records that are not signed")]
    SignedGlue,
    /// The record belongs to another zone.
    #[error("out of zone")]
    OutOfZone,
    /// The records of a set have several times to live. RFC 2181 5.2.
    #[error("times to live differ: {0} s and {1} s")]
    TtlMismatch(u32, u32),
    /// The time to live differs from the signed one. RFC 4034 3.1.4.
    #[error("the time to live is {found} s, {signed} s was signed")]
    OriginalTtl {
        /// The time to live in the signature.
        signed: u32,
        /// The time to live of the set.
        found: u32,
    },
    /// The time to live of the signature differs from that of its set. RFC 4034 section 3.
    #[error("the signature's time to live is {found} s, the set's {expected} s")]
    SignatureTtl {
        /// The time to live of the set.
        expected: u32,
        /// The time to live of the signature.
        found: u32,
    },
    /// The record repeats another record. RFC 2181 section 5.
    #[error("a copy of another record")]
    Duplicate,
    /// A CNAME has other records beside it. RFC 2181 10.1.
    #[error("a CNAME with other records beside it")]
    AliasBesideOthers,
    /// A DS record stands at a name that is not delegated.
    #[error("a DS record without delegation")]
    DsWithoutDelegation,
    /// The data of a DS record is malformed.
    #[error("malformed DS record: {0}")]
    MalformedDs(DsError),
    /// A name server below its own delegation has no address record. RFC 1034 4.2.1.
    #[error("no address for the name server {0}")]
    MissingGlue(DomainNameBuf),
    /// An SOA record stands below the apex. RFC 1035 5.2.
    #[error("a SOA record below the zone's own name")]
    SoaBelow,
    /// The zone has more than one SOA record.
    #[error("{0} SOA records")]
    SeveralSoa(usize),
    /// The zone has no NS records of its own.
    #[error("the zone has no NS records of its own")]
    NoNameServers,
    /// The zone has no key that signs.
    #[error("no DNSKEY: the zone is not signed")]
    Unsigned,
    /// No signature of the zone has a supported algorithm.
    #[error("no signature has a supported algorithm: not verified")]
    NothingSupported,
    /// The zone has neither NSEC nor NSEC3 records.
    #[error("no NSEC or NSEC3 records: the absence of names is not proved")]
    NoDenial,
    /// The chain has no record for a name.
    #[error("no {0} record")]
    MissingDenial(RecordType),
    /// A name has more than one NSEC record.
    #[error("{0} NSEC records")]
    SeveralNsec(usize),
    /// The chain has a record for a name that is not in it.
    #[error("covers a name that is not in the zone")]
    NeedlessDenial,
    /// The data of an NSEC, NSEC3 or NSEC3PARAM record is malformed.
    #[error("malformed data")]
    MalformedDenial,
    /// A record of the chain leads to the wrong name. RFC 4034 4.1.1, RFC 5155 7.1.
    #[error("a gap: leads to {found}, the next is {expected}")]
    Gap {
        /// The next name of the chain.
        expected: String,
        /// The name in the record.
        found: String,
    },
    /// The bitmap does not list the types of the name. RFC 4034 4.1.2, RFC 5155 3.2.1.
    #[error("lists {found}; the name has {expected}")]
    Types {
        /// The types of the name.
        expected: String,
        /// The types in the bitmap.
        found: String,
    },
    /// The parameters of an NSEC3 record occur in no NSEC3PARAM record. RFC 5155 7.1.
    #[error("the parameters match no NSEC3PARAM of the zone")]
    Parameters,
    /// The hash algorithm is not SHA-1.
    #[error("hash algorithm {0} is not supported: the chain is not checked")]
    UnknownHash(u8),
    /// The iterations exceed the limit. RFC 9276 3.2.
    #[error("{found} iterations, of which at most {max} are computed")]
    TooManyIterations {
        /// The number of iterations.
        found: u16,
        /// The maximum number.
        max: u16,
    },
    /// The number of chains exceeds the limit, so no chain is checked.
    #[error("{found} chains, of which at most {max} are computed")]
    TooManyChains {
        /// The number of chains.
        found: usize,
        /// The maximum number.
        max: usize,
    },
    /// The chain has additional iterations. RFC 9276 3.1 recommends none.
    #[error("{0} additional iterations; RFC 9276 recommends none")]
    Iterations(u16),
    /// The zone digest does not match the records. RFC 8976 section 4.
    #[error("the zone digest does not match the records")]
    ZoneDigest,
    /// The zone digest is that of another serial number.
    #[error("made for the serial number {found}, the zone's is {expected}")]
    ZoneDigestSerial {
        /// The serial number of the zone.
        expected: u32,
        /// The serial number in the record.
        found: u32,
    },
    /// Two digests have the same scheme and algorithm, so neither counts. RFC 8976 2.2.
    #[error("several digests of one scheme and algorithm")]
    SeveralZoneDigests,
    /// The scheme or the algorithm of a zone digest is unknown. RFC 8976 section 4.
    #[error("scheme {scheme} with algorithm {algorithm} is not supported")]
    UnknownZoneDigest { scheme: u8, algorithm: u8 },
    /// The data of a ZONEMD record is malformed.
    #[error("malformed ZONEMD record")]
    MalformedZoneDigest,
    /// No key that an anchor confirms signs the zone's keys.
    #[error("no anchor leads to a key that signs the zone's keys")]
    NotAnchored,
}

impl FindingReason {
    /// Returns a stable code for programs.
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

    /// Returns the severity of the reason by itself.
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

    /// Returns true if a good signature beside this one makes the finding a warning. This signature is not valid now,
    /// or its key is being added or removed. RFC 6781 4.1.
    pub(super) fn is_made_up_for(&self) -> bool {
        matches!(self, Self::Expired { .. } | Self::NotYetValid { .. } | Self::UnknownKey | Self::RevokedKey)
    }
}

/// The findings, and the numbers of checked items.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct VerifyReport {
    /// The findings, in the order of the checks.
    pub findings: Vec<ZoneFinding>,
    /// The numbers of checked items.
    pub counts: VerifyCounts,
}

/// The numbers of checked items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct VerifyCounts {
    /// The number of names of the zone, delegations included.
    pub names: u64,
    /// The number of sets that must be signed.
    pub signed_sets: u64,
    /// The number of good signatures.
    pub good_signatures: u64,
    /// The number of signatures with unsupported algorithms or keys.
    pub unsupported_signatures: u64,
    /// The number of delegations.
    pub delegations: u64,
    /// The number of delegations with DS records.
    pub secure_delegations: u64,
    /// The number of computed verifications, good or bad.
    pub verifications: u64,
}

impl VerifyReport {
    /// Returns the number of failures among the findings.
    #[must_use]
    pub fn failures(&self) -> usize {
        self.findings.iter().filter(|finding| finding.severity == Severity::Failure).count()
    }

    /// Adds the report of another part of the zone.
    pub fn merge(&mut self, other: Self) {
        self.findings.extend(other.findings);
        let (counts, other) = (&mut self.counts, other.counts);
        counts.names += other.names;
        counts.signed_sets += other.signed_sets;
        counts.good_signatures += other.good_signatures;
        counts.unsupported_signatures += other.unsupported_signatures;
        counts.delegations += other.delegations;
        counts.secure_delegations += other.secure_delegations;
        counts.verifications += other.verifications;
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
