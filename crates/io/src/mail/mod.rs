//! Mail in files: single messages, directories of them, mbox, Maildir and streams.
//!
//! | item | what it does |
//! |---|---|
//! | [`discover`] | finds what each path is, and how much there is to read |
//! | [`MailReader`] | hands out messages to any number of threads, numbered, so that results can be put back into order |
//! | [`to_crlf`], [`CrlfReader`] | a message as it is on the wire, from memory or as a stream |
//! | [`MailDestination`], [`write_signed`], [`write_mbox`] | a message with a header field before it, back into files |

mod discover;
mod fault;
mod lines;
mod mails;
mod mbox;
mod quoting;
mod source;
#[cfg(test)]
mod tests;
mod write;

pub use discover::{MAX_BYTES, MailFolders, MailOptions, MailTotals, discover};
pub use fault::{MailError, MailFault};
pub use lines::{CrlfReader, LineEnding, to_crlf};
pub use mails::{MailItem, MailMessage, MailReader};
pub use mbox::{MboxMessage, MboxReader};
pub use quoting::MboxQuoting;
pub use source::MailSource;
pub use write::{MailDestination, write_mbox, write_signed};
