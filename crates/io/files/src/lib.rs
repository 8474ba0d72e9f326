//! Files for several services and the program. Internal to Oarlock: the interface changes without notice.
//!
//! | module | content |
//! |---|---|
//! | [`AtomicFile`], [`atomic_file`] | files that appear complete or not at all |
//! | [`output`] | files that a command writes, which a signal does not leave unfinished |
//! | [`FileStamp`] | the recognition of changed files |
//! | [`read_text`], [`first_line`] | text files whose lines end with LF or CRLF |
//! | [`line_number`] | the line of a fault in a settings file |
//! | [`TextBlocks`] | a text read block by block on a thread of its own |
#![forbid(unsafe_code)]

pub mod atomic_file;
mod file_stamp;
mod line_number;
pub mod output;
mod text_blocks;
mod text_file;

pub use atomic_file::AtomicFile;
pub use file_stamp::FileStamp;
pub use line_number::line_number;
pub use text_blocks::TextBlocks;
pub use text_file::{first_line, read_text};
