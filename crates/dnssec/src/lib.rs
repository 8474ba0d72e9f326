//! The DNS trade of Oarlock: zones parsed, verified and signed, many signatures at a time, and what a resolver's load asks of a
//! machine. No I/O: whoever has files and traffic gives them in and takes answers out.
//!
//! | module | what it holds |
//! |---|---|
//! | [`name`](Name) | domain names in wire format, their text and their canonical order |
//! | [`rtype`](Type) | types of records and their mnemonics |
//! | [`records`](Records) | the records of a zone, in flat buffers |
//! | [`sets`](Sets) | records in canonical order, grouped by name and type, with their signatures |
//! | `messages` | what signatures sign, hashed side by side |
//! | [`rrsig`](Rrsig) | what a signature says, when it holds, and the bytes that it signs |
//! | [`zone_cut`](Places) | which names are the zone's own, where it delegates, which names are empty |
//! | [`bitmap`](Bitmap) | which types a name has, as records of chains list them |
//! | [`nsec3_hash`](hash_names), [`base32hex`](write_base32hex) | hashed names of NSEC3, many at a time, and their text |
//! | [`algorithm`](Algorithm) | algorithms of keys and signatures, and the hall's schemes for them |
//! | [`dnskey`](Dnskey), [`ed448`](Ed448Key) | public keys of zones, their tags; the one algorithm that the hall does not have |
//! | [`ds`](Ds) | digests of keys |
//! | [`sign`] | zones put together and signed, many sets at a time |
//! | [`zone`] | zone files, read and written |
//! | [`rdata`] | a record's data: from text, to text, and checked and made canonical |
//! | [`capacity`] | what a resolver's load asks of a machine |
//! | [`nsec3`](Nsec3) | what records of hashed chains say |
//! | [`zonemd`](Zonemd) | digests of whole zones |
//! | [`verify`](Verifier) | whole zones verified |
//!
//! A zone is signed and verified:
//!
//! ```
//! use oarlock::Accelerator;
//! use oarlock::Curve;
//! use oarlock_dnssec::sign::{Draft, Lifetime, Plan, Role, SignOptions, SigningKey};
//! use oarlock_dnssec::zone::Reader;
//! use oarlock_dnssec::{Algorithm, Records, Sets, Settings, Verifier};
//!
//! let accelerator = Accelerator::builder().engines(["scalar"]).build()?;
//! let read = |text: &[u8]| {
//!     let mut include = |_: &str| Err("there are no files here".to_owned());
//!     let mut records = Records::new();
//!     Reader::new(None, &mut include).read(text, true, &mut records);
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
//! let key = SigningKey::new(key, Role::Csk, 257, Algorithm::ECDSAP256SHA256)?;
//! let draft = Draft::new(&accelerator, &zone, vec![key], SignOptions::new(Lifetime::from(now)), None)?;
//! let plan = Plan::new(&draft, None)?;
//! let mut text = Vec::new();
//! for names in plan.ranges() {
//!     let signatures = plan.sign(&accelerator, names.clone())?;
//!     plan.write(names, &signatures, &mut text);
//! }
//!
//! let signed = read(&text);
//! let sets = Sets::new(&signed);
//! let verifier = Verifier::new(&sets, Settings::at(now))?;
//! let mut report = verifier.check_names(&accelerator, 0..verifier.name_count())?;
//! report.merge(verifier.check_whole(&accelerator)?);
//! assert_eq!((report.failures(), report.counts.good_signatures), (0, 6));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod algorithm;
mod base32hex;
mod bitmap;
pub mod capacity;
mod dnskey;
mod ds;
mod ed448;
#[cfg(test)]
mod examples;
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
mod verify;
pub mod zone;
mod zone_cut;
mod zonemd;

pub use self::algorithm::{Algorithm, UnknownAlgorithm};
pub use self::base32hex::{base32hex_len, read_base32hex, write_base32hex};
pub use self::bitmap::{Bitmap, BitmapError, write_bitmap};
pub use self::dnskey::{
    DELETE_CDNSKEY, Dnskey, DnskeyError, PublicKey, REVOKE, SECURE_ENTRY_POINT, ZONE_KEY, dnskey_rdata,
};
pub use self::ds::{DELETE_CDS, DigestType, Ds, DsError, UnknownDigest, ds_rdata};
pub use self::ed448::Ed448Key;
pub use self::name::{Case, Labels, MAX_NAME, Name, NameBuf, NameError};
pub use self::nsec3::{Nsec3, Nsec3Parameters, OPT_OUT};
pub use self::nsec3_hash::{NSEC3_HASH_LEN, NSEC3_SHA1, Nsec3Hash, hash_names};
pub use self::records::{OwnerId, Record, Records, RecordsError};
pub use self::rrsig::{Rrsig, RrsigError, Validity, serial_cmp, signed_labels};
pub use self::rtype::{Type, UnknownType};
pub use self::sets::{Set, Sets};
pub use self::verify::{
    Anchor, AnchorData, Counts, Finding, Reason, Report, Settings, Severity, Verifier, ZoneError,
};
pub use self::zone_cut::{EmptyName, Place, Places, empty_names};
pub use self::zonemd::{ZONEMD_SIMPLE, Zonemd, zone_digest, zonemd_digest};
