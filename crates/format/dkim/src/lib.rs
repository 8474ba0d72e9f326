//! DKIM and ARC: signs, verifies and seals many messages at a time, without I/O. Callers bring the messages and the
//! answers of DNS. SPF, DMARC and DNS itself are left to other crates. [`verify_one`] takes a single message.
//!
//! | module | content |
//! |---|---|
//! | [`message`](ParsedMail) | header fields and body, as they are transmitted |
//! | [`line_ending`](to_crlf) | messages with the line endings of files in the form of the wire |
//! | [`canon`](Canonicalization) | canonical forms; bodies as streams |
//! | [`tags`](TagList), [`signature`](DkimSignature), [`record`](KeyRecord) | parsers of signatures and key records |
//! | [`sign`](SignIntake) | signing in stages |
//! | [`verify`](VerifyIntake) | verifying in stages: hashes, keys, signatures; one message by [`verify_one`] |
//! | [`verdict`](DkimVerdict), [`results`](authentication_results) | verdicts, their reasons and the `Authentication-Results` field |
//! | [`arc`](SealIntake), [`chain`](ArcChain) | ARC sets and seals; the result of a chain |
//! | [`cache`](KeyCache), [`key_answer`](KeyAnswer) | key records by name, kept for later messages |
//! | [`policy`](VerifyPolicy) | the policy of a verifier |
//! | `algorithm`, `domain`, `base64`, `fold`, `select`, `hash` | parts that the others share |
//!
//! ```
//! use oarlock::Accelerator;
//! use oarlock_dkim::{
//!     DkimSigner, DkimVerdict, KeyAnswer, MailLimits, ParsedMail, RecordOptions, SignIntake, VerifyIntake,
//!     VerifyPolicy, record_text,
//! };
//!
//! let accelerator = Accelerator::builder().engines(["scalar"]).build()?;
//! let key = oarlock::keys::generate::ed25519()?;
//! let record = record_text(&key, &RecordOptions::default())?;
//! let signer = DkimSigner::new("example.com", "s1", key)?;
//!
//! let mail = b"From: a@example.com\r\nSubject: hello\r\n\r\nHow are you?\r\n";
//! let limits = MailLimits::default();
//! let mut intake = SignIntake::new(1_700_000_000);
//! intake.push(ParsedMail::parse(mail, &limits)?, [&signer])?;
//! let field = intake.sign(&accelerator)?.remove(0)?;
//! let signed = [field.as_bytes(), b"\r\n", mail].concat();
//!
//! let mut intake = VerifyIntake::new(&VerifyPolicy::default(), 1_700_000_100);
//! intake.push(&ParsedMail::parse(&signed, &limits)?)?;
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
mod chain;
mod domain;
mod fold;
mod hash;
mod key_answer;
mod line_ending;
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
pub use self::arc::{ArcSealer, SealError, SealIntake, SealedFields, SealedResults, SealedSet};
pub use self::cache::{CacheLimits, KeyCache, KeyLookup};
pub use self::canon::{BodyCanonicalizer, CanonicalForm, Canonicalization, UnknownForm};
pub use self::chain::{ArcChain, ChainFault};
pub use self::domain::{ascii_form, host_form};
pub use self::hash::{BodyHasher, BodyNeed};
pub use self::key_answer::{KeyAnswer, KeyName, KeyProtection};
pub use self::line_ending::{LineEnding, to_crlf};
pub use self::message::{FieldLayout, HeaderField, MailLimits, MailParseError, ParsedMail};
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
pub use self::verify::{
    HashedMessages, KeyedMessages, ParsedSignatures, VerifiedMessage, VerifyIntake, verify_one,
};
