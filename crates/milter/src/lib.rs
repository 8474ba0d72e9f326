//! A mail filter: the milter protocol, its sessions, a server and a client.
//!
//! | module | what it holds |
//! |---|---|
//! | [`protocol`] | frames, commands and replies of milter protocol versions 2 to 6, both ways, without I/O |
//! | [`session`] | one connection as a state machine without I/O: order, macros, negotiation; what a [`Filter`] is |
//! | [`server`] | sockets, connections, limits, draining |
//! | [`client`] | an MTA's side, for tests and load |
//! | [`socket`] | where to listen or connect, as Sendmail and Postfix write it |
//! | [`counters`] | what operators watch |
#![forbid(unsafe_code)]

pub mod client;
pub mod counters;
pub mod protocol;
pub mod server;
pub mod session;
pub mod socket;

pub use client::Client;
pub use counters::Counters;
pub use server::{Server, ServerError, Settings};
pub use session::{Action, Agreed, Filter, Filters, Macros, MtaSocket, Session, Verdict, Wants};
pub use socket::{Socket, SocketError};
