//! Mail, key records and compressed input. Internal to Oarlock: the interface changes without notice.
//!
//! | module | content |
//! |---|---|
//! | [`mail`] | messages in files, directories, mbox, Maildir and streams, and back into them |
//! | [`dns`] | TXT records from name servers or a file |
//! | [`compressed`] | files that may be compressed, as streams |
#![forbid(unsafe_code)]

pub mod compressed;
pub mod dns;
pub mod mail;
