//! The codes of commands and replies in `mfdef.h`. The negotiation has the same code in both directions.
#![allow(missing_docs, reason = "the names say it, and what they stand for is documented where it is read")]

// Commands: SMFIC_*.
pub const ABORT: u8 = b'A';
pub const BODY: u8 = b'B';
pub const CONNECT: u8 = b'C';
pub const MACRO: u8 = b'D';
pub const BODY_EOB: u8 = b'E';
pub const HELO: u8 = b'H';
pub const QUIT_NC: u8 = b'K';
pub const HEADER: u8 = b'L';
pub const MAIL: u8 = b'M';
pub const EOH: u8 = b'N';
pub const OPTNEG: u8 = b'O';
pub const QUIT: u8 = b'Q';
pub const RCPT: u8 = b'R';
pub const DATA: u8 = b'T';
pub const UNKNOWN: u8 = b'U';

// Replies: SMFIR_*.
pub const ADD_RCPT: u8 = b'+';
pub const DELETE_RCPT: u8 = b'-';
pub const ADD_RCPT_PAR: u8 = b'2';
pub const SHUTDOWN: u8 = b'4';
pub const ACCEPT: u8 = b'a';
pub const REPLACE_BODY: u8 = b'b';
pub const CONTINUE: u8 = b'c';
pub const DISCARD: u8 = b'd';
pub const CHANGE_FROM: u8 = b'e';
pub const CONNECTION_FAILURE: u8 = b'f';
pub const ADD_HEADER: u8 = b'h';
pub const INSERT_HEADER: u8 = b'i';
pub const CHANGE_HEADER: u8 = b'm';
pub const PROGRESS: u8 = b'p';
pub const QUARANTINE: u8 = b'q';
pub const REJECT: u8 = b'r';
pub const SKIP: u8 = b's';
pub const TEMPFAIL: u8 = b't';
pub const REPLY_CODE: u8 = b'y';
