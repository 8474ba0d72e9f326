//! The network protocol of Oarlock: schemes and records, never raw RSA.
//!
//! | module | content |
//! |---|---|
//! | [`proto`] | the messages and the gRPC service of `proto/oarlock/v1/cryptoserver.proto` |
//! | [`jobs`] | public-key operations as columns |
//! | [`records`] | short symmetric operations as columns |
//! | [`scheme`], [`task`] | schemes and tasks as messages |
//! | [`fault`] | errors and statuses as codes |
//! | [`frame`] | messages on a UNIX socket |
//! | `ring` | the shared memory of a connection to a UNIX socket |
//! | [`ServerSettings`] | the settings of a connection, as services read them |
//! | [`ServerUsers`] | the users who may run a server |
//! | [`ConnectionPool`] | a synchronous client of a UNIX socket for libraries inside other programs |
//! | [`Endpoint`], [`ServerLink`] | a stream to a server over gRPC or a UNIX socket, for many tasks at once |
//! | `alert`, `server_verifier` | the TLS alert of a server that refuses a client; the verifier of a server's certificate |
//! | [`RemoteHolder`] | several servers as one holder of keys: balanced, retried, compared |
//!
//! Decoders expect hostile bytes. [`MessageLimits`] limit the counts of a message before memory is allocated for them,
//! and the length of each column is checked against the count before the column is read.
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
pub mod jobs;
mod limits;
#[cfg(feature = "grpc")]
mod link;
mod pool;
pub mod proto;
pub mod records;
#[cfg(feature = "grpc")]
mod remote;
mod ring;
pub mod scheme;
#[cfg(feature = "grpc")]
mod server_settings;
mod server_users;
#[cfg(feature = "grpc")]
mod server_verifier;
pub mod task;
#[cfg(test)]
mod tests;

pub use check::AnswerCheck;
#[cfg(feature = "grpc")]
pub use endpoint::{ConnectError, Credentials, Endpoint};
pub use error::WireError;
pub use limits::MessageLimits;
#[cfg(feature = "grpc")]
pub use link::{LinkError, LinkTransport, ServerLink};
pub use pool::{ConnectionPool, JobKeySource, PendingJob, PoolAnswer, PoolConfig, PoolError};
pub use prost::Message;
#[cfg(feature = "grpc")]
pub use remote::{
    ConnectObserver, NameResolver, RemoteConfig, RemoteError, RemoteHolder, ServerReport, order_by_time,
};
pub use ring::{RingUnavailable, is_switched_off as is_ring_switched_off};
#[cfg(feature = "grpc")]
pub use server_settings::{ServerSettings, ServerSettingsError};
pub use server_users::ServerUsers;
