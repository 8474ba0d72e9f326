//! Encrypts, decrypts, translates, tokenises, authenticates, hashes and signs columns of Apache Arrow. Internal to
//! Oarlock: the interface changes without notice.
//!
//! A function takes a column and the names of a key and an algorithm, and returns a column of the same length. Null
//! rows stay null and are not computed. A bad row never damages other rows: [`OnError`] says what becomes of it. Values
//! are read in place if no other bytes belong to a record, and are gathered otherwise, in memory that is erased.
//!
//! | module | content |
//! |---|---|
//! | [`keys`](ColumnKeys) | a key table, and the accelerator that computes under it |
//! | [`algorithm`](ColumnCipher) | the names of algorithms |
//! | [`cipher`](encrypt) | encryption, decryption and translation |
//! | [`token`](tokenise) | tokens that keep the format of a text |
//! | [`digest`](mac) | authentication codes and hashes |
//! | [`signature`](sign) | signatures |
//! | `values` | arrays of Arrow as values in place |
//! | `records` | the columns of a batch |
//! | `run` | chunks of rows, computed and collected |
//! | [`output`](ColumnResult) | results as arrays, and the fate of bad rows |
//! | [`error`](ColumnError) | errors of a call, and of a row |
//!
//! ```
//! use arrow_array::{Array, BinaryArray};
//! use oarlock::Accelerator;
//! use oarlock_keytable::{KeyPolicy, KeyTable, KeyType};
//! use oarlock_columns::{ColumnCipher, ColumnKeys, Decryption, Encryption, OnError, decrypt, encrypt};
//!
//! let table = KeyTable::new();
//! table.insert("pan", KeyType::Aes128, &b"sixteen byte key"[..], KeyPolicy::any_data(KeyType::Aes128))?;
//! let keys = ColumnKeys::new(Accelerator::builder().engines(["scalar"]).build()?, table);
//!
//! let cards = BinaryArray::from(vec![Some(&b"4111111111111111"[..]), None]);
//! let sealed = encrypt(&keys, &cards, &Encryption::new("pan", ColumnCipher::AES128_GCM), OnError::Raise)?;
//! let opened = decrypt(&keys, &sealed.array, &Decryption::new("pan", ColumnCipher::AES128_GCM), OnError::Null)?;
//! assert_eq!(opened.array.as_ref(), &cards as &dyn Array);
//! assert!(opened.rejected.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod algorithm;
mod cipher;
mod digest;
mod error;
mod keys;
mod output;
mod records;
mod run;
mod signature;
mod token;
mod values;

pub use self::algorithm::{ColumnCipher, ColumnSignature, parse_digest, parse_mac, parse_tokens};
pub use self::cipher::{
    AssociatedData, ColumnIv, Decryption, Encryption, Translation, decrypt, encrypt, translate,
};
pub use self::digest::{MacOptions, hash, mac, verify_mac};
pub use self::error::{ColumnError, RowFault};
pub use self::keys::ColumnKeys;
pub use self::output::{ColumnResult, OnError, RejectedRows, struct_type};
pub use self::signature::{SignatureKey, sign, verify};
pub use self::token::{TokenOptions, detokenise, tokenise};
pub use self::values::read_values;
