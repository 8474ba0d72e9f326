//! The codes of commands and replies in `mfdef.h`. The negotiation has the same code in both directions.
#![allow(missing_docs, reason = "the names say it, and what they stand for is documented where it is read")]

// Commands: SMFIC_*.
pub(crate) const ABORT: u8 = b'A';
pub(crate) const BODY: u8 = b'B';
pub(crate) const CONNECT: u8 = b'C';
pub(crate) const MACRO: u8 = b'D';
pub(crate) const BODY_EOB: u8 = b'E';
pub(crate) const HELO: u8 = b'H';
pub(crate) const QUIT_NC: u8 = b'K';
pub(crate) const HEADER: u8 = b'L';
pub(crate) const MAIL: u8 = b'M';
pub(crate) const EOH: u8 = b'N';
pub(crate) const OPTNEG: u8 = b'O';
pub(crate) const QUIT: u8 = b'Q';
pub(crate) const RCPT: u8 = b'R';
pub(crate) const DATA: u8 = b'T';
pub(crate) const UNKNOWN: u8 = b'U';

// Replies: SMFIR_*.
pub(crate) const ADD_RCPT: u8 = b'+';
pub(crate) const DELETE_RCPT: u8 = b'-';
pub(crate) const ADD_RCPT_PAR: u8 = b'2';
pub(crate) const SHUTDOWN: u8 = b'4';
pub(crate) const ACCEPT: u8 = b'a';
pub(crate) const REPLACE_BODY: u8 = b'b';
pub(crate) const CONTINUE: u8 = b'c';
pub(crate) const DISCARD: u8 = b'd';
pub(crate) const CHANGE_FROM: u8 = b'e';
pub(crate) const CONNECTION_FAILURE: u8 = b'f';
pub(crate) const ADD_HEADER: u8 = b'h';
pub(crate) const INSERT_HEADER: u8 = b'i';
pub(crate) const CHANGE_HEADER: u8 = b'm';
pub(crate) const PROGRESS: u8 = b'p';
pub(crate) const QUARANTINE: u8 = b'q';
pub(crate) const REJECT: u8 = b'r';
pub(crate) const SKIP: u8 = b's';
pub(crate) const TEMPFAIL: u8 = b't';
pub(crate) const REPLY_CODE: u8 = b'y';
