//! Signs, verifies, encrypts and hashes many things at once, on the fastest engine that this machine has.
//!
//! An [`Accelerator`] takes jobs from any number of threads and computes jobs of one kind side by side, in the lanes of
//! vector instructions if the processor has them. A job that arrives alone is computed at once.
//!
//! # Sign and verify
//!
//! ```
//! use oarlock::{Accelerator, Input, Job, SigningScheme, SubmitOptions, VerifyingScheme};
//!
//! let accelerator = Accelerator::new()?;
//! let key = oarlock::keys::generate::ed25519()?;
//! let message = Input::Message(b"a message");
//!
//! let job = Job::sign(SigningScheme::ED25519, &key, message);
//! let signature = accelerator.submit(&job, SubmitOptions::default()).wait()?;
//!
//! let check = Job::verify(VerifyingScheme::ED25519, &key, message, &signature);
//! assert!(accelerator.run_all(&[check]).verified(0)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Read a key from a file
//!
//! [`keys::import`] reads DER. With the feature `key-files`, `keys::import::any` also reads PEM, encrypted PKCS#8 and
//! BIND's private keys. The crate opens no files: the caller passes the bytes.
//!
//! ```
//! # #[cfg(feature = "key-files")]
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let pem = b"-----BEGIN PUBLIC KEY-----
//! MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
//! -----END PUBLIC KEY-----
//! ";
//! let key = oarlock::keys::import::any(pem, None)?;
//! assert_eq!(key.kind(), oarlock::KeyKind::Ed25519Public);
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "key-files"))]
//! # fn main() {}
//! ```
//!
//! # Encrypt rows
//!
//! ```
//! use oarlock::{Accelerator, AeadAlg, RowInput, RowRecords};
//!
//! let accelerator = Accelerator::new()?;
//! let key = oarlock::keys::raw::secret(vec![7; 16])?;
//! let rows = [RowInput { iv: &[1; 12], input: b"a first row", ..RowInput::default() },
//!     RowInput { iv: &[2; 12], input: b"another", ..RowInput::default() }];
//! let sealed = RowRecords::seal(AeadAlg::Aes128Gcm, &key, &rows)?;
//! let outcomes = accelerator.records().run(sealed.shape(), sealed.records())?;
//! let (ciphertext, tag) = outcomes.bytes()[sealed.range(1)].split_at(7);
//!
//! let row = RowInput { input: ciphertext, tag, ..rows[1] };
//! let opened = RowRecords::open(AeadAlg::Aes128Gcm, &key, &[row])?;
//! assert_eq!(accelerator.records().run(opened.shape(), opened.records())?.bytes(), b"another");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Encrypt a column
//!
//! [`Records`] are a structure of arrays. A value that all records share is written once, and values that lie side by
//! side are written as a stride:
//!
//! ```
//! use std::borrow::Cow;
//!
//! use oarlock::{
//!     Accelerator, BlockCipher, CipherMode, Column, Direction, InputSource, OutputSink, Records, Shape, Span, Status,
//! };
//!
//! let accelerator = Accelerator::new()?;
//! let key = oarlock::keys::raw::secret(vec![7; 16])?;
//!
//! // An IV of 16 bytes, and behind it three rows of 32 bytes each.
//! let data = [vec![1; 16], vec![2; 3 * 32]].concat();
//! let row = |start| Span { start, len: 32 };
//! let records = Records {
//!     len: 3,
//!     keys: Cow::Owned(vec![key]),
//!     data: Cow::Borrowed(&data),
//!     output_len: 3 * 32,
//!     iv: Column::One(Span { start: 0, len: 16 }),
//!     input: Column::Stride { first: InputSource::Data(row(16)), stride: 32 },
//!     output: Column::Stride { first: OutputSink::Output(row(0)), stride: 32 },
//!     ..Records::default()
//! };
//! let shape = Shape::Cipher { alg: BlockCipher::Aes128, mode: CipherMode::Cbc, direction: Direction::Encrypt };
//! let outcomes = accelerator.records().run(shape, &records)?;
//! assert_eq!(outcomes.statuses(), [Status::Done; 3]);
//! assert_eq!(outcomes.bytes().len(), 3 * 32);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Named keys with policies, batches of mixed tasks and tokens are the crate `oarlock-keytable`.
//!
//! # Map of the crate
//!
//! | module | content |
//! |---|---|
//! | [`accelerator`](Accelerator) | the entry point: self-tested engines joined to the dispatcher |
//! | `schemes` | padding, encodings and nonces: a job becomes a raw operation, and its raw result an answer |
//! | [`digest_chain`](DigestChain) | the digest of one long message, piece by piece |
//! | [`tls_groups`] | ephemeral keys of TLS 1.3, and their hybrids with ML-KEM, as jobs that wait together |
//! | `threshold` | RSA signatures by shares of a key; only with the feature `threshold` |
//! | `selftest` | known answers for every shape, and sample workloads made from them |
//! | `detect`, [`calibrate`](CostFit) | the engines of this machine, and what they cost |
//! | [`metrics`] | counters, histograms and costs of the dispatcher |
//! | [`engine_api`] | the traits and types for authors of engines and key holders, raw operations, self tests |
//! | [`process`] | values of one process among forks |
//!
//! # Features
//!
//! | feature | default | adds |
//! |---|---|---|
//! | `lanes` | yes | the vector engine; without it the scalar engine serves alone |
//! | `key-files` | no | PEM, encrypted PKCS#8, BIND's private keys and references to keys at a server, in [`keys`] |
//! | `threshold` | no | the module `threshold`, and `keys::threshold`; turns `key-files` on |
//! | `corruption-hook` | no | `engine_api::selftest::CorruptEngine`, an engine that damages one lane, for tests |
#![forbid(unsafe_code)]

