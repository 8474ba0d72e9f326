//! The mail trade of Oarlock: DKIM signatures made and verified, many messages at a time. No I/O: whoever has messages and DNS
//! gives them in and takes answers out.
//!
//! | module | what it holds |
//! |---|---|
//! | [`message`](MailMessage) | header fields and body, as they are on the wire |
//! | [`canon`](Canonicalization) | canonical forms, of bodies as streams |
//! | [`tags`](TagList), [`signature`](DkimSignature), [`record`](KeyRecord) | what signatures and key records say |
//! | [`sign`](SignIntake) | messages signed in stages |
//! | [`verify`](VerifyIntake) | messages verified in stages: hashes, keys, signatures |
//! | [`verdict`](DkimVerdict), [`results`](authentication_results) | what is said of a signature, and why, in a field |
//! | [`arc`](ArcChain) | chains of those who handed a message on: verified and sealed |
//! | [`cache`](KeyCache) | keys kept for the next message |
//! | `algorithm`, `domain`, `base64`, `fold`, `select`, `hash`, [`policy`](VerifyPolicy) | the parts of all that |
//!
//! ```
//! use oarlock::Accelerator;
//! use oarlock_dkim::{VerifyIntake, KeyAnswer, MailLimits, MailMessage, VerifyPolicy, RecordOptions, SignIntake, DkimSigner, DkimVerdict, record_text};
//!
//! let accelerator = Accelerator::builder().engines(["scalar"]).build()?;
//! let key = oarlock::keys::generate::ed25519()?;
//! let record = record_text(&key, &RecordOptions::default())?;
//! let signer = DkimSigner::new("example.com", "s1", key)?;
//!
//! let mail = b"From: a@example.com\r\nSubject: hello\r\n\r\nHow are you?\r\n";
//! let limits = MailLimits::default();
//! let mut intake = SignIntake::new(1_700_000_000);
//! intake.push(MailMessage::parse(mail, &limits)?, [&signer])?;
//! let field = intake.sign(&accelerator)?.remove(0)?;
//! let signed = [field.as_bytes(), b"\r\n", mail].concat();
//!
//! let mut intake = VerifyIntake::new(&VerifyPolicy::default(), 1_700_000_100);
//! intake.push(&MailMessage::parse(&signed, &limits)?)?;
//! let hashed = intake.hash(&accelerator)?;
//! let names: Vec<String> = hashed.queries().map(ToString::to_string).collect();
//! assert_eq!(names, ["s1._domainkey.example.com"]);
//! let results = hashed.answer(|_| KeyAnswer::from_records([&record])).verify(&accelerator);
//! assert_eq!(results[0].signatures[0].verdict(), DkimVerdict::Pass);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod algorithm;
mod arc;
mod base64;
mod cache;
mod canon;
mod domain;
mod fold;
mod hash;
mod key_answer;
mod message;
mod policy;
mod record;
mod results;
mod select;
mod sign;
mod signature;
mod tags;
mod verdict;
mod verify;

pub use self::algorithm::{SignatureAlgorithm, UnknownSignatureAlgorithm};
pub use self::arc::{ArcChain, ArcSealer, ChainFault, SealError, SealIntake, SealedResults, SealedSet};
pub use self::cache::{CacheLimits, KeyCache, KeyLookup};
pub use self::canon::{BodyCanonicalizer, CanonicalForm, Canonicalization, UnknownForm};
pub use self::domain::ascii_form;
pub use self::hash::{BodyHasher, BodyNeed};
pub use self::key_answer::{KeyAnswer, KeyName};
pub use self::message::{HeaderField, MailLimits, MailMessage, MailParseError};
pub use self::policy::VerifyPolicy;
pub use self::record::{KeyRecord, KeyRecordError, RecordOptions, record_strings, record_text, zone_line};
pub use self::results::{
    authentication_results, best_verdict, claims_authserv_id, is_from_authserv_id, parse_results,
};
pub use self::sign::{
    DkimSigner, HeaderCoverage, MailSignError, SignIntake, SignOutcome, SignedFields, SignerError,
};
pub use self::signature::{DkimSignature, SignatureError};
pub use self::tags::{TagError, TagList};
pub use self::verdict::{DkimVerdict, FailReason, SignatureResult};
pub use self::verify::{HashedMessages, KeyedMessages, VerifiedMessage, VerifyIntake, body_needs};
