//! Mail in files: single messages, directories of them, mbox, Maildir and streams.
//!
//! | item | purpose |
//! |---|---|
//! | [`discover`] | finds the kind of each path, and the amount of mail to read |
//! | [`MailReader`] | distributes numbered messages to any number of threads |
//! | [`MailDestination`], [`write_signed`], [`write_mbox`] | write a message with a header field before it |

mod border;
mod discover;
mod fault;
mod mails;
mod mbox;
mod quoting;
mod source;
#[cfg(test)]
mod tests;
mod write;

pub use border::{BorderReading, MboxBorder};
pub use discover::{MAX_BYTES, MailAmount, MailFolders, MailOptions, discover};
pub use fault::{MailError, MailFault};
pub use mails::{BorderWarning, MailItem, MailReader, StoredMail};
pub use mbox::{MboxMessage, MboxReader};
pub use quoting::MboxQuoting;
pub use source::MailSource;
pub use write::{MailDestination, write_mbox, write_signed};
