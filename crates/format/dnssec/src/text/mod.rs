//! The text of zone files, below the types of records: words, names and the errors of entries. RFC 1035 5.1.
//!
//! | module | content |
//! |---|---|
//! | `marks` | bytes at which a word may end, and dots, found 64 at a time |
//! | `entries` | entries, word by word |
//! | `word` | a word, and the numbers that it may stand for |
//! | `names` | names, into wire format |
//! | [`EntryError`] | the error of an entry |

pub(crate) mod entries;
mod error;
pub(crate) mod marks;
pub(crate) mod names;
pub(crate) mod word;

pub use self::error::EntryError;
pub(crate) use self::error::{Read, shown};
