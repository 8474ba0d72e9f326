//! The hall of Oarlock: schemes, self tests, and the accelerator that joins engines to the dispatcher.
//!
//! | module | what it holds |
//! |---|---|
//! | [`accelerator`](Accelerator) | the one way in: engines found and proved, joined to the dispatcher |
//! | `find`, [`calibrate`](Fit) | which engines this machine has, and what they cost |
//! | [`table`] | named, indexed keys of stated types, each with a policy; keys that come wrapped |
//! | [`batch`] | records of mixed tasks under the table's keys, in one call |
//! | [`digest_chain`](DigestChain) | the digest of one long message, piece by piece |
//! | [`job`](Job) | what a caller asks for: a scheme, a key and borrowed inputs |
//! | [`schemes`] | padding, encodings and nonces: a job lowered to a raw operation, its raw result raised to an answer |
//! | [`threshold`] | RSA signatures by shares of a key: partial signatures with proofs, verified and combined |
//! | [`selftest`] | known answers for every shape, and sample workloads made of them |
//!
//! A key that comes wrapped is unwrapped into a secret slot, used by the records behind it, and gone when the call ends:
//!
//! ```
//! use oarlock::Accelerator;
//! use oarlock::batch::{BatchBuilder, Entry, KeyWrap, NewIv, Place, Task};
//! use oarlock::contract::{BlockCipher, KeySource, Status, WrapAlg};
//! use oarlock::table::{Algorithm, KeyTable, KeyType, Operation, Policy};
//!
//! let table = KeyTable::new();
//! let session = Policy::any_data(KeyType::Tdes2).max_uses(1_000);
//! let policy = Policy::unwrapping(Algorithm::Kw, KeyType::Tdes2, session).allow([Operation::WrapInClear]);
//! let master = table.insert("master", KeyType::Aes128, &[7; 16][..], policy)?.index;
//!
//! let accelerator = Accelerator::builder().engines(["scalar"]).build()?;
//! let mut batch = BatchBuilder::new();
//! batch.add(Entry::new(Task::wrap(WrapAlg::Aes128Kw)).key(master).input(b"a session's key!"))?;
//! let wrapped = accelerator.run_batch(&table, &batch.batch())?.output().to_vec();
//!
//! batch.clear();
//! let slot = batch.slot(16);
//! let unwrap = Task::unwrap_key(KeyWrap::Aes(WrapAlg::Aes128Kw), KeyType::Tdes2);
//! batch.add(Entry::new(unwrap).key(master).input(&wrapped).output(Place::Slot(slot)))?;
//! let encrypt = Entry::new(Task::encrypt(BlockCipher::Tdes2)).key_from(KeySource::Slot(slot)).iv(NewIv::Generated);
//! batch.add(encrypt.input(b"12345678"))?;
//! batch.add(encrypt.input(b"half a block"))?;
//! let outcome = accelerator.run_batch(&table, &batch.batch())?;
//! assert_eq!(outcome.statuses(), [Status::Done, Status::Done, Status::BadLength]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod accelerator;
pub mod batch;
mod calibrate;
mod digest_chain;
mod find;
mod job;
pub mod schemes;
pub mod selftest;
pub mod table;
pub mod threshold;

pub use accelerator::{
    Accelerator, AcceleratorBuilder, Answers, BuildError, EngineReport, Output, PendingAnswer,
    PendingAnswers, ShapeReport,
};
pub use calibrate::{Calibration, Fit, Grid, Timing};
pub use digest_chain::DigestChain;
pub use find::{AbsentEngine, DISABLE_VARIABLE, KNOWN_ENGINES, UnavailableReason, proved_shapes};
pub use job::{Input, Job};

pub use oarlock_core::{
    self as contract, DigestAlg, EcdsaEncoding, JobError, Key, NonceRule, Records, SaltLength, Scheme, Shape,
};
pub use oarlock_dispatch::{
    AnswerTimes, BatchRuns, DispatchCounters, EngineCost, Histogram, Histograms, MetricFamily, Quarantined,
    Recorder, SchedulerConfig, SchedulingRule, SubmitOptions, Ticket,
};
pub use oarlock_keys as keys;

/// The example of the README, kept true by the doc tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;