mod accelerator;
mod calibrate;
mod detect;
mod digest_chain;
pub mod engine_api;
pub mod metrics;
pub mod process;
mod schemes;
mod selftest;
#[cfg(feature = "threshold")]
pub mod threshold;
pub mod tls_groups;

pub use accelerator::{
    Accelerator, AcceleratorBuilder, AnswerBytes, Answers, BuildError, Diagnostics, EngineReport,
    PendingAnswer, PendingAnswers, RawCalls, RecordCalls, ShapeReport,
};
pub use calibrate::{BatchTiming, Calibration, CostFit, TimingGrid, default_cost_cache};
pub use detect::{AbsentEngine, KNOWN_ENGINES, UnavailableReason};
pub use digest_chain::DigestChain;
pub use oarlock_engine_kit::hash::Hasher;

pub use oarlock_core::{
    AeadAlg, Blame, BlockCipher, ChainOrder, CipherMode, CipherSpec, Column, CompositeAlg, Curve, DigestAlg,
    Direction, EcdsaEncoding, Fingerprint, FpeAlg, HssPublicKey, HssSet, Input, InputSource, Job, JobError,
    Key, KeyHome, KeyKind, KeySource, LmsSet, MAX_FF1_NUMERALS, MAX_FF1_TWEAK, MAX_MTE_FRAGMENT,
    MAX_MTE_SEALED, MTE_AAD_LEN, MacAlg, MacPadding, MlDsaSet, MlDsaVariant, MlKemSet, NonceRule, Outcomes,
    OutputSink, Records, RowInput, RowRecords, RsaExponent, SaltLength, Scheme, SecretBytes, SecretSlots,
    Shape, SigningScheme, SlhDsaSet, Span, StatefulKeyError, Status, TreeHash, VerifyingScheme, WrapAlg,
    WrongSchemeKind, XmssPublicKey, XmssSet, mte_fragment_len, mte_sealed_len,
};
pub use oarlock_dispatch::{ConfirmRule, SchedulerConfig, SubmitOptions};
pub use oarlock_keys as keys;

/// The example of the README, kept true by the doc tests.
#[cfg(doctest)]
#[doc = include_str!("../../../../README.md")]
pub struct Readme;

/// The examples of the guide to the library, run by the doc tests.
#[cfg(doctest)]
#[doc = include_str!("../../../../docs/guides/library.md")]
pub struct LibraryGuide;
