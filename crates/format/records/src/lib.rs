//! Encrypts, decrypts, translates and authenticates columns of CSV and NDJSON files. The crate opens no
//! files. The caller cuts a text into chunks of whole rows ([`ChunkReader`]), runs a [`ChunkWorker`] on each thread,
//! and writes the results in order.
//!
//! | module | what it holds |
//! |---|---|
//! | [`job`](RecordJob) | what is done with every row |
//! | [`plan`](FilePlan) | a job made ready for one file |
//! | [`worker`](ChunkWorker) | rows of a chunk read, computed, written |
//! | [`chunks`](ChunkReader) | a text cut into chunks of whole rows |
//! | `csv`, `ndjson` | rows read in place |
//! | `gather`, `write` | columns of a batch out of rows; rows out of results |
//! | [`key_file`](load_keys) | files of keys and their policies |
//! | [`key_version`](KeyVersions) | the versions of keys |
//! | [`key_file_text`](KeyFileText) | files of keys to which a key is added |
//! | `same_key` | lines of such files that hold the same key |
//! | [`encoding`](Encoding), [`padding`](Padding) | values as text; values that are not whole blocks |
//! | [`reject`](RejectedRow), `error` | rows that have no result, and why |
//! | [`buffer`](SecretBuffer) | bytes that may be secret |
//!
//! ```
//! use oarlock::Accelerator;
//! use oarlock::BlockCipher;
//! use oarlock_keytable::{KeyTable, KeyType, KeyPolicy};
//! use oarlock_records::{ChunkResult, ChunkWorker, FileFormat, FilePlan, IvFrom, KeyFrom, KeyNames};
//! use oarlock_records::{Padding, RecordJob, RowCipher, RowOperation};
//!
//! let table = KeyTable::new();
//! let policy = KeyPolicy::any_data(KeyType::Tdes2);
//! let key = table.insert("pans", KeyType::Tdes2, &b"sixteen byte key"[..], policy)?.index;
//! let operation = RowOperation::Encrypt {
//!     cipher: RowCipher::Cbc(BlockCipher::Tdes2),
//!     iv: IvFrom::Zero,
//!     padding: Padding::None,
//!     aead: Default::default(),
//! };
//! let job = RecordJob::new(operation, "pan", KeyFrom::One(key));
//!
//! let file = b"id,pan\n1,0011223344556677\n2,00112233\n";
//! let (plan, header) = FilePlan::new(job, KeyNames::default(), FileFormat::CSV, file)?;
//! let accelerator = Accelerator::builder().engines(["scalar"]).build()?;
//! let mut done = ChunkResult::default();
//! ChunkWorker::new(&plan, &accelerator, &table).run(&file[header..], &mut done)?;
//! assert_eq!((plan.head(), done.output.len()), (&b"id,pan\n"[..], "1,0011223344556677\n".len()));
//! assert!(plan.reason(&done.rejects[0]).contains("a multiple of 8 bytes"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod buffer;
mod chunks;
mod columns;
mod csv;
mod encoding;
mod error;
mod gather;
mod job;
mod key_file;
mod key_file_text;
mod key_version;
mod ndjson;
mod padding;
mod plan;
mod reject;
mod row;
mod same_key;
mod text;
mod worker;
mod write;

pub use self::buffer::SecretBuffer;
pub use self::chunks::{ChunkError, ChunkReader, RowChunk, fill_buffer};
pub use self::encoding::Encoding;
pub use self::error::{PlanError, RejectReason, RowFileFault, RunError, UnknownName};
pub use self::job::{
    AeadColumns, IvFrom, KeyFrom, RecordJob, RowCipher, RowOperation, TOKEN_ALGS, TweakFrom, usual_mac,
};
pub use self::key_file::{
    KeyFault, KeyFileError, KeyNames, LoadedKeys, load_keys, load_keys_at, parse_nonce_field,
};
pub use self::key_file_text::{KeyFileText, NewKeyLine, NewKeyRights, Rotation, RotationError};
pub use self::key_version::{KeyVersions, VersionRange, split_version, version_name};
pub use self::padding::Padding;
pub use self::plan::{FileFormat, FilePlan};
pub use self::reject::RejectedRow;
pub use self::worker::{ChunkResult, ChunkWorker};
