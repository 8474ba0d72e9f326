//! The contract between the parts of Oarlock. It does no I/O, uses no intrinsics and has no unsafe code. Internal to
//! Oarlock: the interface changes without notice.
//!
//! | module | content |
//! |---|---|
//! | [`shape`](Shape) | raw operations that may share a batch, and the algorithms that name them |
//! | [`shape::chain`](ChainOrder) | the order of cipher and MAC in one record, and the lengths of TLS records |
//! | [`key`](Key) | immutable key handles, their parts, homes and fingerprints |
//! | [`composite`](CompositeAlg) | pairs of ML-DSA and a traditional signature |
//! | [`stateful`](HssPublicKey) | public keys of HSS and XMSS, and their parameter sets |
//! | [`operation`](Operation) | one public-key operation that fits its shape, and flat sets of them |
//! | [`span`](Span), [`column`](Column), [`slots`](SecretSlots) | places in buffers, values of many records, secret places |
//! | [`records`](Records) | short symmetric operations as a structure of arrays |
//! | [`batch`](Batch), [`task`](BatchTask), [`key_type`](KeyType) | records of mixed tasks, and the purpose of their keys |
//! | [`job`](Job) | the request of a caller: a scheme, a key and inputs, borrowed or owned |
//! | [`jobs`](Jobs), [`outcome`](Outcomes), [`status`](Status) | the input and the output of an engine, with one status per job |
//! | [`ff1`](Ff1Radix) | the limits of FF1 |
//! | [`engine`](Engine) | a unit that computes raw shapes in this process |
//! | [`process`](ProcessLocal) | values of one process among forks |
//! | [`holder`](Holder) | a unit that performs whole schemes and batches with keys that live elsewhere |
//! | [`scheme`](Scheme) | padding, encoding and nonce rules, as a job states them |
//! | [`error`](JobError) | typed errors that name the party at fault |
//!
//! An **engine** reads [`Jobs`] of one [`Shape`] and writes [`Outcomes`] of its own. So a batch can be run again,
//! cross-checked on another engine, or abandoned. An engine writes [`Status::Done`] only after the result is there.
//!
//! A **holder** takes whole [`Scheme`]s. A raw private RSA operation offered across a process boundary would be an
//! oracle for every scheme.
#![forbid(unsafe_code)]

mod batch;
mod column;
mod composite;
mod engine;
mod error;
mod ff1;
mod holder;
mod job;
mod jobs;
mod key;
mod key_type;
mod operation;
mod outcome;
mod process;
mod records;
mod scheme;
mod secret;
mod shape;
mod slots;
mod span;
mod stateful;
mod status;
mod task;

pub use batch::Batch;
pub use column::{Column, ColumnCursor, ColumnValue};
pub use composite::CompositeAlg;
pub use engine::{BatchSize, Engine, EngineFault, EngineLeaf, EngineLocation, LeafAbsence, TableUsage};
pub use error::{Blame, JobError};
pub use ff1::{Ff1Radix, MAX_FF1_NUMERALS, MAX_FF1_TWEAK};
pub use holder::{
    Completion, CompletionSink, HeldOutcomes, Holder, MAX_HELD_BYTES, MAX_HELD_RECORDS, OwnedJobs,
};
pub use job::{Input, Job, OwnedJob};
pub use jobs::Jobs;
pub use key::{
    CompositeParts, EcPrivateParts, Ed25519PrivateParts, Fingerprint, Key, KeyHome, KeyKind, KeyParts,
    LatticePrivate, LatticePrivateParts, ModExpParts, RsaPrivateParts, RsaPublicParts, X25519PrivateParts,
};
pub use key_type::KeyType;
pub use operation::{NonceInput, Operation, OperationInputs, OperationSet, SecondInput};
pub use outcome::{OutcomeWriter, Outcomes};
pub use process::{ForkSafeCell, ProcessLocal, ProcessMark};
pub use records::{RecordRow, Records, ResolvedRecord, RowInput, RowRecords};
pub use scheme::{
    EcdsaEncoding, MlDsaVariant, NonceRule, SaltLength, Scheme, SigningScheme, VerifyingScheme,
    WrongSchemeKind,
};
pub use secret::{SecretBytes, erase, reserve_erasing};
pub use shape::{
    AeadAlg, BlockCipher, ChainOrder, CipherMode, CipherSpec, Curve, DigestAlg, Direction, FpeAlg,
    MAX_MTE_FRAGMENT, MAX_MTE_SEALED, MTE_AAD_LEN, MacAlg, MacPadding, MlDsaSet, MlKemSet, RsaExponent,
    Shape, SlhDsaSet, WrapAlg, mte_fragment_len, mte_sealed_len,
};
pub use slots::SecretSlots;
pub use span::{InputSource, KeySource, OutputSink, Span};
pub use stateful::{HssPublicKey, HssSet, LmsSet, StatefulKeyError, TreeHash, XmssPublicKey, XmssSet};
pub use status::Status;
pub use task::{BatchTask, IvSource, KeyWrap};
