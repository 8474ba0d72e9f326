//! Milter protocol versions 2 to 6 in both directions, without I/O. A filter reads commands and writes replies, an MTA
//! the reverse.
//!
//! A frame is a big-endian length of four bytes, then a code and its data. No document defines the protocol. The
//! semantics follow Sendmail's `libmilter/mfdef.h` and `engine.c`, and Postfix's `src/milter/milter8.c`.
//!
//! | file | content |
//! |---|---|
//! | `frame` | frames out of a stream of bytes, and into a buffer |
//! | `flags` | the options that MTA and filter negotiate |
//! | `options` | the message of the negotiation |
//! | `command` | the commands of an MTA |
//! | `reply`, `change`, `smtp` | the replies of a filter |
//! | `text` | strings that end with a NUL |
//! | `code` | the codes of commands and replies |
//! | `error` | protocol errors |

pub mod change;
pub(crate) mod code;
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
pub use frame::{MilterDecoder, MilterFrame};
pub use options::{MacroStage, NegotiationOptions};
pub use reply::FilterReply;
pub use smtp::SmtpReply;
pub use text::{MacroPairs, NulStrings};

/// The newest supported version, `SMFI_PROT_VERSION` of `libmilter`.
pub const VERSION: u32 = 6;

/// The oldest supported version.
pub(crate) const OLDEST_VERSION: u32 = 2;

/// The maximum length of a body chunk in bytes: `MILTER_CHUNK_SIZE`.
pub const CHUNK_BYTES: usize = 65_535;

#[cfg(test)]
mod tests;
