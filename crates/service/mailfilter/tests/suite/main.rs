//! The DKIM filter as MTAs see it. The test of its memory is a program of its own.
//!
//! | module | what it holds |
//! |---|---|
//! | `filter` | the filter from an MTA's point of view |
//! | `list_mail` | mail of lists and forwarders, signed for `Sender` or MAIL FROM, beside OpenDKIM |
//! | `failure_lines` | the line of the log about a message with a failure |
//! | `exempt` | hosts and domains whose mail is neither signed nor verified |
//! | `rotation` | selectors that begin and end by date |
//! | `key_protection` | keys that DNSSEC protects, with Unbound as the validating resolver |
//! | `opendkim_tables` | imported settings beside OpenDKIM itself |
//! | `postfix` | the filter behind Postfix, with OpenDKIM and swaks as peers |
//! | `running_filter` | helpers: a running filter with keys and DNS of its own, and an MTA |
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that panics has failed")]
#![allow(unreachable_pub, reason = "a program of tests exports nothing")]

mod exempt;
mod failure_lines;
mod filter;
mod key_protection;
mod list_mail;
mod opendkim_tables;
mod postfix;
mod rotation;
mod running_filter;
