//! The records trade: columns of CSV and NDJSON files, encrypted, decrypted, translated and authenticated. No I/O: whoever
//! has the file cuts it into chunks of whole rows ([`Format::whole_rows`]), has [`Worker`]s work on them, on as many threads
//! as there are, and puts the chunks back into order.
//!
//! | module | what it holds |
//! |---|---|
//! | [`job`](Job) | what is done with every row |
//! | [`plan`](Plan) | a job made ready for one file |
//! | [`worker`](Worker) | rows of a chunk read, computed, written |
//! | `csv`, `ndjson` | rows read in place |
//! | `gather`, `write` | columns of a batch out of rows; rows out of results |
//! | [`key_file`](load_keys) | files of keys and their policies |
//! | `same_key` | lines of such files that hold the same key |
//! | [`encoding`](Encoding), [`padding`](Padding) | values as text; values that are not whole blocks |
//! | [`reject`](Reject), `error` | rows that have no result, and why |
//! | [`buffer`](Buffer) | bytes that may be secret |
//!
//! ```
//! use oarlock::Accelerator;
//! use oarlock::BlockCipher;
//! use oarlock::table::{KeyTable, KeyType, KeyPolicy};
//! use oarlock_records::{Cipher, Done, Encoding, Format, IvFrom, Job, KeyFrom, KeyNames, Padding, Plan, Work, Worker};
//!
//! let table = KeyTable::new();
//! let key = table.insert("pans", KeyType::Tdes2, &b"sixteen byte key"[..], KeyPolicy::any_data(KeyType::Tdes2))?.index;
//! let work = Work::Encrypt {
//!     cipher: Cipher::Cbc(BlockCipher::Tdes2),
//!     iv: IvFrom::Zero,
//!     padding: Padding::None,
//!     gcm: Default::default(),
//! };
//! let job = Job {
//!     work,
//!     value: "pan".into(),
//!     into: None,
//!     key: KeyFrom::One(key),
//!     encoding: Encoding::Hex,
//!     keeps_rejected_rows: false,
//!     drops_ivs: false,
//! };
//!
//! let file = b"id,pan\n1,0011223344556677\n2,00112233\n";
//! let (plan, header) = Plan::new(job, KeyNames::default(), Format::CSV, file)?;
//! let accelerator = Accelerator::builder().engines(["scalar"]).build()?;
//! let mut done = Done::default();
//! Worker::new(&plan, &accelerator, &table).run(&file[header..], &mut done)?;
//! assert_eq!((plan.head(), done.output.len()), (&b"id,pan\n"[..], "1,0011223344556677\n".len()));
//! assert!(plan.reason(&done.rejects[0]).contains("a multiple of 8 bytes"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod buffer;
mod columns;
mod csv;
mod encoding;
mod error;
mod gather;
mod job;
mod key_file;
mod ndjson;
mod padding;
mod plan;
mod reject;
mod row;
mod same_key;
mod text;
mod worker;
mod write;

pub use self::buffer::Buffer;
pub use self::encoding::Encoding;
pub use self::error::{PlanError, Reason, RunError, UnknownName};
pub use self::job::{Cipher, GcmColumns, IvFrom, Job, KeyFrom, Work, key_type_of_mac};
pub use self::key_file::{
    KeyFault, KeyFileError, KeyNames, LoadedKeys, load_keys, load_keys_at, parse_nonce_field,
};
pub use self::padding::Padding;
pub use self::plan::{Format, Plan, count_lines};
pub use self::reject::Reject;
pub use self::worker::{Done, Worker};
