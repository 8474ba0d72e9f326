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
//! | [`ConnectionPool`] | a synchronous client of a UNIX socket for libraries inside other programs, without a runtime |
//! | [`Endpoint`], [`ServerLink`] | a stream to a server of either kind, for many tasks at once |
//! | `alert` | the alert by which a server refuses a client |
//! | [`RemoteHolder`] | several servers as a holder: balanced, asked again elsewhere, compared |
//!
//! Decoders take hostile bytes: [`MessageLimits`] bound what a message may ask for before anything is allocated for it, and columns are
//! checked against their count before they are read.
#![forbid(unsafe_code)]

#[cfg(feature = "grpc")]
mod alert;
mod check;
mod column;
#[cfg(feature = "grpc")]
mod endpoint;
mod error;
pub mod fault;
pub mod frame;
mod held;
pub mod jobs;
mod limits;
#[cfg(feature = "grpc")]
mod link;
mod pool;
pub mod proto;
pub mod records;
#[cfg(feature = "grpc")]
mod remote;
pub mod scheme;
pub mod task;
#[cfg(test)]
mod tests;

pub use check::AnswerCheck;
#[cfg(feature = "grpc")]
pub use endpoint::{ConnectError, Credentials, Endpoint};
pub use error::WireError;
pub use limits::MessageLimits;
#[cfg(feature = "grpc")]
pub use link::{LinkError, ServerLink};
pub use pool::{ConnectionPool, PendingJob, PoolAnswer, PoolConfig, PoolError, PrivateKeySource};
pub use prost::Message;
#[cfg(feature = "grpc")]
pub use remote::{RemoteConfig, RemoteError, RemoteHolder, ServerReport};
