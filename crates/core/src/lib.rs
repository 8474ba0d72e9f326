//! The contract between the rooms of Oarlock. No I/O, no intrinsics, no unsafe code.
//!
//! | module | what it holds |
//! |---|---|
//! | [`shape`](Shape) | what may share a batch, and the algorithms that name it |
//! | [`key`](Key) | immutable key handles, their parts, homes and fingerprints |
//! | [`operation`](Operation) | one public-key operation, and flat sets of them |
//! | [`records`](Records) | short symmetric operations as a structure of arrays |
//! | [`outcome`](Outcomes) | what an engine writes, with one status per job |
//! | [`engine`](Engine) | a unit that computes raw shapes in this process |
//! | [`hot`](HotKeys) | verification tables of keys that recur, within one byte budget |
//! | [`holder`](Holder) | a unit that performs whole schemes with keys living elsewhere |
//! | [`scheme`](Scheme) | padding, encoding and nonce rules as a job states them |
//! | [`error`](JobError) | typed errors that say whose fault it was |
//!
//! An **engine** sees [`Jobs`] of one [`Shape`] and writes [`Outcomes`] of its own, so a batch can be run again,
//! cross-checked on another engine, or abandoned. A **holder** sees whole [`Scheme`]s, because a raw private RSA
//! operation offered across a process boundary would be an oracle for every scheme.
#![forbid(unsafe_code)]

mod column;
mod engine;
mod error;
mod holder;
mod jobs;
mod key;
mod operation;
mod outcome;
mod records;
mod scheme;
mod secret;
mod shape;
mod slots;
mod span;
mod status;
mod verify_table;

pub use column::{Column, ColumnCursor, ColumnValue};
pub use engine::{BatchSize, Engine, EngineFault, EngineLocation, TableUsage};
pub use error::{Blame, JobError};
pub use holder::{Completion, CompletionSink, HeldJob, Holder, OwnedJobs};
pub use jobs::Jobs;
pub use key::{
    EcPrivateParts, Ed25519PrivateParts, Fingerprint, Key, KeyHome, KeyKind, KeyParts, ModExpParts,
    RsaPrivateParts, RsaPublicParts, X25519PrivateParts,
};
pub use operation::{NonceInput, Operation, OperationSet, SecondInput};
pub use outcome::{Outcomes, PartMut};
pub use records::{Records, ResolvedRecord};
pub use scheme::{
    EcdsaEncoding, NonceRule, SaltLength, Scheme, SigningScheme, VerifyingScheme, WrongSchemeKind,
};
pub use secret::{SecretBytes, erase};
pub use shape::{
    AeadAlg, BlockCipher, CipherMode, CipherSpec, Curve, DigestAlg, Direction, MacAlg, MacPadding,
    RsaExponent, Shape, WrapAlg,
};
pub use slots::SecretSlots;
pub use span::{InputSource, KeySource, OutputSink, Span};
pub use status::Status;
pub use verify_table::{DEFAULT_TABLE_BYTES, VerifyTable, VerifyTableCache, VerifyTables};
