//! The milter protocol for mail filters: frames, sessions, a server, and a client that plays the MTA. Internal to
//! Oarlock: the interface changes without notice.
//!
//! | module | content |
//! |---|---|
//! | [`protocol`] | frames, commands and replies of protocol versions 2 to 6, in both directions, without I/O |
//! | [`session`] | one connection as a state machine without I/O: order, macros, negotiation; the trait [`MessageFilter`] |
//! | [`server`] | sockets, connections, limits, draining |
//! | [`client`] | the MTA's side, for tests and load |
//! | [`socket`] | socket addresses, as Sendmail and Postfix write them |
//! | [`counters`] | counters for operators |
#![forbid(unsafe_code)]

pub mod client;
pub mod counters;
pub mod protocol;
pub mod server;
pub mod session;
pub mod socket;

pub use client::MilterClient;
pub use counters::MilterCounters;
pub use server::{MilterServer, MilterServerError, MilterSettings, UnixUsers, user_numbers};
pub use session::{
    AgreedOptions, FilterAction, FilterFactory, FilterVerdict, FilterWants, MacroTable, MessageFilter,
    MilterSession, MtaSocket,
};
pub use socket::{MilterSocket, SocketError};
