//! Named keys with policies, and batches of short symmetric operations under them.
//!
//! A [`KeyTable`] holds keys of stated types, each with a [`KeyPolicy`]. A [`Batch`] has records of any tasks.
//! [`KeyTable::run`] checks each record against the policy of its key and computes the batch on an
//! [`Accelerator`](oarlock::Accelerator). A record that a policy refuses fails alone, with the reason as its
//! [`Status`](oarlock::Status).
//!
//! # Use a key that arrives wrapped
//!
//! One record unwraps a key into a secret slot, and the records behind it encrypt under it. The slot ends with the
//! call. Every record has a status of its own, so the last one fails alone:
//!
//! ```
//! use oarlock::{Accelerator, BlockCipher, KeySource, Status, WrapAlg};
//! use oarlock_keytable::{
//!     BatchBuilder, BatchEntry, BatchTask, EntryIv, EntryOutput, IvRule, KeyAlgorithm, KeyOperation, KeyPolicy,
//!     KeyTable, KeyType, KeyWrap,
//! };
//!
//! let table = KeyTable::new();
//! let session = KeyPolicy::new().allow([KeyOperation::Encrypt]).with([KeyAlgorithm::Cbc]).ivs([IvRule::Random]);
//! let session = session.max_uses(1_000);
//! let policy = KeyPolicy::unwrapping(KeyAlgorithm::Kw, KeyType::Tdes2, session).allow([KeyOperation::WrapInClear]);
//! let master = table.insert("master", KeyType::Aes128, &[7; 16][..], policy)?.index;
//!
//! let accelerator = Accelerator::new()?;
//! let mut batch = BatchBuilder::new();
//! batch.add(BatchEntry::new(BatchTask::wrap(WrapAlg::Aes128Kw)).key(master).input(b"a session's key!"))?;
//! let wrapped = table.run(&accelerator, &batch.batch())?.output().to_vec();
//!
//! batch.clear();
//! let slot = batch.slot(16);
//! let unwrap = BatchTask::unwrap_key(KeyWrap::Aes(WrapAlg::Aes128Kw), KeyType::Tdes2);
//! batch.add(BatchEntry::new(unwrap).key(master).input(&wrapped).output(EntryOutput::Slot(slot)))?;
//! let encrypt = BatchEntry::new(BatchTask::encrypt(BlockCipher::Tdes2)).key_from(KeySource::Slot(slot));
//! let encrypt = encrypt.iv(EntryIv::Generated);
//! batch.add(encrypt.input(b"12345678"))?;
//! batch.add(encrypt.input(b"half a block"))?;
//! let outcome = table.run(&accelerator, &batch.batch())?;
//! assert_eq!(outcome.statuses(), [Status::Done, Status::Done, Status::BadLength]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Map of the crate
//!
//! | module | content |
//! |---|---|
//! | [`table`](KeyTable) | named, indexed keys, their types and policies; tasks, and the rights that a task needs |
//! | [`batch`](Batch) | records of mixed tasks under the table's keys, in one call |
//! | [`format`](TokenFormat) | tokens that keep the format of a text: alphabets, kept characters, check digits |
//!
//! # Features
//!
//! | feature | default | adds |
//! |---|---|---|
//! | `random-batches` | no | `agreement`, random batches on which all paths must agree, for tests |
#![forbid(unsafe_code)]

mod batch;
mod format;
mod table;

#[cfg(any(test, feature = "random-batches"))]
pub use batch::agreement;
pub use batch::{
    BatchBuilder, BatchEntry, BatchOutcome, EntryInput, EntryIv, EntryOutput, RecordError, WrappedKey,
};
pub use format::{Alphabet, FormatError, MIN_TOKEN_TEXTS, TokenFormat};
pub use table::{
    CounterStore, FileCounter, InsertedKey, IvCounter, IvRule, KeyAlgorithm, KeyBreach, KeyIdentity, KeyInfo,
    KeyOperation, KeyPolicy, KeyTable, KeyWeakness, MIN_MAC_LEN, MemoryCounter, PolicyError, TableError,
    WeakKeyRule,
};

pub use oarlock_core::{Batch, BatchTask, IvSource, KeyType, KeyWrap, MAX_HELD_BYTES, MAX_HELD_RECORDS};
