//! Milter protocol versions 2 to 6 without I/O, both ways: a filter reads commands and writes replies, an MTA the reverse.
//!
//! A frame is a length of four bytes, big-endian, and that many bytes: a code and its data. Semantics are those of Sendmail's
//! `libmilter/mfdef.h` and `engine.c`, and of Postfix's `src/milter/milter8.c`; no document but these defines the protocol.
//!
//! | file | what it holds |
//! |---|---|
//! | `frame` | frames out of whatever bytes come, and into a buffer |
//! | `flags` | what MTA and filter may negotiate |
//! | `options` | the negotiation's message |
//! | `command` | what an MTA says |
//! | `reply`, `change`, `smtp` | what a filter answers |
//! | `text` | strings that end with a NUL |
//! | `code` | the byte that names a command or a reply |
//! | `error` | what may be wrong with them |

pub mod change;
pub mod code;
pub mod command;
pub mod error;
pub mod flags;
pub mod frame;
pub mod options;
pub mod reply;
pub mod smtp;
pub mod text;

pub use change::MessageChange;
pub use command::{AddressFamily, ConnectInfo, EnvelopeAddress, MilterCommand};
pub use error::{EncodeError, ProtocolError, ProtocolErrorKind};
pub use flags::{Actions, Steps};
pub use frame::{FrameDecoder, MilterFrame};
pub use options::{MacroStage, NegotiationOptions};
pub use reply::FilterReply;
pub use smtp::SmtpReply;
pub use text::{MacroPairs, NulStrings};

/// Newest version that is spoken here; what `libmilter` calls `SMFI_PROT_VERSION`.
pub const VERSION: u32 = 6;

/// Oldest version that is spoken here.
pub const OLDEST_VERSION: u32 = 2;

/// Bytes of a body chunk, at most: `MILTER_CHUNK_SIZE`.
pub const CHUNK_BYTES: usize = 65_535;

#[cfg(test)]
mod tests;
