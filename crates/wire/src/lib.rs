//! The network protocol of Oarlock: schemes and records, never raw RSA.
//!
//! | module | what it holds |
//! |---|---|
//! | [`proto`] | the messages and the gRPC service, as `proto/oarlock/v1/cryptoserver.proto` has them |
//! | [`jobs`] | public-key operations as columns |
//! | [`records`] | short symmetric operations as columns |
//! | [`scheme`], [`task`] | what is done, as messages |
//! | [`fault`] | errors and statuses as codes |
//! | [`frame`] | messages on a UNIX socket |
//! | [`Connection`] | a synchronous client there, without a runtime |
//!
//! Decoders take hostile bytes: [`Limits`] bound what a message may ask for before anything is allocated for it, and columns are
//! checked against their count before they are read.
#![forbid(unsafe_code)]

mod column;
mod connection;
mod error;
pub mod fault;
pub mod frame;
pub mod jobs;
mod limits;
pub mod proto;
pub mod records;
pub mod scheme;
pub mod task;
#[cfg(test)]
mod tests;

pub use connection::{CallError, Connection};
pub use error::WireError;
pub use limits::Limits;
pub use prost::Message;
