//! Zone files, read and written. RFC 1035 section 5, RFC 2308 section 4, RFC 3597 section 5.
//!
//! | module | content |
//! |---|---|
//! | `marks` | bytes at which a word may end, and dots, found 64 at a time |
//! | `entries` | entries, word by word |
//! | `word` | a word, and the numbers that it may stand for |
//! | `names` | names, into wire format |
//! | `scope` | the values that an entry inherits: origin, owner, TTL |
//! | [`ZoneReader`] | the text of a file, block by block, into records |
//! | `directives`, `generate` | `$ORIGIN`, `$TTL`, `$INCLUDE`, `$GENERATE` |
//! | [`write_record`] | a record as a line |
//! | [`EntryError`], [`FaultyEntry`] | the error of an entry, and its location |

mod directives;
pub(crate) mod entries;
mod error;
mod generate;
mod marks;
pub(crate) mod names;
mod reader;
mod scope;
pub(crate) mod word;
mod writer;

pub(crate) use self::error::Read;
pub use self::error::{EntryError, FaultyEntry};
pub use self::reader::ZoneReader;
pub use self::writer::write_record;
