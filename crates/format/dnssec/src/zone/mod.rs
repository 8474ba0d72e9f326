//! Zone files, read and written. RFC 1035 section 5, RFC 2308 section 4, RFC 3597 section 5.
//!
//! | module | content |
//! |---|---|
//! | `scope` | the values that an entry inherits: origin, owner, TTL |
//! | [`ZoneReader`] | the text of a file, block by block, into records |
//! | `directives`, `generate` | `$ORIGIN`, `$TTL`, `$INCLUDE`, `$GENERATE` |
//! | [`write_record`] | a record as a line |
//! | [`EntryError`], [`FaultyEntry`] | the error of an entry, and its location |

mod directives;
mod error;
mod generate;
mod reader;
mod scope;
mod writer;

pub use self::error::FaultyEntry;
pub use self::reader::ZoneReader;
pub(crate) use self::writer::write_line;
pub use self::writer::write_record;
pub use crate::text::EntryError;
