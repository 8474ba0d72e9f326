//! DNSSEC: zones are parsed, verified and signed, many signatures at a time. The crate does no I/O: the caller reads
//! and writes files.
//!
//! | module | content |
//! |---|---|
//! | [`name`](DomainName) | domain names in wire format, their text and their canonical order |
//! | [`rtype`](RecordType) | types of records and their mnemonics |
//! | [`records`](ZoneRecords) | the records of a zone, in flat buffers; sets that [replace](ReplacementSets) others |
//! | [`sets`](RecordSets) | records in canonical order, grouped by name and type, with their signatures |
//! | `messages` | the messages of signatures, hashed in batches |
//! | [`rrsig`](Rrsig) | the fields of a signature, its validity, and the bytes that it signs |
//! | [`zone_cut`](NameOwnerships) | the names of a zone: its own, delegated, glue, empty |
//! | [`bitmap`](TypeBitmap) | the types of a name, as NSEC and NSEC3 records list them |
//! | [`nsec3_hash`](hash_names), [`base32hex`](write_base32hex) | hashed names of NSEC3, in batches, and their text |
//! | [`algorithm`](DnssecAlgorithm) | algorithms of keys and signatures, and the facade's schemes for them |
//! | [`dnskey`](Dnskey), [`ed448`](Ed448Key) | public keys and their tags; Ed448, which the facade does not have |
//! | [`ds`](Ds) | digests of keys |
//! | [`key_times`](KeyTimes) | the times of keys, and key files with them |
//! | [`dsset`](read_dsset) | files with the DS records of a child zone |
//! | [`ksr`] | signed key requests and responses, for key-signing keys that stay offline |
//! | [`sign`] | zones completed and signed, many sets at a time |
//! | [`zone`] | zone files, read and written |
//! | `text` | the text of zone files: words, names and the errors of entries |
//! | [`rdata`] | the data of records: parsed, printed, checked, in canonical form |
//! | `data_error` | the error of data that does not match its type |
//! | [`nsec3`](Nsec3) | the data of NSEC3 and NSEC3PARAM records |
//! | [`zonemd`](Zonemd) | digests of whole zones |
//! | [`verify`](ZoneVerifier) | whole zones verified |
//!
//! To sign and verify a zone:
//!
//! ```
//! use oarlock::Accelerator;
//! use oarlock::Curve;
//! use oarlock_dnssec::sign::{ZoneDraft, SignatureLifetime, SigningPlan, KeyRole, SignOptions, SignerKey};
//! use oarlock_dnssec::zone::ZoneReader;
//! use oarlock_dnssec::{DnssecAlgorithm, ZoneRecords, RecordSets, VerifySettings, ZoneVerifier};
//!
//! let accelerator = Accelerator::builder().engines(["scalar"]).build()?;
//! let read = |text: &[u8]| {
//!     let mut include = |_: &str| Err("there are no files here".to_owned());
//!     let mut records = ZoneRecords::new();
//!     ZoneReader::new(None, &mut include).read(text, true, &mut records);
//!     records
//! };
//! let zone = read(
//!     b"example. 3600 IN SOA ns.example. host.example. 1 7200 3600 1209600 300\n\
//!       example. 3600 IN NS ns.example.\n\
//!       ns.example. 3600 IN A 192.0.2.1\n",
//! );
//!
//! let now = 1_800_000_000;
//! let key = oarlock::keys::generate::ec(Curve::P256)?;
//! let key = SignerKey::new(key, KeyRole::Csk, 257, DnssecAlgorithm::ECDSAP256SHA256)?;
//! let draft = ZoneDraft::new(&accelerator, &zone, vec![key], SignOptions::new(SignatureLifetime::from(now)), None)?;
//! let plan = SigningPlan::new(&draft, None)?;
//! let mut text = Vec::new();
//! for names in plan.ranges() {
//!     let signatures = plan.sign(&accelerator, names.clone())?;
//!     plan.write(names, &signatures, &mut text);
//! }
//!
//! let signed = read(&text);
//! let sets = RecordSets::new(&signed);
//! let verifier = ZoneVerifier::new(&sets, VerifySettings::at(now))?;
//! let mut report = verifier.check_names(&accelerator, 0..verifier.name_count())?;
//! report.merge(verifier.check_whole(&accelerator)?);
//! assert_eq!((report.failures(), report.counts.good_signatures), (0, 6));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//! With the features `domain` and `hickory-proto`, names convert from and to those of the crates of that name.
#![forbid(unsafe_code)]

mod algorithm;
mod base32hex;
mod bitmap;
mod data_error;
mod dnskey;
mod ds;
mod dsset;
mod ed448;
#[cfg(test)]
mod examples;
mod key_times;
pub mod ksr;
mod messages;
mod name;
mod nsec3;
mod nsec3_hash;
pub mod rdata;
mod records;
mod rrsig;
mod rtype;
mod sets;
pub mod sign;
mod text;
mod verify;
pub mod zone;
mod zone_cut;
mod zonemd;

pub use self::algorithm::{DnssecAlgorithm, UnknownAlgorithmError};
pub use self::base32hex::{base32hex_len, read_base32hex, write_base32hex};
pub use self::bitmap::{BitmapError, TypeBitmap, write_bitmap};
pub use self::dnskey::{
    DELETE_CDNSKEY, Dnskey, DnskeyError, REVOKE, SECURE_ENTRY_POINT, ZONE_KEY, ZonePublicKey, dnskey_rdata,
};
pub use self::ds::{DELETE_CDS, DigestType, Ds, DsError, UnknownDigestError, ds_rdata};
pub use self::dsset::{DssetError, DssetFault, MAX_DSSET_BYTES, MAX_DSSET_RECORDS, read_dsset, write_dsset};
pub use self::ed448::Ed448Key;
pub use self::key_times::{
    KeyEvent, KeyPhase, KeyTimes, KeyTimesContradiction, KeyTimesError, KeyTimesFault, TimedFile,
};
pub use self::name::{DomainName, DomainNameBuf, LetterCase, MAX_NAME, NameError, NameLabels};
pub use self::nsec3::{Nsec3, Nsec3Parameters, OPT_OUT};
pub use self::nsec3_hash::{NSEC3_HASH_LEN, NSEC3_SHA1, Nsec3Hash, hash_names};
pub use self::records::{OwnerId, ReplacementSets, ZoneRecord, ZoneRecords, ZoneRecordsError};
pub use self::rrsig::{Rrsig, RrsigError, Validity, serial_cmp, signed_labels};
pub use self::rtype::{RecordType, UnknownTypeError};
pub use self::sets::{RecordSet, RecordSets};
pub use self::verify::{
    AnchorData, FindingReason, Severity, TrustAnchor, VerifyCounts, VerifyReport, VerifySettings, ZoneError,
    ZoneFinding, ZoneVerifier,
};
pub use self::zone_cut::{EmptyName, NameOwnership, NameOwnerships, empty_names};
pub use self::zonemd::{ZONEMD_SIMPLE, Zonemd, zone_digest, zonemd_digest};
